import numpy as np
import pytest
import yaml
from sklearn import metrics as reference

from workflow.lib.config import metrics
from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.metrics import (
    CALIBRATION_BINS,
    INTERVAL,
    LEAST_PROBABILITY,
    METRICS,
    Answers,
    Metric,
    accuracy,
    shown_as,
)

RNG = np.random.default_rng(0)
# Class 3 is predicted and never occurs; class 4 occurs and is never predicted.
LABELS, PREDICTED = RNG.choice([0, 1, 2, 4], 80), RNG.integers(0, 4, 80)
OCCURRING = np.unique(LABELS)
ANSWERS = Answers(PREDICTED, LABELS)
# Class 1 has no column.
CLASSES = np.array([4, 0, 2])
CHANCES = RNG.dirichlet([0.6] * 3, 80).astype(np.float32)


def test_accuracy_agrees_with_scikit_learn():
    expected = reference.accuracy_score(LABELS, PREDICTED)
    assert metrics.accuracy(ANSWERS) == pytest.approx(expected)


def test_averages_over_classes_are_over_those_that_occur():
    recalls = reference.recall_score(
        LABELS, PREDICTED, labels=OCCURRING, average=None, zero_division=0
    )
    f1 = reference.f1_score(LABELS, PREDICTED, labels=OCCURRING, average="macro", zero_division=0)
    assert ANSWERS.recalls == pytest.approx(recalls)
    assert metrics.balanced_accuracy(ANSWERS) == pytest.approx(recalls.mean())
    assert metrics.macro_f1(ANSWERS) == pytest.approx(f1)
    # Over the classes that are predicted too, the mean would be lower.
    assert f1 > reference.f1_score(LABELS, PREDICTED, average="macro", zero_division=0)


def test_the_worst_class_is_the_one_that_is_recognised_least():
    assert metrics.worst_class_accuracy(ANSWERS) == 0
    seen = LABELS != 4
    recalls = reference.recall_score(LABELS[seen], PREDICTED[seen], labels=[0, 1, 2], average=None)
    found = metrics.worst_class_accuracy(Answers(PREDICTED[seen], LABELS[seen]))
    assert found == pytest.approx(recalls.min())
    assert found > 0


def test_log_loss_agrees_with_scikit_learn_where_every_class_has_a_column():
    known = LABELS != 1
    order = np.argsort(CLASSES)
    values = CHANCES[known]
    values[:5] = np.eye(3, dtype=np.float32)[:, [0, 1, 2, 0, 1]].T  # certain, and often wrong
    expected = reference.log_loss(LABELS[known], values[:, order], labels=CLASSES[order])
    found = metrics.log_loss(Answers(PREDICTED[known], LABELS[known], values, CLASSES))
    assert found == pytest.approx(expected, rel=1e-6)


def test_a_class_without_a_column_costs_the_least_probability():
    answers = Answers(np.array([0, 0]), np.array([0, 1]), np.array([[1.0], [1.0]]), np.array([0]))
    assert metrics.log_loss(answers) == pytest.approx(-np.log(LEAST_PROBABILITY) / 2)


def slow_calibration_error(labels, values, classes, n_bins):
    total = 0.0
    for b in range(n_bins):
        rows = [i for i, p in enumerate(values) if b / n_bins < max(p) <= (b + 1) / n_bins]
        if rows:
            right = np.mean([classes[np.argmax(values[i])] == labels[i] for i in rows])
            total += len(rows) / len(labels) * abs(right - np.mean([max(values[i]) for i in rows]))
    return total


def test_the_calibration_error_is_guos_equation_3():
    expected = slow_calibration_error(LABELS, CHANCES.astype(float), CLASSES, CALIBRATION_BINS)
    found = metrics.calibration_error(Answers(PREDICTED, LABELS, CHANCES, CLASSES))
    assert found == pytest.approx(expected, abs=1e-12)
    assert found > 0.1


def test_bins_of_the_calibration_error_include_their_upper_edge():
    # 0.6 is an edge of 15 bins: with the row above it, one gap would cancel the other.
    values = np.array([[0.6, 0.4], [0.601, 0.399], [1.0, 0.0]])
    answers = Answers(np.zeros(3, int), np.array([0, 1, 0]), values, np.array([0, 1]))
    assert metrics.calibration_error(answers) == pytest.approx((0.4 + 0.601) / 3)


def test_calibrated_and_certain_answers_have_no_calibration_error():
    labels = np.array([0, 1, 1])
    answers = Answers(labels, labels, np.eye(2)[labels], np.array([0, 1]))
    assert metrics.calibration_error(answers) == 0
    assert metrics.log_loss(answers) == 0


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_every_metric_is_computed_on_a_single_row(metric):
    worst = -np.log(LEAST_PROBABILITY) if metric.name == "log_loss" else 1
    for predicted in (0, 1):
        certain = np.eye(2)[[predicted]]
        answers = Answers(np.array([predicted]), np.array([0]), certain, np.arange(2))
        good = not predicted if not metric.lower_is_better else predicted
        value = metric.compute(answers)
        assert value == (1 if metric.name == "n_scored" else pytest.approx(worst * good))


def test_what_reads_probabilities_applies_where_there_are_some():
    applying = {name for name, metric in METRICS.items() if metric.applies(ANSWERS)}
    assert set(METRICS) - applying == {"log_loss", "calibration_error"}
    answers = Answers(PREDICTED, LABELS, CHANCES, CLASSES)
    assert all(metric.applies(answers) for metric in METRICS.values())


def test_shares_are_shown_in_percent():
    assert METRICS["accuracy"].scale == METRICS["calibration_error"].scale == 100
    assert METRICS["log_loss"].scale == METRICS["n_scored"].scale == 1


def test_entries_name_known_rows_and_statistics():
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.rows in ("scored", "all", "seen", "new")
        assert set(metric.summary) <= set(INTERVAL)
        assert metric.shown in ("table", "measures", "")
        assert metric.reads in ("predictions", "probabilities")
        assert metric.reads == "predictions" or metric.rows == "scored"
    assert [metric.name for metric in shown_as("table")] == ["accuracy", "accuracy_entire_target"]


def test_an_audit_compares_metrics_that_have_a_table():
    schema = yaml.safe_load((PROJECT / "workflow/schemas/experiment.yaml").read_text())
    entry = schema["properties"]["audit"]["properties"]
    tables = [metric.name for metric in shown_as("table")]
    assert entry["measure"]["enum"] == entry["second_measure"]["enum"] == tables


@pytest.mark.parametrize("changes", [{"is_share": False}, {"lower_is_better": True}])
def test_a_table_of_its_own_has_percentages_of_which_the_highest_is_best(changes):
    asked = {"name": "loss", "title": "Loss", "words": "loss", "compute": accuracy, **changes}
    Metric(**asked, shown="measures")
    with pytest.raises(ValueError, match="metric loss: a table of its own has percentages"):
        Metric(**asked, shown="table")
