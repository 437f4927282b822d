"""Compiled sums against SciPy's and scikit-learn's."""

import numpy as np
import pytest
from domain_alignment.kernels._sums_numba import chi2_sums, shared_sums
from domain_alignment.kernels._tiled import Kernel
from scipy import sparse


@pytest.mark.parametrize("function", ["histogram_intersection", "chi2"])
@pytest.mark.parametrize("n_features", [1, 255, 256, 600])
@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_matrix])
def test_compiled_sums_equal_the_others(function, n_features, convert):
    rng = np.random.default_rng(0)
    X, Y = (rng.random((n, n_features)) * (rng.random((n, n_features)) < 0.5) for n in (30, 20))
    X[0] = Y[0] = 0
    expected = Kernel(function, 3.0)(X, Y)
    found = Kernel(function, 3.0, compiled=True)(convert(X), convert(Y))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_compiled_intersection_of_negative_values():
    X = np.random.default_rng(0).normal(size=(9, 40))
    expected = np.minimum(X[:, None], X).sum(axis=2)
    found = Kernel("histogram_intersection", compiled=True)(X, X)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_sums_of_one_pair():
    X, Y = np.array([[1.0, 3.0, 0.0]]), np.array([[2.0, 1.0, 0.0]])
    assert shared_sums(X, Y) == 2
    assert chi2_sums(X, Y) == pytest.approx(1 / 3 + 1)
