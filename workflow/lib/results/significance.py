"""Tests that compare methods over tasks: Wilcoxon with Holm, Friedman with Nemenyi.

The unit is the task: a method's mean over the trials of a task is one observation. Trials of one
task share their samples, so they are not independent observations of a method.
"""

import dataclasses
import itertools
import math

import numpy as np
import pandas as pd
import scipy.stats

from workflow.lib.results.statistics import DIGITS
from workflow.lib.results.text import count

ALPHA = 0.05
# The one meaning of the word on boards, shifts and findings; `effects.Effect.differs` decides it.
SURELY = (
    f"Surely: p below {100 * ALPHA:g} %, two-sided, after Holm's correction for all that is "
    "compared with the same reference"
)
MIN_TASKS = 3
MIN_METHODS = 3
# The critical difference grows with the number of methods, and whether two of them differ depends
# on which others stand beside them (Benavoli, Corani & Mangili 2016, JMLR 17(5)): with many methods
# it separates hardly any two. `effects` and `tiers` compare those.
MOST_RANKED = 10
# Up to 2^13 sign patterns are enumerated where ties forbid SciPy's exact table.
_MAX_ENUMERATED = 13


@dataclasses.dataclass(frozen=True)
class Comparable:
    """Mean scores (tasks x methods) on which every method is complete, and what was left out."""

    means: pd.DataFrame
    tasks_left_out: tuple[str, ...]
    methods_left_out: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class SignedRank:
    """Wilcoxon's signed-rank test of one method against the reference method."""

    method: str
    better: int
    equal: int
    worse: int
    median_difference: float
    statistic: float | None
    p: float | None
    p_holm: float | None
    how: str


@dataclasses.dataclass(frozen=True)
class Ranks:
    """Friedman's test with Nemenyi's critical difference at 5 %."""

    n_tasks: int
    mean_ranks: pd.Series
    statistic: float
    p: float
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]

    @property
    def is_shown(self) -> bool:
        """Whether the methods are few enough for the critical difference to be shown."""
        return len(self.mean_ranks) <= MOST_RANKED


def comparable(means: pd.DataFrame, widest: bool = False) -> Comparable:
    """Restrict a table of means to tasks on which every compared method is complete.

    A method that is complete on fewer than half of the tasks that have any score is left out
    first; otherwise one method that fails everywhere would leave no task to compare the others on.

    Parameters
    ----------
    means : DataFrame of shape (n_tasks, n_methods)
        NaN where a method is not complete.
    widest : bool, default=False
        Whether methods are left out too that take more from the comparison than they bring, see
        `_widest`. What is missing decides, never a score.
    """
    known = means.notna()
    scored = known[known.any(axis=1)]
    counts = dict(scored.sum())
    keep = [method for method in means if counts[method] > 0 and 2 * counts[method] >= len(scored)]
    if widest:
        keep = _widest(scored[keep])
    common = means[keep].dropna() if keep else means.iloc[:0][keep]
    compared = set(common.index)
    return Comparable(
        means=common,
        tasks_left_out=tuple(task for task in means.index if task not in compared),
        methods_left_out=tuple(method for method in means if method not in keep),
    )


def _widest(complete: pd.DataFrame) -> list[str]:
    """Methods whose common tasks make the most paired comparisons: pairs of methods times tasks.

    From all, those that lack a task are left out together, of the task that gains most, as long as
    that makes the comparisons more. One of many methods does not take a data set from the others;
    one of a few is not given up for it.
    """
    names, known = np.array(list(complete), dtype=object), complete.to_numpy(dtype=bool)
    while True:
        choices = [np.ones(len(names), dtype=bool), *known]
        sizes = [math.comb(int(c.sum()), 2) * int(known[:, c].all(axis=1).sum()) for c in choices]
        best = int(np.argmax(sizes))  # the first among equals: nobody is left out for nothing
        if best == 0:
            return list(names)
        names, known = names[choices[best]], known[:, choices[best]]


def wilcoxon_holm(means: pd.DataFrame, reference: str) -> list[SignedRank] | str:
    """Each method against the reference, two-sided, p corrected by Holm's procedure.

    Returns
    -------
    list of SignedRank, or str
        A sentence that says why there is no test.
    """
    if reference not in means:
        return "There is no test against the first method: it has too few complete tasks itself."
    others = [method for method in means if method != reference]
    if not others:
        return "There is no test: no second method has complete tasks."
    if len(means) < MIN_TASKS:
        return (
            f"There is no test: {count(len(means), 'task')} on which every compared method is "
            f"complete, and {MIN_TASKS} are needed."
        )
    tests = [_signed_rank(method, means[method] - means[reference]) for method in others]
    tested = [test for test in tests if test.p is not None]
    adjusted = holm([test.p for test in tested])
    by_method = {test.method: p for test, p in zip(tested, adjusted, strict=True)}
    return [dataclasses.replace(test, p_holm=by_method.get(test.method)) for test in tests]


