"""What the answer of a curve says."""

from tests.workflow.report_example import varied_view
from workflow.lib.report.curve_answer import curves_told


def test_a_curve_over_some_of_the_tasks_says_so():
    vary = {"parameter": "k", "of": "methods", "values": [1, 2], "label": "k"}
    pairs = [("amazon", "dslr"), ("dslr", "amazon")]
    gone = {"status": "data_unavailable", "error": "gone"}
    for second, told in (([gone] * 3, "“k” (1 of 2 tasks): "), ([0.4] * 3, "“k”: ")):
        scores = {("amazon-dslr", "plain", value): [0.5] * 3 for value in (1, 2)}
        scores |= {("dslr-amazon", "plain", value): second for value in (1, 2)}
        said = dict(curves_told(varied_view(scores, 3, vary, pairs), "logistic"))
        assert said["What is best?"].startswith(f"Highest point of each curve over {told}")


def test_the_highest_point_is_of_all_its_trials():
    vary = {"parameter": "k", "of": "methods", "values": [1, 2], "label": "k"}
    late = {"status": "timeout", "error": "late"}
    scores = {
        ("amazon-dslr", "plain", 1): [0.5] * 5,
        ("amazon-dslr", "plain", 2): [late] * 4 + [0.9],
    }
    said = dict(curves_told(varied_view(scores, 5, vary, [("amazon", "dslr")]), "logistic"))
    assert "No adaptation 50.0 % at 1." in said["What is best?"]
    scores["amazon-dslr", "plain", 1] = [late, 0.5, 0.5, 0.5, 0.5]
    said = dict(curves_told(varied_view(scores, 5, vary, [("amazon", "dslr")]), "logistic"))
    assert said["What is best?"] == "Cannot be said: no method has a score in every trial."


def test_of_new_samples_the_part_is_named_and_nothing_was_chosen():
    pairs = [("amazon", "dslr")]
    for of, ends in (("protocol", False), ("methods", True)):
        vary = {"parameter": "share", "of": of, "values": [1, 2], "label": "share"}
        scores = {("amazon-dslr", "plain", value): [0.5] * 3 for value in (1, 2)}
        view = varied_view(scores, 3, vary, pairs)
        view.records["accuracy_seen"], view.records["accuracy_new"] = 0.7, [0.1, 0.2] * 3
        told = dict(curves_told(view, "logistic"))
        said = told["What is best?"]
        assert "“share”; accuracy on the scored target rows that are new to the method: " in said
        assert said.endswith("so this is an upper bound.") == ends
        behind = "in percentage points: No adaptation −56.7 (at 1) to −53.3 (at 2)."
        assert told["How do new samples fare?"].endswith(behind)
