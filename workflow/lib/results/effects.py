"""Methods against a reference method over tasks of several data sets: effects, errors, tiers.

The estimate of a method is the mean over data sets of the mean over tasks of the mean over trials
of its difference to the reference, trial by trial. `domain_jackknife` says what its error means.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import scipy.special
import scipy.stats

from workflow.lib.results.domain_jackknife import (
    Errors,
    TaskDomains,
    errors_of_dataset,
    mean_over_datasets,
)
from workflow.lib.results.power import POWER, detectable_difference
from workflow.lib.results.significance import ALPHA, SURELY, comparable, holm
from workflow.lib.results.statistics import highest
from workflow.lib.results.text import count, listed, percent
from workflow.lib.results.tiers import RULE as TIER_RULE
from workflow.lib.results.tiers import one_sided_p, tiers

COLUMNS = ("dataset", "source", "target", "task", "trial", "method", "value")
# Between the sources of a task in the column `source`.
AND = "+"
# Differences and errors below this are rounding of the summation.
ROUNDING = 1e-12
_TASK = ["dataset", "task"]

RULE = (
    "Effect: mean over the data sets of the mean over their tasks of the mean over the trials of "
    "the difference to the reference, trial by trial, on tasks where every compared method has a "
    "score in every trial. Its error is a jackknife over the domains of each data set (a "
    "domain in other features is the same domain), for tasks "
    "with a domain in common are not independent; it speaks of other domains and trials of these "
    "data sets (of a data set of two domains, of its tasks), not of other data sets, nor of other "
    "draws of candidates. Data sets are "
    "taken for independent, also where they are other features of the same images. Intervals: "
    f"{100 * (1 - ALPHA):g} %, Student's t, for each method by itself; p two-sided, corrected by "
    f"Holm for the number of methods. Found in {100 * POWER:g} % of repetitions: the true "
    f"difference that such an experiment would find so often at {100 * ALPHA:g} % divided by the "
    "number of methods, as Holm asks of the smallest p. Effect size: effect over the standard "
    "deviation of the task means, corrected for few tasks (Hedges). Harm: tasks on which the "
    "method is below the reference by more than the standard error of the mean difference over "
    "the trials. The reference and the best method are picked by these very scores: gains of all "
    "are rather too small for that, the gain of the best rather too large, so that “surely below” "
    "is said rather too often"
)


class UncomparableError(ValueError):
    """The scores do not allow the comparison; the message says why."""


@dataclasses.dataclass(frozen=True)
class Effect:
    """One method against the reference; in the units of the scores, positive is better.

    Attributes
    ----------
    method : str
    effect : float
        See `RULE`.
    standard_error, freedom : float or None
        Of the effect, and its degrees of freedom; None where nothing varies that could tell.
    low, high : float or None
        95 % interval.
    p, p_holm : float or None
    detectable : float or None
        See `power.detectable_difference`.
    standardised : float or None
        Hedges' g over tasks; None for fewer than three and where they do not differ.
    n_harmed, n_judged : int
        Tasks that are harmed, and tasks with more than one trial, where that can be said.
    """

    method: str
    effect: float
    standard_error: float | None
    freedom: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    detectable: float | None
    standardised: float | None
    n_harmed: int
    n_judged: int

    @property
    def differs(self) -> bool:
        """Whether it surely differs from the reference, as `significance.SURELY` says."""
        return self.p_holm is not None and self.p_holm < ALPHA

    @property
    def surely_above(self) -> bool:
        return self.differs and self.effect > 0

    @property
    def surely_below(self) -> bool:
        return self.differs and self.effect < 0

    @property
    def not_separated(self) -> bool:
        """Whether p, uncorrected, is 5 % and more; without an error, whether it is equal."""
        return self.effect == 0 if self.p is None else self.p >= ALPHA

    @property
    def harm(self) -> float | None:
        """Share of the judged tasks that are harmed."""
        return self.n_harmed / self.n_judged if self.n_judged else None


@dataclasses.dataclass(frozen=True)
class Comparison:
    """All methods against one.

    Attributes
    ----------
    reference : str
    effects : tuple of Effect
        Of the other methods, the largest first, ties by name.
    tiers : tuple of tuple of str
        Best first, the reference among them; see `tiers.RULE`.
    by_dataset : DataFrame
        Effects (methods x data sets), in the order of `effects`.
    n_tasks : int
        Compared tasks.
    harmed_by_chance : float or None
        Share of the judged tasks that a method equal to the reference harms; None without such.
    tasks_left_out : dict of (str, str) to tuple of str
        ``(dataset, task)`` to the compared methods that lack a score in some of its trials.
    methods_left_out : dict of str to str
        Method to the reason.
    """

    reference: str
    effects: tuple[Effect, ...]
    tiers: tuple[tuple[str, ...], ...]
    by_dataset: pd.DataFrame
    n_tasks: int
    harmed_by_chance: float | None
    tasks_left_out: dict[tuple[str, str], tuple[str, ...]]
    methods_left_out: dict[str, str]

    def tier(self, method: str) -> int:
        """Number of a method's tier, the best is 1."""
        return next(place for place, tier in enumerate(self.tiers, 1) if method in tier)

    @property
    def rules(self) -> tuple[str, str, str]:
        """What the numbers, the word "surely" and the tiers mean, to be printed beside them."""
        rule = RULE
        if self.harmed_by_chance is not None:
            rule += (
                ". A method that is equal to the reference harms by chance on "
                f"{percent(self.harmed_by_chance)} % of the tasks"
            )
        return rule, SURELY, TIER_RULE.format(alpha=100 * ALPHA, sure=100 * (1 - ALPHA))


