"""The version of the package, which its build takes from the tags of the repository."""

from importlib import metadata

# Of a checkout that is on the path without being installed; `fallback-version` in pyproject.toml.
FALLBACK = "0.1.0"


def version():
    """Version of the installed package, or the fallback.

    Examples
    --------
    >>> version().count(".") >= 2
    True
    """
    try:
        return metadata.version("domain-alignment")
    except metadata.PackageNotFoundError:
        return FALLBACK
