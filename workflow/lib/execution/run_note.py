"""What the last run was asked for: for `make resume`, should it be killed, and for its progress."""

import atexit
import contextlib
import itertools
import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from workflow.lib.storage.artifacts import CorruptArtifact, read_json, write_json

# {"targets": [...], "arguments": [...], "cores": n, "config": {...}, "snakefile": "...",
#  "called_in": "...", "asked": {...}, "host": "..."}; the arguments are null where Snakemake's own
# command line began nothing.
LAST_RUN = Path(".snakemake/last_run.json")
# One note per Snakemake that has read the rules and not begun: {"arguments": [...], ...}.
STARTING = Path(".snakemake/starting")

_KINDS = {
    "targets": list,
    "arguments": list | None,
    "cores": int | None,
    "config": dict,
    "snakefile": str,
    "called_in": str,
    "asked": dict,
    "host": str,
}


def arguments_of(line: Sequence[str], environment: Mapping[str, str]) -> list[str] | None:
    """Arguments with which a run can be continued where and as it was: executor, profile and all.

    Those that repeat finished jobs (``--forcerun`` and the like) too: which of these jobs were
    repeated before the run was killed nothing says, and the others would stay as they were.

    Parameters
    ----------
    line : sequence of str
        ``sys.argv``.
    environment : mapping
        ``os.environ``; a profile that it names is among the arguments afterwards.

    Returns
    -------
    list of str, or None
        None if the run was not started by Snakemake's command line.

    Examples
    --------
    >>> arguments_of(["snakemake", "quickstart"], {"SNAKEMAKE_PROFILE": "slurm"})
    ['--profile', 'slurm', 'quickstart']
    """
    program = Path(line[0])
    if program.name != "snakemake" and program.parts[-2:] != ("snakemake", "__main__.py"):
        return None
    kept = list(line[1:])
    named = environment.get("SNAKEMAKE_PROFILE")
    if named and not any(word.partition("=")[0] == "--profile" for word in kept):
        kept = ["--profile", named, *kept]
    return kept


def called_in(line: Sequence[str], root: Path, environment: Mapping[str, str]) -> str:
    """Folder of a call that ``--directory`` gives another to run in; "" where that is none.

    Snakemake has left it by now. Without ``--snakefile`` it is that of the Snakefile, else what the
    shell says, if from there the folder of the run is found.

    Parameters
    ----------
    line : sequence of str
        ``sys.argv``.
    root : Path
        Of the Snakefile.
    environment : mapping
        ``os.environ``.
    """
    directory = _value(line, "-d", "--directory")
    if directory is None:
        return ""
    of_call = Path(environment.get("PWD", "") if _value(line, "-s", "--snakefile") else root)
    try:
        return str(of_call.resolve()) if (of_call / directory).samefile(".") else ""
    except OSError:
        return ""


def _value(line: Sequence[str], short: str, long: str) -> str | None:
    """The last value of an option, as ``-d X``, ``-dX``, ``--directory X`` or ``--dir=X``."""
    found = None
    for place, word in enumerate(line[: line.index("--") if "--" in line else None]):
        name, _, value = word.partition("=")
        if word == short or (len(name) > 4 and long.startswith(name)):
            found = value or (line[place + 1] if place + 1 < len(line) else None)
        elif word.startswith(short) and not word.startswith("--"):
            found = word[len(short) :]
    return found


def announce(line: Sequence[str], snakefile: str, called_in: str = "") -> None:
    """Note the command line of a run while its jobs are being planned, which may take long.

    The note goes when the run begins, or when Snakemake ends by itself, as after a dry run. There
    is none where another program than Snakemake's command line reads the rules.

    Parameters
    ----------
    line : sequence of str
        ``sys.argv``.
    snakefile : str
    called_in : str, optional
        Folder of the call, from which paths of the command line count: with ``--directory`` it is
        not that of the run.
    """
    if arguments_of(line, {}) is None:
        return
    path = (STARTING / f"{os.getpid()}.json").absolute()
    note = {"arguments": list(line[1:]), "snakefile": snakefile}
    note |= {"called_in": called_in} if called_in else {}
    with contextlib.suppress(OSError):  # nothing can begin where no note can be written
        _write(path, note)
        atexit.register(_withdraw, path, os.getpid())


def begin(note: Mapping) -> None:
    """Note what a run was asked for, now that it begins; it is the last run from now on."""
    _write(LAST_RUN, note)
    for path in STARTING.glob("*.json"):
        path.unlink(missing_ok=True)


def hosts_of(folder: Path) -> set[str]:
    """Machines of the last run and of those that are being planned, as far as notes can be read."""
    hosts = set()
    for path in [folder / LAST_RUN, *(folder / STARTING).glob("*.json")]:
        with contextlib.suppress(OSError, ValueError, CorruptArtifact):
            hosts.add(str(read_json(path).get("host", "")))
    return hosts - {""}


def read_last_run(folder: Path = Path()) -> dict:
    """The note of the run that was started last.

    Raises
    ------
    FileNotFoundError
        If no run was started in this folder.
    CorruptArtifact
        If the note is damaged.
    ValueError
        If it is no note of a run; the message names it.
    """
    starting = sorted((folder / STARTING).glob("*.json"), key=lambda path: path.stat().st_mtime)
    path = starting[-1] if starting else folder / LAST_RUN
    note = read_json(path)
    for key, kind in _KINDS.items():
        if not isinstance(note.get(key, kind() if isinstance(kind, type) else None), kind):
            raise ValueError(f"{path}: {key!r} is {note[key]!r}")
    for word in [*note.get("targets", []), *(note.get("arguments") or [])]:
        if not isinstance(word, str):
            raise ValueError(f"{path}: {word!r} is neither a target nor an argument")
    return note


def _write(path: Path, note: Mapping) -> None:
    write_json(path, {**note, "host": socket.gethostname()})


def _withdraw(path: Path, process: int) -> None:
    if os.getpid() == process:  # not in a process forked from it
        path.unlink(missing_ok=True)


def n_target_jobs(words: Sequence[str]) -> int:
    """How many jobs a command line of Snakemake names, as that of a job of a cluster does."""
    name = "--target-jobs"
    named = words[words.index(name) + 1 :] if name in words else []
    return sum(1 for _ in itertools.takewhile(lambda word: not word.startswith("-"), named))
