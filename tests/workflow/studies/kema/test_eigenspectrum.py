"""Bounds on what eigenvectors capture, on generated samples."""

import json

import numpy as np

from tests.workflow.studies.parts import complete
from workflow.studies.kema import eigenspectrum as kema_eigenspectrum


def test_new_samples_keep_the_bounds_and_a_ridge_changes_none():
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
        np.testing.assert_allclose(record["upper_ridge"], record["upper"], rtol=1e-9)


def test_more_eigenvectors_capture_more():
    X = np.random.default_rng(0).normal(size=(200, 2))
    found = kema_eigenspectrum.measured(X[:100], X[100:], [1, 5, 30], 0.05)
    captured = [record["captured"] for record in found]
    assert captured == sorted(captured)
    assert captured[-1] > 0.99
