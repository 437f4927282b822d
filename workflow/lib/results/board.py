"""A board: tuned experiments that show methods the same labels, over several data sets.

Every method was tuned alike, so that what is compared is methods and not their defaults. A method
stands beside the best of the baselines that adapt nothing, tuned in the same way.
"""

import dataclasses
import functools
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from workflow.lib.config.candidates import in_words, numbered
from workflow.lib.config.tasks import bounds_of
from workflow.lib.config.tuning import CANDIDATES_FAILED, FIRST_WITH, REFERENCES
from workflow.lib.results.effects import COLUMNS, Comparison, Effect, compare
from workflow.lib.results.records import FAILURES
from workflow.lib.results.remembered import remembered
from workflow.lib.results.selection import Selection, compare_selectors, selections_by
from workflow.lib.results.statistics import highest
from workflow.lib.results.text import count
from workflow.lib.results.views import ABSENT, ExperimentView, with_dataset

# Fewer degrees of freedom of an error tell hardly anything apart.
FEWEST_DEGREES = 3

_OF_SCORES = [name for name in COLUMNS if name != "value"]


@dataclasses.dataclass(frozen=True)
class Row:
    """One method of a board; scores are fractions, means over data sets of means over tasks.

    Attributes
    ----------
    method : str
    tier, rank : int and float, or None
        None for a method that could not be compared.
    effect : Effect or None
        Gain over the best baseline; None for that baseline itself.
    scores : dict of str to float or None
        Mean of every metric of SHOWN, by name, as chosen; of OF_PROBABILITIES, of the untuned
        embedding with the fixed classifier that has probabilities.
    by_choice : dict of str to float or None
        Mean accuracy by way of choosing.
    by_dataset : dict of str to float or None
        Mean accuracy on each data set, as chosen, over all of its tasks that some method
        completes, compared or not; None unless each has a score in every trial.
    seconds, peak_mb : float or None
        For all candidates of one trial: mean, and largest.
    favourite : str
        The candidate chosen most often, in words, and how often.
    n_short : int
        Trials in which some candidate failed, so that the choice was among fewer.
    why_short : str
        The error of the first candidate that failed in the first of them.
    left_out : str
        Why it could not be compared.
    """

    method: str
    tier: int | None
    rank: float | None
    effect: Effect | None
    scores: dict[str, float | None]
    by_choice: dict[str, float | None]
    by_dataset: dict[str, float | None]
    seconds: float | None
    peak_mb: float | None
    favourite: str
    n_short: int
    why_short: str = ""
    left_out: str = ""

    @property
    def gap(self) -> float | None:
        """What the oracle has more."""
        mine, best = self.scores["accuracy"], self.by_choice["oracle"]
        return None if mine is None or best is None else best - mine


