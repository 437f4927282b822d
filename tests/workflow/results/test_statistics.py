import numpy as np
import pytest

from workflow.lib.results.statistics import (
    bootstrap_interval,
    describe,
    mean,
    standard_deviation,
    standard_error,
)

SCORES = np.random.default_rng(1).normal(0.5, 0.05, size=200)


def test_moments():
    assert mean([]) is None
    assert mean([0.1, 0.3]) == pytest.approx(0.2)
    assert standard_deviation([0.1, 0.3]) == pytest.approx(0.2 / 2**0.5)
    assert standard_error(SCORES) == pytest.approx(SCORES.std(ddof=1) / 200**0.5)


def test_one_trial_has_no_spread():
    assert standard_deviation([0.5]) is None
    assert standard_error([0.5]) is None
    assert bootstrap_interval([0.5]) == (None, None)


def test_bootstrap_interval_is_near_the_normal_one_and_repeatable():
    low, high = bootstrap_interval(SCORES)
    half = 1.96 * standard_error(SCORES)
    assert low == pytest.approx(SCORES.mean() - half, abs=0.1 * half)
    assert high == pytest.approx(SCORES.mean() + half, abs=0.1 * half)
    assert bootstrap_interval(SCORES) == (low, high)
    assert bootstrap_interval([0.25] * 3) == (0.25, 0.25)


def test_what_is_asked_for_comes_in_the_order_asked():
    found = describe(SCORES, ("high", "mean"))
    assert list(found) == ["high", "mean"]
    assert found["high"] == bootstrap_interval(SCORES)[1]
    assert describe([], ("mean", "std", "low")) == {"mean": None, "std": None, "low": None}
