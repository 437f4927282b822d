"""Equivalence of two means: two one-sided t tests, with Welch's degrees of freedom."""

import dataclasses
import math
from collections.abc import Sequence

import scipy.stats


@dataclasses.dataclass(frozen=True)
class Error:
    """Standard error of an estimate, and the degrees of freedom that it was estimated with."""

    standard_error: float
    freedom: float


def total(errors: Sequence[Error]) -> Error:
    """Error of a sum or difference of independent estimates (Welch–Satterthwaite)."""
    variance = math.fsum(error.standard_error**2 for error in errors)
    spread = math.fsum(error.standard_error**4 / error.freedom for error in errors)
    freedom = variance**2 / spread if spread else min(error.freedom for error in errors)
    return Error(math.sqrt(variance), freedom)


def average(errors: Sequence[Error]) -> Error:
    """Error of the mean of independent estimates."""
    whole = total(errors)
    return Error(whole.standard_error / len(errors), whole.freedom)


def of_sample(values: Sequence[float]) -> Error | None:
    """Error of the mean of a sample; none of a single value."""
    if len(values) < 2:
        return None
    return Error(float(scipy.stats.sem(values)), len(values) - 1)


def tost(difference: float, error: Error, margin: float) -> float:
    """Two one-sided t tests of a difference (Schuirmann 1987).

    Parameters
    ----------
    difference : float
    error : Error
        Of the difference.
    margin : float
        Differences below it, of either sign, count as equivalent.

    Returns
    -------
    float
        The larger p of the tests of ``difference <= -margin`` and ``difference >= margin``; where
        nothing spreads, 0 or 1 as the difference itself says.
    """
    room = margin - abs(difference)
    if error.standard_error == 0:
        return 0.0 if room > 0 else 1.0
    return float(scipy.stats.t.sf(room / error.standard_error, error.freedom))
