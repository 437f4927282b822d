"""Descriptive statistics of the scores of a cell: mean, spread and an interval of the mean."""

import math
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

# Digits of a mean of scores; what lies below is rounding of the summation.
DIGITS = 12


def describe(scores: Sequence[float], names: Sequence[str]) -> dict[str, float | None]:
    """The named statistics, None where undefined.

    Parameters
    ----------
    scores : sequence of float
    names : sequence of {"mean", "std", "standard_error", "low", "high"}
    """
    if not len(scores):
        return dict.fromkeys(names)
    found = {
        "mean": mean(scores),
        "std": standard_deviation(scores),
        "standard_error": standard_error(scores),
    }
    if {"low", "high"} & set(names):
        found["low"], found["high"] = mean_interval(scores)
    return {name: found[name] for name in names}


def highest(means: Mapping[Hashable, float]) -> Hashable:
    """Name of the highest mean; of those that rounding alone tells apart the first by name.

    Examples
    --------
    >>> highest({"b": 0.1 + 0.2, "a": 0.3, "c": 0.1})
    'a'
    """
    return max(sorted(means), key=lambda name: round(means[name], DIGITS))


def mean(scores: Sequence[float]) -> float | None:
    """Arithmetic mean; None without scores."""
    return float(np.mean(scores)) if len(scores) else None


def standard_deviation(scores: Sequence[float]) -> float | None:
    """Sample standard deviation (divisor n - 1); None for fewer than two scores."""
    return float(np.std(scores, ddof=1)) if len(scores) > 1 else None


def standard_error(scores: Sequence[float]) -> float | None:
    """Standard error of the mean; None for fewer than two scores."""
    spread = standard_deviation(scores)
    return None if spread is None else spread / len(scores) ** 0.5


def mean_interval(differences: Sequence[float]) -> tuple[float | None, float | None]:
    """95 % interval of a mean by Student's t; None for fewer than three numbers.

    A percentile bootstrap of so few trials would hold the mean too rarely: of 5 normal scores in
    85 % of samples, of 20 in 93 %.
    """
    n = len(differences)
    if n < 3:
        return None, None
    half = float(stdtrit(n - 1, 0.975)) * standard_error(differences)
    centre = mean(differences)
    return centre - half, centre + half


def rank_correlation(
    one: Sequence[float], other: Sequence[float]
) -> tuple[float, float | None, float | None, float | None]:
    """Spearman's correlation with its 95 % interval and the p of no correlation.

    Parameters
    ----------
    one, other : sequence of float
        Of equal length, at least two.

    Returns
    -------
    correlation, low, high, p : float
        The interval by Fisher's transform with the standard error of Bonett & Wright [1]_,
        ``sqrt((1 + r^2 / 2) / (n - 3))``; None for fewer than five pairs and where all agree. The p
        is two-sided and that of the interval; where all agree it is the share of orders that do,
        2 / n! without ties. The correlation is 0 where one side is constant.

    References
    ----------
    .. [1] D. G. Bonett, T. A. Wright. Sample size requirements for estimating Pearson, Kendall and
       Spearman correlations. Psychometrika 65(1), 2000, 23–28.

    Examples
    --------
    >>> rank_correlation([1, 2, 3, 4], [1, 2, 4, 3])
    (0.8, None, None, None)
    """
    from scipy.stats import rankdata  # takes a second, which jobs without ranks would pay for

    ranks = np.array([rankdata(values) for values in (one, other)])
    if (np.ptp(ranks, axis=1) == 0).any():
        return 0.0, None, None, None
    r = round(float(np.corrcoef(ranks)[0, 1]), 12)
    n = len(ranks[0])
    if abs(r) == 1:
        return r, None, None, _share_of_agreeing_orders(ranks[0])
    if n < 5:
        return r, None, None, None
    error = np.sqrt((1 + r**2 / 2) / (n - 3))
    half = ndtri(0.975) * error
    low, high = np.tanh(np.arctanh(r) + np.array([-half, half]))
    return r, float(low), float(high), float(2 * ndtr(-abs(np.arctanh(r)) / error))


def _share_of_agreeing_orders(ranks: np.ndarray) -> float:
    """Of all orders of these ranks, those that are the same or the reverse; ties make more."""
    ties = np.unique(ranks, return_counts=True)[1].tolist()
    alike = math.prod(map(math.factorial, ties))
    ways = 1 + (ties == ties[::-1])  # the reverse has its ties at the other end
    return ways * alike / math.factorial(len(ranks))
