"""Run a block of trials in a supervised worker under limits, so that a failure is a record.

A trial that raises, runs too long, takes too much memory or brings the process down becomes an
`Outcome` with a status; the trials behind it go on in a fresh process. Memory is the resident set
of the worker and its descendants, polled: limits on the address space count the stacks and arenas
that BLAS threads reserve and never touch. What fails outside a method (an input, the scratch disk)
fails the block: a record would blame a trial, and no later run would repeat it.
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
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import psutil

from workflow.lib.execution import forkserver
from workflow.lib.execution.events import EventReader
from workflow.lib.execution.process_tree import descendants, is_alive, kill

POLL_SECONDS = 0.1
START_SECONDS = 300.0
_END_SECONDS = 15.0


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of a trial: wall seconds, resident megabytes, losses in a row, BLAS threads.

    `asked_mb` is what the job's request leaves to a trial in an attempt that is not the last: what
    outgrows it or is killed has no outcome there. 0 in an attempt whose outcomes stand.
    """

    seconds_per_trial: float
    memory_mb: float
    trials_lost_in_a_row: int = 3
    threads: int = 1
    asked_mb: float = 0

    @classmethod
    def of(cls, resources, threads: int = 1) -> "Limits":
        """Limits of a job, from what it was given: unlike parameters, that reruns nothing."""
        return cls(
            resources.seconds_per_trial,
            resources.memory_mb_per_trial,
            resources.trials_lost_in_a_row,
            threads,
            getattr(resources, "asked_mb", 0),
        )

    @property
    def is_guess(self) -> bool:
        """Whether the job has asked for less than its trials may take."""
        return 0 < self.asked_mb < self.memory_mb


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
    """The block cannot be computed, and no trial is to blame: e.g. an input is damaged."""


class Outgrown(BlockFailed):
    """A trial may have failed for the little that the job had asked for; it must be repeated."""

    def __init__(self, trial: int, what: str):
        super().__init__(
            f"trial {trial}: {what}. This attempt may have asked for too little memory; the next "
            "one asks for all that the limits allow, and its outcome is recorded."
        )


def run_block(
    job: str,
    block: dict,
    trials: Sequence[int],
    limits: Limits,
    scratch: Path,
    answered: Collection[int] = (),
) -> Iterator[Outcome]:
    """Yield the outcome of every trial, in order.

    Parameters
    ----------
    job : str
        Module with ``setup(block) -> state`` and ``run_trial(state, trial) -> records, arrays``.
    block : dict
        JSON-able description handed to ``setup``.
    trials : sequence of int
        In rising order.
    limits : Limits
    scratch : Path
        Existing folder; the arrays of trial ``t`` are left in ``t.npz``.
    answered : collection of int
        Other trials of the block, which an earlier attempt has answered: losses on both sides of
        one are not in a row, as they were not in that attempt.

    Raises
    ------
    BlockFailed
        If ``setup`` fails, the scratch folder takes no more, or the worker ends outside a trial.
    Outgrown
        If the attempt is not the last and a trial was killed or took more than was asked for.
    """
    remaining, lost = list(trials), []
    while remaining:
        for outcome in _Worker(job, block, remaining, limits, scratch).outcomes():
            if outcome.status == "killed" and limits.asked_mb:
                raise Outgrown(outcome.trial, outcome.error)
            remaining.remove(outcome.trial)
            lost = _in_a_row(lost, outcome, answered)
            yield outcome
        if len(lost) >= limits.trials_lost_in_a_row:
            status = lost[-1].status
            reason = f"not run: the {len(lost)} trials before it were lost ({status}) in a row"
            yield from (Outcome(trial, status, error=reason) for trial in remaining)
            return


def _in_a_row(
    lost: Sequence[Outcome], outcome: Outcome, answered: Collection[int]
) -> list[Outcome]:
    """The losses that end with this outcome, with no answer between them."""
    if outcome.status not in ("timeout", "memory", "killed"):
        return []
    if lost and any(lost[-1].trial < trial < outcome.trial for trial in answered):
        return [outcome]
    return [*lost, outcome]


