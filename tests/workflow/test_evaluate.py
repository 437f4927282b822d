import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from workflow.lib.evaluate import COLUMNS, evaluate, score

COORDINATES = {"experiment": "e", "task": "a-b", "source": "A", "target": "B", "protocol": "p"}


def test_scores_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    labels, predicted = rng.integers(0, 4, 60), rng.integers(0, 4, 60)
    scored = np.sort(rng.choice(60, 40, replace=False))
    scores = score(predicted, labels, scored)
    assert scores["accuracy"] == pytest.approx(accuracy_score(labels[scored], predicted[scored]))
    assert scores["accuracy_entire_target"] == pytest.approx(accuracy_score(labels, predicted))
    assert scores["balanced_accuracy"] == pytest.approx(
        balanced_accuracy_score(labels[scored], predicted[scored])
    )
    assert scores["n_scored"] == 40


def test_records_have_every_column_and_failures_no_score():
    aligned = [
        {"trial": 0, "classifier": "c", "status": "ok", "seconds": 1.5},
        {"trial": 1, "classifier": "c", "status": "timeout", "error": "too long"},
    ]
    labels = np.array([0, 1, 1])
    predictions = {"0/c": np.array([0, 1, 0])}
    scored = [np.array([1, 2]), np.array([1, 2])]
    ok, failed = evaluate(aligned, predictions, labels, scored, {**COORDINATES, "method": "m"})
    assert tuple(ok) == tuple(failed) == COLUMNS
    assert ok["accuracy"] == 0.5
    assert ok["accuracy_entire_target"] == pytest.approx(2 / 3)
    assert (ok["method"], ok["source"], ok["seconds"]) == ("m", "A", 1.5)
    assert failed["accuracy"] is None
    assert (failed["status"], failed["error"]) == ("timeout", "too long")
