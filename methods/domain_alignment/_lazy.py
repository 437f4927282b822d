"""Lazy import of a package's public names."""

from importlib import import_module


def attach(package, homes):
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package (PEP 562).

    Only the modules in use are imported, so an optional dependency that fails to import disables
    nothing else.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    homes : dict of str to str
        Public name -> module that defines it, relative to the package. Must be a literal: the
        benchmark parses it to find a method's files without importing them.
    """
    names = sorted(homes)

    def __getattr__(name):  # noqa: N807
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it has {names}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return __getattr__, lambda: names, names
