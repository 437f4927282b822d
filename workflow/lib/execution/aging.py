"""Time stamps by which Snakemake makes files again that it would not: given, and put back."""

import atexit
import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

# Seconds. Every job that needs such a file and has inputs makes it again. Of 0 Snakemake takes no
# notice.
AS_OLD_AS_CAN_BE = 1

# Options of Snakemake (9.27) with which no job is planned or none runs, other than a dry run's.
_SHOWING = (
    *("--list", "--list-rules", "--list-target-rules", "--lt", "--list-changes", "--lc"),
    *("--list-input-changes", "--li", "--list-params-changes", "--lp", "--list-untracked", "--lu"),
    *("--list-conda-envs", "--lint", "--report", "--unlock", "--summary", "--detailed-summary"),
    *("--dag", "--rulegraph", "--filegraph", "--d3dag", "--print-compilation", "--archive"),
    *("--cleanup-metadata", "--cm", "--cleanup-shadow", "--conda-cleanup-envs", "--containerize"),
    *("--conda-create-envs-only", "--container-cleanup-images", "--generate-unit-tests"),
    *("--export-cwl", "--delete-all-output", "--delete-temp-output"),
)
_SHOWING_SHORT = ("-l", "-S", "-D")


def only_shows(line: Sequence[str]) -> bool:
    """Whether a command line of Snakemake, ``sys.argv``, asks for no run and no plan of one."""
    return any(_shows(word.partition("=")[0]) for word in line[1:])


def _shows(option: str) -> bool:
    """By what it begins with, too: Snakemake understands an option that is cut short."""
    if option.startswith("--"):
        return len(option) > len("--") and any(name.startswith(option) for name in _SHOWING)
    return option in _SHOWING_SHORT


def make_old(path: Path | str, for_good: bool) -> None:
    """Give a file the oldest time stamp.

    Parameters
    ----------
    path : path
    for_good : bool
        Whether the file keeps it. Otherwise it gets its own back when this process ends, unless it
        was made again.

    Raises
    ------
    PermissionError
        If the file is another user's; the message says what to do.
    """
    path = Path(path).absolute()  # Snakemake may leave the folder before this process ends
    before = path.stat()
    try:
        os.utime(path, (AS_OLD_AS_CAN_BE, AS_OLD_AS_CAN_BE))
    except PermissionError as error:
        raise PermissionError(
            f"{path}: to be made again, it needs a time stamp that its owner alone can give. "
            "Have its owner start the run, delete the file if you may, or run in another folder: "
            "snakemake --directory FOLDER"
        ) from error
    if not for_good:
        atexit.register(_put_back, path, (before.st_atime_ns, before.st_mtime_ns), os.getpid())


def _put_back(path: Path, stamps: tuple[int, int], process: int) -> None:
    if os.getpid() != process:  # a process forked from it
        return
    with contextlib.suppress(OSError):
        if path.stat().st_mtime == AS_OLD_AS_CAN_BE:
            os.utime(path, ns=stamps)
