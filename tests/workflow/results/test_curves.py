"""Means over tasks within each trial, then over trials."""

import pytest

from tests.workflow.report_example import varied_view
from workflow.lib.results.curves import curves


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
