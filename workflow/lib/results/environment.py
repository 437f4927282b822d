"""What a page was made with: versions, processor, threads and commit.

Nothing here names a person, a machine or a folder: the report is meant to be published.
"""

import os
import platform
import re
import subprocess
from pathlib import Path

import psutil
import threadpoolctl

from workflow.lib.config.addresses import PROJECT
from workflow.lib.storage import computed_with

# Of a page: what computes, and what plans, keeps and draws.
PACKAGES = (
    *computed_with.PACKAGES,
    "pandas",
    "snakemake",
    "mlflow",
    "matplotlib",
    "domain-alignment",
)

# Characters of a commit that tell it from others, and the folders that decide a number.
_SHORT = 10
_CODE = ("Snakefile", "config", "envs", "methods", "workflow")


def describe(date: str | None = None) -> dict:
    """Describe the software and the hardware of this process.

    What the numbers were computed with is told by `storage.computed_with`.

    Parameters
    ----------
    date : str, optional
        When the records were made, e.g. ``2026-11-20``. It is passed through and never taken from
        the clock, so that rendering a report again gives the same report.

    Returns
    -------
    dict
        Keys ``date``, ``python``, ``platform``, ``cpu``, ``cores``, ``memory_gb``, ``packages``
        (versions by name, None if not installed), ``blas`` (list of dicts with ``library``,
        ``version``, ``threads``), ``threads_asked`` (the variables set for the job) and ``git``
        (``commit``, ``dirty``; None outside a repository).
    """
    return {
        "date": date,
        "python": platform.python_version(),
        "platform": _platform(),
        "cpu": computed_with.processor(),
        "cores": _cores(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "packages": {name: computed_with.version(name) for name in PACKAGES},
        "blas": _blas(),
        "threads_asked": {
            name: os.environ[name]
            for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
            if name in os.environ
        },
        "git": git_state(),
    }


def git_state(folder: Path = PROJECT) -> dict:
    """Commit of the project and whether files differ from it; None where there is no repository."""
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    changes = _git(folder, "status", "--porcelain")
    return {"commit": commit or None, "dirty": None if changes is None else bool(changes)}


def commit_then(folder: Path, start: float, end: float) -> str:
    """Commits that a folder was checked out at while something ran there, and changes to its code.

    Parameters
    ----------
    folder : Path
        A checkout of the project, not a folder within one.
    start, end : float
        Seconds since the epoch.

    Returns
    -------
    str
        ``c57b3673a4``, or ``c57b3673a4 to 9e40619e21`` where it was moved meanwhile, by the log
        that Git keeps there; with a remark where files of the code differ from the commit by now.
        Empty where the folder is no checkout.
    """
    top = _git(folder, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != folder.resolve():
        return ""
    log = _git(folder, "log", "-g", "--date=unix", f"--abbrev={_SHORT}", "--format=%h %gd") or ""
    moved = [(float(at), commit) for commit, at in re.findall(r"^(\w+) HEAD@{(\d+)}$", log, re.M)]
    # The latest comes first, and nothing is known of what was before the first of them.
    found = [next((one for at, one in moved if at <= then), "") for then in (start, end)]
    if "" in found:
        return ""
    known = dict.fromkeys(found)
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", *_CODE)
    remark = ", and changes that are in no commit" if changed else ""
    return f"{' to '.join(known)}{remark}"


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None  # no git, no repository, or one that belongs to somebody else
    return answer.stdout.strip()


def _platform() -> str:
    """Operating system and its kernel's main version, without the host's name."""
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        system = platform.system()
    return f"{system}, {platform.system()} {platform.release().split('-')[0]}, {platform.machine()}"


def _cores() -> int:
    """Cores this process may use, which a batch system can make fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _blas() -> list[dict]:
    """The BLAS and OpenMP libraries loaded into this process, without their paths."""
    # Only a loaded library can be asked; SciPy brings a BLAS of its own beside NumPy's.
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401

    found = {
        (pool["internal_api"], pool["version"] or "", pool["num_threads"])
        for pool in threadpoolctl.threadpool_info()
    }
    return [
        {"library": library, "version": version or None, "threads": threads}
        for library, version, threads in sorted(found)
    ]
