"""Which files of the project a piece of Python is made of, so that editing them reruns its jobs.

Snakemake tracks a rule's script, not what the script imports.
"""

import ast
import contextlib
import functools
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from workflow.lib.config.addresses import PACKAGES, home, module_file, public_home
from workflow.lib.config.memory import MEMORY, sum_of

# Packages that entries name and that are pinned. Another version of one reruns nothing: where the
# environment is made anew, results of before are to be deleted.
PINNED = frozenset({"numpy", "ot", "scipy", "skada", "sklearn"})
# `package.module:Class` and `package.module.Class`; the latter not with a small letter, as in
# `data.csv`.
_ADDRESS = re.compile(r"((?:[^\W\d]\w*\.)*[^\W\d]\w*)(?::([^\W\d]\w*)|\.([A-Z]\w*))")


def sources(root: Path | str, *modules: str) -> list[str]:
    """Files of the named modules and of all modules of the project that they import.

    Parameters
    ----------
    root : path
        The project's folder.
    *modules : str
        Dotted names; those outside the project's packages give no file.

    Returns
    -------
    list of str
        Paths relative to ``root``, sorted. A name that a package re-exports counts as the module
        that defines it; the package's ``__init__`` would tie each method to all others, and counts
        only when it is named itself.
    """
    named = (module_file(root, module) for module in modules)
    found, queue = set(), [path for path in named if path is not None]
    while queue:
        path = queue.pop()
        if path not in found:
            found.add(path)
            queue.extend(_imported_files(Path(root), path))
    return sorted(str(path.relative_to(root)) for path in found)


@functools.cache
def installed_files(module: str) -> tuple[Path, ...]:
    """Python files of the installed package that a module lies in, found without importing it.

    All of them, since what one imports of the others is not followed. None for the project's own
    modules, for pinned packages and for what is not there.
    """
    package = module.partition(".")[0]
    if package in PACKAGES or package in PINNED or package in sys.stdlib_module_names:
        return ()
    spec = find_spec(package)
    if spec is None:
        return ()
    if spec.submodule_search_locations is None:
        return (Path(spec.origin),)
    folders = sorted(map(Path, spec.submodule_search_locations))
    return tuple(path for folder in folders for path in sorted(folder.rglob("*.py")))


def named_modules(value: object, root: Path | str) -> list[str]:
    """Modules of the classes whose addresses are among the texts of nested lists and mappings.

    Those of the project and the user's own, sorted. Not those of installed packages, of which there
    may be thousands of files.
    """
    found = {home(address, root) for address in _addresses(value)}
    return sorted(module for module in found if _is_own(module.partition(".")[0]))


def _addresses(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from _addresses(list(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _addresses(item)
    elif isinstance(value, str) and (parts := _ADDRESS.fullmatch(value)):
        module, name, name_after_dot = parts.groups()
        yield f"{module}:{name or name_after_dot}"


@functools.cache
def _is_own(package: str) -> bool:
    """Whether a package lies elsewhere than where packages are installed, and is there at all."""
    if package in PACKAGES:
        return True
    if package in PINNED or package in sys.stdlib_module_names:
        return False
    spec = None
    with contextlib.suppress(ImportError, ValueError):  # the latter of `__main__`
        spec = find_spec(package)
    if spec is None:
        return False
    places = spec.submodule_search_locations or [spec.origin or ""]
    return not any({"site-packages", "dist-packages"} & {*Path(place).parts} for place in places)


@functools.cache
def _imported_files(root: Path, path: Path) -> tuple[Path, ...]:
    """The project's files that a file imports, each module looked for once."""
    files = (module_file(root, name) for name in dict.fromkeys(_imports(root, path)))
    return tuple(found for found in files if found is not None)


def _imports(root: Path, path: Path) -> tuple[str, ...]:
    names = []
    for level, module, name in _statements(path):
        full = f"{_package(path, level) if level else ''}{module}"
        if name is None:
            names.append(full)
            continue
        # `from package import module` names a module too; other names give no file.
        public = public_home(root, full, name)
        names += [public] if public else [full, f"{full}.{name}"]
    return tuple(name for name in names if not _only_gathers(root, name))


def _statements(path: Path) -> list:
    """``[level, module, name]`` of every import of a file; the name is None for ``import module``.

    Parsed once for each content: that is what a run would spend its start on.
    """
    source = path.read_bytes()
    key = sum_of("imports", source)
    found = MEMORY.get(key)
    if found is None:
        found = _parsed(source)
        MEMORY.put(key, found)
    return found


def _parsed(source: bytes) -> list:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        # The job that imports it fails and names the line; mending the file changes the sum.
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [[0, alias.name, None] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [[node.level, node.module, alias.name] for alias in node.names]
    return found


def _only_gathers(root: Path, module: str) -> bool:
    """Whether a module is a package of the library, which re-exports names and computes nothing."""
    path = module_file(root, module)
    return path is not None and path.name == "__init__.py" and not module.startswith("workflow.")


def _package(path: Path, level: int) -> str:
    """Dotted prefix that a relative import of ``level`` dots starts from."""
    parts, folder = [], path.parent
    while folder.name and folder.name not in PACKAGES:
        parts.insert(0, folder.name)
        folder = folder.parent
    parts.insert(0, folder.name)
    return ".".join(parts[: len(parts) - level + 1]) + "."
