"""Progress on the terminal: trials done of an experiment, or where a long computation is."""

import json
import os
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Protocol

from workflow.lib.execution.bounded import bounded_text
from workflow.lib.execution.guard import Outcome
from workflow.lib.execution.run_note import read_last_run
from workflow.lib.storage.artifacts import CorruptArtifact

_LAST_BYTES = 2**16  # of a log, in which the last line is looked for
_LINE = 200  # characters of it that are shown


class Writer(Protocol):
    """What lines are told to, e.g. the terminal."""

    def write(self, line: str) -> object:
        """Show a line."""


class Progress:
    """Tells on the terminal how far an experiment is: now and then, and at the end.

    Parameters
    ----------
    terminal : Writer
    folder : Path
        ``results/<experiment>``; finished blocks are counted in the headers of their records.
    asked : int
        Trials that the experiment asks for.
    what : str
        The block at work.
    every : float
        Seconds between two lines of one block.
    """

    def __init__(self, terminal: Writer, folder: Path, asked: int, what: str, every: float = 15.0):
        self.terminal, self.folder, self.asked, self.what = terminal, folder, asked, what
        self.every = every
        self.started = self.told = time.monotonic()
        self.statuses: Counter[str] = Counter()

    def tell(self, outcome: Outcome) -> None:
        """Count one trial of the block at work."""
        statuses = {record["status"] for record in outcome.records} or {outcome.status}
        self.statuses[min(statuses, key=lambda status: status == "ok")] += 1
        if time.monotonic() - self.told >= self.every:
            self._print()

    def finish(self) -> None:
        """Tell what became of the block."""
        self._print()

    def _print(self) -> None:
        self.told = time.monotonic()
        done = finished_trials(self.folder) + self.statuses.total()
        counts = ", ".join(f"{count} {status}" for status, count in self.statuses.items())
        seconds = self.told - self.started
        self.terminal.write(
            f"{self.folder.name}: {done} of {self.asked} trials done"
            f" ({self.what}: {counts}; {seconds:.0f} s)\n"
        )


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


def finished_trials(folder: Path) -> int:
    """Trials in the finished blocks of an experiment; those of a damaged file do not count.

    Neither do blocks that the run does not ask for: an earlier one may have left them, with other
    methods or blocks of another size.
    """
    asked = _asked(folder.name)
    return sum(
        _trials_in(path)
        for path in folder.glob("*/*.align.jsonl")
        if asked is None or f"{path.parent.name}/{path.name}" in asked
    )


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


def _trials_in(path: Path) -> int:
    try:
        with open(path, encoding="utf-8") as stream:
            return json.loads(stream.readline())["meta"]["n_trials"]
    except (OSError, ValueError, LookupError, TypeError):
        return 0
