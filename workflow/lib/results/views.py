"""One experiment with everything that its tables, figures and report are made from."""

import dataclasses
import functools
import itertools
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd

from workflow.lib.config.addresses import PROJECT, resolve_estimator, study_module
from workflow.lib.config.candidates import OWN
from workflow.lib.config.protocol_check import shows_target_labels
from workflow.lib.config.searches import SEARCHED_ON, marked, searched, searched_readings
from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.config.tasks import Task
from workflow.lib.results.records import FAILURES, groups, scores_of
from workflow.lib.results.statistics import highest, mean, standard_deviation, standard_error
from workflow.lib.results.text import count, with_mark

# What tables and figures say of a cell that could not run.
ABSENT = {
    "data_unavailable": "data not available",
    "not_applicable": "not applicable",
    "lost": "lost (never computed)",
}
STATUS_WORDS = {
    "ok": "ok",
    "error": "error",
    "timeout": "out of time",
    "memory": "out of memory",
    "killed": "killed",
    "nonfinite": "NaN or infinity",
    **ABSENT,
}

# Above this many methods, tables and figures give each method a row; so does the figure of
# accuracies above this many tasks.
MANY_METHODS, MANY_TASKS = 20, 40


@dataclasses.dataclass(frozen=True)
class Cell:
    """Scores of one (task, method, classifier, setting) under one measure, as fractions.

    ``seconds`` is the mean over its trials.
    """

    n_asked: int
    n_ok: int
    statuses: Counter
    mean: float | None
    std: float | None
    standard_error: float | None
    error: str
    seconds: float | None = None

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


