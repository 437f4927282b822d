import numpy as np
import pytest
from domain_alignment.manifold._domain_graph import GraphParams, check_kernel_matrix, domain_graph
from scipy import sparse

from tests.methods import published_kema


@pytest.fixture(name="X")
def samples():
    return np.random.default_rng(0).normal(size=(30, 5))


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_the_laplacian_is_that_of_the_toolbox(X, convert):
    W = published_kema.neighbour_graph(X, 4)
    graph = domain_graph(convert(X), GraphParams(4))
    np.testing.assert_array_equal(graph.laplacian.toarray(), published_kema.laplacian(W))
    assert graph.total == W.sum()
    assert graph.shape == (30, 5)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_a_kernel_matrix_has_the_graph_of_its_feature_space(X, convert):
    by_features = domain_graph(X, GraphParams(4)).laplacian
    graph = domain_graph(convert(X @ X.T), GraphParams(4, precomputed=True))
    np.testing.assert_array_equal(graph.laplacian.toarray(), by_features.toarray())


def test_coinciding_samples_are_each_others_neighbours(X):
    X[7] = X[3]
    for given, precomputed in ((X, False), (X @ X.T, True)):
        L = domain_graph(given, GraphParams(2, precomputed)).laplacian
        assert L[3, 7] == -1
        np.testing.assert_array_equal(L.sum(axis=1), 0)


@pytest.mark.parametrize("precomputed", [False, True])
def test_as_many_neighbours_as_samples(X, precomputed):
    given = X @ X.T if precomputed else X
    with pytest.raises(ValueError, match="domain 1: n_neighbors=30 for 30 samples"):
        domain_graph(given, GraphParams(30, precomputed), name="domain 1")


def test_kernel_matrices_are_square_and_symmetric(X):
    with pytest.raises(ValueError, match=r"domain 0: has shape \(30, 5\); kernel=\"precomputed\""):
        check_kernel_matrix(X, "domain 0")
    K = X @ X.T
    K[2, 5] += 1e-3
    with pytest.raises(ValueError, match=r"not symmetric .*by up to 1.0e-03"):
        check_kernel_matrix(K)
