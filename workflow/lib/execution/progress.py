"""Progress on the terminal: trials done of an experiment, or where a long computation is."""

import contextlib
import itertools
import json
import os
import threading
import time
from pathlib import Path
from typing import Protocol

from workflow.lib.execution.bounded import bounded_text
from workflow.lib.execution.guard import Outcome
from workflow.lib.execution.run_note import LAST_RUN, read_last_run
from workflow.lib.storage.artifacts import CorruptArtifact

_LAST_BYTES = 2**16  # of a log, in which the last line is looked for
_LINE = 200  # characters of it that are shown
# Looking at the files of finished blocks may take this share of the time, beyond so many seconds.
_SHARE, _LONG_LOOK = 0.01, 0.1


class Writer(Protocol):
    """What lines are told to, e.g. the terminal."""

    def write(self, line: str) -> object:
        """Show a line."""


class Progress:
    """Tells on the terminal how far an experiment is, now and then, whichever block is at work.

    Parameters
    ----------
    terminal : Writer
    folder : Path
        ``results/<experiment>``; finished blocks are counted in the headers of their records.
    asked : int
        Trials that the experiment asks for.
    every : float
        Seconds between two lines of one experiment.
    """

    def __init__(self, terminal: Writer, folder: Path, asked: int, every: float = 10.0):
        self.terminal, self.folder, self.asked, self.every = terminal, folder, asked, every
        self.begun = at_work_since(folder.name)
        self.n_own = 0

    def tell(self, outcome: Outcome) -> None:
        """Count one trial of the block at work."""
        self.n_own += 1
        if _is_turn(self.folder.name, self.every):
            self._look(at_its_end=False)

    def finish(self) -> None:
        """Tell how far the experiment is, if this block was the last or it is time.

        Its file is there by now: of blocks that end at the same time one sees that of the other.
        """
        self.n_own = 0
        is_turn = _is_turn(self.folder.name, self.every)
        if is_turn or _may_be_last(self.folder):
            self._look(at_its_end=not is_turn)

    def _look(self, at_its_end: bool) -> None:
        started = time.time()
        done, new = (n + self.n_own for n in finished_trials(self.folder, self.begun))
        if (took := time.time() - started) > _LONG_LOOK:
            _rest(self.folder.name, took / _SHARE - self.every)
        if not at_its_end or done >= self.asked:
            self._print(done, new)

    def _print(self, done: int, new: int) -> None:
        line = f"{self.folder.name}: {done:,} of {self.asked:,} trials done"
        if (seconds := time.time() - self.begun) > 1 and new:
            line += f", {rate_text(new / seconds)}"
            if done < self.asked:
                line += f", about {duration(seconds * (self.asked - done) / new)} left"
        self.terminal.write(f"{line}\n")


def rate_text(per_second: float) -> str:
    """``12 per second``, ``4.2 per minute`` or ``1.5 per hour``, in two digits."""
    for seconds, unit in ((1, "second"), (60, "minute")):
        if per_second * seconds >= 1:
            return f"{per_second * seconds:.{int(per_second * seconds < 10)}f} per {unit}"
    return f"{per_second * 3600:.1f} per hour"