@dataclasses.dataclass(frozen=True)
class _Scores:
    """Complete scores: rows (dataset, task, trial), columns methods in alphabetical order."""

    table: pd.DataFrame
    domains: dict[tuple[str, str], TaskDomains]
    tasks_left_out: dict[tuple[str, str], tuple[str, ...]]
    methods_left_out: dict[str, str]

    def trials(self, matrix: np.ndarray) -> dict[str, list[np.ndarray]]:
        """Rows of a matrix by data set, an array for each of its tasks."""
        found: dict[str, list[np.ndarray]] = {}
        for dataset, rows in self._places:
            found.setdefault(dataset, []).append(matrix[rows])
        return found

    @functools.cached_property
    def _places(self) -> list[tuple[str, np.ndarray]]:
        """Data set and rows of each task."""
        places = self.table.groupby(level=_TASK, sort=True).indices
        return [(dataset, rows) for (dataset, _), rows in sorted(places.items())]


def compare(
    scores: pd.DataFrame, reference: str | Sequence[str], tiered: bool = True
) -> Comparison:
    """Compare every method with a reference method.

    Parameters
    ----------
    scores : DataFrame
        Columns `COLUMNS`, a row for each (dataset, task, trial, method); others are ignored.
        ``source`` holds several sources as ``"A+D"``; a missing row is a ``value`` of NaN. A task
        is compared where every compared method has a finite value in each of its trials; a method
        that is complete on fewer than half of the tasks is left out first, then those without
        which pairs of methods times tasks are more (`significance.comparable`).
    reference : str or sequence of str
        The method, or several of which the reference is the best by the mean over data sets, tasks
        and trials; ties by name.
    tiered : bool, default=True
        Whether to group methods into tiers, which compares every two of them.

    Returns
    -------
    Comparison
        The same, to the last digit, for any order of the rows. Cost: O(n_methods^2 n_tasks^2), in
        n_methods where no tiers are asked for.

    Raises
    ------
    UncomparableError
        If the reference or every other method has too few complete tasks, or no task is left.
    ValueError
        If a column is missing, a cell stands twice, or a task has two sources or targets.
    """
    complete = _complete(scores)
    if not isinstance(reference, str):
        reference = _best(complete, reference)
    names = list(complete.table)
    if reference not in names:
        raise UncomparableError(
            f"{reference}: the reference has too few complete tasks itself "
            f"({complete.methods_left_out.get(reference, 'no score')})"
        )
    others = [name for name in names if name != reference]
    if not others:
        raise UncomparableError("no second method has complete tasks")
    values = complete.table.to_numpy()
    gains = values[:, [names.index(name) for name in others]]
    by_dataset = complete.trials(gains - values[:, [names.index(reference)]])
    effects = _effects(others, by_dataset, complete)
    order = [found.method for found in effects]
    means = {
        dataset: np.mean([trials.mean(axis=0) for trials in tasks], axis=0)
        for dataset, tasks in by_dataset.items()
    }
    return Comparison(
        reference=reference,
        effects=effects,
        tiers=_tiers(complete, names) if tiered else (),
        by_dataset=pd.DataFrame(means, index=others).loc[order],
        n_tasks=sum(map(len, by_dataset.values())),
        harmed_by_chance=_harmed_by_chance(by_dataset),
        tasks_left_out=complete.tasks_left_out,
        methods_left_out=complete.methods_left_out,
    )


