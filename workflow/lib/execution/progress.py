"""Progress on the terminal: trials done of an experiment, or where a long computation is."""

import json
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TextIO

from workflow.lib.execution.guard import Outcome


class Progress:
    """Tells on the terminal how far an experiment is: now and then, and at the end.

    Parameters
    ----------
    terminal : TextIO
    folder : Path
        ``results/<experiment>``; finished blocks are counted in the headers of their records.
    asked : int
        Trials that the experiment asks for.
    what : str
        The block at work.
    every : float
        Seconds between two lines of one block.
    """

    def __init__(self, terminal: TextIO, folder: Path, asked: int, what: str, every: float = 15.0):
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
    terminal : TextIO
    what : str
        The computation at work.
    log : Path
        Where its output goes.
    every : float
        Seconds between two lines.
    """

    def __init__(self, terminal: TextIO, what: str, log: Path, every: float = 15.0):
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
            lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n")
            last = next((f" ({line})" for line in reversed(lines) if line.strip()), "")
            self.terminal.write(
                f"{self.what}: at work for {time.monotonic() - started:.0f} s{last}\n"
            )


def finished_trials(folder: Path) -> int:
    """Trials in the finished blocks of an experiment; those of a damaged file do not count."""
    return sum(map(_trials_in, folder.glob("*/*.align.jsonl")))


def _trials_in(path: Path) -> int:
    try:
        with open(path, encoding="utf-8") as stream:
            return json.loads(stream.readline())["meta"]["n_trials"]
    except (OSError, ValueError, LookupError, TypeError):
        return 0
