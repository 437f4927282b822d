"""Which files of the project a piece of Python is made of, so that editing them reruns its jobs.

Snakemake tracks a rule's script, not what the script imports.
"""

import ast
import functools
from pathlib import Path

from workflow.lib.config.addresses import PACKAGES, module_file, public_home


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
    found, queue = set(), list(modules)
    while queue:
        path = module_file(root, queue.pop())
        if path is not None and path not in found:
            found.add(path)
            queue.extend(_imports(Path(root), path))
    return sorted(str(path.relative_to(root)) for path in found)


@functools.cache
def _imports(root: Path, path: Path) -> tuple[str, ...]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        # The job that imports it fails and names the line; mending the file changes the sum.
        return ()
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            prefix = _package(path, node.level) if node.level else ""
            module = f"{prefix}{node.module}"
            for alias in node.names:
                # `from package import module` names a module too; other names give no file.
                public = public_home(root, module, alias.name)
                names += [public] if public else [module, f"{module}.{alias.name}"]
    return tuple(name for name in names if not _only_gathers(root, name))


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
