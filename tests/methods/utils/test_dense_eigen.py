import numpy as np
import pytest
from domain_alignment.utils._dense_eigen import dense_eigenpairs
from scipy import linalg


def categories(n_categories, n_times):
    """The centred kernel matrix of one-hot rows: two eigenvalues, one of them 0."""
    rows = np.tile(np.eye(n_categories), (n_times, 1))
    centred = rows - rows.mean(axis=0)
    return centred @ centred.T


@pytest.mark.parametrize("n_categories", [23, 67, 111, 180, 300])
@pytest.mark.parametrize("scale", [1.0, 0.21418546365914787])
def test_some_pairs_of_multiple_eigenvalues_are_as_many_as_asked(n_categories, scale):
    """LAPACK's search for some of them ends in errors, or leaves pairs out."""
    A = scale * categories(n_categories, 1)
    for first, last in ((n_categories - 5, n_categories), (0, 9), (1, 20)):
        values, vectors = dense_eigenpairs(A, first=first, last=last)
        assert values.shape == (last - first,)
        np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(last - first), atol=1e-12)


def test_of_a_pencil_that_is_not_definite_nothing_is_returned():
    A, B = np.eye(4), np.diag([1.0, 1.0, -1.0, 1.0])
    with pytest.raises(linalg.LinAlgError):
        dense_eigenpairs(A, B, last=2)
    values, _ = dense_eigenpairs(np.diag([3.0, 1.0, 2.0]), 2 * np.eye(3))
    np.testing.assert_allclose(values, [0.5, 1.0, 1.5])
