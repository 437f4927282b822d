"""Scores against the varied setting: task by task, and averaged over tasks within each trial."""

import dataclasses
import functools
import itertools
from collections.abc import Mapping, Sequence

import pandas as pd

from workflow.lib.results import significance
from workflow.lib.results.effects import Effect, UncomparableError, compare
from workflow.lib.results.statistics import mean, standard_deviation
from workflow.lib.results.views import ABSENT, Cell, ExperimentView, summary, with_dataset

# Lines of a method; "seen" and "new" where some scored rows were left out when it was aligned.
ALL, SEEN, NEW = "accuracy", "accuracy_seen", "accuracy_new"
# What chooses where a criterion is defined for no candidate of any method: the half of it that is
# left where the target has too few labels to hold one out.
IN_ITS_PLACE = {"labelled_accuracy": "source_accuracy"}
PART_WORDS = {ALL: "", SEEN: "seen", NEW: "new"}


@dataclasses.dataclass(frozen=True)
class Point:
    """Scores of a method at one setting; fractions.

    ``n_asked`` is 0 where there is no such score, as every scored row was seen (or none was), or as
    the method has no answer anywhere: ``absent`` then says why, in the words of every table.
    ``scores`` has one number per trial that counts.
    """

    n_asked: int
    n_ok: int
    mean: float | None
    std: float | None
    reason: str = ""
    absent: str = ""
    scores: tuple[float, ...] = ()

    @property
    def complete(self) -> bool:
        return self.n_ok == self.n_asked and self.mean is not None


@dataclasses.dataclass(frozen=True)
class Curves:
    """Curves of one classifier over the tasks that have a score at every compared point.

    Attributes
    ----------
    tasks, tasks_left_out : tuple of str
    points_left_out : tuple of (method, setting)
        With a score on fewer than half of the tasks that have any.
    points : dict
        ``{(method, part, setting): Point}``; a point that is left out has no mean.
    """

    tasks: tuple[str, ...]
    tasks_left_out: tuple[str, ...]
    points_left_out: tuple[tuple[str, float], ...]
    points: dict[tuple[str, str, float], Point]


def parts(view: ExperimentView) -> tuple[str, ...]:
    """Metrics that are drawn: seen and new rows separately where there are both."""
    both = all(view.records[part].notna().any() for part in (SEEN, NEW))
    return (SEEN, NEW) if both else (ALL,)


def part_scores(trials: pd.DataFrame, part: str) -> pd.Series:
    """Scores of the trials that are ok, by trial."""
    good = trials[trials["status"] == "ok"].set_index("trial")
    scores = good[part]
    if part == SEEN:
        # Where no scored row is new, all of them were seen and there is one accuracy.
        scores = scores.where(good[NEW].notna(), scores.fillna(good[ALL]))
    return scores.dropna().astype(float)


def task_cell(
    view: ExperimentView, task: str, method: str, classifier: str, part: str, setting: float
) -> Cell:
    """Summary over the trials of one task."""
    trials = view.trials(task, method, classifier, setting)
    return summary(trials, part_scores(trials, part).to_numpy())


def chosen_at(view: ExperimentView, classifier: str) -> dict[float, str]:
    """By setting, the classifier or way of choosing whose scores stand there.

    It is the one that is asked for, but where that has no score of any method and another stands
    `IN_ITS_PLACE`.
    """
    other, ran = IN_ITS_PLACE.get(classifier), view.records[view.records["status"] == "ok"]
    by, at = ran["classifier"], ran["setting"]
    alone = {*at[by == other]} - {*at[by == classifier]}
    return {setting: other if setting in alone else classifier for setting in view.settings}


def curves(view: ExperimentView, classifier: str) -> Curves:
    """Average the tasks within each trial, then summarise the trials.

    The mean of a trial is over the same tasks at every point, otherwise a curve would rise where
    a hard task drops out; a trial without a score on one of these tasks has no mean.
    """
    places = list(itertools.product(view.methods, view.settings))
    tasks = [task.name for task in view.experiment.tasks]
    chosen = chosen_at(view, classifier)
    scores = functools.partial(_scores, view, chosen)
    means = pd.DataFrame(
        [[mean(scores(task, *place, ALL)) for place in places] for task in tasks],
        index=tasks,
        columns=range(len(places)),
        dtype=float,
    )
    common = significance.comparable(means)
    left_out = tuple(places[number] for number in common.methods_left_out)
    compared = tuple(common.means.index)
    points = {}
    for (method, setting), part in itertools.product(places, parts(view)):
        if not compared:
            point = Point(view.n_trials, 0, None, None, "no task has a score at every point")
        elif (method, setting) in left_out:
            point = _left_out(
                view, [view.trials(task, method, chosen[setting], setting) for task in tasks]
            )
        else:
            point = _point(view, [scores(task, method, setting, part) for task in compared])
        points[method, part, setting] = point
    return Curves(compared, common.tasks_left_out, left_out, points)


def gains(
    view: ExperimentView, classifier: str, baselines: Sequence[str]
) -> dict[float, Effect | None]:
    """Best of the other methods against the best baseline, by setting; None if not comparable.

    The best of those that are surely above it where there are such. Scores are those of
    `chosen_at`. The p of an effect is corrected by Holm for the methods of its setting, not for the
    settings.
    """
    chosen, found = chosen_at(view, classifier), {}
    for setting, rows in with_dataset(view).groupby("setting"):
        rows = rows[rows["classifier"] == chosen[setting]]
        scores = rows.assign(value=rows[ALL].where(rows["status"] == "ok").astype(float))
        try:
            effects = compare(scores, baselines).effects
        except UncomparableError:
            effects = ()
        others = [effect for effect in effects if effect.method not in baselines]
        sure = [effect for effect in others if effect.surely_above]
        found[setting] = max(sure or others, key=lambda effect: effect.effect, default=None)
    return found


def _scores(
    view: ExperimentView,
    chosen: Mapping[float, str],
    task: str,
    method: str,
    setting: float,
    part: str,
) -> pd.Series:
    return part_scores(view.trials(task, method, chosen[setting], setting), part)


def _left_out(view: ExperimentView, by_task: list[pd.DataFrame]) -> Point:
    """Point of a method that applies nowhere, has no data, or is complete on too few tasks."""
    statuses = {status for trials in by_task for status in trials["status"]}
    absent = ABSENT.get(statuses.pop()) if len(statuses) == 1 else None
    if absent:
        return Point(0, 0, None, None, absent=absent)
    return Point(view.n_trials, 0, None, None, "a score on fewer than half of the tasks")


def _point(view: ExperimentView, by_task: list[pd.Series]) -> Point:
    if all(scores.empty for scores in by_task):
        return Point(0, 0, None, None, "no scored row of this kind")
    averages = pd.concat(by_task, axis=1, join="inner").mean(axis=1).to_numpy()
    reason = f"{len(averages)} of {view.n_trials} trials have a score on every compared task"
    return Point(
        n_asked=view.n_trials,
        n_ok=len(averages),
        mean=mean(averages),
        std=standard_deviation(averages),
        reason="" if len(averages) == view.n_trials else reason,
        scores=tuple(averages),
    )
