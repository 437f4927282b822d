import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, recall_score

from workflow.lib.trials.evaluate import COLUMNS, evaluate, score
from workflow.lib.trials.protocols import Trial

COORDINATES = {"experiment": "e", "task": "a-b", "source": "A", "target": "B", "protocol": "p"}


def trial(scored, seen):
    return Trial((np.array([0]), np.asarray(seen)), (np.array([0]), np.full(len(seen), -1)), scored)


def test_scores_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    labels, predicted = rng.integers(0, 4, 60), rng.integers(0, 4, 60)
    scored = np.sort(rng.choice(60, 40, replace=False))
    scores = score(predicted, labels, trial(scored, np.arange(60)))
    assert scores["accuracy"] == pytest.approx(accuracy_score(labels[scored], predicted[scored]))
    assert scores["accuracy_entire_target"] == pytest.approx(accuracy_score(labels, predicted))
    assert scores["balanced_accuracy"] == pytest.approx(
        balanced_accuracy_score(labels[scored], predicted[scored])
    )
    assert scores["macro_f1"] == pytest.approx(
        f1_score(labels[scored], predicted[scored], average="macro")
    )
    recalls = recall_score(labels[scored], predicted[scored], average=None)
    assert scores["worst_class_accuracy"] == pytest.approx(recalls.min())
    assert scores["n_scored"] == 40
    assert "accuracy_new" not in scores


def test_rows_that_the_method_did_not_see_are_scored_apart():
    labels, predicted = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 0, 0])
    scores = score(predicted, labels, trial(np.array([1, 2, 3, 4]), [0, 1, 2]))
    assert scores["accuracy"] == 0.25
    assert scores["accuracy_seen"] == 0.5
    assert scores["accuracy_new"] == 0
    assert "accuracy_seen" not in score(predicted, labels, trial(np.array([3, 4]), [0, 1]))


def test_probabilities_of_the_scored_rows_are_scored():
    aligned = [{"trial": 0, "setting": 0, "classifier": c, "status": "ok"} for c in ("c", "d")]
    predictions = {
        "0/0/c": np.array([0, 1, 0]),
        "0/0/c/probabilities": np.array([[0.25, 0.75], [0.5, 0.5]], np.float32),
        "0/0/c/classes": np.array([0, 1]),
        "0/0/d": np.array([0, 1, 0]),
    }
    trials = [trial(np.array([1, 2]), np.arange(3))]
    with_them, without = evaluate(
        aligned, predictions, np.array([0, 1, 1]), trials, 1, [None], COORDINATES
    )
    assert with_them["log_loss"] == pytest.approx(-np.log([0.75, 0.5]).mean())
    assert with_them["calibration_error"] == pytest.approx((0.25 + 0.5) / 2)
    assert without["log_loss"] is without["calibration_error"] is None
    assert with_them["accuracy"] == without["accuracy"] == 0.5


def test_records_have_every_column_and_failures_no_score():
    aligned = [
        {"trial": 0, "setting": 0, "classifier": "c", "status": "ok", "seconds": 1.5},
        {"trial": 1, "setting": 0, "classifier": "c", "status": "timeout", "error": "too long"},
    ]
    labels = np.array([0, 1, 1])
    predictions = {"0/0/c": np.array([0, 1, 0])}
    trials = [trial(np.array([1, 2]), np.arange(3))] * 2
    ok, failed = evaluate(
        aligned, predictions, labels, trials, 2, [None], {**COORDINATES, "method": "m"}
    )
    assert tuple(ok) == tuple(failed) == tuple(COLUMNS)
    assert ok["accuracy"] == 0.5
    assert ok["accuracy_entire_target"] == pytest.approx(2 / 3)
    assert (ok["method"], ok["source"], ok["seconds"], ok["setting"]) == ("m", "A", 1.5, None)
    assert failed["accuracy"] is None
    assert (failed["status"], failed["error"]) == ("timeout", "too long")


def places(records):
    return [(record["setting"], record["trial"], record["accuracy"]) for record in records]


def test_settings_of_a_method_are_named_by_their_value():
    aligned = [
        {"trial": 1, "setting": position, "classifier": "c", "status": "ok"} for position in (0, 1)
    ]
    predictions = {"1/0/c": np.array([0, 0]), "1/1/c": np.array([0, 1])}
    trials = [trial(np.array([0, 1]), [0, 1])] * 2
    records = evaluate(aligned, predictions, np.array([0, 0]), trials, 2, [10, 20], COORDINATES)
    assert places(records) == [(10, 1, 1.0), (20, 1, 0.5)]


def test_settings_of_a_protocol_follow_each_other_in_the_trials():
    aligned = [
        {"trial": number, "setting": 0, "classifier": "c", "status": "ok"} for number in range(4)
    ]
    predictions = {f"{number}/0/c": np.array([0, number % 2]) for number in range(4)}
    trials = [trial(np.array([0, 1]), [0, 1])] * 4
    records = evaluate(aligned, predictions, np.array([0, 0]), trials, 2, [0.2, 0.6], COORDINATES)
    assert places(records) == [(0.2, 0, 1.0), (0.2, 1, 0.5), (0.6, 0, 1.0), (0.6, 1, 0.5)]


def test_rows_of_unknown_label_are_not_scored():
    labels, predicted = np.array([0, -1, 1, -1]), np.array([0, 1, 0, 0])
    scores = score(predicted, labels, trial(np.arange(4), np.arange(4)))
    assert (scores["accuracy"], scores["n_scored"]) == (0.5, 2)
    assert scores["accuracy_entire_target"] == 0.5
    values = np.array([[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.5, 0.5]])
    known = score(predicted, labels, trial(np.arange(4), np.arange(4)), (values, np.array([0, 1])))
    assert known["log_loss"] == pytest.approx(-np.log([0.9, 0.4]).mean())


def test_a_target_without_any_label_has_no_metric():
    found = score(np.zeros(3, dtype=int), np.full(3, -1), trial(np.arange(3), np.arange(3)))
    assert found == {}


def test_the_entire_target_is_every_row_and_seen_rows_are_apart_where_some_are_new():
    labels, predicted = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 0, 0])
    assert "accuracy_seen" not in score(predicted, labels, trial(np.array([1, 2]), range(5)))
    found = score(predicted, labels, trial(np.array([1, 2]), [0, 1]))
    assert found["accuracy_entire_target"] == 0.4
