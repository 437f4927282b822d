"""What a file was computed with: the packages whose version can change a number, and the processor.

It stands in the headers of records, since their page may be made elsewhere and later. Nothing here
names a person, a machine or a folder.
"""

import functools
import platform
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

# Where it stands in a header: a list, as the records of a task may come from several machines.
COMPUTED_WITH = "computed_with"
# The packages whose version can change a number, skada's mappings among them.
PACKAGES = ("numpy", "scipy", "scikit-learn", "cvxpy", "numba", "POT", "skada")
# What files of earlier versions say.
UNSAID: dict[str, str] = {}


@functools.cache
def computed_with() -> dict[str, str]:
    """Versions of this process by name, ``python`` among them, and the ``processor``."""
    versions = {name: version(name) for name in PACKAGES}
    known = {name: found for name, found in versions.items() if found is not None}
    return {"python": platform.python_version(), **known, "processor": processor()}


def computed_here() -> dict[str, list[dict[str, str]]]:
    """The same as a part of the header of a file that this process computes."""
    return {COMPUTED_WITH: [computed_with()]}


def computed_by_all(headers: Iterable[Mapping]) -> dict[str, list[dict[str, str]]]:
    """The same for a file that is made of others, by their headers."""
    return {COMPUTED_WITH: each_once(map(said_in, headers))}


def said_in(header: Mapping) -> list[dict[str, str]]:
    """What a header says: `UNSAID` if nothing; no item of a file in which nothing was computed."""
    return header.get(COMPUTED_WITH, [UNSAID])


def each_once(several: Iterable[Iterable[dict[str, str]]]) -> list[dict[str, str]]:
    """What several files or folders were computed with, together."""
    found: list[dict[str, str]] = []
    for computed in several:
        found += [one for one in computed if one not in found]
    return found


def version(package: str) -> str | None:
    """Of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def processor() -> str:
    """Its name, as Linux gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model"):
            return " ".join(value.split())
    return platform.processor() or platform.machine()
