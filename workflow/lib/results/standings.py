"""What became of a method: the one place for means over tasks, ranks and the words of an outcome.

Tables, figures, the answer box and MLflow's runs all show what this module says.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from workflow.lib.results.records import FAILURES, GROUP, groups, scores_of
from workflow.lib.results.significance import Comparable, comparable
from workflow.lib.results.statistics import mean
from workflow.lib.results.views import ABSENT

FINISHED, PARTIAL, FAILED = "finished", "partial", "failed"


@dataclasses.dataclass(frozen=True)
class Standing:
    """One method, with one classifier and at one setting, over the tasks of an experiment.

    Attributes
    ----------
    mean : float or None
        Mean of the task means, a fraction, over the compared tasks: those on which every compared
        method has a score in every trial. None if it is complete on fewer than half of the tasks.
    rank : float or None
        Mean rank over the same tasks; 1 is best, ties share their rank.
    n_tasks : int
        Number of these tasks.
    n_asked, n_ok, n_failed : int
        Records asked for, with a score, and failed; what could not run is in neither.
    """

    mean: float | None
    rank: float | None
    n_tasks: int
    n_asked: int
    n_ok: int
    n_failed: int


def outcome(statuses: Iterable[str]) -> str:
    """One word for the statuses of records.

    ``finished`` if all have a score, ``partial`` if some have; otherwise ``failed`` if a trial ran
    in vain, and the reason (``not applicable``, ``data not available``) if none could run.
    """
    counts = Counter(statuses)
    if counts["ok"]:
        return FINISHED if counts["ok"] == counts.total() else PARTIAL
    if any(counts[status] for status in FAILURES):
        return FAILED
    return ABSENT[counts.most_common(1)[0][0]]


def task_means(
    records: pd.DataFrame, classifier: str, methods: Sequence[str], measure: str = "accuracy"
) -> pd.DataFrame:
    """Mean over trials (tasks x methods); NaN unless every asked-for trial has a score.

    Where a quantity is varied there is a column per method and setting, ``(method, setting)``.

    Parameters
    ----------
    records : DataFrame
        Columns of records.csv.
    classifier : str
    methods : sequence of str
        Columns of the result, in this order.
    measure : str
    """
    chosen = _chosen(records, classifier, measure)
    cells = {
        (task, _place(method, setting)): trials
        for (task, method, _, setting), trials in groups(chosen)
    }
    order = {method: place for place, method in enumerate(methods)}
    known = {place: None for _, place in cells if _method(place) in order}
    places = sorted(known, key=lambda place: order[_method(place)])
    tasks = list(dict.fromkeys(chosen["task"]))
    rows = [[complete_mean(cells[task, place], measure) for place in places] for task in tasks]
    return pd.DataFrame(rows, index=tasks, columns=_labels(places), dtype=float)


def compared(
    records: pd.DataFrame, classifier: str, methods: Sequence[str], measure: str = "accuracy"
) -> Comparable:
    """`task_means` of the methods that can be compared, over the tasks that they share."""
    means = task_means(records, classifier, methods, measure)
    places = list(means)
    # Columns are numbered in between: pandas takes a tuple for several labels.
    found = comparable(means.set_axis(range(len(places)), axis=1))
    kept = _labels([places[number] for number in found.means])
    return Comparable(
        means=found.means.set_axis(kept, axis=1),
        tasks_left_out=found.tasks_left_out,
        methods_left_out=tuple(places[number] for number in found.methods_left_out),
    )


def complete_mean(trials: pd.DataFrame, measure: str) -> float | None:
    """Mean over the trials of a cell; None unless every asked-for trial has a score.

    A mean over the trials that happened to succeed may leave out the hard ones.
    """
    scores = scores_of(trials, measure)
    return mean(scores) if len(scores) == len(trials) else None


def standings(
    records: pd.DataFrame, classifier: str, methods: Sequence[str], measure: str = "accuracy"
) -> dict[str | tuple[str, float], Standing]:
    """Standing of every method, or of every ``(method, setting)`` where a quantity is varied."""
    found = compared(records, classifier, methods, measure)
    ranks = found.means.round(12).rank(axis=1, ascending=False).mean()
    chosen = _chosen(records, classifier)
    statuses: dict[str | tuple[str, float], list[str]] = {}
    for (_, method, _, setting), trials in groups(chosen):
        statuses.setdefault(_place(method, setting), []).extend(trials["status"])
    averages = dict(zip(found.means, found.means.mean().to_numpy(), strict=True))
    mean_ranks = dict(zip(found.means, np.asarray(ranks), strict=True))
    empty = found.means.empty
    return {
        place: Standing(
            mean=None if empty or place not in averages else float(averages[place]),
            rank=None if empty or place not in averages else float(mean_ranks[place]),
            n_tasks=len(found.means),
            n_asked=len(words),
            n_ok=words.count("ok"),
            n_failed=sum(words.count(status) for status in FAILURES),
        )
        for place, words in statuses.items()
    }


def _chosen(records: pd.DataFrame, classifier: str, *columns: str) -> pd.DataFrame:
    """Records of a classifier; of their columns what is asked for, as groups copy every one."""
    return records.loc[records["classifier"] == classifier, [*GROUP, "status", *columns]]


def _place(method: str, setting: float | None) -> str | tuple[str, float]:
    return method if setting is None else (method, setting)


def _method(place: str | tuple[str, float]) -> str:
    return place if isinstance(place, str) else place[0]


def _labels(places: Sequence) -> pd.Index:
    return pd.Index(places, tupleize_cols=False, dtype=object)
