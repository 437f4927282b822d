import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernels import _pairwise
from domain_alignment.kernels._pairwise import (
    PAIRWISE_KERNELS,
    check_symmetric,
    distances,
    has_gamma,
    kernel_matrix,
    median_gamma,
    pair_rounding,
)
from measure import peak_bytes
from scipy import sparse
from scipy.spatial.distance import pdist

FORMULAS = {
    "linear": lambda x, y: x @ y,
    "cosine": lambda x, y: x @ y / ((np.linalg.norm(x) or 1) * (np.linalg.norm(y) or 1)),
    "rbf": lambda x, y: np.exp(-0.3 * np.sum((x - y) ** 2)),
    "laplacian": lambda x, y: np.exp(-0.3 * np.sum(np.abs(x - y))),
}


def samples(n_samples, seed):
    X = np.random.default_rng(seed).normal(size=(n_samples, 5))
    X[X < 0.3] = 0
    X[1] = 0  # an empty document
    return X


def test_the_kernels_that_have_a_gamma():
    assert set(PAIRWISE_KERNELS) == set(FORMULAS)
    assert [kernel for kernel in PAIRWISE_KERNELS if has_gamma(kernel)] == ["rbf", "laplacian"]
    assert not has_gamma(np.dot)


@pytest.mark.parametrize("kernel", FORMULAS)
def test_the_formula(kernel):
    X, Y = samples(6, 0), samples(4, 1)
    slow = np.array([[FORMULAS[kernel](x, y) for y in Y] for x in X])
    np.testing.assert_allclose(kernel_matrix(X, Y, kernel, 0.3), slow, atol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_a_common_offset_changes_no_distance(kernel):
    X, Y = samples(6, 0), samples(4, 1)
    for one, other in ((X, Y), (X, X)):
        found = distances(one + 2.0**30, other + 2.0**30, kernel)
        np.testing.assert_allclose(found, distances(one, other, kernel), atol=1e-5)
    moved = X + 2.0**30
    np.testing.assert_array_equal(distances(moved, moved, kernel).diagonal(), 0)


@pytest.mark.parametrize("kernel", FORMULAS)
@pytest.mark.parametrize("batch", [2, 1000])
def test_sparse_is_dense(kernel, batch, monkeypatch):
    monkeypatch.setattr(_pairwise, "_BATCH_ROWS", batch)
    X, Y = samples(7, 0), samples(4, 1)
    dense = kernel_matrix(X, Y, kernel, 0.3)
    for A in (X, sparse.csr_array(X)):
        for B in (Y, sparse.csr_array(Y)):
            K = kernel_matrix(A, B, kernel, 0.3)
            assert isinstance(K, np.ndarray)
            np.testing.assert_allclose(K, dense, atol=1e-12)


def found_gamma(X, kernel="rbf"):
    return median_gamma(distances(X, X, kernel), pair_rounding(X, kernel))


def test_the_median_leaves_duplicates_out():
    X = np.repeat([[0.0], [2.0], [5.0]], [6, 1, 1], axis=0)
    # Pairs that differ: 6 at distance 2, 6 at distance 5, 1 at distance 3.
    assert found_gamma(X, "laplacian") == pytest.approx(1 / 3)
    assert found_gamma(X) == pytest.approx(1 / 9)
    with pytest.raises(AlignmentError, match=r"domain 1: all are equal.*give gamma as a number"):
        median_gamma(np.zeros((3, 3)), np.zeros(3), "domain 1")


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("few", [10, 1000])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_one_far_sample_makes_no_duplicates_of_the_others(monkeypatch, kernel, few, offset):
    monkeypatch.setattr(_pairwise, "_MEDIAN_ROWS", few)
    X = np.random.default_rng(0).normal(size=(40, 3)) + offset
    X[0, 0] = 1e9
    expected = np.median(pdist(X, "sqeuclidean" if kernel == "rbf" else "cityblock"))
    found = found_gamma(X, kernel)
    # Not of centred data, since the far sample would move all: squares of the offset are rounded.
    assert found == pytest.approx(1 / expected, rel=1e-7)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("offset", [0.0, 30.0, 1e3])
def test_duplicates_are_told_by_the_rounding_of_their_rows(convert, offset):
    X = np.random.default_rng(0).normal(size=(60, 4000)) + offset
    X[20:] = X[0]
    expected = 1 / np.median([d for d in pdist(X, "sqeuclidean") if d])
    X = convert(X)
    found = found_gamma(X)
    assert found == pytest.approx(expected, rel=1e-6)


def test_callables_are_checked():
    X = samples(4, 0)
    with pytest.raises(ValueError, match=r"returned shape \(\) for 4 and 4 samples; it must"):
        kernel_matrix(X, X, lambda X, Y: 1.0)
    with pytest.raises(ValueError, match="returned NaN or infinity; it must be finite"):
        kernel_matrix(X, X, lambda X, Y: np.full((4, 4), np.nan))
    with pytest.raises(ValueError, match=r"domain 0: .* not symmetric .* up to 1.0e\+00.*; give"):
        check_symmetric(np.array([[1.0, 1.0], [0.0, 1.0]]), "domain 0")


def of_all_pairs(D):
    pairs = D[np.triu_indices(len(D), k=1)]
    return 1 / np.median(pairs[pairs > 1e-10 * D.max()])


@pytest.mark.parametrize("n_rows", [41, 42, 60])
@pytest.mark.parametrize("few", [10, 30, 1000])
@pytest.mark.parametrize("duplicates", [0, 10, 35])
def test_the_median_of_many_samples_is_that_of_all_pairs(monkeypatch, n_rows, few, duplicates):
    monkeypatch.setattr(_pairwise, "_MEDIAN_ROWS", few)
    X = np.random.default_rng(n_rows).normal(size=(n_rows, 3))
    X[:duplicates] = X[0]
    assert found_gamma(X) == of_all_pairs(distances(X, X, "rbf"))


@pytest.mark.parametrize("few", [1, 2, 3])
@pytest.mark.parametrize("scale", [0, 1e-3, 1])
def test_samples_that_say_nothing_about_the_median(monkeypatch, few, scale):
    monkeypatch.setattr(_pairwise, "_MEDIAN_ROWS", few)
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[::2] *= scale
    assert found_gamma(X) == of_all_pairs(distances(X, X, "rbf"))


def test_the_median_of_many_samples_holds_no_copy():
    D = np.random.default_rng(0).random((3000, 3000))
    assert peak_bytes(median_gamma, D, np.zeros(3000)) < 0.3 * D.nbytes
