"""Tiers of methods: who cannot be told from the best, who from the best of the rest, and so on."""

from collections.abc import Callable, Sequence

import scipy.special

# Gains below this are rounding of the summation.
_ROUNDING = 1e-12

RULE = (
    "Tier 1 holds every method that no other method beats: a method is beaten if the p of a "
    "one-sided paired t test of some other method against it is below {alpha:g} % divided by the "
    "number of other methods (Bonferroni). So the method that is truly best is in tier 1 in about "
    "{sure:g} % of experiments like this one or more. Tier 2 is found in the same way among the "
    "methods that are left, and so on. Within a tier the order is that of the means and may be "
    "chance; a method whose differences scatter more may share a tier with better ones"
)


def tiers(
    names: Sequence[str],
    scores: Sequence[float],
    errors: Callable[[str, str], tuple[float, float]],
    alpha: float,
) -> tuple[tuple[str, ...], ...]:
    """Group methods into tiers by the rule of `RULE`.

    A subset that holds the best with a stated probability (Hsu 1984 [1]_), taken off again and
    again. The answer depends on no order of the methods.

    Parameters
    ----------
    names : sequence of str
        Different names.
    scores : sequence of float
        One for each name; higher is better.
    errors : callable
        ``(one, other) -> (standard error of their difference, degrees of freedom)``; NaN or 0 where
        nothing tells it: such a pair is not told apart.
    alpha : float
        Level of a tier, e.g. 0.05.

    Returns
    -------
    tuple of tuple of str
        Best first; within a tier by score, then by name.

    References
    ----------
    .. [1] J. C. Hsu. Constrained simultaneous confidence intervals for multiple comparisons with
       the best. Annals of Statistics 12, 1984, 1136–1144.

    Examples
    --------
    >>> tiers(["a", "b", "c"], [0.7, 0.5, 0.69], lambda one, other: (0.02, 10), 0.05)
    (('a', 'c'), ('b',))
    """
    score = dict(zip(names, scores, strict=True))
    rest = sorted(score, key=lambda name: (-score[name], name))
    p = {(one, other): _p(one, other, score, errors) for one in rest for other in rest}
    found = []
    while rest:
        level = alpha / max(len(rest) - 1, 1)
        # The first is never beaten: a lower score has no p below one half.
        tier = [name for name in rest if not any(p[other, name] < level for other in rest)]
        found.append(tuple(tier))
        rest = [name for name in rest if name not in tier]
    return tuple(found)


def _p(one: str, other: str, score: dict, errors: Callable) -> float:
    """One-sided p of `one` being better than `other`; 1 unless its score is higher."""
    gain = score[one] - score[other]
    if gain < _ROUNDING:
        return 1.0
    error, freedom = errors(one, other)
    return one_sided_p(gain, error, freedom)


def one_sided_p(gain: float, error: float, freedom: float) -> float:
    """Upper tail of Student's t at ``gain / error``, gain > 0; 1 where no error is known."""
    if not error > 0:  # NaN, too
        return 1.0
    # `scipy.stats.t.sf` is this behind checks that take a quarter of a comparison with tiers.
    return float(scipy.special.stdtr(freedom, -gain / error))
