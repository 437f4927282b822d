from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy import sparse

from workflow.lib.trials import preprocess
from workflow.lib.trials.preprocess import STEPS, make_preprocessing, preprocessed

X = np.array([[1.0, 2.0, 5.0], [3.0, 2.0, 0.0], [5.0, 2.0, 1.0]])


def test_no_step_changes_nothing():
    steps = make_preprocessing([])
    np.testing.assert_array_equal(steps.fit_transform(X), X)
    np.testing.assert_array_equal(steps.transform(X[:1]), X[:1])


def test_zscore_uses_the_population_deviation_and_only_centres_constants():
    Z = make_preprocessing(["zscore"]).fit_transform(X)
    expected = (X[:, 0] - 3) / np.sqrt(8 / 3)
    np.testing.assert_allclose(Z[:, 0], expected)
    np.testing.assert_array_equal(Z[:, 1], 0)


def test_statistics_come_from_the_rows_it_is_fitted_on():
    steps = make_preprocessing(["zscore"]).fit(X[:2])
    np.testing.assert_allclose(steps.transform(X[2:])[0, 0], (5 - 2) / 1)


def test_steps_follow_in_order():
    Z = make_preprocessing(["l1_rows", "zscore"]).fit_transform(X)
    rows = X / X.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(Z, (rows - rows.mean(axis=0)) / rows.std(axis=0))


@pytest.mark.parametrize(("step", "order"), [("l1_rows", 1), ("l2_rows", 2)])
def test_rows_of_unit_length_also_sparse(step, order):
    Z = make_preprocessing([step]).fit_transform(sparse.csr_array(X))
    assert sparse.issparse(Z)
    np.testing.assert_allclose(np.linalg.norm(Z.toarray(), ord=order, axis=1), 1)


def test_every_step_has_a_schema_entry():
    path = Path(__file__).parents[3] / "workflow/schemas/protocols.yaml"
    schema = yaml.safe_load(path.read_text())
    entry = schema["properties"]["protocols"]["additionalProperties"]["properties"]["preprocess"]
    assert set(entry["items"]["enum"]) == set(STEPS)


def test_zscores_of_sparse_features_are_those_of_the_same_dense_ones(monkeypatch):
    counts = np.random.default_rng(0).poisson(0.5, size=(20, 4)).astype(float)
    spec = {"preprocess": ["l2_rows", "zscore"], "preprocess_rows": "seen"}
    rows = np.arange(20)
    expected, _ = preprocess.preprocessed(spec, counts, rows)
    found, steps = preprocess.preprocessed(spec, sparse.csr_array(counts), rows)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    np.testing.assert_allclose(steps.transform(sparse.csr_array(counts)), expected, atol=1e-14)
    monkeypatch.setattr(preprocess, "DENSE_BYTES", 8 * 79)
    with pytest.raises(ValueError, match="zscore makes sparse features dense: 20 x 4 would take"):
        preprocess.preprocessed(spec, sparse.csr_array(counts), rows)


def test_all_rows_of_a_domain_are_not_copied():
    """A million of them may lie in a file."""
    X = np.random.default_rng(0).normal(size=(5, 3))
    spec = {"preprocess": [], "preprocess_rows": "seen"}
    whole, _ = preprocessed(spec, X, np.arange(5))
    assert np.shares_memory(whole, X)
    turned, _ = preprocessed(spec, X, np.arange(5)[::-1])
    np.testing.assert_array_equal(turned, X[::-1])
    assert not np.shares_memory(turned, X)
