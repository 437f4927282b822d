"""Packages that only some methods need, and the extra that installs each."""

from importlib import import_module

# Package -> extra of this distribution (pyproject.toml), and its name on the package index.
EXTRAS = {
    "cvxpy": ("tkl", "cvxpy"),
    "numba": ("mmdt", "numba"),
    "ot": ("ot", "POT"),
    "pyarrow.parquet": ("parquet", "pyarrow"),
    "pynndescent": ("neighbors", "pynndescent"),
}


def needed(package, who, otherwise=""):
    """Import a package that is not always installed.

    Parameters
    ----------
    package : str
        A key of ``EXTRAS``.
    who : str
        What needs it, in the message.
    otherwise : str, default=""
        What to do without it, in the message.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If it cannot be imported; the message names the extra.
    """
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(how_to_install(package, who, otherwise)) from error


def how_to_install(package, who, otherwise=""):
    """Message for a package that is missing.

    Examples
    --------
    >>> how_to_install("ot", "ClassRegularizedOT")
    "ClassRegularizedOT needs the package POT; install it (in a clone: pip install '.[ot]')"
    """
    extra, distribution = EXTRAS[package]
    # No index has the project, so that its name would be somebody else's there.
    command = f"in a clone: pip install '.[{extra}]'"
    return f"{who} needs the package {distribution}; install it ({command}){otherwise}"


def compiler(who):
    """numba's ``njit``; without numba, a decorator whose functions raise ``ImportError`` if called.

    So a module of compiled functions can be imported, and its class is listed, set up and cloned,
    in any installation.
    """
    try:
        from numba import njit
    except ImportError:
        return lambda *_, **__: lambda function: _unavailable(how_to_install("numba", who))
    return njit


def _unavailable(message):
    def raise_import_error(*_, **__):
        raise ImportError(message)

    return raise_import_error
