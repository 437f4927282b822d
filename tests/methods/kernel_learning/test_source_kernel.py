import numpy as np
import pytest
from domain_alignment.kernel_learning._source_kernel import DenseKernel, FactoredKernel
from scipy import sparse

RNG = np.random.default_rng(1)
FACTOR = np.where(RNG.random((9, 3)) < 0.7, RNG.normal(size=(9, 3)), 0)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("n_columns", [1, 4, 12])
def test_a_factored_kernel_is_the_dense_one(convert, n_columns):
    """Also of more columns than rows, and of columns that depend on each other."""
    V, spectra = RNG.normal(size=(9, n_columns)), RNG.uniform(size=(2, n_columns))
    V[:, -1] = V[:, 0]
    dense, factored = DenseKernel(FACTOR @ FACTOR.T), FactoredKernel(convert(FACTOR))
    np.testing.assert_allclose(factored.quadratic(V), dense.quadratic(V))
    expected = [np.linalg.norm((V * values) @ V.T - FACTOR @ FACTOR.T) for values in spectra]
    for kernel in (dense, factored):
        np.testing.assert_allclose(kernel.distances(V, *spectra), expected, rtol=1e-12)
        assert kernel.norm() == pytest.approx(np.linalg.norm(FACTOR @ FACTOR.T), rel=1e-12)


def test_a_small_distance_keeps_its_digits():
    """A difference of squares would leave 1e-8 of the norm."""
    kernel, direction = FactoredKernel(FACTOR), np.linalg.qr(FACTOR)[0][:, :1]
    assert kernel.distances(FACTOR, np.ones(3))[0] < 1e-14 * kernel.norm()
    V = np.hstack([FACTOR, direction])
    found = kernel.distances(V, np.array([1.0, 1.0, 1.0, 1e-10]))
    np.testing.assert_allclose(found, 1e-10, rtol=1e-4)
