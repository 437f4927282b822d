"""One experiment with everything that its tables, figures and report are made from."""

import dataclasses
import functools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from workflow.lib.collect import FAILURES, mean, scores_of, standard_deviation, standard_error
from workflow.lib.config import Experiment, Suite, Task

PROJECT = Path(__file__).resolve().parents[2]

# Words of a cell without an answer, in every table and figure.
ABSENT = {"data_unavailable": "data not available", "not_applicable": "not applicable"}
STATUS_WORDS = {
    "ok": "ok",
    "error": "error",
    "timeout": "out of time",
    "memory": "out of memory",
    "killed": "killed",
    "nonfinite": "NaN or infinity",
    **ABSENT,
}

MEASURE_WORDS = {
    "accuracy": "accuracy on the scored target rows",
    "accuracy_entire_target": "accuracy on the entire target",
    "balanced_accuracy": "balanced accuracy on the scored target rows",
}


@dataclasses.dataclass(frozen=True)
class Cell:
    """Scores of one (task, method, classifier) under one measure, as fractions."""

    n_asked: int
    n_ok: int
    statuses: Counter
    mean: float | None
    std: float | None
    standard_error: float | None
    error: str

    @property
    def complete(self) -> bool:
        return self.n_ok == self.n_asked and self.mean is not None

    @property
    def absent(self) -> str | None:
        """Why nothing could run ("data not available"), or None."""
        return next((ABSENT[s] for s in ABSENT if self.statuses[s] == self.n_asked), None)

    @property
    def failures(self) -> str:
        """Failed trials in words, e.g. ``2 out of time, 1 error``."""
        return ", ".join(
            f"{count} {STATUS_WORDS[status]}"
            for status, count in sorted(self.statuses.items())
            if status != "ok"
        )


@dataclasses.dataclass(frozen=True)
class ExperimentView:
    """What is shown of one experiment.

    Parameters
    ----------
    experiment : Experiment
        The experiment file.
    suite : Suite
        Datasets, protocols, methods and classifiers that it names.
    records : pandas.DataFrame
        From `collect.collect` or `collect.load_results`.
    timing : sequence of dict, optional
        Timing records of all tasks and methods.
    pictured : dict, optional
        ``{method: {"embeddings": [array per domain], "labels": [array per domain],
        "domains": [name per domain]}}`` of the pictured task and trial.
    environment : dict, optional
        Versions, machine, commit; nested dictionaries are allowed.
    root : path, optional
        Folder that holds ``config/published``; the project by default.
    """

    experiment: Experiment
    suite: Suite
    records: pd.DataFrame
    timing: Sequence[dict] = ()
    pictured: dict[str, dict] = dataclasses.field(default_factory=dict)
    environment: dict = dataclasses.field(default_factory=dict)
    root: Path = PROJECT

    @property
    def name(self) -> str:
        return self.experiment.name

    @property
    def methods(self) -> tuple[str, ...]:
        return self.experiment.methods

    @property
    def n_trials(self) -> int:
        return self.suite.n_trials(self.name)

    @property
    def protocol(self) -> dict:
        return self.suite.protocol(self.name)

    def task_label(self, task: str | Task) -> str:
        task = self.experiment.task(task) if isinstance(task, str) else task
        return task.label(self.suite.datasets)

    def method_label(self, method: str) -> str:
        return self.suite.methods.get(method, {}).get("label", method)

    def classifier_label(self, classifier: str) -> str:
        return self.suite.classifiers.get(classifier, {}).get("label", classifier)

    @functools.cached_property
    def _groups(self) -> dict[tuple, pd.DataFrame]:
        keys = ["task", "method", "classifier"]
        return dict(iter(self.records.groupby(keys, sort=False)))

    def trials(self, task: str, method: str, classifier: str) -> pd.DataFrame:
        """Records of one cell of the table, in the order of the trials."""
        return self._groups[task, method, classifier]

    def cell(self, task: str, method: str, classifier: str, measure: str = "accuracy") -> Cell:
        """Summary of one cell of the table."""
        trials = self.trials(task, method, classifier)
        scores = scores_of(trials, measure)
        errors = trials.loc[trials["status"] != "ok", "error"].dropna()
        return Cell(
            n_asked=len(trials),
            n_ok=len(scores),
            statuses=Counter(trials["status"]),
            mean=mean(scores),
            std=standard_deviation(scores),
            standard_error=standard_error(scores),
            error=str(errors.iloc[0]) if len(errors) else "",
        )

    @functools.cached_property
    def counts(self) -> Counter:
        """Number of records by status."""
        return Counter(self.records["status"])

    @property
    def n_failures(self) -> int:
        return sum(self.counts[status] for status in FAILURES)


def percent(fraction: float | None, digits: int = 1) -> str:
    """``0.3341`` as ``33.4``; an empty text for None."""
    return "" if fraction is None else f"{100 * fraction:.{digits}f}"


def signed(points: float | None, digits: int = 1) -> str:
    """``+0.4`` or ``−1.2`` with a true minus sign; zero has no sign."""
    if points is None:
        return ""
    text = f"{abs(points):.{digits}f}"
    if float(text) == 0:
        return text
    return ("+" if points > 0 else "−") + text


def count(number: int, noun: str) -> str:
    """``1 task``, ``12 tasks``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}es" if noun.endswith("s") else f"{number:,} {noun}s"


def listed(words: Sequence[str], conjunction: str = "and") -> str:
    """``a, b and c``."""
    words = list(words)
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"
