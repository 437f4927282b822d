"""Bold print follows a paired test, not the last digit."""

import numpy as np
import pytest
import scipy.stats

from workflow.lib.results.separation import not_separated


def test_the_rule_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    trials = rng.standard_normal(20)
    for shift in np.linspace(0, 0.2, 9):
        scores = {"best": trials + shift, "other": trials + 0.2 * rng.standard_normal(20)}
        low, high = sorted(scores, key=lambda name: scores[name].mean())
        together = scipy.stats.ttest_rel(scores[high], scores[low]).pvalue >= 0.05
        assert not_separated(scores) == ({"best", "other"} if together else {high})


def test_a_shared_difficulty_of_the_trials_does_not_hide_a_difference():
    trials = np.array([0.2, 0.5, 0.8, 0.4])
    noise = np.array([0.01, -0.01, 0.0, 0.0])
    assert not_separated({"a": trials, "b": trials + 0.05 + noise}) == {"b"}


@pytest.mark.parametrize(
    ("scores", "bold"),
    [
        ({"a": [0.5], "b": [0.6]}, {"b"}),
        ({"a": [0.6], "b": [0.6]}, {"a", "b"}),
        ({"a": [0.1 + 0.2, 0.4], "b": [0.3, 0.4]}, {"a", "b"}),
        ({"a": [0.5, 0.5], "b": [0.7, 0.7]}, {"b"}),
        ({"a": [0.5, 0.6]}, set()),
    ],
)
def test_without_spread_the_means_decide(scores, bold):
    assert not_separated(scores) == bold


@pytest.mark.parametrize("order", ["abc", "bac", "cba"])
def test_of_equal_means_each_may_be_the_best_whatever_their_order(order):
    scores = {"a": [0.5, 0.7], "b": [0.7, 0.5], "c": [0.4, 0.6]}
    assert not_separated({name: scores[name] for name in order}) == {"a", "b", "c"}
