"""Public names of a package, each imported when it is first used."""

from importlib import import_module


def attach(package, homes):
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package (PEP 562).

    A program pays for the one method it needs, and a module that fails to import takes no other
    with it.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    homes : dict of str to str
        Public name -> module that defines it, relative to the package. The benchmark reads this
        dict as a literal, to know which files a method is made of without importing it.
    """
    names = sorted(homes)

    def __getattr__(name):  # noqa: N807
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it has {names}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return __getattr__, lambda: names, names
