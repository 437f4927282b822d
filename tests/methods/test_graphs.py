import numpy as np
import pytest
from domain_alignment import graphs
from domain_alignment.base import AlignmentError
from scipy import sparse
from sklearn.neighbors import NearestNeighbors


def features(n_samples=70, n_features=9, seed=0):
    return np.random.default_rng(seed).normal(size=(n_samples, n_features))


@pytest.mark.parametrize("metric", graphs.METRICS)
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("entries", [1, 200, 2**22])
def test_neighbors_equal_scikit_learns(metric, convert, entries, monkeypatch):
    monkeypatch.setattr(graphs, "_BLOCK_ENTRIES", entries)
    X = features()
    distance, expected = (
        NearestNeighbors(n_neighbors=6, metric=metric, algorithm="brute").fit(X).kneighbors()
    )
    found, similarity = graphs.nearest_neighbors(convert(X), 6, metric=metric)
    np.testing.assert_array_equal(found, expected)
    of_distance = 1 - distance if metric == "cosine" else -(distance**2)
    np.testing.assert_allclose(similarity, of_distance, atol=1e-12)


@pytest.mark.parametrize("metric", graphs.METRICS)
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_neighbors_of_other_samples(metric, convert):
    X, queries = features(), features(9, seed=1)
    search = NearestNeighbors(n_neighbors=6, metric=metric, algorithm="brute").fit(X)
    found, _ = graphs.nearest_neighbors(convert(X), 6, queries=convert(queries), metric=metric)
    np.testing.assert_array_equal(found, search.kneighbors(queries)[1])


def test_ties_go_to_the_lower_row():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 4.0]])
    found, _ = graphs.nearest_neighbors(X, 2)
    assert found.tolist() == [[1, 2], [2, 3], [1, 3], [1, 2], [1, 2]]


@pytest.mark.parametrize("n_neighbors", [5, 6])
def test_more_neighbors_than_others(n_neighbors):
    with pytest.raises(ValueError, match=rf"domain 2: n_neighbors={n_neighbors} for 5 .* most 4"):
        graphs.nearest_neighbors(features(5), n_neighbors, name="domain 2")


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_a_zero_row_has_no_cosine(convert):
    X = features(6)
    X[3] = 0
    with pytest.raises(AlignmentError, match=r"1 of 6 samples are all zeros \(first at row 3\)"):
        graphs.nearest_neighbors(convert(X), 2)
    graphs.nearest_neighbors(convert(X), 2, metric="euclidean")


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


def test_the_laplacian_annihilates_the_root_of_the_degrees():
    graph = graphs.knn_graph(features(), 5)
    degree = graphs.degrees(graph)
    np.testing.assert_allclose(degree, graph.toarray().sum(axis=1))
    laplacian = graphs.normalized_laplacian(graph, degree)
    np.testing.assert_allclose(laplacian @ np.sqrt(degree), 0, atol=1e-14)
    similarity = graphs.normalized_similarity(graph, degree)
    np.testing.assert_allclose((laplacian + similarity).toarray(), np.eye(70), atol=1e-14)


def test_reordering_samples_reorders_the_graph():
    X = features()
    order = np.random.default_rng(1).permutation(len(X))
    expected = graphs.knn_graph(X, 5)[order][:, order]
    np.testing.assert_allclose(
        graphs.knn_graph(X[order], 5).toarray(), expected.toarray(), atol=1e-14
    )
