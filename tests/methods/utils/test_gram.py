import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils import gram as gram_matrices
from domain_alignment.utils.eigen import RANK_TOLERANCE
from scipy import linalg


def test_the_rank_is_relative_to_the_largest_eigenvalue():
    for scale in (1.0, 1e-30, 1e30):
        values, vectors = gram_matrices.range_eigenpairs(scale * np.diag([1.0, 1e-9, 1e-11]))
        np.testing.assert_allclose(values, scale * np.array([1e-9, 1.0]))
        assert vectors.shape == (3, 2)
    with pytest.raises(AlignmentError, match="domain 3: all features are zero"):
        gram_matrices.range_eigenpairs(np.zeros((2, 2)), "domain 3")


@pytest.mark.parametrize("dense_rows", [0, 200])
@pytest.mark.parametrize("zero", [[], [0, 4]])
def test_an_inverse_root(dense_rows, zero, monkeypatch):
    monkeypatch.setattr(gram_matrices, "DENSE_ROWS", dense_rows)
    X = np.random.default_rng(0).normal(size=(30, 9))
    X[:, zero] = 0
    gram = X.T @ X
    root = gram_matrices.InverseRoot(gram)
    assert root.rank == 9 - len(zero)
    assert (root._factor is None) == (dense_rows > 0)
    T = root.apply(np.eye(root.rank))
    np.testing.assert_allclose(T.T @ gram @ T, np.eye(root.rank), atol=1e-12)
    np.testing.assert_allclose(root.apply_transposed(np.eye(9)), T.T, atol=1e-14)
    v = np.arange(9.0)
    np.testing.assert_allclose(root.apply_transposed(v), T.T @ v)
    np.testing.assert_allclose(root.apply(v[: root.rank]), T @ v[: root.rank])


@pytest.mark.parametrize(("least", "triangular"), [(1e-8, True), (1.5e-10, False), (1e-17, False)])
def test_cholesky_is_for_a_certain_rank(least, triangular, monkeypatch):
    monkeypatch.setattr(gram_matrices, "DENSE_ROWS", 0)
    axes = linalg.qr(np.random.default_rng(0).normal(size=(40, 40)))[0]
    sizes = np.ones(40)
    sizes[3] = least
    root = gram_matrices.InverseRoot((axes * sizes) @ axes.T)
    assert (root._factor is not None) == triangular
    assert root.rank == 40 - (least < 1e-10)


@pytest.mark.parametrize("gram", [np.zeros((3, 3)), np.zeros((1, 1))])
def test_no_features_at_all(gram):
    with pytest.raises(AlignmentError, match="domain 3: all features are zero"):
        gram_matrices.InverseRoot(gram, "domain 3")


def test_a_definite_factor_is_of_gram_matrices_that_surely_have_full_rank():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(40, 40)))[0]

    def with_smallest(value):
        return (Q * np.r_[value, np.linspace(0.5, 1, 39)]) @ Q.T

    gram = with_smallest(1e-9)
    np.testing.assert_allclose(
        linalg.cho_solve((gram_matrices.definite_factor(gram), False), gram), np.eye(40), atol=1e-5
    )
    assert gram_matrices.definite_factor(with_smallest(5 * RANK_TOLERANCE)) is not None
    for value in (1.5 * RANK_TOLERANCE, RANK_TOLERANCE / 2, 0.0, -1e-3):
        assert gram_matrices.definite_factor(with_smallest(value)) is None
    assert len(gram_matrices.range_eigenpairs(with_smallest(5 * RANK_TOLERANCE))[0]) == 40


@pytest.mark.parametrize("rank", [3, 300])
def test_a_factor_with_pivots(rank):
    """Of more rows than one block of LAPACK's."""
    X = np.random.default_rng(0).normal(size=(300, rank))
    gram = X @ X.T
    factor, pivots = gram_matrices.pivoted_factor(gram.copy())
    assert factor.shape == (300, rank)
    np.testing.assert_allclose(factor @ factor.T, gram, atol=1e-11 * gram.max())
    triangle = factor[pivots]
    np.testing.assert_array_equal(triangle, np.tril(triangle))
    assert (np.diff(triangle.diagonal()) <= 0).all()


def test_a_factor_with_pivots_has_a_rank_rule():
    rng = np.random.default_rng(0)
    offset = np.c_[np.ones(200), 4e-6 * rng.normal(size=(200, 40))]  # of eigenvalues, 1
    factor, _ = gram_matrices.pivoted_factor(offset @ offset.T)
    assert factor.shape == (200, 41)
    np.testing.assert_allclose(factor @ factor.T, offset @ offset.T, atol=1e-12)
    assert gram_matrices.pivoted_factor(np.diag([1.0, 2e-10, 1e-11]))[0].shape == (3, 2)
    with pytest.raises(AlignmentError, match="mine: all features are zero"):
        gram_matrices.pivoted_factor(np.zeros((2, 2)), "mine")
