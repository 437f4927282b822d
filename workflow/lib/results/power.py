"""The difference that a t test finds with a stated probability."""

import functools

import numpy as np
import scipy.optimize
import scipy.stats

from workflow.lib.results.significance import ALPHA

POWER = 0.8


def detectable_difference(
    standard_error: float | np.ndarray, freedom: float | np.ndarray, n_tests: int = 1
) -> float | np.ndarray:
    """True difference that a two-sided t test at `ALPHA` finds with probability `POWER`.

    Parameters
    ----------
    standard_error, freedom : float or ndarray
        Of the estimate, and the degrees of freedom that it was estimated with.
    n_tests : int, default=1
        Tests among which the level is divided: Holm's correction asks that of the smallest p, and
        less of the next, so a single difference of this size is found at least so often.

    References
    ----------
    .. [1] H. S. Bloom. Minimum detectable effects. Evaluation Review 19(5), 1995, 547–556.

    Examples
    --------
    >>> round(float(detectable_difference(1.0, 11)), 2)
    3.08
    """
    return np.vectorize(_noncentrality)(freedom, ALPHA / max(n_tests, 1)) * standard_error


def interval_of_detectable(difference: float, freedom: float) -> tuple[float | None, float | None]:
    """95 % interval of a detectable difference of accuracies, as of the error that it is a multiple
    of: by chi-squared with the degrees of freedom of that error. No difference is above 1; None
    where the detectable one would be.
    """
    if difference >= 1:
        return None, None
    tails = scipy.stats.chi2.ppf([1 - ALPHA / 2, ALPHA / 2], freedom)
    low, high = difference * np.sqrt(freedom / tails)
    return float(low), min(float(high), 1.0)


@functools.cache
def _noncentrality(freedom: float, level: float) -> float:
    """Of the t that is beyond its two-sided critical value with probability `POWER`."""
    critical = scipy.stats.t.ppf(1 - level / 2, freedom)

    def lacking(shift: float) -> float:
        # The other tail is below 1e-3 wherever this one is near POWER.
        return scipy.stats.nct.sf(critical, freedom, shift) - POWER

    return float(scipy.optimize.brentq(lacking, 0.0, 4.0 * critical))