def _best(complete: _Scores, names: Sequence[str]) -> str:
    known = sorted(set(names) & set(complete.table))
    if not known:
        raise UncomparableError(f"none of {listed(sorted(names))} has enough complete tasks")
    means = _mean(complete.trials(complete.table[known].to_numpy()))
    return highest(dict(zip(known, means, strict=True)))


def _mean(by_dataset: Mapping[str, Sequence[np.ndarray]]) -> np.ndarray:
    """Mean over data sets of the mean over tasks of the mean over trials, column by column."""
    datasets = [
        np.mean([trials.mean(axis=0) for trials in tasks], axis=0) for tasks in by_dataset.values()
    ]
    return np.mean(datasets, axis=0)


def _complete(scores: pd.DataFrame) -> _Scores:
    missing = [name for name in COLUMNS if name not in scores]
    if missing:
        raise ValueError(f"scores: no column {listed(missing)}; needed are {', '.join(COLUMNS)}")
    wide = _wide(scores).astype(float).sort_index(axis=0).sort_index(axis=1)
    known = wide.notna() & np.isfinite(wide)
    tasks = wide.groupby(level=_TASK, sort=True)
    task_means = tasks.mean().where(known.groupby(level=_TASK, sort=True).all())
    found = comparable(task_means, widest=True)
    if found.means.empty:
        raise UncomparableError("there is no task on which every compared method is complete")
    kept = list(found.means)
    rows = wide.index.droplevel("trial").isin(found.means.index)
    counts, n_tasks = task_means.notna().sum(), len(task_means.dropna(how="all"))
    return _Scores(
        table=wide.loc[rows, kept],
        domains=_domains(scores),
        tasks_left_out={
            task: tuple(method for method in kept if np.isnan(task_means.loc[task, method]))
            for task in found.tasks_left_out
        },
        methods_left_out={
            method: f"complete on {counts[method]} of {count(n_tasks, 'task')}"
            for method in found.methods_left_out
        },
    )


def _wide(scores: pd.DataFrame) -> pd.DataFrame:
    """Values ((dataset, task, trial) x methods)."""
    rows = [*_TASK, "trial"]
    try:
        return scores.pivot(index=rows, columns="method", values="value")
    except ValueError:
        keys = [*rows, "method"]
        twice = scores.loc[scores.duplicated(keys), keys]
        if twice.empty:
            raise
        raise ValueError(f"scores: {tuple(twice.iloc[0])} stands twice") from None


def _domains(scores: pd.DataFrame) -> dict[tuple[str, str], TaskDomains]:
    found = {}
    named = scores[[*_TASK, "source", "target"]].drop_duplicates()
    for dataset, task, source, target in named.itertuples(index=False, name=None):
        if (dataset, task) in found:
            raise ValueError(f"scores: task {task!r} of {dataset!r} has two sources or targets")
        found[dataset, task] = TaskDomains(tuple(source.split(AND)), target)
    return found


def _errors(complete: _Scores, by_dataset: Mapping[str, list[np.ndarray]]) -> dict[str, Errors]:
    tasks: dict[str, list[TaskDomains]] = {}
    for dataset, task in complete.table.index.droplevel("trial").unique():
        tasks.setdefault(dataset, []).append(complete.domains[dataset, task])
    return {
        dataset: errors_of_dataset(tasks[dataset], differences)
        for dataset, differences in by_dataset.items()
    }


def _equal_everywhere(by_dataset: Mapping[str, list[np.ndarray]]) -> np.ndarray:
    """Whether there is no difference in any trial, column by column; a mean of 0 may be of some."""
    differences = np.concatenate([trials for tasks in by_dataset.values() for trials in tasks])
    return np.abs(differences).max(axis=0) < ROUNDING


def _standard_errors(total: Errors) -> np.ndarray:
    """NaN where nothing spreads: scores are multiples of 1 / n, and may agree by chance."""
    errors = np.sqrt(total.variance)
    return np.where(errors < ROUNDING, np.nan, errors)