def duration(seconds: float) -> str:
    """``40 s``, ``12 min`` or ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def began() -> float:
    """When the run at work began; now, if a job was started by hand."""
    try:
        return LAST_RUN.stat().st_mtime
    except OSError:
        return time.time()


def at_work_since(experiment: str) -> float:
    """When the run at work came to an experiment; of several, the last has waited for the rest."""
    mark = LAST_RUN.with_name(f"began_{experiment}")
    with contextlib.suppress(OSError):  # this is its first job
        if (since := mark.stat().st_mtime) >= began():
            return since
    now = time.time()
    with contextlib.suppress(OSError):  # where nothing can be noted, each job speaks of itself
        mark.touch()
    return now


def _is_turn(experiment: str, every: float) -> bool:
    """Whether no job of this experiment has told anything for a while; if so, this one does."""
    told, last = LAST_RUN.with_name(f"told_{experiment}"), began()
    with contextlib.suppress(OSError):  # nothing has been told so far
        last = max(last, told.stat().st_mtime)
    if time.time() - last < every:
        return False
    with contextlib.suppress(OSError):  # where nothing can be noted, each job tells for itself
        told.touch()
    return True


def _rest(experiment: str, seconds: float) -> None:
    """Put off the next turn: looking at the files of many blocks takes long."""
    until = time.time() + seconds
    with contextlib.suppress(OSError):
        os.utime(LAST_RUN.with_name(f"told_{experiment}"), (until, until))


class Pulse:
    """Tells on the terminal, while the body of a ``with`` runs, how long and what it printed last.

    Parameters
    ----------
    terminal : Writer
    what : str
        The computation at work.
    log : Path
        Where its output goes.
    every : float
        Seconds between two lines.
    """

    def __init__(self, terminal: Writer, what: str, log: Path, every: float = 15.0):
        self.terminal, self.what, self.log, self.every = terminal, what, log, every
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def __enter__(self) -> "Pulse":
        self._thread.start()
        return self

    def __exit__(self, *exception) -> None:
        self._ended.set()
        self._thread.join()

    def _tell(self) -> None:
        started = time.monotonic()
        while not self._ended.wait(self.every):
            last = f" ({line})" if (line := _last_line(self.log)) else ""
            self.terminal.write(
                f"{self.what}: at work for {time.monotonic() - started:.0f} s{last}\n"
            )


def _last_line(log: Path) -> str:
    with open(log, "rb") as stream:
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - _LAST_BYTES))
        lines = stream.read().decode("utf-8", "replace").split("\n")
    return next((bounded_text(line, _LINE) for line in reversed(lines) if line.strip()), "")


def _may_be_last(folder: Path) -> bool:
    """Whether at most one block of an experiment is not there, which may come while files are read.

    Looked for from the end of what is asked for, so that most jobs look at few files. Opening every
    block at the end of every job would grow with the square of their number.
    """
    try:
        asked = read_last_run()["asked"][folder.name]
        files = (
            folder / task / f"{method}.{block}.align.jsonl"
            for task in reversed(asked["tasks"])
            for method in reversed(asked["methods"])
            for block in reversed(asked["blocks"])
        )
        missing = (path for path in files if not path.exists())
        return len(list(itertools.islice(missing, 2))) < 2
    except (OSError, CorruptArtifact, ValueError, LookupError, TypeError):
        return True  # a job that was started by hand


def finished_trials(folder: Path, since: float = 0.0) -> tuple[int, int]:
    """Trials in the finished blocks of an experiment, and in those finished since.

    Those of a damaged file do not count. Neither do blocks that the run does not ask for: an
    earlier one may have left them, with other methods or blocks of another size.
    """
    asked = _asked(folder.name)
    counted = [
        (_trials_in(path), _written(path) >= since)
        for path in folder.glob("*/*.align.jsonl")
        if asked is None or f"{path.parent.name}/{path.name}" in asked
    ]
    return sum(n for n, _ in counted), sum(n for n, is_new in counted if is_new)


def _asked(experiment: str) -> set[str] | None:
    """Files of blocks that the run at work asks for; None if it left no word of it."""
    try:
        asked = read_last_run()["asked"][experiment]
        return {
            f"{task}/{method}.{block}.align.jsonl"
            for task in asked["tasks"]
            for method in asked["methods"]
            for block in asked["blocks"]
        }
    except (OSError, CorruptArtifact, ValueError, LookupError, TypeError):
        return None  # a job that was started by hand


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _trials_in(path: Path) -> int:
    try:
        with open(path, encoding="utf-8") as stream:
            return json.loads(stream.readline())["meta"]["n_trials"]
    except (OSError, ValueError, LookupError, TypeError):
        return 0
