"""What became of an experiment: how many records were asked for, scored and failed.

Read from the small files beside the records, so that a run can tell it when it ends.
"""

import csv
import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from workflow.lib.config.suite import Experiment
from workflow.lib.results.records import FAILURES, STATUSES
from workflow.lib.storage.artifacts import read_records

# Columns of which one has a number where some label of the target is known.
_MEANS = ("accuracy_mean", "accuracy_partial_mean")


@dataclasses.dataclass(frozen=True)
class Tally:
    """Records of one experiment by status; those of a study are one, its computation.

    Without any known label of the target, answers are predicted and none is scored.
    """

    experiment: str
    statuses: Counter
    is_study: bool = False
    is_scored: bool = True

    @property
    def n_asked(self) -> int:
        return self.statuses.total()

    @property
    def n_scored(self) -> int:
        return self.statuses["ok"]

    @property
    def n_failed(self) -> int:
        return sum(self.statuses[status] for status in FAILURES)

    @property
    def words(self) -> str:
        """``1,220 of 1,720 scored, 20 failed``; what did not happen is left out."""
        if self.is_study and self.n_scored:
            return "one computation"
        counts = {
            "failed": self.n_failed,
            "without data": self.statuses["data_unavailable"],
            "not applicable": self.statuses["not_applicable"],
            "lost": self.statuses["lost"],
        }
        rest = [f"{number:,} {word}" for word, number in counts.items() if number]
        done = "scored" if self.is_scored else "predicted"
        return ", ".join([f"{self.n_scored:,} of {self.n_asked:,} {done}", *rest])


def tally(experiment: Experiment, folder: Path) -> Tally | None:
    """Tally of an experiment from ``results/<experiment>``; None if it has not run.

    Raises
    ------
    CorruptArtifact
        If the file of a study is damaged.
    """
    if experiment.study:
        path = folder / "study.jsonl"
        if not path.is_file():
            return None
        return Tally(experiment.name, Counter([read_records(path)[1]["status"]]), is_study=True)
    path = folder / "summary.csv"
    if not path.is_file():
        return None
    rows = _rows(path, experiment.classifiers)
    # A table of an earlier version lacks the columns of later statuses.
    counts = {status: sum(int(row.get(f"n_{status}", 0)) for row in rows) for status in STATUSES}
    is_scored = not counts["ok"] or any(row.get(mean) for row in rows for mean in _MEANS)
    return Tally(experiment.name, Counter(counts), is_scored=is_scored)


def _rows(path: Path, classifiers: Sequence[str]) -> list[dict]:
    with open(path, encoding="utf-8", newline="") as stream:
        return [row for row in csv.DictReader(stream) if row["classifier"] in classifiers]
