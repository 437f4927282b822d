"""Means over tasks within each trial, then over trials."""

import pytest

from tests.workflow.report_example import undefined_curves, varied_view
from workflow.lib.results.curves import chosen_at, curves, gains


def test_the_mean_is_over_tasks_within_each_trial():
    vary = {"parameter": "k", "of": "methods", "values": [1, 2], "label": "k"}
    pairs = [("amazon", "dslr"), ("dslr", "amazon"), ("amazon", "webcam")]
    late = {"status": "timeout", "error": "late"}
    scores = {(f"{a}-{b}", "plain", value): [0.5] * 3 for a, b in pairs for value in (1, 2)}
    scores["amazon-dslr", "plain", 1] = [0.1, 0.4, 0.7]
    scores["dslr-amazon", "plain", 1] = [0.3, late, 0.9]
    scores["amazon-webcam", "plain", 2] = [late] * 3
    found = curves(varied_view(scores, 3, vary, pairs), "logistic")
    # A task without any score at one setting is out of every point.
    assert found.tasks == ("amazon-dslr", "dslr-amazon")
    assert found.tasks_left_out == ("amazon-webcam",)
    point = found.points["plain", "accuracy", 1]
    assert (point.n_ok, point.n_asked, point.complete) == (2, 3, False)
    assert point.mean == pytest.approx((0.2 + 0.8) / 2)
    assert point.std == pytest.approx(0.6 / 2**0.5)
    other = found.points["plain", "accuracy", 2]
    assert (other.mean, other.std, other.complete) == (0.5, 0.0, True)


def test_where_a_criterion_is_undefined_for_every_method_its_other_half_chooses():
    """With one label per class there is none to hold out, and a curve would begin at three."""
    name, other = "labelled_accuracy", "source_accuracy"
    view = undefined_curves()
    assert chosen_at(view, name) == {1: other, 3: name}
    points = curves(view, name).points
    found = {n: points["plain", "accuracy", n].mean for n in (1, 3)}
    assert found == pytest.approx({1: 0.501, 3: 0.701})
    assert {n: effect.effect for n, effect in gains(view, name, ["plain"]).items()} == (
        pytest.approx({1: 0.05, 3: 0.05})
    )


def test_the_gain_is_that_of_the_best_of_those_that_are_sure():
    vary = {"parameter": "n", "of": "protocol", "values": [1], "label": "n"}
    pairs = [("amazon", "dslr"), ("dslr", "amazon"), ("amazon", "webcam"), ("webcam", "dslr")]
    scores = {}
    for place, (a, b) in enumerate(pairs):
        wide, narrow = 0.4 * (place == 0), 0.05
        for method, gain in (("plain", 0.0), ("fma_i", wide), ("sma", narrow)):
            trials = [0.5 + gain + 0.001 * trial * (place + 1) * (gain > 0) for trial in range(3)]
            scores[f"{a}-{b}", method, 1] = trials
    found = gains(varied_view(scores, 3, vary, pairs), "logistic", ["plain"])[1]
    assert (found.method, found.surely_above) == ("sma", True)


def test_a_criterion_that_one_method_has_keeps_its_place():
    name = "labelled_accuracy"
    assert chosen_at(undefined_curves(at=()), name) == {1: name, 3: name}
    view = undefined_curves()
    one = (view.records["classifier"] == name) & (view.records["setting"] == 1)
    one &= (view.records["method"] == "plain") & (view.records["trial"] == 0)
    view.records.loc[one, ["status", "accuracy"]] = ["ok", 0.4]
    assert chosen_at(view, name) == {1: name, 3: name}
    assert gains(view, name, ["plain"])[1] is None
