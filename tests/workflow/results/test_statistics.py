import itertools

import numpy as np
import pytest
import scipy.stats

from workflow.lib.results.statistics import (
    describe,
    highest,
    mean,
    mean_interval,
    rank_correlation,
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
    assert mean_interval([0.5]) == (None, None)


@pytest.mark.parametrize("n", [3, 5, 20])
def test_the_interval_holds_the_mean_as_often_as_it_says_also_of_few_scores(n):
    rng = np.random.default_rng(0)
    intervals = np.array([mean_interval(rng.standard_normal(n)) for _ in range(2000)])
    held = np.mean((intervals[:, 0] <= 0) & (intervals[:, 1] >= 0))
    assert held == pytest.approx(0.95, abs=0.02)


def test_what_is_asked_for_comes_in_the_order_asked():
    found = describe(SCORES, ("high", "mean"))
    assert list(found) == ["high", "mean"]
    assert found["high"] == mean_interval(SCORES)[1]
    assert describe([], ("mean", "std", "low")) == {"mean": None, "std": None, "low": None}


def test_rank_correlation_is_scipys_with_an_interval_around_it():
    rng = np.random.default_rng(0)
    one = rng.integers(0, 9, 20)  # with ties
    other = one + rng.integers(0, 9, 20)
    r, low, high, p = rank_correlation(one, other)
    assert r == pytest.approx(scipy.stats.spearmanr(one, other).statistic)
    half = 1.959964 * np.sqrt((1 + r**2 / 2) / 17)
    assert (low, high) == pytest.approx(tuple(np.tanh(np.arctanh(r) + np.array([-half, half]))))
    assert (p < 0.05) == (low > 0)
    assert rank_correlation(-one, other)[::3] == pytest.approx((-r, p))


def test_rank_correlation_says_where_it_has_no_interval():
    assert rank_correlation([1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 7]) == (1.0, None, None, 2 / 720)
    assert rank_correlation([1, 2, 3, 4], [2, 1, 3, 4])[1:] == (None,) * 3
    assert rank_correlation([1, 1, 1], [1, 2, 3]) == (0.0, None, None, None)


@pytest.mark.parametrize(
    "values", [[1, 1, 1, 1, 2], [1, 1, 2, 3, 3], [1, 2, 2, 3, 4], [1, 1, 2, 2, 3, 3]]
)
def test_of_ranks_with_ties_more_orders_agree(values):
    ranks = np.array(values, dtype=float)
    orders = np.array(list(itertools.permutations(ranks)))
    centred = orders - ranks.mean()
    r = centred @ (ranks - ranks.mean()) / np.sum((ranks - ranks.mean()) ** 2)
    p = rank_correlation(values, [10 * value for value in values])[3]
    assert p == pytest.approx(np.mean(np.abs(r) > 1 - 1e-9))


def test_two_scores_have_no_interval():
    assert mean_interval([0.1, 0.3]) == (None, None)


def test_reversed_orders_have_the_p_of_equal_ones():
    assert rank_correlation([1, 2, 3, 4, 5, 6], [7, 6, 5, 4, 3, 2]) == (-1.0, None, None, 2 / 720)


def test_p_is_two_sided():
    one, other = [1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 4, 3, 5, 8, 6, 7]
    r, _, _, p = rank_correlation(one, other)
    z = np.arctanh(r) / np.sqrt((1 + r**2 / 2) / 5)
    assert p == pytest.approx(2 * scipy.stats.norm.sf(abs(z)))


def test_rounding_does_not_decide_the_highest():
    assert highest({"b": 0.1 + 0.2, "a": 0.3, "c": 0.1}) == "a"


def test_orders_that_agree_up_to_rounding_agree():
    """Of these ranks NumPy's correlation is -0.9999999999999999."""
    values = [2, 2, 3, 2, 0]
    r, low, high, p = rank_correlation(values, [-value for value in values])
    assert (r, low, high, p) == (-1.0, None, None, 12 / 120)
