"""Addresses in the configuration, ``domain_alignment:KEMA``: the class, and its module."""

import ast
import contextlib
import functools
import importlib
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

PROJECT = Path(__file__).resolve().parents[3]
# The project's packages, each with the folder it lies in.
PACKAGES = {"workflow": ".", "domain_alignment": "methods"}


class BrokenModule(ImportError):
    """A module is there but cannot be run; the message holds its file and line."""


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Turn what a module's own code raises when it is imported into `BrokenModule`.

    Also ``SystemExit``: a module that calls ``sys.exit(0)`` would end the run as if it were done.
    What says that an address is wrong (``ImportError``, ``AttributeError``, ``ValueError``) passes.
    """
    try:
        yield
    except (ImportError, AttributeError, ValueError):
        raise
    except SyntaxError as error:
        raise BrokenModule(f"{_place(error.filename, error.lineno)}: {error.msg}") from error
    except (Exception, SystemExit) as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error}"
        raise BrokenModule(f"{_place(last.filename, last.lineno)}: {what}") from error


def _place(file: str | None, line: int | None) -> str:
    path = Path(file or "unknown file")
    inside = path.relative_to(PROJECT) if path.is_relative_to(PROJECT) else path
    return f"{inside}, line {line}"


def resolve_estimator(address: str) -> type:
    """Class at ``"module:Class"``; a package re-exports its public names.

    Raises
    ------
    BrokenModule
        If the module cannot be run.
    ImportError, AttributeError
        If there is no such module or class.
    """
    module, _, name = address.partition(":")
    with importing():  # a package imports the module of a name when it is asked for the name
        return getattr(importlib.import_module(module), name)


def study_module(name: str) -> ModuleType:
    """Module of ``workflow/studies``: ``run``, ``FIGURES``, ``TABLES``, ``figures``, ``tables``.

    Raises
    ------
    BrokenModule
        If the module cannot be run.
    ImportError
        If there is no such module.
    """
    with importing():
        return importlib.import_module(f"workflow.studies.{name}")


def home(address: str, root: Path | str = PROJECT) -> str:
    """Dotted name of the module that defines the class at an address, found without importing it.

    Parameters
    ----------
    address : str
        ``"module:Class"``.
    root : path
        Folder of the project; by default this one.
    """
    module, _, name = address.partition(":")
    return public_home(root, module, name) or module


def public_home(root: Path | str, package: str, name: str) -> str | None:
    """Module that defines a public name of one of the project's packages; None for any other."""
    path = module_file(root, package)
    if path is None or path.name != "__init__.py":
        return None
    for init in _inits(path):
        found = _public_names(init).get(name)
        if found is not None:
            inner = init.parent.relative_to(path.parent).parts
            return ".".join([package, *inner, found])
    return None


@functools.cache
def _inits(package: Path) -> tuple[Path, ...]:
    """The ``__init__.py`` of a package and of the packages in it."""
    return (package, *sorted(package.parent.glob("*/__init__.py")))


@functools.cache
def module_file(root: Path | str, module: str) -> Path | None:
    """File of a module or package of the project, looked for once; None for any other."""
    package = module.partition(".")[0]
    if package not in PACKAGES:
        return None
    base = Path(root) / PACKAGES[package] / module.replace(".", "/")
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


@functools.cache
def _public_names(init: Path) -> dict[str, str]:
    """What `domain_alignment._lazy.attach` is handed in a package: ``{"KEMA": "_kema"}``, ..."""
    text = init.read_text(encoding="utf-8")
    if "attach(" not in text:
        return {}
    tables = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Dict)]
    return {name: module for table in tables for name, module in ast.literal_eval(table).items()}