@dataclasses.dataclass(frozen=True, eq=False)
class Board:
    """The experiments of one page.

    Parameters
    ----------
    name, title : str
    chosen_by : str
        Selector whose choices are shown, fixed in ``config/tuning.yaml``.
    views : sequence of ExperimentView
        Tuned experiments of this board, of one suite.
    """

    name: str
    title: str
    chosen_by: str
    views: Sequence[ExperimentView]

    @property
    def suite(self):
        return self.views[0].suite

    @functools.cached_property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(method for view in self.views for method in view.methods))

    @functools.cached_property
    def baselines(self) -> list[str]:
        """Methods that adapt nothing; alignment has to do better than the best of them."""
        return [m for m in self.methods if self.suite.is_baseline(m)]

    def label(self, method: str) -> str:
        """A method's name, marked where one of the experiments has a setting found by searching."""
        labels = [view.method_label(method) for view in self.views if method in view.methods]
        return max(labels, key=len, default=method)

    @functools.cached_property
    def choices(self) -> tuple[str, ...]:
        return self.views[0].experiment.recorded

    @functools.cached_property
    def selectors(self) -> tuple[str, ...]:
        return tuple(name for name in self.choices if name not in REFERENCES)

    @functools.cached_property
    def records(self) -> pd.DataFrame:
        """Records of all experiments, with the data set of each task's target."""
        return pd.concat([with_dataset(view) for view in self.views], ignore_index=True)

    @functools.cached_property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(self.records["dataset"]))

    @functools.cached_property
    def chosen(self) -> pd.DataFrame:
        """Records of the candidates that the board's selector chose."""
        return self.records[self.records["classifier"] == self.chosen_by]

    def absence(self, method: str, dataset: str, task: str | None = None) -> str:
        """Why a method has no mean on a data set or on one of its tasks, in words."""
        mine = self.chosen[(self.chosen["method"] == method) & (self.chosen["dataset"] == dataset)]
        if task is not None:
            mine = mine[mine["task"] == task]
        statuses = Counter(mine["status"])
        if not statuses:
            return "not asked"
        if failed := sum(statuses[status] for status in FAILURES):
            return f"{failed} of {count(statuses.total(), 'trial')} failed"
        return next(
            (words for status, words in ABSENT.items() if statuses[status]),
            "not asked on every task",
        )

    @functools.cached_property
    def _by_choice(self) -> dict[str, pd.DataFrame]:
        return dict(iter(self.records.groupby("classifier", sort=False)))

    @remembered
    def scores(self, choice: str, measure: str = "accuracy") -> pd.DataFrame:
        """Scores in the form of `effects.compare`; NaN where there is none; not to be changed."""
        chosen = self._by_choice.get(choice, self.records.iloc[:0])
        values = chosen[measure].where(chosen["status"] == "ok").astype(float)
        return chosen[_OF_SCORES].assign(value=values)

    @remembered
    def _compared_by_method(self, choice: str) -> dict[str, pd.DataFrame]:
        """Scores of every method on the compared tasks."""
        scores = self.scores(choice)
        places = zip(scores["dataset"], scores["task"], strict=True)
        compared = [place not in self.comparison.tasks_left_out for place in places]
        return dict(iter(scores[compared].groupby("method", sort=False)))

    def compared_scores(self, method: str, choice: str, name: str) -> pd.DataFrame:
        """Scores of one method, as chosen in some way, on the compared tasks, under a name."""
        known = self._compared_by_method(choice)
        return known.get(method, self.scores(choice).iloc[:0]).assign(method=name)

    @property
    def comparison(self) -> Comparison:
        """Every method against the best baseline, as chosen by the board's selector."""
        return self.compared_by(self.chosen_by)

    @remembered
    def compared_by(self, choice: str) -> Comparison:
        """The same, baselines too, as chosen in any way."""
        return compare(self.scores(choice), self.baselines)

    def aligning(self, comparison: Comparison | None = None) -> list[Effect]:
        """Effects of the methods that are no baselines, the best first."""
        effects = (comparison or self.comparison).effects
        return [effect for effect in effects if effect.method not in self.baselines]

    def cautions_of(self, method: str) -> list[str]:
        """What a gain of a method must not be taken for on this board."""
        keys = ["caution", *(["caution_between_features"] if self.differs_in_features else [])]
        entry = self.suite.methods[method]
        return [entry[key] for key in keys if key in entry]

    @functools.cached_property
    def differs_in_features(self) -> bool:
        """Whether some task is between domains of different numbers of features."""
        tasks = (task for view in self.views for task in view.experiment.tasks)
        bounds = (bounds_of(task, self.suite.datasets) for task in tasks)
        return any(b.get("features") != b.get("most_features") for b in bounds)

    def best_on(self, dataset: str) -> set[str]:
        """The best method on a data set, and those that differ from it with p of 5 % and more,
        uncorrected, by the error of `effects.compare`; where that has fewer than
        `FEWEST_DEGREES` of freedom, by which all would be alike, those that are equal to it. Empty
        where there is one alone.
        """
        known = self._all_dataset_means
        means = known.loc[dataset].dropna() if dataset in known.index else []
        if len(means) < 2:
            return set()
        tasks = [task for name, task in self._all_means.index if name == dataset]
        scores = self.scores(self.chosen_by)
        mine = scores[(scores["dataset"] == dataset) & scores["task"].isin(tasks)]
        mine = mine[mine["method"].isin(means.index)]
        best = highest(dict(means))
        found = compare(mine, best)
        return {best} | {
            e.method
            for e in found.effects
            if (e.not_separated if (e.freedom or 0) >= FEWEST_DEGREES else e.effect == 0)
        }

    @functools.cached_property
    def unsuited(self) -> dict[str, Counter[str]]:
        """Methods that apply to no task at all, with the number of tasks by reason."""
        return {
            method: Counter(mine.drop_duplicates(["dataset", "task"])["error"].astype(str))
            for method, mine in self.chosen.groupby("method", sort=False)
            if (mine["status"] == "not_applicable").all()
        }

    def mean(self, method: str, choice: str, measure: str = "accuracy") -> float | None:
        """Mean over data sets, tasks and trials; None unless complete on every compared task."""
        means = self.dataset_means(choice, measure)
        if method not in means:
            return None
        by_dataset = means[method]
        return None if by_dataset.isna().any() else float(by_dataset.mean())

    @remembered
    def dataset_means(self, choice: str, measure: str) -> pd.DataFrame:
        """Means over compared tasks (data sets x methods); not to be changed."""
        return _complete_datasets(self._task_means(choice, measure))

    @remembered
    def _task_means(self, choice: str, measure: str) -> pd.DataFrame:
        """Means over trials ((data set, task) x methods) of the compared tasks."""
        return complete_means(self.scores(choice, measure)).drop(
            index=list(self.comparison.tasks_left_out), errors="ignore"
        )

    @functools.cached_property
    def _all_means(self) -> pd.DataFrame:
        """Means over trials ((data set, task) x methods), of tasks that some method completes."""
        return complete_means(self.scores(self.chosen_by)).dropna(how="all")

    @property
    def tasks(self) -> list[tuple[str, str]]:
        """(data set, task) of every task that some method completes, in the order of the views."""
        known = {*self._all_means.index}
        places = self.records[["dataset", "task"]].drop_duplicates()
        return [place for place in places.itertuples(index=False, name=None) if place in known]

    def task_mean(self, method: str, place: tuple[str, str]) -> float | None:
        """Mean over the trials of a task, as chosen; None unless each has a score."""
        means = self._all_means
        return _or_none(means.at[place, method]) if method in means else None

    def task_label(self, place: tuple[str, str]) -> str:
        """A task and its data set in words."""
        dataset, task = place
        view = next(one for one in self.views if place in _places(one))
        return f"{view.task_label(task)} ({self.suite.label_of_dataset(dataset)})"

    @functools.cached_property
    def _all_dataset_means(self) -> pd.DataFrame:
        """Means over all tasks, compared or not (data sets x methods)."""
        return _complete_datasets(self._all_means)

    @functools.cached_property
    def rows(self) -> list[Row]:
        """Compared methods, the best first; then others, but for those that apply nowhere."""
        found = self.comparison
        compared = [found.reference, *(effect.method for effect in found.effects)]
        effects = {effect.method: effect for effect in found.effects}
        ranks = self._task_means(self.chosen_by, "accuracy")[compared]
        ranks = ranks.round(12).rank(axis=1, ascending=False)
        ranks = ranks.groupby(level="dataset").mean().mean()
        rows = [
            dataclasses.replace(
                self._row(method),
                tier=found.tier(method),
                rank=float(ranks[method]),
                effect=effects.get(method),
            )
            for method in compared
        ]
        rows.sort(key=lambda row: (-row.scores["accuracy"], row.method))
        others = [m for m in self.methods if m not in compared and m not in self.unsuited]
        return rows + [
            dataclasses.replace(self._row(m), left_out=found.methods_left_out.get(m, "no score"))
            for m in others
        ]

    def _row(self, method: str) -> Row:
        mine = self.chosen[self.chosen["method"] == method]
        seconds = mine["seconds"].astype(float)
        short = [words for words in mine["warnings"].dropna() if CANDIDATES_FAILED in words]
        by_dataset = dict(self._all_dataset_means[method])
        return Row(
            method=method,
            tier=None,
            rank=None,
            effect=None,
            scores={name: self.mean(method, self.chosen_by, name) for name in SHOWN}
            | {name: self.mean(method, PROBABILISTIC, name) for name in OF_PROBABILITIES},
            by_choice={choice: self.mean(method, choice) for choice in self.choices},
            by_dataset={name: _or_none(by_dataset.get(name)) for name in self.datasets},
            seconds=_or_none(seconds.mean()),
            peak_mb=_or_none(mine["peak_mb"].astype(float).max()),
            favourite=self._favourite(mine),
            n_short=len(short),
            why_short=next((words.partition(FIRST_WITH)[2] for words in short), ""),
        )

    def _favourite(self, records: pd.DataFrame) -> str:
        """The settings chosen most often, in words, with their share of the trials."""
        known = records.dropna(subset=["candidate"])
        words = Counter(
            self._words(*place)
            for place in known[["experiment", "task", "method", "candidate"]].itertuples(
                index=False, name=None
            )
        )
        if not words:
            return ""
        # Ties by the words, so that nothing depends on the order of the tasks.
        best, times = min(words.items(), key=lambda item: (-item[1], item[0]))
        return f"{best} ({times} of {words.total()} trials)"

    def _words(self, experiment: str, task: str, method: str, candidate: int) -> str:
        return self._candidates(experiment, task, method)[int(candidate)]

    @remembered
    def _candidates(self, experiment: str, task: str, method: str) -> list[str]:
        asked = self.suite.experiments[experiment].task(task)
        drawn = numbered(self.suite.candidates(experiment, method, asked))
        defaults = self.suite.method(experiment, method)["params"]
        return [in_words(alignment, classifier, defaults) for alignment, classifier in drawn]

    @functools.cached_property
    def selection(self) -> Selection:
        return compare_selectors(self.records, self.ways)

    @functools.cached_property
    def selection_over_untuned(self) -> Selection:
        """The same with untuned settings in the oracle's place."""
        return compare_selectors(self.records, self.ways, "default")

    @property
    def ways(self) -> list[str]:
        """Ways of choosing that are compared: by a selector, and what they are measured against."""
        return [*self.selectors, *REFERENCES]

    @remembered
    def selections(self, column: str) -> dict[str, Selection]:
        """The same of each method, or of each data set, by itself and on tasks of its own; among
        the ways of choosing that are defined on the board as a whole.
        """
        defined = [name for name in self.ways if name not in self.selection.undefined]
        return selections_by(column, self.records, defined)


# Metrics of the board's tables, by which they can be sorted: as chosen, and of the probabilities
# of the one fixed classifier that has them.
SHOWN = ("accuracy", "balanced_accuracy", "macro_f1", "worst_class_accuracy")
OF_PROBABILITIES = ("log_loss", "calibration_error")
PROBABILISTIC = "fixed_logistic"


def complete_means(scores: pd.DataFrame) -> pd.DataFrame:
    """Means over trials ((data set, task) x methods); NaN unless every trial has a score."""
    wide = scores.pivot(index=["dataset", "task", "trial"], columns="method", values="value")
    return (
        wide.groupby(level=["dataset", "task"])
        .mean()
        .where(wide.notna().groupby(level=["dataset", "task"]).all())
    )


def _complete_datasets(task_means: pd.DataFrame) -> pd.DataFrame:
    """Means over tasks (data sets x methods); NaN unless every task of the data set has one."""
    groups = task_means.groupby(level="dataset")
    complete = task_means.notna().groupby(level="dataset").all()
    return groups.mean().where(complete)


def _places(view: ExperimentView) -> set[tuple[str, str]]:
    return {(task.target.dataset, task.name) for task in view.experiment.tasks}


def _or_none(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)