class _Worker:
    """One supervised worker, from its start to its end or to the first broken limit."""

    def __init__(self, job, block, trials, limits, scratch):
        self.limits = limits
        self.pending = set(trials)
        self.trial = None
        self.since = time.monotonic()  # the start of the trial at work, or what was last heard
        self.peak_mb = 0.0
        self.family: list[psutil.Process] = []
        self.run = _enclosing_run()
        spec = scratch / "spec.json"
        content = {
            "job": job,
            "block": block,
            "trials": list(trials),
            "scratch": str(scratch),
            "threads": limits.threads,
            "memory_mb": limits.memory_mb,
        }
        try:
            spec.write_text(json.dumps(content), encoding="utf-8")
        except OSError as error:
            raise _unwritten(f"{spec}: {error}") from error
        self.events_end, write_end = os.pipe()
        os.set_blocking(self.events_end, False)
        try:
            self.supervisor = _Supervisor(spec, write_end)
        except BaseException:
            os.close(self.events_end)
            raise
        finally:
            os.close(write_end)

    def outcomes(self) -> Iterator[Outcome]:
        """Outcomes as they come, until no trial is left or one has brought the worker down."""
        try:
            for event in self._events():
                outcome = self._heard(event)
                if outcome is not None:
                    yield outcome
                    if outcome.status not in ("ok", "error") or not self.pending:
                        return
        finally:
            self._end()

    def _heard(self, event: dict) -> Outcome | None:
        """What an event says of a trial, if anything."""
        kind, trial = event["event"], event.get("trial")
        if kind == "start" and self.trial is None and trial in self.pending:
            self.trial, self.since, self.peak_mb = trial, time.monotonic(), 0.0
            self._resident_mb()
        elif kind == "done" and trial == self.trial is not None:
            return self._ended("ok", records=event["records"], **self._cost())
        elif kind == "error" and trial == self.trial is not None:
            cost = {"seconds": event["seconds"], "peak_mb": self.peak_mb}
            return self._ended("error", error=event["error"], **cost)
        elif kind == "refused":
            raise BlockFailed(event["error"])
        elif kind == "unwritten":
            raise _unwritten(event["error"])
        elif kind == "limit":
            return self._ended(event["status"], error=event["error"], **self._cost())
        elif kind == "end":
            if self.trial is None:
                died = _death(event["code"])
                raise BlockFailed(f"the worker ended before its trials did: {died}")
            return self._ended("killed", error=_death(event["code"]), **self._cost())
        return None  # nothing that this worker could say now: a method has written to its pipe

    def _ended(self, status: str, **fields) -> Outcome:
        outcome = Outcome(self.trial, status, **fields)
        self.pending.remove(self.trial)
        self.trial, self.since = None, time.monotonic()
        return outcome

    def _cost(self) -> dict:
        return {"seconds": time.monotonic() - self.since, "peak_mb": self.peak_mb}

    def _events(self) -> Iterator[dict]:
        """Events as they come; a broken limit is one, and the end of the worker is the last."""
        reader = EventReader()
        look = time.monotonic() + POLL_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(self.events_end, selectors.EVENT_READ)
            while True:
                if selector.select(max(0.0, look - time.monotonic())):
                    chunk = os.read(self.events_end, 1 << 16)
                    yield from reader.feed(chunk)
                    if not chunk:  # nobody holds the other end
                        yield {"event": "end", "code": None}
                # Looked at in any case: a method may write to the pipe without end.
                if time.monotonic() >= look:
                    if (broken := self._broken_limit()) is not None:
                        yield broken
                    if self.supervisor.has_ended():
                        yield from self._last_events(reader)
                    look = time.monotonic() + POLL_SECONDS

    def _last_events(self, reader: EventReader) -> Iterator[dict]:
        # Something that the method started may hold the pipe, and even write to it.
        for _ in range(1000):
            try:
                chunk = os.read(self.events_end, 1 << 16)
            except BlockingIOError:
                break
            yield from reader.feed(chunk)
            if not chunk:
                break
        yield {"event": "end", "code": None}

    def _broken_limit(self) -> dict | None:
        if self.run is not None and not is_alive(self.run):
            raise SystemExit("the run that started this job has ended; stopping")
        elapsed = time.monotonic() - self.since
        if self.trial is None:
            if elapsed > START_SECONDS:
                raise BlockFailed(
                    f"the worker has not begun within {START_SECONDS:.0f} s; the machine or its "
                    "disk may be overloaded: run again"
                )
            return None
        if elapsed > self.limits.seconds_per_trial:
            error = f"exceeded the limit of {self.limits.seconds_per_trial:g} s per trial"
            return {"event": "limit", "status": "timeout", "error": error}
        resident = self._resident_mb()
        if resident > self.limits.memory_mb:
            error = f"exceeded the limit of {self.limits.memory_mb:g} MB of resident memory"
            return {"event": "limit", "status": "memory", "error": error}
        if self.limits.is_guess and resident > self.limits.asked_mb:
            asked = f"{self.limits.asked_mb:g} MB that earlier records made its job ask for"
            raise Outgrown(self.trial, f"takes more than the {asked}")
        return None

    def _resident_mb(self) -> float:
        """Resident memory of the worker and its descendants now; the peak is kept."""
        # Where the supervisor has just been killed, what was seen last is what is to be ended.
        self.family = self.supervisor.family() or self.family
        resident = 0.0
        for process in self.supervisor.working(self.family):
            with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
                resident += process.memory_info().rss / 2**20
        self.peak_mb = max(self.peak_mb, resident)
        return resident

    def _end(self) -> None:
        self.supervisor.let_go()
        if not self.supervisor.ends_within(_END_SECONDS):
            self.family = self.supervisor.family() + self.family
            self.supervisor.kill()
        # Where the supervisor was killed there is nobody else to end what it had below it.
        kill(process for process in self.family if is_alive(process))
        os.close(self.events_end)


