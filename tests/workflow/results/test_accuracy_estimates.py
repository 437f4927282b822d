"""Estimates of the accuracy on the target: what each is on cases whose answer is known."""

import numpy as np
import pytest
import scipy.stats
from domain_alignment.utils._cross_validation import folds_of_classes

from workflow.lib.results.accuracy_estimates import (
    Estimate,
    clopper_pearson,
    confident_share,
    disagreement_bound,
    estimate,
    expected_accuracy,
    judged_accuracy,
    weighted_accuracy,
    z_of,
)
from workflow.lib.trials.protocols import HIDDEN, Trial

NAN = float("nan")


def test_equal_weights_give_the_plain_accuracy_and_its_binomial_error():
    right = np.arange(100) < 80
    accuracy, error = weighted_accuracy(right, np.full(100, 3.0))
    assert accuracy == pytest.approx(0.8)
    assert error == pytest.approx(np.sqrt(0.8 * 0.2 / 100))


def test_weights_estimate_the_accuracy_under_the_other_density():
    rng = np.random.default_rng(0)
    x = rng.normal(size=20000)
    right = rng.random(20000) < scipy.stats.norm.cdf(x)  # the target is at N(1, 1)
    accuracy, error = weighted_accuracy(right, x - 0.5)
    truth = scipy.stats.norm.cdf(1 / np.sqrt(2))
    assert abs(accuracy - truth) < 3 * error < 0.05


def test_all_right_is_no_certainty_and_no_ratio_no_estimate():
    assert weighted_accuracy(np.ones(10, dtype=bool), np.zeros(10))[1] > 0.05
    assert np.isnan(weighted_accuracy(np.ones(2, dtype=bool), np.array([0.0, NAN]))[0])


def test_the_confidence_threshold_gives_back_the_source_accuracy_on_the_source():
    rng = np.random.default_rng(0)
    confidence = rng.random(1000)
    right = rng.random(1000) < confidence
    share, _ = confident_share(right, confidence, confidence)
    assert share == pytest.approx(right.mean(), abs=0.002)
    assert confident_share(right, confidence, confidence / 2)[0] < share
    assert np.isnan(confident_share(right, np.full(1000, NAN), confidence)[0])


def test_ties_on_the_threshold_count_by_the_share_that_makes_up_the_accuracy():
    """Of a classifier that takes 4 of 5 rows for certain and is right on 3 of 5."""
    right, certain = np.arange(50) < 30, np.where(np.arange(50) < 40, 1.0, 0.6)
    share, _ = confident_share(right, certain, certain)
    assert share == pytest.approx(0.6)
    less, _ = confident_share(right, certain, np.where(np.arange(50) < 20, 1.0, 0.6))
    assert less == pytest.approx(0.3)


def test_the_bound_subtracts_what_the_critic_contradicts_more_and_never_adds():
    right = np.arange(50) < 45
    assert disagreement_bound(right, np.array([0.5, 0.2]), (40, 50))[0] == pytest.approx(0.6)
    assert disagreement_bound(right, np.array([0.2, 0.5]), (40, 50))[0] == pytest.approx(0.9)


def one(weighted=0.9, confident=0.85, bound=0.6, error=0.02):
    return Estimate(weighted, error, confident, error, bound, error, 0, 0)


def test_the_expectation_is_the_middle_and_the_interval_covers_both_estimates():
    found = expected_accuracy([one()], 1)
    assert found.expected == pytest.approx(0.75)
    assert found.low == pytest.approx(0.6 - 1.96 * 0.02, abs=1e-4)
    assert found.high == pytest.approx(0.9 + 1.96 * 0.02, abs=1e-4)


def test_the_more_are_compared_the_wider():
    widths = [expected_accuracy([one()], n) for n in (1, 10, 100)]
    assert widths[0].low > widths[1].low > widths[2].low
    assert z_of(1) == pytest.approx(1.96, abs=1e-3)


def test_a_missing_estimate_is_left_out_and_a_bound_is_never_above():
    assert expected_accuracy([one(confident=NAN)], 1).high == expected_accuracy([one()], 1).high
    above = expected_accuracy([one(bound=0.95)], 1)
    assert above.expected == pytest.approx(0.9)


