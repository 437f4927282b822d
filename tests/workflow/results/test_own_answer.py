"""The verdict: when to adapt, when not to, and when the labels at hand cannot tell."""

import dataclasses

import numpy as np
import pytest

from workflow.lib.results.accuracy_estimates import Estimate
from workflow.lib.results.own_answer import (
    KEEP,
    UNKNOWN,
    USE,
    Candidate,
    NothingToCompareError,
    decide,
    labels_to_tell,
    paired_gain,
)

N = 400
NONE_SHOWN = np.full(N, -1)


def candidate(method, bound, upper=0.95, differs=0.0, is_baseline=False, **changes):
    predicted = np.zeros(N, dtype=int)
    predicted[: round(differs * N)] = 1
    found = Estimate(upper, 0.01, upper, 0.01, bound, 0.01, 0, 0)
    given = {"held_out": NONE_SHOWN, **changes}
    return Candidate(method, 0, is_baseline, "as it is", (found,) * 3, predicted, **given)


def source(bound=0.6, upper=0.95):
    return candidate("source_only", bound, upper, is_baseline=True)


def verdict(*candidates, shown=NONE_SHOWN, shift=True):
    return decide(candidates, shown, shift)


def test_a_gain_that_all_estimates_see_is_used():
    found = verdict(source(0.5, upper=0.6), candidate("coral", 0.85, 0.95, differs=0.4))
    assert found.verdict == USE
    assert found.used.method == "coral"
    assert 0 < found.gain.low <= found.gain.expected <= found.gain.high <= 0.4


def test_a_method_that_changes_little_is_not_worth_it():
    found = verdict(source(), candidate("coral", 0.9, differs=0.03))
    assert (found.verdict, found.used.method) == (KEEP, "source_only")
    assert found.gain.high <= 0.03


def test_without_a_shift_nothing_is_adapted():
    found = verdict(source(0.9), candidate("coral", 0.93, 0.96, differs=0.1), shift=False)
    assert found.verdict == KEEP
    assert "no shift" in found.reason


def test_an_estimate_that_cannot_tell_the_two_apart_says_nothing():
    found = verdict(source(0.6, 0.95), candidate("coral", 0.9, 0.93, differs=0.4))
    assert found.verdict == USE
    assert found.gain.expected == pytest.approx(0.3)


def test_without_the_critic_no_gain_is_believed():
    found = verdict(source(0.88, 0.6), candidate("coral", 0.9, 0.95, differs=0.4))
    assert found.verdict == UNKNOWN
    assert found.gain.low < 0


def test_a_domain_that_cannot_be_told_apart_needs_no_method():
    found = verdict(source(0.5, 0.6), candidate("coral", 0.9, 0.95, differs=0.4), shift=False)
    assert (found.verdict, found.used.method) == (KEEP, "source_only")


def test_estimates_that_disagree_cannot_tell():
    found = verdict(source(0.6, 0.95), candidate("coral", 0.9, 0.7, differs=0.4))
    assert found.verdict == UNKNOWN
    n = labels_to_tell(found.gain.expected, found.differing)
    assert found.n_more == (n if n <= N else None)


def test_where_nothing_can_be_told_the_guess_is_who_is_expected_to_be_better():
    found = verdict(source(0.9, 0.95), candidate("coral", 0.89, 0.96, differs=0.5))
    assert (found.verdict, found.gain.expected) == (UNKNOWN, pytest.approx(0.0))
    assert found.used.method == "source_only"


def test_a_method_that_no_estimate_finds_better_is_not_used():
    found = verdict(source(0.9, 0.95), candidate("coral", 0.6, 0.8, differs=0.3))
    assert found.verdict == KEEP


def labelled(method, right, wrong, differs, is_baseline=False, label=1):
    """Held-out predictions of the first rows, which are labelled 1."""
    held_out = NONE_SHOWN.copy()
    held_out[:right], held_out[right : right + wrong] = label, 1 - label
    n = right + wrong
    found = Estimate(0.9, 0.01, 0.9, 0.01, 0.7, 0.01, right, n)
    one = candidate(method, 0.7, differs=differs, is_baseline=is_baseline)
    return dataclasses.replace(one, estimates=(found,), held_out=held_out, selector=right / n)


def shown(n):
    return np.where(np.arange(N) < n, 1, -1)


def test_enough_labels_tell_a_large_gain():
    pair = labelled("source_only", 20, 40, 0.0, True), labelled("coral", 55, 5, 0.5)
    found = verdict(*pair, shown=shown(60))
    assert found.verdict == USE
    assert found.n_labels == 60
    assert found.expected.low < 55 / 60 < found.expected.high


def of_both_sides(method, n, on_target, on_source, is_baseline=False):
    """A candidate judged on n labels, and on the source."""
    one = labelled(method, round(n * on_target), n - round(n * on_target), 0.3, is_baseline)
    selector = (on_target + on_source) / 2
    return dataclasses.replace(one, selector=selector, on_source=on_source)


def test_with_many_labels_of_the_target_a_baseline_that_is_bad_on_the_source_is_the_bar():
    """By the mean of both sides CORAL would be compared with the worse baseline, and win."""
    candidates = [
        of_both_sides("target_only", 400, 0.97, 0.5, True),
        of_both_sides("source_and_target", 400, 0.8, 0.9, True),
        of_both_sides("coral", 400, 0.91, 0.92),
    ]
    found = verdict(*candidates, shown=shown(400))
    assert found.baseline.method == "target_only"
    assert found.verdict != USE
    few = [
        of_both_sides(one.method, 30, 2 * one.selector - one.on_source, one.on_source)
        for one in candidates
    ]
    best = max(few, key=lambda one: one.on_labels)
    assert best.on_labels == best.selector  # half and half, as on the boards
    assert best.method == "coral"


