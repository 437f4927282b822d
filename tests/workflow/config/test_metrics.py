import numpy as np
import pytest
import yaml
from sklearn import metrics as reference

from workflow.lib.config import metrics
from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.metrics import INTERVAL, METRICS, shown_as

RNG = np.random.default_rng(0)
# Class 3 is predicted and never occurs; class 4 occurs and is never predicted.
LABELS, PREDICTED = RNG.choice([0, 1, 2, 4], 80), RNG.integers(0, 4, 80)
OCCURRING = np.unique(LABELS)


def test_accuracy_agrees_with_scikit_learn():
    expected = reference.accuracy_score(LABELS, PREDICTED)
    assert metrics.accuracy(PREDICTED, LABELS) == pytest.approx(expected)


def test_averages_over_classes_are_over_those_that_occur():
    recalls = reference.recall_score(
        LABELS, PREDICTED, labels=OCCURRING, average=None, zero_division=0
    )
    f1 = reference.f1_score(LABELS, PREDICTED, labels=OCCURRING, average="macro", zero_division=0)
    assert metrics.recalls(PREDICTED, LABELS) == pytest.approx(recalls)
    assert metrics.balanced_accuracy(PREDICTED, LABELS) == pytest.approx(recalls.mean())
    assert metrics.macro_f1(PREDICTED, LABELS) == pytest.approx(f1)
    # Over the classes that are predicted too, the mean would be lower.
    assert f1 > reference.f1_score(LABELS, PREDICTED, average="macro", zero_division=0)


def test_the_worst_class_is_the_one_that_is_recognised_least():
    assert metrics.worst_class_accuracy(PREDICTED, LABELS) == 0
    seen = LABELS != 4
    recalls = reference.recall_score(LABELS[seen], PREDICTED[seen], labels=[0, 1, 2], average=None)
    found = metrics.worst_class_accuracy(PREDICTED[seen], LABELS[seen])
    assert found == pytest.approx(recalls.min())
    assert found > 0


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_every_metric_is_computed_on_a_single_row(metric):
    for predicted in (0, 1):
        value = metric.compute(np.array([predicted]), np.array([0]))
        assert value == (1 if metric.name == "n_scored" else 1 - predicted)


def test_entries_name_known_rows_and_statistics():
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.rows in ("scored", "all", "seen", "new")
        assert set(metric.summary) <= set(INTERVAL)
        assert metric.shown in ("table", "measures", "")
    assert [metric.name for metric in shown_as("table")] == ["accuracy", "accuracy_entire_target"]


def test_an_audit_compares_metrics_that_have_a_table():
    schema = yaml.safe_load((PROJECT / "workflow/schemas/experiment.yaml").read_text())
    entry = schema["properties"]["audit"]["properties"]
    tables = [metric.name for metric in shown_as("table")]
    assert entry["measure"]["enum"] == entry["second_measure"]["enum"] == tables