def _effects(
    names: Sequence[str], by_dataset: Mapping[str, list[np.ndarray]], complete: _Scores
) -> tuple[Effect, ...]:
    total = mean_over_datasets(list(_errors(complete, by_dataset).values()))
    means = _mean(by_dataset)
    means = np.where(np.abs(means) < ROUNDING, 0.0, means)
    equal = _equal_everywhere(by_dataset)
    errors = np.where(equal, 0.0, _standard_errors(total))
    n_tests = int(np.isfinite(errors).sum())
    rows = zip(means, errors, total.freedom, strict=True)
    tests = [_tested(*map(float, row), n_tests) for row in rows]
    known = [test["p"] for test in tests if test["p"] is not None]
    adjusted = iter(holm(known))
    sizes = _standardised(by_dataset)
    harms = _harms(by_dataset)
    effects = [
        Effect(
            method=name,
            effect=float(means[place]),
            **test,
            p_holm=None if test["p"] is None else next(adjusted),
            standardised=None if np.isnan(sizes[place]) else float(sizes[place]),
            n_harmed=int(harms[0][place]),
            n_judged=harms[1],
        )
        for place, (name, test) in enumerate(zip(names, tests, strict=True))
    ]
    effects.sort(key=lambda found: (-found.effect, found.method))
    return tuple(effects)


def _tested(effect: float, error: float, freedom: float, n_tests: int) -> dict[str, float | None]:
    if np.isnan(error):
        names = ("standard_error", "freedom", "low", "high", "p", "detectable")
        return dict.fromkeys(names)
    half = float(scipy.special.stdtrit(freedom, 1 - ALPHA / 2)) * error
    p = min(1.0, 2 * one_sided_p(abs(effect), error, freedom)) if effect else 1.0
    return {
        "standard_error": error,
        "freedom": freedom,
        "low": effect - half,
        "high": effect + half,
        "p": p,
        "detectable": float(detectable_difference(error, freedom, n_tests)),
    }


def _standardised(by_dataset: Mapping[str, list[np.ndarray]]) -> np.ndarray:
    """Hedges' g of each column over the tasks, data sets weighing alike; NaN where undefined."""
    means = np.stack([trials.mean(axis=0) for tasks in by_dataset.values() for trials in tasks])
    weights = np.concatenate([np.full(len(t), 1 / len(t)) for t in by_dataset.values()])
    weights /= len(by_dataset)
    lost = float((weights**2).sum())  # 1 / n for n tasks of equal weight
    if len(weights) < 3:  # with one degree of freedom the correction is 0
        return np.full(means.shape[1], np.nan)
    centre = weights @ means
    deviation = np.sqrt(weights @ (means - centre) ** 2 / (1 - lost))
    known = deviation > ROUNDING
    size = np.where(known, centre / np.where(known, deviation, 1.0), np.nan)
    return size * (1 - 3 / (4 * (1 / lost - 1) - 1))


def _harms(by_dataset: Mapping[str, list[np.ndarray]]) -> tuple[np.ndarray, int]:
    """Of each column, tasks below 0 by more than the standard error; number of tasks judged."""
    judged = _judged(by_dataset)
    harmed = np.zeros(next(iter(by_dataset.values()))[0].shape[1], dtype=int)
    for trials in judged:
        error = trials.std(axis=0, ddof=1) / np.sqrt(len(trials))
        # One trial that differs makes mean and error equal: not more, whatever rounding says.
        harmed += trials.mean(axis=0) + error < -ROUNDING
    return harmed, len(judged)


def _judged(by_dataset: Mapping[str, list[np.ndarray]]) -> list[np.ndarray]:
    return [trials for tasks in by_dataset.values() for trials in tasks if len(trials) > 1]


def _harmed_by_chance(by_dataset: Mapping[str, list[np.ndarray]]) -> float | None:
    """Mean probability that Student's t of a task's trials is below -1."""
    freedom = [len(trials) - 1 for trials in _judged(by_dataset)]
    return float(scipy.stats.t.cdf(-1, freedom).mean()) if freedom else None


def _tiers(complete: _Scores, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    values = complete.table[list(names)].to_numpy()
    one, other = np.triu_indices(len(names), 1)
    differences = complete.trials(values[:, one] - values[:, other])
    total = mean_over_datasets(list(_errors(complete, differences).values()))
    errors, places = _standard_errors(total), {name: place for place, name in enumerate(names)}
    number = np.zeros((len(names), len(names)), dtype=int)
    number[one, other] = number[other, one] = np.arange(len(one))

    def error_of(first: str, second: str) -> tuple[float, float]:
        pair = number[places[first], places[second]]
        return float(errors[pair]), float(total.freedom[pair])

    return tiers(names, _mean(complete.trials(values)).tolist(), error_of, ALPHA)