def test_few_labels_cannot_tell_and_say_how_many_would():
    pair = labelled("source_only", 4, 2, 0.0, True), labelled("coral", 5, 1, 0.5)
    found = verdict(*pair, shown=shown(6))
    assert found.verdict == UNKNOWN
    assert found.n_more == labels_to_tell(1 / 6, 0.5) - 6


def test_labels_that_cannot_be_held_out_tell_the_less():
    pair = labelled("source_only", 4, 2, 0.0, True), labelled("coral", 5, 1, 0.5)
    found = verdict(*pair, shown=shown(8))
    assert (found.verdict, found.n_labels) == (UNKNOWN, 6)
    assert found.n_more == labels_to_tell(1 / 8, 0.5) - 4


def test_a_target_too_small_to_tell_is_no_number_of_labels():
    pair = labelled("source_only", 5, 1, 0.0, True), labelled("coral", 5, 1, 0.5)
    found = verdict(*pair, shown=shown(6))
    assert labels_to_tell(found.gain.expected, 0.5) > N
    assert (found.verdict, found.n_more) == (UNKNOWN, None)


def test_one_label_of_a_class_cannot_tell():
    found = verdict(source(0.5, 0.6), candidate("coral", 0.85, 0.95, differs=0.4), shown=shown(1))
    assert found.verdict == UNKNOWN
    assert "single label" in found.reason


def test_a_paired_gain_counts_only_rows_that_one_alone_gets_right():
    labels = np.ones(10, dtype=int)
    best, baseline = np.ones(10, dtype=int), np.array([0, 0, 0, *[1] * 7])
    gain = paired_gain(best, baseline, labels, 1)
    assert gain.expected == pytest.approx(0.3)
    assert gain.low < 0 < 0.3 < gain.high  # more may part on unseen rows than the 3 of 10 here
    alike = paired_gain(best, best, labels, 1)
    assert alike.low == -alike.high < 0


def test_labels_that_cannot_be_held_out_may_be_lost_or_won():
    labels = np.r_[np.ones(40, dtype=int), 2, 3, 4]
    best, baseline = (np.r_[part, -1, -1, -1] for part in (np.ones(40, int), np.arange(40) % 2))
    gain = paired_gain(best, baseline, labels, 1)
    assert gain.expected == pytest.approx(20 / 43)
    lost, won = np.where(labels > 1, 0, best), np.where(labels > 1, labels, best)
    right, wrong = np.where(labels > 1, labels, baseline), np.where(labels > 1, 0, baseline)
    assert gain.low == paired_gain(lost, right, labels, 1).low
    assert gain.high == paired_gain(won, wrong, labels, 1).high
    assert gain.low < paired_gain(best[:40], baseline[:40], labels[:40], 1).low


def test_one_row_on_which_two_part_tells_no_more_than_none():
    labels = np.ones(20, dtype=int)
    same = paired_gain(labels, labels, labels, 1)
    lost = paired_gain(np.array([0, *[1] * 19]), labels, labels, 1)
    won = paired_gain(labels, np.array([0, *[1] * 19]), labels, 1)
    assert lost.low <= same.low
    assert won.high >= same.high
    assert won.high == pytest.approx(-lost.low)


@pytest.mark.parametrize(("won", "lost"), [(0.02, 0.01), (0.1, 0.05), (0.4, 0.2), (0.05, 0.0)])
@pytest.mark.parametrize("n", [12, 40])
def test_the_interval_of_a_paired_gain_covers_the_gain(won, lost, n):
    rng = np.random.default_rng(0)
    labels, covered = np.ones(n, dtype=int), 0
    for outcome in rng.choice(3, size=(1000, n), p=[won, lost, 1 - won - lost]):
        gain = paired_gain((outcome != 1).astype(int), (outcome != 0).astype(int), labels, 1)
        covered += gain.low - 1e-12 <= won - lost <= gain.high + 1e-12
    assert covered >= 950


@pytest.mark.parametrize(("gain", "differing", "n_compared"), [(0.1, 0.3, 1), (0.1, 0.2, 300)])
def test_the_number_of_labels_gives_the_power_that_it_promises(gain, differing, n_compared):
    """By the rule that decides, among as many candidates."""
    rng = np.random.default_rng(0)
    n = labels_to_tell(gain, differing, n_compared)
    won, lost = (differing + gain) / 2, (differing - gain) / 2
    draws = rng.choice(3, size=(1000, n), p=[won, lost, 1 - won - lost])
    labels = np.ones(n, dtype=int)
    told = [
        paired_gain((one != 1).astype(int), (one != 0).astype(int), labels, n_compared).low > 0
        for one in draws
    ]
    assert np.mean(told) == pytest.approx(0.8, abs=0.04)


def test_one_side_alone_is_no_comparison():
    with pytest.raises(NothingToCompareError):
        verdict(source())


def test_a_model_is_kept_of_the_best_that_predicts_new_samples():
    other = dataclasses.replace(candidate("gfk", 0.8, 0.9, differs=0.4), embeds=True)
    best = candidate("coral", 0.85, 0.95, differs=0.4, embeds=False)
    found = verdict(source(0.5, upper=0.6), best, other)
    assert (found.used.method, found.saved.method) == ("coral", "gfk")
    alone = verdict(source(0.5, upper=0.6), best)
    assert alone.saved is alone.baseline
    assert found.accuracy_of(found.best) == found.expected
