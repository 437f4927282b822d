"""Versions of the packages that a saved model depends on."""

from importlib import metadata

import domain_alignment
from domain_alignment.exceptions import SavedModelError

# Import name -> name to install it by.
_DISTRIBUTIONS = {"domain_alignment": "domain-alignment", "sklearn": "scikit-learn", "ot": "POT"}
_ALWAYS = ("domain_alignment", "numpy", "scipy", "sklearn")


def versions_of(packages):
    """Import name -> version, of the packages of a state and of those that every one needs.

    Parameters
    ----------
    packages : collection of str
        Import names. One that is not installed as a package has "unknown".
    """
    return {name: _version(name) or "unknown" for name in sorted({*_ALWAYS, *packages})}


def _version(name):
    """Version of a package by its metadata, or None: the name may come from a file, so nothing is
    imported."""
    if name == "domain_alignment":  # a checkout need not be installed
        return domain_alignment.__version__
    try:
        return metadata.version(distribution(name))
    except (metadata.PackageNotFoundError, ValueError):
        return None


def check_versions(saved, where):
    """Raise `SavedModelError` if a package's major or minor version is not the one saved.

    Attributes of estimators change with minor versions, and so may the last digits of a result.

    Parameters
    ----------
    saved : dict of str to str
        Import name -> version.
    where : str
        The saved model, in the message.

    Examples
    --------
    >>> check_versions({"numpy": "1.0.3"}, "model")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    domain_alignment.exceptions.SavedModelError: model: was saved with numpy 1.0.3; here is ...
    """
    others, install = [], []
    for name, version in saved.items():
        here = _version(name) or ("unknown" if version == "unknown" else None)
        if here is None or _series(here) != _series(version):
            shown = distribution(name)
            others.append(f"{shown} {version}; here is {here or 'none'}")
            install.append(f"{shown}=={_series(version)}.*")
    if others:
        raise SavedModelError(
            f"{where}: was saved with {' and '.join(others)}. Install what it was saved with "
            f"(pip install {' '.join(map(repr, install))}), or fit and save the model again"
        )


def distribution(package):
    """The name by which a package is installed."""
    return _DISTRIBUTIONS.get(package, package)


def _series(version):
    return ".".join(version.split(".")[:2])