def test_clopper_pearson_covers_as_it_promises():
    low, high = np.array([clopper_pearson(k, 20) for k in range(21)]).T
    for p in (0.05, 0.3, 0.7, 0.99):
        chance = scipy.stats.binom.pmf(np.arange(21), 20, p)
        assert chance[(low <= p) & (p <= high)].sum() >= 0.95
    assert judged_accuracy(judged(8, 10), 20).low < clopper_pearson(8, 10)[0]


def judged(n_right, n_judged, n_alone=0):
    return Estimate(*[NAN] * 6, n_right, n_judged, n_alone)


def test_labels_that_are_the_only_one_of_their_class_may_be_wrong_or_right():
    assert judged_accuracy(judged(8, 10), 1).low == clopper_pearson(8, 10)[0]
    found = judged_accuracy(judged(8, 10, 5), 1)
    assert found.low == clopper_pearson(8, 15)[0]
    assert found.high == clopper_pearson(13, 15)[1]
    assert found.expected == pytest.approx(0.8)


def test_the_interval_covers_where_rare_classes_are_hard():
    """A label that nobody holds out is of a rare class: what is held out is no random sample."""
    rng = np.random.default_rng(0)
    share, n_rare, n = 0.5, 50, 100
    chance = np.r_[share, np.full(n_rare, (1 - share) / n_rare)]
    right = np.r_[0.95, np.full(n_rare, 0.4)]
    covered = ignoring = 0
    for _ in range(200):
        y = rng.choice(n_rare + 1, size=n, p=chance)
        (folds,) = folds_of_classes([y], 3, rng.integers(10**6))
        is_judged = folds >= 0
        n_right = int((is_judged & (rng.random(n) < right[y])).sum())
        found = judged(n_right, int(is_judged.sum()), int((~is_judged).sum()))
        interval = judged_accuracy(found, 1)
        covered += interval.low <= chance @ right <= interval.high
        low, high = clopper_pearson(n_right, found.n_judged)
        ignoring += low <= chance @ right <= high
    assert covered >= 190
    assert ignoring < 180


def test_an_estimate_reads_the_labels_that_the_trial_shows_and_no_other():
    trial = Trial(
        (np.arange(4), np.arange(3)),
        (np.array([0, 1, 0, 1]), np.array([1, HIDDEN, 0])),
        np.array([1]),
    )
    arrays = {
        "0/2/held_out": np.array([0, 1, 1, 1, 1, HIDDEN, HIDDEN]),
        "0/2/log_ratios": np.zeros(7),
        "0/2/disagreement": np.array([[0.1, 0.1], [0.3, 0.1]]),  # the worse counts
    }
    found = estimate(arrays, "0/2", trial)
    assert found.weighted == pytest.approx(0.75)
    assert found.bound == pytest.approx(0.55)
    assert (found.n_right, found.n_judged, found.n_alone) == (1, 1, 1)
    assert np.isnan(found.confident)
    assert estimate({}, "0/2", trial) is None


@pytest.mark.parametrize(("bound", "low", "high"), [(0.6, 0.5, 1.0), (np.nan, 0.0, 1.0)])
def test_what_no_estimate_says_is_no_zero(bound, low, high):
    unknown = Estimate(np.nan, np.nan, np.nan, np.nan, bound, 0.01, 0, 0)
    found = expected_accuracy([unknown], 1)
    assert low <= found.low <= found.expected <= found.high == high
    assert found.expected >= 0.5


def test_the_errors_of_the_estimates_are_those_of_their_parts():
    _, error = disagreement_bound(np.arange(50) < 45, np.array([0.5, 0.2]), (40, 400))
    assert error == pytest.approx((0.9 * 0.1 / 50 + 0.25 / 40 + 0.16 / 400) ** 0.5)
    share, error = confident_share(
        np.arange(100) < 60, np.linspace(0, 1, 100), np.linspace(0, 1, 1000)
    )
    assert error == pytest.approx((share * (1 - share) / 1000 + 0.24 / 100) ** 0.5)
    found = expected_accuracy([Estimate(0.9, 0.01, 0.85, 0.03, 0.6, 0.02, 0, 0)], 1)
    assert found.high == pytest.approx(0.9 + 1.96 * 0.03, abs=1e-4)


def test_without_a_bound_nothing_is_known_below():
    """As of a target of two or three rows: the source's accuracy is none of the target's."""
    sure = Estimate(0.98, 0.005, 0.98, 0.005, np.nan, np.nan, 0, 0)
    found = expected_accuracy([sure], 1)
    assert found.low == 0.0
    assert found.high > 0.98
