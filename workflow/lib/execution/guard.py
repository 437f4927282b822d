"""Run a block of trials in a child process under limits, so that a failure is a record.

A trial that raises, runs too long, takes too much memory or brings the process down becomes an
`Outcome` with a status; the trials behind it go on in a fresh process. Memory is the resident set
of the child and its descendants, polled: limits on the address space count the stacks and arenas
that BLAS threads reserve and never touch.
"""

import contextlib
import dataclasses
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from workflow.lib.execution import forkserver

POLL_SECONDS = 0.1
START_SECONDS = 300.0


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of one trial: wall seconds, resident megabytes, and losses before giving up."""

    seconds_per_trial: float
    memory_mb: float
    trials_lost_in_a_row: int = 3

    @classmethod
    def of(cls, resources) -> "Limits":
        """Limits of a job, from its resources: unlike parameters, they rerun nothing."""
        return cls(
            resources.seconds_per_trial,
            resources.memory_mb_per_trial,
            resources.trials_lost_in_a_row,
        )


@dataclasses.dataclass
class Outcome:
    """What became of one trial: ``ok`` with records, or another status with an error."""

    trial: int
    status: str
    records: list[dict] = dataclasses.field(default_factory=list)
    error: str | None = None
    seconds: float | None = None
    peak_mb: float | None = None


class BlockFailed(RuntimeError):
    """The block could not even be started, e.g. because an input is damaged."""


def run_block(
    job: str, block: dict, trials: Sequence[int], limits: Limits, scratch: Path
) -> Iterator[Outcome]:
    """Yield the outcome of every trial, in order.

    Parameters
    ----------
    job : str
        Module with ``setup(block) -> state`` and ``run_trial(state, trial) -> records, arrays``.
    block : dict
        JSON-able description handed to ``setup``.
    trials : sequence of int
    limits : Limits
    scratch : Path
        Existing folder; the arrays of trial ``t`` are left in ``t.npz``.

    Raises
    ------
    BlockFailed
        If ``setup`` fails or the child ends outside a trial: no trial is to blame.
    """
    remaining, lost = list(trials), []
    while remaining:
        for outcome in _Child(job, block, remaining, limits, scratch).outcomes():
            remaining.remove(outcome.trial)
            lost = [*lost, outcome] if outcome.status in ("timeout", "memory", "killed") else []
            yield outcome
        if len(lost) >= limits.trials_lost_in_a_row:
            status = lost[-1].status
            reason = f"not run: the {len(lost)} trials before it were lost ({status}) in a row"
            yield from (Outcome(trial, status, error=reason) for trial in remaining)
            return


class _Child:
    """One child process, from its start to its end or to the first trial that breaks a limit."""

    def __init__(self, job, block, trials, limits, scratch):
        self.limits = limits
        self.pending = set(trials)
        self.trial = None
        self.started = time.monotonic()
        self.peak_mb = 0.0
        self.buffer = b""
        self.read_end, write_end = os.pipe()
        spec = scratch / "spec.json"
        content = {"job": job, "block": block, "trials": list(trials)}
        spec.write_text(json.dumps(content | {"scratch": str(scratch)}), encoding="utf-8")
        self.process = _launch(spec, write_end)
        os.close(write_end)
        self.run = _enclosing_run()

    def outcomes(self) -> Iterator[Outcome]:
        try:
            for event in self._events():
                kind = event.pop("event")
                if kind == "start":
                    self.trial, self.started, self.peak_mb = event["trial"], time.monotonic(), 0.0
                    self._resident_mb()
                elif kind == "limit":
                    yield Outcome(self.trial, event["status"], **self._cost(), error=event["error"])
                    return
                elif kind == "refused":
                    raise BlockFailed(event["error"])
                elif kind == "error":
                    yield self._ended(Outcome(status="error", peak_mb=self.peak_mb, **event))
                else:
                    yield self._ended(Outcome(status="ok", **event, **self._cost()))
            if self.trial is not None:
                yield Outcome(self.trial, "killed", **self._cost(), error=self._death())
            elif self.pending:
                raise BlockFailed(f"it ended before its trials did: {self._death()}")
        finally:
            self._kill()

    def _ended(self, outcome: Outcome) -> Outcome:
        self.trial = None
        self.pending.remove(outcome.trial)
        return outcome

    def _cost(self) -> dict:
        return {"seconds": time.monotonic() - self.started, "peak_mb": self.peak_mb}

    def _death(self) -> str:
        code = self.process.returncode
        if code is not None and code < 0:
            return f"the process was ended by {signal.Signals(-code).name}"
        return f"the process ended with code {code}"

    def _events(self) -> Iterator[dict]:
        """Events as they come; a broken limit is one; the end of the child ends them."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.read_end, selectors.EVENT_READ)
            while True:
                if selector.select(POLL_SECONDS):
                    chunk = os.read(self.read_end, 1 << 16)
                    if not chunk:
                        self.process.wait()
                        return
                    *lines, self.buffer = (self.buffer + chunk).split(b"\n")
                    yield from map(json.loads, lines)
                elif (broken := self._broken_limit()) is not None:
                    yield broken

    def _broken_limit(self) -> dict | None:
        if self.run is not None and _has_ended(self.run):
            raise SystemExit("the run that started this job has ended; stopping")
        elapsed = time.monotonic() - self.started
        if self.trial is None:
            if elapsed > START_SECONDS:
                raise BlockFailed(f"the child did not start within {START_SECONDS:.0f} s")
            return None
        if elapsed > self.limits.seconds_per_trial:
            error = f"exceeded the limit of {self.limits.seconds_per_trial:g} s per trial"
            return {"event": "limit", "status": "timeout", "error": error}
        if self._resident_mb() > self.limits.memory_mb:
            error = f"exceeded the limit of {self.limits.memory_mb:g} MB of resident memory"
            return {"event": "limit", "status": "memory", "error": error}
        return None

    def _resident_mb(self) -> float:
        """Resident memory of the child and its descendants now; the peak is kept."""
        try:
            child = psutil.Process(self.process.pid)
            family = [child, *child.children(recursive=True)]
            resident = sum(process.memory_info().rss for process in family) / 2**20
        except psutil.NoSuchProcess:
            return 0.0
        self.peak_mb = max(self.peak_mb, resident)
        return resident

    def _kill(self) -> None:
        # It may have ended, with nothing of its process group left.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.close()
        os.close(self.read_end)


class _Process(subprocess.Popen):
    """A child of our own, where there is no fork server."""

    def __init__(self, spec: Path, events: int):
        super().__init__(
            [sys.executable, "-m", "workflow.lib.execution.worker", str(spec), str(events)],
            stdin=subprocess.PIPE,
            pass_fds=[events],
            start_new_session=True,
        )

    def close(self) -> None:
        self.stdin.close()


def _launch(spec: Path, events: int) -> forkserver.Child | _Process:
    try:
        return forkserver.Child(spec, events)
    except OSError:
        return _Process(spec, events)


def _enclosing_run() -> psutil.Process | None:
    """The Snakemake process that this job belongs to, if any."""
    for ancestor in psutil.Process().parents():
        if any("snakemake" in part for part in ancestor.cmdline()[:3]):
            return ancestor
    return None


def _has_ended(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
