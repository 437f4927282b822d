"""Bounds on what eigenvectors capture, on generated samples."""

import json

import numpy as np

from tests.workflow.studies.parts import complete
from workflow.studies.kema import eigenspectrum as kema_eigenspectrum


def test_new_samples_keep_the_bounds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    records, arrays = kema_eigenspectrum.run(
        {"toy.a": (X, None), "toy.b": (X[:200] ** 3, None)}, ranks=[1, 5, 20], n_realisations=3
    )
    tables = complete(kema_eigenspectrum, records, arrays)
    assert json.loads(json.dumps(records, allow_nan=False)) == records
    assert len(tables["eigenspectrum"].rows) == 2 * 3
    for record in records:
        assert record["lower"] <= record["captured"] <= 1
        assert 0 <= record["residual"] <= record["upper"]
        assert record["residual"] <= record["upper_ridge"] < record["upper"]


def test_the_ridge_leaves_the_eigenvalues_and_takes_the_regularised_diagonal():
    X = np.random.default_rng(0).normal(size=(120, 2))
    (record,) = kema_eigenspectrum.measured(X[:60], X[60:], [3], 0.05)
    distances = np.linalg.norm(X[:60, None] - X[None, :60], axis=2)
    K = np.exp(-(distances**2) / (2 * (distances.sum() / (60 * 59)) ** 2))
    values = np.linalg.eigvalsh(K)[::-1]
    regularised = np.linalg.solve(np.eye(60) + K / (2 * values[0]), K)
    size = np.sqrt(2 / 60 * np.sum(np.diag(regularised) ** 2)) / np.sqrt(60)
    tails = [values[k:].sum() / 60 + (1 + np.sqrt(k)) * size for k in (1, 2, 3)]
    expected = min(tails) + np.sqrt(18 / 60 * np.log(2 * 60 / 0.05))
    np.testing.assert_allclose(record["upper_ridge"], expected, rtol=1e-9)


def test_the_finding_says_how_far_the_bounds_are():
    record = {"domain": "a", "rank": 1, "residual": 0.5, "upper": 0.75, "upper_ridge": 0.4}
    record |= {"captured": 0.5, "lower": -0.25}
    assert kema_eigenspectrum.finding([record], {}) == (
        "Of a squared norm of 1, the upper bound is 0.25 above the mean residual and the "
        "lower bound 0.75 below what is captured; of 1 mean over halves, the upper bound "
        "is below 1 for 1 and the lower bound above 0 for none. Both hold in 1 of 1 measurement, "
        "that with a ridge in 0."
    )
    wide = {**record, "rank": 2, "upper": 1.5, "lower": 0.6}
    said = kema_eigenspectrum.finding([record, wide], {})
    assert "is 0.25 to 1.00 above the mean residual and the lower bound −0.10 to 0.75" in said
    assert said.endswith("above 0 for 1. Both hold in 1 of 2 measurements, that with a ridge in 0.")


def test_more_eigenvectors_capture_more():
    X = np.random.default_rng(0).normal(size=(200, 2))
    found = kema_eigenspectrum.measured(X[:100], X[100:], [1, 5, 30], 0.05)
    captured = [record["captured"] for record in found]
    assert captured == sorted(captured)
    assert captured[-1] > 0.99
