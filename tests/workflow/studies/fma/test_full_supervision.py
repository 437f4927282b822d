"""The ceiling on made-up counts: kernels against their definitions, the choice, the listing."""

import numpy as np
import pytest

from workflow.lib.report.figures.style import render
from workflow.studies.fma import full_supervision as study

RNG = np.random.default_rng(0)
Y = np.tile(np.arange(3), 8)
X = RNG.poisson(2 + 6 * np.eye(9)[3 * Y % 9 + 1], size=(24, 9)).astype(float)
NAMES = [f"office_caltech_surf.{name}" for name in study.SHORT]


@pytest.fixture(scope="module")
def records():
    return study.run({NAMES[0]: (X, Y)}, n_folds=4)[0]


def test_every_classifier_has_every_fold(records):
    labels = list(study.classifiers(X))
    assert len(records) == 4 * len(labels)
    assert {record["classifier"] for record in records} == set(labels)


def test_kernels_are_as_defined():
    tried = study.classifiers(X)
    p, q = X[0] / X[0].sum(), X[5] / X[5].sum()
    expected = {
        "intersection": np.minimum(p, q).sum(),
        "χ²": np.exp(-(((p - q) ** 2)[p + q > 0] / (p + q)[p + q > 0]).sum()),
        "Hellinger": np.sqrt(p * q).sum(),
    }
    for name, value in expected.items():
        assert tried[f"SVM, {name} kernel, C = 1"][1][0, 5] == pytest.approx(value)


def test_the_best_by_mean_over_folds():
    records = [
        {"domain": "d", "classifier": name, "fold": fold, "accuracy": score}
        for name, scores in {"low": (0.4, 0.9), "high": (0.7, 0.7)}.items()
        for fold, score in enumerate(scores)
    ]
    label, folds = study.best(records, "d")
    assert label == "high"
    np.testing.assert_array_equal(folds, [0.7, 0.7])


def test_published_numbers_above_the_ceiling_are_named():
    records = [
        {"domain": name, "classifier": "svm", "fold": fold, "accuracy": score}
        for name in NAMES
        for fold, score in enumerate((0.60, 0.66))
    ]
    rows = {row[0].text: row for row in study.tables(records, {})["ceiling"].rows}
    assert rows["C"][4].text == "ssa A→C 72.4, ssa D→C 71.2, ssa W→C 74.2"
    assert rows["A"][4].text == "–"
    assert rows["C"][1].text == "63.0"


def test_the_finding_counts_the_published_numbers_above_the_ceiling():
    records = [
        {"domain": NAMES[1], "classifier": "svm", "fold": fold, "accuracy": score}
        for fold, score in enumerate((0.60, 0.66))
    ]
    assert study.finding(records, {}) == (
        "With the labels of 1 of 2 folds, the best classifier reaches 63.0 % on C (svm). Of 21 "
        "published numbers, 3 lie above that by more than the standard deviation over folds: "
        "ssa A→C 72.4, ssa D→C 71.2 and ssa W→C 74.2."
    )
    perfect = study.finding([{**record, "accuracy": 1.0} for record in records], {})
    assert "reaches 100.0 % on C" in perfect
    assert perfect.endswith("none lie above that by more than the standard deviation over folds.")


def test_the_figure_can_be_drawn(records):
    full = [{**record, "domain": name} for name in NAMES for record in records]
    assert render(study.figures(full, {})["ceiling"], "svg").startswith(b"<?xml")