def holm(p_values: list[float]) -> list[float]:
    """Holm's step-down adjusted p-values, in the order given."""
    n_tests = len(p_values)
    adjusted, running = [0.0] * n_tests, 0.0
    for rank, position in enumerate(np.argsort(p_values, kind="stable")):
        running = max(running, min(1.0, (n_tests - rank) * p_values[position]))
        adjusted[position] = running
    return adjusted


def _signed_rank(method: str, differences: pd.Series) -> SignedRank:
    values = np.round(differences.to_numpy(), DIGITS)
    nonzero = values[values != 0]
    statistic = p = None
    how = "equal on every task"
    if len(nonzero):
        how, option = _distribution(nonzero)
        # Zero differences carry no sign and are dropped (Wilcoxon's own rule).
        result = scipy.stats.wilcoxon(nonzero, zero_method="wilcox", method=option)
        statistic, p = float(result.statistic), float(result.pvalue)
    return SignedRank(
        method=method,
        better=int((values > 0).sum()),
        equal=int((values == 0).sum()),
        worse=int((values < 0).sum()),
        median_difference=float(np.median(values)),
        statistic=statistic,
        p=p,
        p_holm=None,
        how=how,
    )


def _distribution(nonzero: np.ndarray) -> tuple[str, object]:
    """How the null distribution is computed, in words and as SciPy's ``method``."""
    tied = len(np.unique(np.abs(nonzero))) < len(nonzero)
    if not tied and len(nonzero) <= 50:
        return "exact", "exact"
    if len(nonzero) <= _MAX_ENUMERATED:
        # With at least 2^n resamples SciPy goes through every sign pattern once.
        return "exact, ties", scipy.stats.PermutationMethod(n_resamples=2 ** len(nonzero))
    return "normal approximation", "asymptotic"


def friedman_nemenyi(means: pd.DataFrame) -> Ranks | str:
    """Friedman's test over tasks and Nemenyi's comparison of every two methods.

    Returns
    -------
    Ranks, or str
        A sentence that says why there is no test.
    """
    n_tasks, n_methods = means.shape
    if n_tasks < MIN_TASKS or n_methods < MIN_METHODS:
        return (
            f"There is no ranking test: {count(n_methods, 'method')} complete on "
            f"{count(n_tasks, 'common task')}; {MIN_METHODS} methods and {MIN_TASKS} tasks are "
            "needed."
        )
    values = means.round(DIGITS)
    ranks = values.rank(axis=1, ascending=False)
    if (ranks.nunique(axis=1) == 1).all():
        return "There is no ranking test: all methods are equal on every task."
    statistic, p = scipy.stats.friedmanchisquare(*(values[method] for method in values))
    mean_ranks = ranks.mean().sort_values(kind="stable")
    difference = critical_difference(n_methods, n_tasks)
    return Ranks(
        n_tasks=n_tasks,
        mean_ranks=mean_ranks,
        statistic=float(statistic),
        p=float(p),
        critical_difference=difference,
        groups=_groups(mean_ranks, difference),
    )


def critical_difference(n_methods: int, n_tasks: int) -> float:
    """Nemenyi's critical difference of mean ranks (Demšar 2006, Section 3.2.2)."""
    quantile = scipy.stats.studentized_range.ppf(1 - ALPHA, n_methods, np.inf) / math.sqrt(2)
    return float(quantile * math.sqrt(n_methods * (n_methods + 1) / (6 * n_tasks)))


def _groups(mean_ranks: pd.Series, difference: float) -> tuple[tuple[str, ...], ...]:
    """Maximal runs of neighbouring methods that Nemenyi's test does not tell apart."""
    names, ranks = list(mean_ranks.index), mean_ranks.to_numpy()
    runs = []
    for first, rank in enumerate(ranks):
        last = max(i for i in range(first, len(ranks)) if ranks[i] - rank <= difference)
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return tuple(tuple(names[first : last + 1]) for first, last in runs)


def shared_domains(pairs: list[tuple[str, ...]]) -> bool:
    """Whether two tasks, given as tuples of their domains, have a domain in common."""
    return any(set(one) & set(other) for one, other in itertools.combinations(pairs, 2))
