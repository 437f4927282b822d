import numpy as np
import pytest
from domain_alignment.kernels import _tiled
from domain_alignment.kernels._tiled import Kernel
from domain_alignment.manifold import _kernel_operators
from domain_alignment.manifold._kernel_operators import (
    FactoredColumns,
    FourierFeatures,
    KernelColumns,
    LandmarkColumns,
    PlainColumns,
)
from scipy import sparse

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(30, 6)), RNG.normal(size=(9, 6))
CHOSEN = np.array([4, 2, 20, 11, 29])
RBF, LINEAR = Kernel("rbf", 2.0), Kernel("linear")
FEATURES = FourierFeatures(6, 12, 2.0, np.random.RandomState(0))


def factored(A, B):
    return FEATURES(A) @ FEATURES(B).T


# Name: columns of the given samples, and the dense matrix of any samples.
CASES = {
    "plain": (lambda X: PlainColumns(X), lambda A: A),
    "plain chosen": (lambda X: PlainColumns(X, CHOSEN % 6), lambda A: A[:, CHOSEN % 6]),
    "kernel": (lambda X: KernelColumns(RBF, X), lambda A: RBF(A, X)),
    "landmarks": (lambda X: LandmarkColumns(RBF, X, CHOSEN), lambda A: RBF(A, X[CHOSEN])),
    "linear landmarks": (
        lambda X: LandmarkColumns(LINEAR, X, CHOSEN),
        lambda A: A @ X[CHOSEN].T,
    ),
    "linear": (lambda X: FactoredColumns(X), lambda A: A @ X.T),
    "random": (lambda X: FactoredColumns(X, FEATURES), lambda A: factored(A, X)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("tile", "held"), [(7, 0), (1000, 2**20)])
def test_columns_stand_for_their_matrix(case, convert, tile, held, monkeypatch):
    monkeypatch.setattr(_tiled, "TILE", tile)
    monkeypatch.setattr(_kernel_operators, "_MAX_CACHED_ENTRIES", held)
    make, dense = CASES[case]
    columns, matrix = make(convert(X)), dense(X)
    B = np.random.default_rng(1).normal(size=(matrix.shape[1], 3))
    assert columns.n_columns == matrix.shape[1]
    rows = columns.at(CHOSEN)
    assert isinstance(rows, np.ndarray)
    np.testing.assert_allclose(rows, matrix[CHOSEN], atol=1e-13)
    np.testing.assert_allclose(columns.times(B), matrix @ B, atol=1e-12)
    weights = columns.weights(B)
    columns.release()
    np.testing.assert_allclose(columns.project(convert(NEW), weights), dense(NEW) @ B, atol=1e-12)
    V = columns.primal(weights)
    assert (V is None) == (case in ("kernel", "landmarks", "random"))
    if V is not None and case != "plain chosen":
        np.testing.assert_allclose(NEW @ V, dense(NEW) @ B, atol=1e-12)


def test_random_features_are_computed_once_and_then_forgotten():
    calls = []

    def features(X):
        calls.append(len(X))
        return FEATURES(X)

    features.n_features = 12
    columns = FactoredColumns(X, features)
    columns.times(np.ones((30, 2)))
    columns.weights(np.ones((30, 2)))
    assert calls == [30]
    columns.release()
    columns.weights(np.ones((30, 2)))
    assert calls == [30, 30]


def test_a_precomputed_kernel_is_not_linear_in_features():
    assert PlainColumns(X, linear=False).primal(np.ones((6, 1))) is None


def test_random_features_have_the_gaussian_kernel_as_their_mean():
    # The mean of 400 maps of 50 features each; entries have a standard deviation below 0.01.
    state = np.random.RandomState(0)
    mean = np.mean(
        [Z @ Z.T for Z in (FourierFeatures(6, 50, 2.0, state)(X) for _ in range(400))], 0
    )
    np.testing.assert_allclose(mean, RBF(X, X), atol=0.05)
    assert np.sqrt(np.mean((mean - RBF(X, X)) ** 2)) < 0.01
