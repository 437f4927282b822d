"""What the records of an earlier run say of the cost of a task's trials, method by method.

A cluster's first attempt asks for so much, where it would else ask for all that the limits allow.
It is a guess: data and settings may have changed since. So it is made of answers alone.
"""

import dataclasses
import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from workflow.lib.config.tuning import CANDIDATES_FAILED
from workflow.lib.storage.artifacts import CorruptArtifact, read_records

# Times what was measured: no two runs are alike, and the last classifier is not in the peak.
SPARE = 2
# What imports and classifiers take beside a small fit.
LEAST_MB = 500


@dataclasses.dataclass(frozen=True)
class Measured:
    """The largest cost of a trial: resident megabytes, seconds of its settings together."""

    peak_mb: float
    seconds: float


def guessed_mb(found: Measured) -> int:
    """Megabytes that trials may be expected to stay below."""
    return int(max(LEAST_MB, SPARE * found.peak_mb))


def guessed_minutes(found: Measured, n_trials: int) -> int:
    """Minutes that so many trials may be expected to stay below."""
    return int(SPARE * n_trials * found.seconds / 60) + 1


@functools.cache
def measured(records: str) -> dict[str, Measured]:
    """Cost of the methods of a task in a file of records, of those that answered every time.

    Read once: until a run ends, all its jobs ask by the same records.
    """
    try:
        rows, _ = read_records(records)
    except (OSError, CorruptArtifact):
        return {}
    methods: dict[str, list[dict]] = {}
    for row in rows:
        methods.setdefault(row["method"], []).append(row)
    return {name: _cost(own) for name, own in methods.items() if all(map(_is_answer, own))}


def _is_answer(row: Mapping) -> bool:
    complete = CANDIDATES_FAILED not in str(row["warnings"])
    return row["status"] == "ok" and complete and None not in (row["peak_mb"], row["seconds"])


def _cost(rows: Sequence[Mapping]) -> Measured:
    fits = {
        # All classifiers of a fit say its seconds.
        (row["trial"], row["setting"]): row["seconds"] + (row["seconds_prepare"] or 0.0)
        for row in rows
    }
    trials: Counter[int] = Counter()
    for (trial, _), seconds in fits.items():
        trials[trial] += seconds
    for row in rows:
        trials[row["trial"]] += row["seconds_classify"] or 0.0
    return Measured(max(row["peak_mb"] for row in rows), max(trials.values()))


def kept_folder(task: Path | str, method: str, block: str) -> Path:
    """Folder of what an unfinished block keeps, below that of its task."""
    return Path(task) / "kept" / f"{method}.{block}"


def outgrown(kept: Path | str) -> Path:
    """A mark among what is kept of a block: it took more than it had asked for."""
    return Path(kept) / "outgrown"
