import sys

import numpy as np
import pytest
from domain_alignment import FMA, KEMA, SMA, SSMA
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils import graphs
from scipy import sparse


def features(n_samples=70, n_features=9, seed=0):
    return np.random.default_rng(seed).normal(size=(n_samples, n_features))


def directed_by_loops(X, n_neighbors):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosine = unit @ unit.T
    np.fill_diagonal(cosine, -np.inf)
    W = np.zeros_like(cosine)
    for i, row in enumerate(cosine):
        for j in np.argsort(-row)[:n_neighbors]:
            W[i, j] = max(row[j], 0)
    return W


@pytest.mark.parametrize(
    ("symmetrize", "combine"),
    [("union", np.maximum), ("mutual", np.minimum), ("mean", lambda a, b: (a + b) / 2)],
)
def test_symmetrisation(symmetrize, combine):
    X = features(30, 3)
    W = directed_by_loops(X, 4)
    graph = graphs.knn_graph(X, 4, symmetrize=symmetrize)
    np.testing.assert_allclose(graph.toarray(), combine(W, W.T), atol=1e-14)


def test_negative_cosines_are_no_edges():
    graph = graphs.knn_graph(np.array([[1.0, 0.0], [1.0, 0.1], [-1.0, 0.0], [-1.0, 0.1]]), 3)
    assert graph.nnz == 4
    assert graph.data.min() > 0


def test_duplicates_are_neighbors_at_one():
    X = np.repeat(features(4, 3), 3, axis=0)
    graph = graphs.knn_graph(X, 2).toarray()
    np.testing.assert_allclose(graph, np.kron(np.eye(4), 1 - np.eye(3)), atol=1e-12)


def test_an_isolated_sample_is_named():
    X = np.array([[1.0, 0.0], [1.0, 0.1], [-1.0, -1.0]])
    graph = graphs.knn_graph(X, 1)
    with pytest.raises(AlignmentError, match=r"domain 0: 1 of 3 samples have no edge .* row 2"):
        graphs.degrees(graph, "domain 0")


def test_a_few_isolated_samples_may_be_left_out():
    graph = np.ones((20, 20)) - np.eye(20)
    graph[3] = graph[:, 3] = 0
    weights = sparse.csr_array(graph)
    with pytest.raises(AlignmentError, match=r"X: 1 of 20 samples have no edge"):
        graphs.degrees(weights)
    with pytest.warns(UserWarning, match=r"X: 1 of 20 .* row 3\); the graph leaves them out"):
        degree = graphs.degrees(weights, leaves_out=True)
    laplacian = graphs.normalized_laplacian(weights, degree).toarray()
    rest = np.arange(20) != 3
    without = graphs.normalized_laplacian(weights[rest][:, rest], degree[rest]).toarray()
    np.testing.assert_allclose(laplacian[np.ix_(rest, rest)], without, atol=1e-15)
    assert not laplacian[3].any()
    assert not laplacian[:, 3].any()
    graph[4] = graph[:, 4] = 0
    with pytest.raises(AlignmentError, match=r"X: 2 of 20 samples have no edge"):
        graphs.degrees(sparse.csr_array(graph), leaves_out=True)


def test_the_laplacian_annihilates_the_root_of_the_degrees():
    graph = graphs.knn_graph(features(), 5)
    degree = graphs.degrees(graph)
    np.testing.assert_allclose(degree, graph.toarray().sum(axis=1))
    laplacian = graphs.normalized_laplacian(graph, degree)
    np.testing.assert_allclose(laplacian @ np.sqrt(degree), 0, atol=1e-14)
    similarity = graphs.normalized_similarity(graph, degree)
    np.testing.assert_allclose((laplacian + similarity).toarray(), np.eye(70), atol=1e-14)


def test_the_similarity_is_the_product_of_its_factors_to_the_last_digit():
    for symmetrize in ("union", "mean", "mutual"):
        graph = graphs.knn_graph(features(), 5, symmetrize=symmetrize)
        before = graph.copy()
        degree = graph.toarray().sum(axis=1)
        similarity = graphs.normalized_similarity(graph, degree)
        roots = sparse.diags_array(graphs.inverse_roots(degree))
        product = (roots @ graph @ roots).tocsr()
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(similarity, part), getattr(product, part), part)
            np.testing.assert_array_equal(getattr(graph, part), getattr(before, part), part)


def test_reordering_samples_reorders_the_graph():
    X = features()
    order = np.random.default_rng(1).permutation(len(X))
    expected = graphs.knn_graph(X, 5)[order][:, order]
    np.testing.assert_allclose(
        graphs.knn_graph(X[order], 5).toarray(), expected.toarray(), atol=1e-14
    )


@pytest.fixture
def searched(monkeypatch):
    """The searches that were begun, without their work."""
    begun = []
    for name in ("nearest_neighbors", "approximate_neighbors"):
        found = (None, None) if name == "nearest_neighbors" else (None, None, 0.99)
        monkeypatch.setattr(
            graphs, name, lambda *_, of=(name, found), **__: begun.append(of[0]) or of[1]
        )
    n_features = features().shape[1] + graphs.FEATURES_BESIDE
    monkeypatch.setattr(graphs, "AUTO_EXACT_PRODUCTS", 30.5**2 * n_features)
    monkeypatch.setattr(graphs, "EXACT_UP_TO", 10)
    return begun


def test_the_default_search_is_exact_up_to_a_size_and_approximate_above(searched):
    for n_samples in (30, 31):
        graphs.found_neighbors(features(n_samples), 3, search="auto")
    assert searched == ["nearest_neighbors", "approximate_neighbors"]


def test_the_default_search_of_more_features_is_approximate_from_fewer_samples_on():
    def exact(n_features):
        return graphs.auto_exact_up_to(np.empty((1, n_features)))

    assert 100_000 < exact(200) < 120_000
    assert 25_000 < exact(4096) < 32_000 < exact(20)
    assert exact(10**6) == 10_000  # up to which the other search is exact too


def test_the_default_search_of_sparse_samples_is_exact_longer(searched, monkeypatch):
    X = sparse.csr_array(features(31))
    monkeypatch.setattr(graphs, "AUTO_EXACT_SPARSE", 31)
    graphs.found_neighbors(X, 3, search="auto")
    monkeypatch.setattr(graphs, "AUTO_EXACT_SPARSE", 30)
    graphs.found_neighbors(X, 3, search="auto")
    assert searched == ["nearest_neighbors", "approximate_neighbors"]


def test_without_its_package_the_default_search_is_exact_and_says_what_it_costs(
    searched, monkeypatch
):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.warns(UserWarning, match=r"domain 1: .* 31 samples.*\[neighbors\].*\"exact\""):
        found = graphs.found_neighbors(features(31), 3, search="auto", name="domain 1")
    assert searched == ["nearest_neighbors"]
    assert found[-1] == 1.0


def test_aligners_search_by_default_as_is_cheaper():
    for kind in (FMA, KEMA, SMA, SSMA):
        assert kind().neighbors == "auto"
