import pickle

import numpy as np
import pytest
from domain_alignment.max_margin._low_rank_transform import (
    TransformSolution,
    identity_scores,
    regularizer,
)
from domain_alignment.utils import _rows
from domain_alignment.utils.validation import dense
from scipy import sparse


def make(regularize, n_source=5, n_target=4):
    rng = np.random.default_rng(0)
    V, beta = rng.normal(size=(3, n_source)), rng.normal(size=(3, n_target))
    return TransformSolution(
        V, beta, np.ones((3, 6)), regularize, 2.0, 1.0, 0.5, 7, 0, "primal", False
    )


SHAPES = [(5, 4), (4, 4), (3, 6)]


@pytest.mark.parametrize("regularize", ["zero", "identity"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_factors_act_as_the_dense_transform(regularize, shape):
    solution = make(regularize, *shape)
    W = solution.to_dense()
    expected = solution.V.T @ solution.beta + (np.eye(*shape) if regularize == "identity" else 0)
    np.testing.assert_allclose(W, expected, atol=1e-14)
    rng = np.random.default_rng(1)
    X, hyperplanes = rng.normal(size=(6, shape[1])), rng.normal(size=(2, shape[0]))
    for rows in (X, sparse.csr_matrix(X)):
        np.testing.assert_allclose(solution.apply(rows), X @ W.T, atol=1e-12)
        np.testing.assert_allclose(
            solution.scores(rows, hyperplanes), X @ W.T @ hyperplanes.T, atol=1e-12
        )


@pytest.mark.parametrize("shape", SHAPES)
def test_untrained(shape):
    identity = TransformSolution.untrained(*shape, "identity")
    np.testing.assert_array_equal(identity.to_dense(), np.eye(*shape))
    np.testing.assert_array_equal(identity.apply(np.ones((2, shape[1])))[0], np.eye(*shape).sum(1))
    zero = TransformSolution.untrained(*shape, "zero")
    np.testing.assert_array_equal(zero.to_dense(), np.zeros(shape))
    assert zero.scores(np.ones((2, shape[1])), np.ones((4, shape[0]))).shape == (2, 4)


@pytest.mark.parametrize("regularize", ["zero", "identity"])
@pytest.mark.parametrize("n_rows", [2, 9])  # fewer than the hyperplanes, and more
def test_scores_are_those_of_the_mapped_samples(regularize, n_rows, monkeypatch):
    solution, rng = make(regularize, 5, 5), np.random.default_rng(1)
    X, U = rng.normal(size=(n_rows, 5)), rng.normal(size=(4, 5))
    expected = solution.apply(X) @ U.T
    for cache in (_rows.FEW_IN_CACHE, 10):
        monkeypatch.setattr(_rows, "FEW_IN_CACHE", cache)
        for rows in (X, sparse.csr_array(X)):
            np.testing.assert_allclose(solution.apply(rows), solution.apply(X), rtol=1e-12)
            np.testing.assert_allclose(solution.scores(rows, U), expected, rtol=1e-12, atol=1e-13)


def test_samples_stay_where_the_transform_is_the_identity():
    X = np.random.default_rng(0).normal(size=(4, 5))
    identity = TransformSolution.untrained(5, 5, "identity")
    assert identity.is_identity
    for rows in (X, sparse.csr_array(X)):
        moved = identity.apply(rows)
        assert sparse.issparse(moved) == sparse.issparse(rows)
        np.testing.assert_array_equal(dense(moved), (X @ np.zeros((5, 0))) @ np.zeros((0, 5)) + X)
    for other in (
        TransformSolution.untrained(5, 5, "zero"),
        TransformSolution.untrained(4, 5, "identity"),
        make("identity", 5, 5),
    ):
        assert not other.is_identity


def test_identity_scores():
    rng = np.random.default_rng(0)
    V, X = rng.normal(size=(3, 5)), rng.normal(size=(6, 4))
    expected = V @ np.eye(5, 4) @ X.T
    np.testing.assert_allclose(identity_scores(V, X), expected)
    np.testing.assert_allclose(identity_scores(V, sparse.csr_matrix(X)), expected)


def test_can_be_pickled_and_shows_no_arrays():
    solution = make("zero")
    again = pickle.loads(pickle.dumps(solution))
    np.testing.assert_array_equal(again.to_dense(), solution.to_dense())
    assert "array" not in repr(solution)
    assert "gap=0.5" in repr(solution)


def test_wrong_samples():
    with pytest.raises(ValueError, match="X has 3 features; the transform was learned with 4"):
        make("zero").apply(np.ones((2, 3)))
    with pytest.raises(ValueError, match="hyperplanes have 4 features, the source has 5"):
        make("zero").scores(np.ones((2, 4)), np.ones((1, 4)))


@pytest.mark.parametrize(
    ("asked", "equal", "unequal"),
    [("auto", "identity", "zero"), ("identity", "identity", "identity"), ("zero", "zero", "zero")],
)
def test_only_auto_asks_for_the_numbers_of_features(asked, equal, unequal):
    assert regularizer(asked, 3, 3) == equal
    assert regularizer(asked, 3, 4) == unequal