class _Supervisor:
    """The process that owns the worker's tree: forked by the fork server, or started from here.

    It ends with its tree when we let go, and when we are killed.
    """

    def __init__(self, spec: Path, events: int):
        stdin, self._alive = os.pipe()
        self._started = None
        try:
            self._process = psutil.Process(self._start(spec, stdin, events))
        except psutil.NoSuchProcess:
            self._process = None  # it has ended already; what it told is in the pipe
        except BaseException:
            os.close(self._alive)
            raise
        finally:
            os.close(stdin)

    def _start(self, spec: Path, stdin: int, events: int) -> int:
        try:
            return forkserver.fork_worker(spec, stdin, events)
        except OSError:
            line = [sys.executable, "-m", "workflow.lib.execution.worker", str(spec), str(events)]
            self._started = subprocess.Popen(
                line, stdin=stdin, pass_fds=[events], start_new_session=True
            )
            return self._started.pid

    def family(self) -> list[psutil.Process]:
        """The deputy, the worker and its descendants."""
        return descendants(self._process) if self._process else []

    def working(self, family: list[psutil.Process]) -> Iterator[psutil.Process]:
        """Those of a family that compute: all but the deputy, the supervisor's own child."""
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.ppid() != self._process.pid:
                    yield process

    def has_ended(self) -> bool:
        if self._started is not None:
            return self._started.poll() is not None
        return self._process is None or not is_alive(self._process)

    def ends_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not self.has_ended():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        return True

    def let_go(self) -> None:
        os.close(self._alive)

    def kill(self) -> None:
        kill([self._process])
        self.ends_within(_END_SECONDS)


def _unwritten(what: str) -> BlockFailed:
    return BlockFailed(
        f"{what}. The scratch folder takes no more. Free some space there, or set TMPDIR to "
        "another folder, and run again; no trial has been recorded as failed."
    )


def _death(code: int | None) -> str:
    if code is None:
        return "the process was ended together with its supervisor"
    if code < 0:
        return f"the process was ended by {signal.Signals(-code).name}"
    return f"the process ended with code {code}"


def _enclosing_run() -> psutil.Process | None:
    """The Snakemake process that this job belongs to, if any."""
    for ancestor in psutil.Process().parents():
        if any("snakemake" in part for part in ancestor.cmdline()[:3]):
            return ancestor
    return None
