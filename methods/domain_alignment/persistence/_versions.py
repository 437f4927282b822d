"""Versions of the packages that a saved model depends on."""

import platform
from importlib import import_module

from domain_alignment.exceptions import SavedModelError

# Import name -> name to install it by.
_DISTRIBUTIONS = {"domain_alignment": "domain-alignment", "sklearn": "scikit-learn", "ot": "POT"}
_ALWAYS = ("domain_alignment", "numpy", "scipy", "sklearn")


def versions_of(packages):
    """Distribution -> version, of the packages of a state and of those that every one needs.

    Parameters
    ----------
    packages : collection of str
        Import names. One without a ``__version__`` has "unknown".
    """
    names = sorted({*_ALWAYS, *packages})
    return {name: str(getattr(import_module(name), "__version__", "unknown")) for name in names}


def python_version():
    """Version of the interpreter; noted, and not compared."""
    return platform.python_version()


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
        try:
            here = versions_of([name])[name]
        except ImportError:
            here = None
        if here is None or _series(here) != _series(version):
            shown = _DISTRIBUTIONS.get(name, name)
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
