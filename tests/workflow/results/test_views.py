"""What is shown of an experiment: cells, counts and labels."""

import dataclasses

import pytest

from tests.workflow.report_example import make_experiment, study_view, view_of

LATE = {"status": "timeout", "error": "took too long"}
GONE = {"status": "data_unavailable", "error": "no file"}


@pytest.fixture
def view():
    scores = {
        ("amazon-dslr", "plain"): [0.2, 0.4, LATE],
        ("amazon-dslr", "sma"): [0.5, 0.5, 0.8],
        ("dslr-amazon", "plain"): [GONE] * 3,
        ("dslr-amazon", "sma"): [GONE] * 3,
    }
    pairs = [("amazon", "dslr"), ("dslr", "amazon")]
    return view_of(make_experiment(pairs, ("plain", "sma")), scores, 3)


def test_a_cell_sums_up_the_trials_that_have_a_score(view):
    cell = view.cell("amazon-dslr", "plain", "logistic")
    assert (cell.n_ok, cell.n_asked, cell.complete) == (2, 3, False)
    assert cell.mean == pytest.approx(0.3)
    assert cell.std == pytest.approx(0.2 / 2**0.5)
    assert cell.standard_error == pytest.approx(0.1)
    assert (cell.failures, cell.error) == ("1 out of time", "took too long")
    assert view.cell("amazon-dslr", "sma", "logistic").complete


def test_a_cell_without_data_says_so(view):
    cell = view.cell("dslr-amazon", "sma", "logistic")
    assert (cell.mean, cell.absent) == (None, "data not available")
    assert view.cell("amazon-dslr", "plain", "logistic").absent is None


def test_missing_data_is_no_failure(view):
    assert view.n_failures == 1
    assert view.counts == {"ok": 5, "timeout": 1, "data_unavailable": 6}


def test_labels_are_those_of_the_configuration(view):
    assert view.method_label("sma") == "SMA"
    assert view.method_label("unknown") == "unknown"
    assert view.classifier_label("logistic") == "Logistic regression"
    assert view.task_label("amazon-dslr") == "A→D"


def test_a_study_that_failed_says_why_in_one_line():
    failed = study_view("memory", "over 4000 MB\nand stopped")
    assert not failed.ok
    assert failed.failure == "out of memory: over 4000 MB and stopped"
    assert study_view().failure == ""
    assert study_view("timeout").failure == "out of time"


def test_records_of_another_configuration_are_not_whole(view):
    assert view.is_whole
    fewer = view.records[view.records["task"] == "amazon-dslr"]
    assert not dataclasses.replace(view, records=fewer).is_whole


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"svm": {"method": "plain"}, "sma": {"method": "sma"}}, ["plain"]),
        ({"plain": {"published_only": "other features"}}, ["plain"]),
        ({"plain": None}, ["plain"]),
        ({"fma_i": {"method": "fma_i"}}, []),
        (None, []),
    ],
)
def test_the_baselines_of_a_paper_are_the_columns_of_its_table(view, columns, expected):
    audit = None if columns is None else {"columns": columns}
    experiment = dataclasses.replace(view.experiment, audit=audit)
    assert dataclasses.replace(view, experiment=experiment).papers_baselines == expected
