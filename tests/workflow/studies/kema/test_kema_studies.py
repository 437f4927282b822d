"""The studies of KEMA on toys: their measures, and the tables and figures of small runs."""

import numpy as np
import pytest

from workflow.loaders.kema_toys import realisation
from workflow.studies.kema import bounds as kema_bounds
from workflow.studies.kema import inversion as kema_inversion
from workflow.studies.kema import rekema as kema_rekema
from workflow.studies.kema import time as kema_time
from workflow.studies.kema import toys as kema_toys
from workflow.studies.kema._toys import fit, training_set


def complete(module, records, arrays):
    """Whether a study has the parts that it announces; draws and returns its tables."""
    tables = module.tables(records, arrays)
    figures = module.figures(records, arrays)
    assert tuple(tables) == tuple(module.TABLES)
    assert set(figures) == set(module.FIGURES)
    for table in tables.values():
        assert all(len(row) == len(table.columns) for row in table.rows)
    for draw in figures.values():
        draw()
    return tables


def test_toys_near_the_authors_program():
    records, arrays = kema_toys.run({}, toys=[2], n_realisations=2, dimensions=[1, 2])
    tables = complete(kema_toys, records, arrays)
    place = {"toy": 2, "classifier": "lda", "dimensions": 2}
    for domain in ("source", "target"):
        assert np.mean(kema_toys.errors_of(records, method="rbf_15", domain=domain, **place)) < 8
    linear = kema_toys.errors_of(records, method="linear", domain="target", **place)
    assert np.mean(linear) > 12  # a linear map does not unfold the target
    assert len(tables["reference"].rows) == 6
    ssma = kema_toys.errors_of(records, method="ssma", domain="target", **place)
    assert ssma == linear


def test_toys_of_the_text_have_no_reference():
    records, arrays = kema_toys.run({}, "text", toys=[1], n_realisations=1, dimensions=[2])
    tables = complete(kema_toys, records, arrays)
    assert {cell.kind for cell in tables["reference"].rows[0]} == {"absent"}
    with pytest.raises(ValueError, match="take one of toolbox, text"):
        kema_toys.run({}, "paper")


def test_rekema_with_all_samples_stands_beside_fewer():
    records, arrays = kema_rekema.run(
        {}, shares=[0.1, 1.0], n_realisations=2, labelled_per_class=20, unlabelled=30
    )
    tables = complete(kema_rekema, records, arrays)
    assert [row[0].text for row in tables["accuracy"].rows] == ["SSMA", "REKEMA", "KEMA"]
    full = np.mean(kema_rekema.accuracies(records, 1.0, "linear_svm"))
    assert full > np.mean(kema_rekema.accuracies(records, None, "linear_svm")) + 10


def test_standardised_scores_of_a_domain_map_onto_itself():
    """Read as the source's own, with as many dimensions as features, they are the source."""
    domains = realisation(1, 0)
    Xs, ys = training_set(domains)
    for method in kema_inversion.METHODS:
        aligner = fit(kema_inversion.make_inverter(method, 2), [Xs[0], Xs[0]], [ys[0], ys[0]])
        raw = kema_inversion.map_scores(aligner, Xs[0], Xs[0], 2, "raw")
        assert raw.shape == Xs[0].shape
        if method == "ssma":
            both = kema_inversion.map_scores(aligner, Xs[0], Xs[0], 2, "standardised")
            np.testing.assert_allclose(both, Xs[0], atol=1e-6)


def test_inversion_says_what_comes_back():
    records, arrays = kema_inversion.run({}, toys=[3, 4], n_realisations=1, n_components=[2, 6])
    tables = complete(kema_inversion, records, arrays)
    said = {(row[0].text, row[1].text): row[-1].text for row in tables["verdict"].rows}
    assert said[("3", "SSMA")] == "position"
    assert said[("4", "KEMA, RBF → linear")] == "class only"
    assert kema_inversion.verdict([1.0], [2.0], [50.0]) == "neither"


def test_the_error_of_an_inversion():
    expected = np.zeros((2, 2))
    assert kema_inversion.mean_error(expected, np.array([[3.0, 4.0], [0.0, 0.0]])) == 2.5


def test_times_of_every_method_and_the_dense_problem():
    records, arrays = kema_time.run(
        {}, n_samples=300, landmarks=[20, 40], random_features=[20, 40], n_realisations=2
    )
    complete(kema_time, records, arrays)
    assert {r["method"] for r in records} == set(kema_time.METHODS)
    assert all(r["cpu_seconds"] >= 0 for r in records)


def test_the_dense_problem_has_the_eigenvalues_of_kema():
    """It may leave the range of K Ld K, so its smallest one is no larger."""
    from workflow.studies.kema._toys import make_aligner

    Xs, ys = training_set(realisation(1, 0))
    aligner = make_aligner("rbf_1", 2)
    dense = kema_time.dense_solution(aligner, Xs, ys)
    exact = fit(make_aligner("rbf_1", 2), Xs, ys).eigenvalues_
    assert dense[0] <= exact[0] * 1.01


def test_errors_of_random_features_stay_below_the_bounds():
    records, arrays = kema_bounds.run(
        {}, n_samples=[30, 60], n_features=[20, 320], fixed_samples=40, n_realisations=20
    )
    complete(kema_bounds, records, arrays)
    assert all(r["spectral"] <= r["bound"] <= r["proved"] for r in records)
    assert -0.7 < kema_bounds.exponent(records, "m", "spectral") < -0.3
