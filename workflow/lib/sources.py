"""Which files of the project a piece of Python is made of, so that editing them reruns its jobs.

Snakemake tracks a rule's script, not what the script imports.
"""

import ast
import functools
from pathlib import Path

PACKAGES = {"workflow": ".", "domain_alignment": "methods"}


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
        Paths relative to ``root``, sorted. A package's ``__init__`` counts only when it is named:
        it re-exports all methods, and would tie each to all others.
    """
    found, queue = set(), list(modules)
    while queue:
        path = _path(Path(root), queue.pop())
        if path is not None and path not in found:
            found.add(path)
            queue.extend(_imports(path))
    return sorted(str(path.relative_to(root)) for path in found)


def _path(root: Path, module: str) -> Path | None:
    package = module.partition(".")[0]
    if package not in PACKAGES:
        return None
    base = root / PACKAGES[package] / module.replace(".", "/")
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


@functools.cache
def _imports(path: Path) -> tuple[str, ...]:
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            prefix = _package(path, node.level) if node.level else ""
            module = f"{prefix}{node.module}"
            # `from package import module` names a module too; other names give no file.
            names += [module, *(f"{module}.{alias.name}" for alias in node.names)]
    bare = set(PACKAGES)
    return tuple(name for name in names if name not in bare)


def _package(path: Path, level: int) -> str:
    """Dotted prefix that a relative import of ``level`` dots starts from."""
    parts, folder = [], path.parent
    while folder.name and folder.name not in PACKAGES:
        parts.insert(0, folder.name)
        folder = folder.parent
    parts.insert(0, folder.name)
    return ".".join(parts[: len(parts) - level + 1]) + "."
