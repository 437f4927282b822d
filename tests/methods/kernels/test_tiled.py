import numpy as np
import pytest
from domain_alignment.kernels import _tiled
from domain_alignment.kernels._pairwise import kernel_matrix
from domain_alignment.kernels._tiled import (
    TILED_KERNELS,
    Kernel,
    has_sigma,
    kernel_product,
    pays_to_compile,
    squared_distances,
    symmetric_kernel_product,
    tiles,
)
from scipy import sparse
from scipy.spatial.distance import cdist

from tests.methods import published_kema


@pytest.fixture
def histograms():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (30, 40)).astype(float)
    return X[:18], X[18:]


def test_the_width_matters_to_the_kernels_that_have_one(histograms):
    for function in TILED_KERNELS:
        narrow, wide = Kernel(function, 1.0)(*histograms), Kernel(function, 3.0)(*histograms)
        assert has_sigma(function) != np.array_equal(narrow, wide)
    assert not has_sigma(np.dot)


def test_gamma_is_one_over_twice_the_squared_width(histograms):
    expected = kernel_matrix(*histograms, "rbf", gamma=1 / (2 * 3.0**2))
    np.testing.assert_allclose(Kernel("rbf", 3.0)(*histograms), expected, atol=1e-14)


@pytest.mark.parametrize("function", TILED_KERNELS)
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_every_kernel_equals_its_formula(histograms, function, convert):
    X, Y = histograms
    expected = published_kema.kernel(function, X, Y, 3.0)
    found = Kernel(function, 3.0)(convert(X), convert(Y))
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("function", TILED_KERNELS)
@pytest.mark.parametrize("compiled", [False, True])
def test_samples_may_be_open_for_reading_only(histograms, function, compiled):
    kernel = Kernel(function, 3.0, compiled=compiled)
    expected = kernel(*histograms)
    closed = [X.copy() for X in histograms]
    for X in closed:
        X.flags.writeable = False
    np.testing.assert_array_equal(kernel(*closed), expected)


def test_the_intersection_is_the_sum_of_minima_for_negative_values_too():
    X = np.array([[-1.0, 2.0], [3.0, -4.0]])
    np.testing.assert_allclose(Kernel("histogram_intersection")(X, X), [[1, -5], [-5, -1]])


@pytest.mark.parametrize("n_features", [3, 40])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_distances_keep_their_digits_under_a_shift(n_features, shift):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, n_features)) + shift, rng.normal(size=(15, n_features)) + shift
    np.testing.assert_allclose(squared_distances(X, Y), cdist(X, Y, "sqeuclidean"), rtol=1e-9)


@pytest.mark.parametrize("far", [1e6, 1e9, 1e15])
def test_one_far_sample_leaves_the_distances_of_the_others_alone(far):
    X = np.random.default_rng(0).normal(size=(40, 20)) + np.repeat([[0.0], [4.0]], 20, axis=0)
    Y = X.copy()
    Y[-1] = far
    found = squared_distances(Y, Y)
    np.testing.assert_allclose(
        found[:-1, :-1], cdist(X, X, "sqeuclidean")[:-1, :-1], rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(found[-1, :-1], 20 * far**2, rtol=1e-4)


def test_equal_samples_do_not_move_the_centre():
    X = np.random.default_rng(0).normal(size=(40, 20))
    X[:30] = X[0]
    X[-1] *= 10
    np.testing.assert_array_equal(_tiled._centred(X, X)[0], X - X.mean(axis=0))


def test_distances_are_never_negative():
    X = np.repeat(np.random.default_rng(0).normal(size=(1, 50)), 20, axis=0)
    assert squared_distances(X, X).min() >= 0


def test_chi2_wants_histograms():
    kernel = Kernel("chi2", 1.0, "domain 1")
    kernel.check(np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"domain 1: holds the negative value -0.5"):
        kernel.check(np.array([[1.0, -0.5]]))
    with pytest.raises(ValueError, match="negative value"):
        kernel.check(sparse.csr_array([[1.0, -0.5]]))


def test_a_callable_may_return_a_sparse_matrix_and_must_fit():
    X = np.eye(3)
    assert isinstance(Kernel(lambda X, Y: sparse.csr_array(X @ Y.T))(X, X), np.ndarray)
    with pytest.raises(ValueError, match=r"domain 2: the kernel returned shape \(3,\)"):
        Kernel(lambda X, Y: X[0], name="domain 2")(X, X)
    with pytest.raises(ValueError, match="NaN or infinity"):
        Kernel(lambda X, Y: np.full((3, 3), np.nan))(X, X)


@pytest.mark.parametrize("tile", [4, 7, 1000])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_products_in_tiles_equal_products(histograms, monkeypatch, tile, convert):
    monkeypatch.setattr(_tiled, "TILE", tile)
    X, Y = histograms
    B = np.random.default_rng(1).normal(size=(len(Y), 3))
    for kernel in (Kernel("rbf", 4.0), Kernel("histogram_intersection")):
        expected = kernel(X, Y) @ B
        np.testing.assert_allclose(kernel_product(kernel, convert(X), convert(Y), B), expected)
        expected = kernel(Y, Y) @ B
        np.testing.assert_allclose(symmetric_kernel_product(kernel, convert(Y), B), expected)


def test_a_symmetric_product_computes_each_tile_once(histograms, monkeypatch):
    monkeypatch.setattr(_tiled, "TILE", 6)
    X, _ = histograms
    calls = []
    kernel = Kernel(lambda A, B: calls.append((len(A), len(B))) or A @ B.T)
    symmetric_kernel_product(kernel, X, np.ones((len(X), 1)))
    assert len(calls) == 6  # of 3 x 3 tiles


def test_tiles_cover_all_rows(monkeypatch):
    monkeypatch.setattr(_tiled, "TILE", 4)
    assert tiles(9) == [slice(0, 4), slice(4, 8), slice(8, 9)]


def test_what_pays_to_compile(monkeypatch):
    assert pays_to_compile("chi2", (8000, 800))
    assert pays_to_compile("chi2", (1123, 800)), "SURF features of Caltech"
    assert not pays_to_compile("chi2", (400, 800))
    assert pays_to_compile("chi2", (1000, 4096))
    assert not pays_to_compile("histogram_intersection", (1123, 4096)), "DeCAF6 of Caltech"
    for kernel in ("rbf", "precomputed", min):
        assert not pays_to_compile(kernel, (10**6, 10**3))
    monkeypatch.setattr(_tiled, "find_spec", lambda name: None)
    assert not pays_to_compile("chi2", (8000, 800))