def summary(trials: pd.DataFrame, scores: Sequence[float]) -> Cell:
    """A cell from the records of its trials and the scores among them."""
    errors = trials.loc[trials["status"] != "ok", "error"].dropna()
    return Cell(
        n_asked=len(trials),
        n_ok=len(scores),
        statuses=Counter(trials["status"]),
        mean=mean(scores),
        std=standard_deviation(scores),
        standard_error=standard_error(scores),
        error=str(errors.iloc[0]) if len(errors) else "",
        seconds=mean(trials["seconds"].dropna().to_numpy(float)),
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
        From `records.collect` or `records.load_results`.
    timing : sequence of dict, optional
        Timing records of all tasks and methods.
    pictured : dict, optional
        ``{method: {"embeddings": [array per domain], "labels": [array per domain],
        "domains": [name per domain]}}`` of the pictured task and trial.
    environment : dict, optional
        Versions, machine, commit of whoever makes the page; nested dictionaries are allowed.
    computed_with, timed_with : sequence of dict, optional
        Versions and processors that records and timings are of, see `storage.computed_with`.
    root : path, optional
        Folder that holds ``config/published``; the project by default.
    sizes : dict, optional
        ``samples`` and ``features`` of domains whose entries do not state them.
    """

    experiment: Experiment
    suite: Suite
    records: pd.DataFrame
    timing: Sequence[dict] = ()
    pictured: dict[str, dict] = dataclasses.field(default_factory=dict)
    environment: dict = dataclasses.field(default_factory=dict)
    computed_with: Sequence[dict] = ()
    timed_with: Sequence[dict] = ()
    root: Path = PROJECT
    sizes: dict[str, dict] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.experiment.name

    @property
    def methods(self) -> tuple[str, ...]:
        return self.experiment.methods

    @property
    def settings(self) -> tuple:
        """Values of the varied quantity; ``(None,)`` where nothing is varied."""
        return self.experiment.settings

    @property
    def n_trials(self) -> int:
        """Trials of a cell of the table."""
        return self.suite.n_trials(self.name)

    @property
    def protocol(self) -> dict:
        return self.suite.protocol(self.name)

    @property
    def shows_target_labels(self) -> bool:
        """Whether methods may be shown the label of some samples of the target."""
        return shows_target_labels(self.protocol)

    @property
    def scores_entire_target(self) -> bool:
        """Whether every row of the target is scored."""
        if self.protocol["kind"] == "full_source":
            return "target_share" not in self.protocol
        drawn = self.protocol["kind"] == "random" and not self.shows_target_labels
        return drawn and self.protocol.get("scored_rows", "all") == "all"

    def task_label(self, task: str | Task) -> str:
        task = self.experiment.task(task) if isinstance(task, str) else task
        return task.label(self.suite.datasets)

    def method_label(self, method: str) -> str:
        """A method's name, with a mark where a setting, or its reading, was found by searching."""
        label = self.suite.methods.get(method, {}).get("label", method)
        found = method in self.methods and marked(self.suite, self.experiment, method)
        return with_mark(label, found)

    @property
    def baselines(self) -> list[str]:
        """The methods that adapt nothing."""
        return [m for m in self.methods if self.suite.is_baseline(m)]

    @property
    def seeks_reference(self) -> bool:
        """Whether the others are compared with the best of the baselines, found by the scores.

        So it is where the list begins with a baseline, which may be the weakest of them: to be
        above that one alone shows nothing.
        """
        return self.methods[0] in self.baselines

    def reference(self, means: pd.DataFrame) -> str:
        """The method that the others are compared with, given accuracies (tasks x methods).

        The best baseline, of equals the first by name, or the first of the experiment file if that
        is none. Where the first is
        not among `means` (it may not apply to these tasks), the first baseline that is.
        """
        first, known = self.methods[0], [m for m in self.baselines if m in means]
        if self.seeks_reference:
            return highest(dict(means[known].mean())) if known else first
        return first if first in means else next(iter(known), first)

    @property
    def papers_baselines(self) -> list[str]:
        """Baselines that the published table has as columns: what the paper compares with."""
        columns = (self.experiment.audit or {}).get("columns", {})
        named = {(entry or {}).get("method") or name for name, entry in columns.items()}
        return [method for method in self.baselines if method in named]

    def searched(self, method: str) -> list[str]:
        """Settings of a method that were found by searching, each with what was tried."""
        found = searched(self.suite, self.name, method)
        if not found:
            return []
        entry = self.suite.method(self.name, method)
        values = resolve_estimator(entry["estimator"])(**entry["params"]).get_params()
        return [f"{name} = {values[name]}: {tried.strip()}" for name, tried in found.items()]

    def searched_here(self, method: str) -> bool:
        """Whether a setting or reading was searched by scores or printed numbers on these data."""
        asked = self.experiment
        if method in asked.found_by_search or method in searched_readings(asked):
            return True
        data = {ref.dataset for task in asked.tasks for ref in task.domains}
        return bool(data & {*SEARCHED_ON}) and marked(self.suite, asked, method)

    def classifier_rows(self, method: str) -> str:
        """Whose labelled rows a classifier trains on: the method's choice, or the protocol's.

        Of aligning methods that are tuned alike, the protocol's.
        """
        if self.experiment.tuning and not self.suite.is_baseline(method):
            return self.protocol["classifier_rows"]
        entry = self.suite.method(self.name, method)
        aligner = resolve_estimator(entry["estimator"])(**entry["params"])
        return aligner.classifier_rows or self.protocol["classifier_rows"]

    @property
    def asks_own(self) -> bool:
        """Whether the experiment asks for each method's own classifier."""
        entries = (self.suite.classifiers.get(name, {}) for name in self.experiment.classifiers)
        return any(entry.get("estimator") == OWN for entry in entries)

    def own_classifier(self, method: str) -> str:
        """Label of the classifier that is a method's own."""
        named = self.suite.methods[method].get("classifier")
        return self.classifier_label(named) if named else "its own"

    def classifier_label(self, classifier: str) -> str:
        return self.suite.label_of_classifier(classifier)

    @property
    def too_many(self) -> str:
        """``43 methods`` or ``110 tasks`` where that is too many to draw one by one; else empty."""
        for number, most, noun in (
            (len(self.methods), MANY_METHODS, "method"),
            (len(self.experiment.tasks), MANY_TASKS, "task"),
        ):
            if number > most:
                return count(number, noun)
        return ""

    @functools.cached_property
    def _groups(self) -> dict[tuple, pd.DataFrame]:
        return dict(groups(self.records))

    def trials(
        self, task: str, method: str, classifier: str, setting: float | None = None
    ) -> pd.DataFrame:
        """Records of one cell of the table, in the order of the trials."""
        return self._groups[task, method, classifier, setting]

    def cell(
        self,
        task: str,
        method: str,
        classifier: str,
        measure: str = "accuracy",
        setting: float | None = None,
    ) -> Cell:
        """Summary of one cell of the table, computed once: tables, figures and the audit ask it."""
        key = task, method, classifier, measure, setting
        if key not in self._cells:
            trials = self.trials(task, method, classifier, setting)
            self._cells[key] = summary(trials, scores_of(trials, measure))
        return self._cells[key]

    @functools.cached_property
    def _cells(self) -> dict[tuple, Cell]:
        return {}

    def timed(self, method: str, what: str = "cpu_seconds") -> list[float]:
        """Median seconds, or most memory, on each timed task; empty unless all have a result."""
        summed = max if what == "added_mb" else statistics.median
        good = [r for r in self.timing if r["method"] == method and r["status"] == "ok"]
        by_task = [
            [record[what] for record in good if record["task"] == task]
            for task in self.experiment.timing["tasks"]
        ]
        return [summed(own) for own in by_task] if all(by_task) else []

    @property
    def is_whole(self) -> bool:
        """Whether every cell has records; those of another configuration may lack some."""
        tasks = [task.name for task in self.experiment.tasks]
        places = (tasks, self.methods, self.experiment.classifiers, self.settings)
        return self._groups.keys() >= {*itertools.product(*places)}

    @functools.cached_property
    def shown(self) -> pd.DataFrame:
        """Records that the tables show: of a tuned experiment those as chosen by its selector."""
        return self.records[self.records["classifier"].isin(self.experiment.classifiers)]

    @functools.cached_property
    def counts(self) -> Counter:
        """Number of shown records by status."""
        return Counter(self.shown["status"])

    @property
    def n_records(self) -> int:
        """Number of shown records."""
        return self.counts.total()

    @property
    def n_failures(self) -> int:
        return sum(self.counts[status] for status in FAILURES)


@dataclasses.dataclass(frozen=True)
class StudyView:
    """What is shown of a study: one computation with figures and tables of its own.

    Parameters
    ----------
    experiment : Experiment
        Its file; ``study`` names the module of ``workflow/studies``.
    suite : Suite
        Datasets, for the domains that it reads.
    records : sequence of dict
        What ``run`` returned; empty if it did not.
    arrays : mapping of str to ndarray
        What ``run`` returned; empty if it did not.
    status : str
        ``"ok"``, or why there is no result, in the words of the records' ``status``.
    error : str
        Message of the failure.
    environment : dict, optional
        Versions, machine, commit of whoever makes the page; nested dictionaries are allowed.
    computed_with : sequence of dict, optional
        Versions and processors that the results are of, see `storage.computed_with`.
    root : path, optional
        The project's folder.
    """

    experiment: Experiment
    suite: Suite
    records: Sequence[dict] = ()
    arrays: Mapping[str, np.ndarray] = dataclasses.field(default_factory=dict)
    status: str = "ok"
    error: str | None = ""
    environment: dict = dataclasses.field(default_factory=dict)
    computed_with: Sequence[dict] = ()
    root: Path = PROJECT

    @property
    def name(self) -> str:
        return self.experiment.name

    @property
    def timed_with(self) -> tuple:
        """Nothing: what a study measures is among its records."""
        return ()

    @property
    def module(self) -> ModuleType:
        return study_module(self.experiment.study["module"])

    @property
    def searched(self) -> list[str]:
        """Settings that were found by searching, of a method or of the data, and what was tried."""
        labels = {name: f"{entry['label']}, " for name, entry in self.suite.methods.items()}
        return [
            f"{labels.get(method, '')}{name} = {self.experiment.study['params'][name]}: "
            f"{tried.strip()}"
            for method, found in self.experiment.found_by_search.items()
            for name, tried in found.items()
        ]

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def failure(self) -> str:
        """Why there is no result, in words, or an empty text."""
        if self.ok:
            return ""
        words = STATUS_WORDS.get(self.status, self.status)
        return f"{words}: {' '.join(self.error.split())}" if self.error else words


def with_dataset(view: ExperimentView) -> pd.DataFrame:
    """Records with the data set of each task's target, as `effects.compare` wants them."""
    names = {task.name: task.target.dataset for task in view.experiment.tasks}
    return view.records.assign(dataset=view.records["task"].map(names))
