"""What a run took: start, end, jobs, memory and failures, from the files that it left."""

import csv
import dataclasses
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from workflow.lib.config.suite import Suite
from workflow.lib.results.computed import computed_of_suite
from workflow.lib.results.environment import commit_then
from workflow.lib.results.tally import tally
from workflow.lib.storage.peak_memory import PEAK_MEMORY, read_peak

# A pause of so many seconds between two jobs ends a sitting; planning the next jobs takes less.
PAUSE = 600
# Snakemake's notes on the files that it made, and this project's on the run (`execution.run_note`).
_NOTES = ".snakemake/metadata"
_LAST_RUN = ".snakemake/last_run.json"
_MOST_TARGETS = 3


@dataclasses.dataclass(frozen=True)
class RunLog:
    """One run; seconds since the epoch, megabytes of the largest trial.

    Of a run in several sittings (`make resume`, or one target after another) the command is the
    last, the times are those of all: ``start`` and ``end`` with the pauses between them,
    ``busy_seconds`` those in which some job ran. ``cores`` is None where a scheduler gave them.
    ``commit`` is that which the folder of the run had, see `environment.commit_then`; empty where
    that is not known. ``computed_with`` holds the versions and processors of all results, see
    `storage.computed_with`. ``peak_at_once_mb`` bounds what the trials of all jobs held at one
    time: it takes each job at its peak for as long as it ran. ``peak_in_all_mb`` is what Snakemake
    and all processes under it held, studies and reports too; None where it was not looked at.
    """

    command: str
    start: float
    end: float
    cores: int | None
    jobs: int
    job_seconds: float
    peak_mb: float
    peak_at_once_mb: float
    records: int
    failed: int
    peak_in_all_mb: float | None = None
    busy_seconds: float | None = None
    sittings: int = 1
    commit: str = ""
    computed_with: tuple[dict[str, str], ...] = ()


def read_run_log(suite: Suite, results: Path) -> RunLog:
    """Log of the run that made ``results``, with the folder ``.snakemake`` beside it.

    Raises
    ------
    FileNotFoundError
        If Snakemake left no note there.
    """
    jobs = _jobs(results.parent / _NOTES)
    if not jobs:
        raise FileNotFoundError(f"{results.parent / _NOTES}: no note of a job; run something first")
    asked = json.loads((results.parent / _LAST_RUN).read_text("utf-8"))
    tallies = [tally(one, results / one.name) for one in suite.experiments.values()]
    tallies = [one for one in tallies if one]
    sittings = joined(jobs.values(), PAUSE)
    start, end = sittings[0][0], sittings[-1][1]
    return RunLog(
        command=" ".join(["snakemake", *_cores(asked["cores"]), *_shown(asked["targets"])]),
        start=start,
        end=end,
        cores=asked["cores"],
        jobs=len(jobs),
        job_seconds=sum(end - start for start, end in jobs.values()),
        peak_mb=max(map(_peak_mb, results.glob("*/summary.csv")), default=0.0),
        peak_at_once_mb=_peak_at_once(jobs, _peaks(jobs, results)),
        records=sum(one.n_asked for one in tallies),
        failed=sum(one.n_failed for one in tallies),
        peak_in_all_mb=read_peak(results.parent / PEAK_MEMORY),
        busy_seconds=sum(end - start for start, end in joined(jobs.values())),
        sittings=len(sittings),
        commit=commit_then(results.parent, start, end),
        computed_with=tuple(computed_of_suite(suite, results)),
    )


def joined(spans: Iterable[tuple[float, float]], pause: float = 0.0) -> list[tuple[float, float]]:
    """The union of intervals in time, as those that are more than a pause apart.

    Examples
    --------
    >>> joined([(5, 6), (0, 2), (1, 3)])
    [(0, 3), (5, 6)]
    >>> joined([(5, 6), (0, 2), (1, 3)], pause=2)
    [(0, 6)]
    """
    found: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if found and start - found[-1][1] <= pause:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def _cores(asked: int | None) -> list[str]:
    return [] if asked is None else ["--cores", str(asked)]


def _shown(targets: Sequence[str]) -> Sequence[str]:
    """Targets of a command, the first of many."""
    if len(targets) <= _MOST_TARGETS:
        return targets
    return [*targets[:_MOST_TARGETS], f"... ({len(targets)} targets)"]


def _jobs(folder: Path) -> dict[tuple, tuple[float, float]]:
    """Start and end of every job; each of its files has a note of its own.

    A file that the job makes no more has a note of the last time when it did, which is left out.
    """
    spans: dict[tuple, list[tuple[float, float]]] = {}
    for path in folder.glob("*"):
        note = json.loads(path.read_text("utf-8"))
        if note.get("starttime") and note.get("endtime"):
            job = (note["rule"], *note["log"])
            spans.setdefault(job, []).append((note["starttime"], note["endtime"]))
    jobs = {}
    for job, own in spans.items():
        last = max(start for start, _ in own)
        same = [(start, end) for start, end in own if end >= last]
        jobs[job] = min(start for start, _ in same), max(end for _, end in same)
    return jobs


def _peak_mb(summary: Path) -> float:
    with open(summary, newline="", encoding="utf-8") as stream:
        peaks = [float(row["peak_mb"]) for row in csv.DictReader(stream) if row["peak_mb"]]
    return max(peaks, default=0.0)


def _peaks(jobs: Mapping, results: Path) -> dict[tuple, float]:
    """Most memory of the trials of each job that aligned a block, where its records have it."""
    found = {}
    for job in jobs:
        if job[0] != "align":
            continue
        # The log lies as the records do: experiment, task, method and block.
        place = Path(*Path(job[1]).parts[-3:]).with_suffix(".align.jsonl")
        if (results / place).is_file():
            found[job] = _peak_of_records(results / place)
    return found


def _peak_of_records(path: Path) -> float:
    # Unchecked, as the other files here: `read_records` refuses those of a folder that was renamed.
    _, *lines = path.read_text("utf-8").splitlines()
    return max((json.loads(line).get("peak_mb") or 0.0 for line in lines), default=0.0)


def _peak_at_once(jobs: Mapping, peaks: Mapping[tuple, float]) -> float:
    """Largest sum of peaks over jobs that ran at the same time."""
    changes = []
    for job, peak in peaks.items():
        start, end = jobs[job]
        changes += [(start, peak), (end, -peak)]
    # Sorted, at the same moment what ends does so before the next begins.
    return max(itertools.accumulate(change for _, change in sorted(changes)), default=0.0)
