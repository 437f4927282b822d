"""Whether independent effects differ from each other."""

import itertools
from collections.abc import Mapping

import numpy as np
import scipy.stats

from workflow.lib.results.effects import Effect
from workflow.lib.results.significance import holm


def apart(effects: Mapping[str, Effect]) -> dict[tuple[str, str], float]:
    """p of the difference of every two independent effects, in their order, by Welch's test, after
    Holm's over all pairs; of those that have one.
    """
    pairs = itertools.combinations(effects, 2)
    p = {pair: _welch(*(effects[name] for name in pair)) for pair in pairs}
    tested = [pair for pair in p if p[pair] is not None]
    return dict(zip(tested, holm([p[pair] for pair in tested]), strict=True))


def _welch(one: Effect, other: Effect) -> float | None:
    """Two-sided p of the difference of two independent effects."""
    if one.standard_error is None or other.standard_error is None:
        return None
    errors = np.array([one.standard_error, other.standard_error]) ** 2
    gap = abs(one.effect - other.effect)
    if not errors.sum():  # both are equal to their reference everywhere
        return 1.0
    freedom = errors.sum() ** 2 / (errors**2 / [one.freedom, other.freedom]).sum()
    return float(2 * scipy.stats.t.sf(gap / np.sqrt(errors.sum()), freedom))
