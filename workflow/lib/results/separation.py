"""Which methods the scores do not separate from the best one: one rule for all bold print."""

from collections.abc import Mapping, Sequence

import numpy as np
import scipy.stats

from workflow.lib.results.significance import ALPHA
from workflow.lib.results.statistics import DIGITS

_TEST = "a paired t test (two-sided, 5 %, uncorrected)"
RULE = f"Bold: the highest mean, and every mean that {_TEST} does not separate from it"
# Of one trial, and of the average of its tasks.
HIGHEST = "Bold: the highest, which one trial cannot test"
HIGHEST_AVERAGE = f"in the average also every mean that {_TEST} does not separate from it"
# Differences below this are rounding of the summation.
_ROUNDING = 10.0**-DIGITS


def not_separated(scores: Mapping[str, Sequence[float]]) -> set[str]:
    """Names whose paired scores do not differ significantly from those of the highest mean, of
    several equal ones from those of any.

    Parameters
    ----------
    scores : mapping of str to sequence of float
        Of equal length and in the same order: one per trial of a task, or one per task.

    Returns
    -------
    set of str
        Empty if there are fewer than two names: there is nothing to be best among.
    """
    if len(scores) < 2:
        return set()
    arrays = {name: np.asarray(values, dtype=float) for name, values in scores.items()}
    means = {name: round(float(values.mean()), DIGITS) for name, values in arrays.items()}
    most = max(means.values())
    best = [values for name, values in arrays.items() if means[name] == most]
    return {
        name
        for name, values in arrays.items()
        if any(not _differs(highest - values) for highest in best)
    }


def _differs(differences: np.ndarray) -> bool:
    if np.ptp(differences) < _ROUNDING:
        return bool(abs(differences.mean()) > _ROUNDING)
    return bool(scipy.stats.ttest_1samp(differences, 0.0).pvalue < ALPHA)
