import itertools

import numpy as np
import pytest
from domain_alignment.manifold import _eigen_update, _eigen_update_sparse
from domain_alignment.manifold._eigen_update_sparse import GraphUpdate, component_vectors
from domain_alignment.utils.graphs import degrees, knn_graph, normalized_similarity
from scipy import linalg, sparse


def some_update(joint=False, n_parts=1, spectral=False, weight=5.0):
    """Two domains, five and four labelled rows; the second one in eigenvectors if `spectral`."""
    rng = np.random.default_rng(0)
    similarities, rows, null = [], [], []
    for n_samples, n_labelled in ((260, 5), (220, 4)):
        part = np.arange(n_samples) % n_parts
        graph = knn_graph(rng.normal(size=(n_samples, 4)) + 100 * np.eye(4)[part], 6)
        degree = degrees(graph)
        similarity = normalized_similarity(graph, degree)
        similarities.append(similarity)
        null.append(component_vectors(similarity, degree))
        rows.append(sparse.diags_array(degree**-0.5).tocsr()[:n_labelled])
    if spectral:
        values, vectors = linalg.eigh(similarities[1].toarray())
        similarities[1] = sparse.diags_array(values).tocsr()
        rows[1], null[1] = rows[1] @ vectors, vectors.T @ null[1]
    edges = linalg.block_diag(np.zeros((5, 5)), np.zeros((4, 4)))
    edges[:5, 5:] = edges[5:, :5] = 1
    change = weight * (np.diag(edges.sum(axis=1)) - edges)
    return GraphUpdate(similarities, rows, null, change, change.diagonal() if joint else None)


def test_an_isolated_sample_is_no_component():
    graph = np.zeros((4, 4))
    graph[0, 1] = graph[1, 0] = graph[2, 1] = graph[1, 2] = 1.0
    degree = graph.sum(axis=1)
    similarity = normalized_similarity(sparse.csr_array(graph), degree)
    vectors = component_vectors(similarity, degree)
    assert vectors.shape == (4, 1)
    np.testing.assert_allclose(similarity @ vectors, vectors, atol=1e-15)


@pytest.fixture(params=[False, True], ids=["domain", "joint"], name="joint")
def joint_degree(request):
    return request.param


@pytest.fixture(params=[False, True], ids=["graphs", "mixed"], name="spectral")
def mixed(request):
    return request.param


@pytest.mark.parametrize("weight", [0.01, 5.0, 1e4])
def test_products_equal_the_dense_matrices(joint, spectral, weight):
    update = some_update(joint, spectral=spectral, weight=weight)
    A, B = update.dense()
    R = linalg.block_diag(*(r.toarray() if sparse.issparse(r) else r for r in update.rows))
    S = update._similarity.toarray()
    np.testing.assert_allclose(A, np.eye(480) - S + R.T @ update.change @ R, atol=1e-10 * weight)
    B = np.eye(480) if B is None else B
    v = np.random.default_rng(1).normal(size=(480, 3))
    np.testing.assert_allclose(update.apply(v), A @ v, atol=1e-9 * weight)
    np.testing.assert_allclose(update.apply(v[:, 0]), A @ v[:, 0], atol=1e-9 * weight)
    np.testing.assert_allclose(update.apply_metric(v), B @ v, atol=1e-9 * weight)
    expected = linalg.solve(A - update.shift * B, v[:, 0])
    np.testing.assert_allclose(update.shifted_inverse()(v[:, 0]), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("n_parts", [1, 3])
def test_the_null_space_is_found_exactly(joint, spectral, n_parts):
    update = some_update(joint, n_parts, spectral)
    A, B = update.dense()
    null = update.null_space()
    assert null.shape[1] == np.count_nonzero(linalg.eigvalsh(A) < 1e-9)
    np.testing.assert_allclose(A @ null, 0, atol=1e-9)
    B = np.eye(480) if B is None else B
    np.testing.assert_allclose(null.T @ B @ null, np.eye(null.shape[1]), atol=1e-9)


@pytest.mark.parametrize("n_parts", [1, 3])
@pytest.mark.parametrize("weight", [0.5, 5.0, 1e3])
def test_lanczos_equals_the_dense_problem(joint, spectral, n_parts, weight):
    update = some_update(joint, n_parts, spectral, weight)
    A, B = update.dense()
    values, vectors = _eigen_update.smallest_eigenpairs(update, 12)
    np.testing.assert_allclose(values, linalg.eigh(A, B, eigvals_only=True)[:12], atol=1e-10)
    np.testing.assert_allclose(A @ vectors, update.apply_metric(vectors) * values, atol=1e-8)
    np.testing.assert_allclose(vectors.T @ update.apply_metric(vectors), np.eye(12), atol=1e-9)


def cubes(seed, weight, joint):
    """Two hypercubes in random order, whose eigenvalue 2/9 occurs nine times, with four edges."""
    rng = np.random.default_rng(seed)
    corners = np.array(list(itertools.product([0.0, 1.0], repeat=9)))
    similarities, rows, null = [], [], []
    for _ in range(2):
        graph = knn_graph(rng.permutation(corners), 9, metric="euclidean")
        degree = degrees(graph)
        similarities.append(normalized_similarity(graph, degree))
        null.append(component_vectors(similarities[-1], degree))
        rows.append(sparse.diags_array(degree**-0.5).tocsr()[:2])
    edges = np.kron([[0, 1], [1, 0]], np.ones((2, 2)))
    change = weight * (np.diag(edges.sum(axis=1)) - edges)
    return GraphUpdate(similarities, rows, null, change, change.diagonal() if joint else None)


@pytest.mark.parametrize("weight", [5.0, 1e3])
def test_multiple_eigenvalues_have_all_copies(joint, weight):
    """By the direct and the inverted iteration, without and with a metric."""
    update = cubes(0, weight, joint)
    assert update.is_narrow is (weight < 1e3 and not joint)
    expected = linalg.eigh(*update.dense(), eigvals_only=True)
    for n_pairs in (8, 12, 20):
        values, vectors = _eigen_update.smallest_eigenpairs(update, n_pairs)
        np.testing.assert_allclose(values, expected[:n_pairs], atol=1e-10)
        gram = vectors.T @ update.apply_metric(vectors)
        np.testing.assert_allclose(gram, np.eye(n_pairs), atol=1e-9)


@pytest.mark.parametrize(("weight", "narrow"), [(0.5, True), (5.0, True), (1e3, False)])
def test_light_edges_make_a_narrow_spectrum(weight, narrow):
    update = some_update(weight=weight)
    assert update.is_narrow is narrow
    if narrow:  # the bound holds
        assert linalg.eigvalsh(update.dense()[0])[-1] <= 2 + _eigen_update_sparse._NARROW


def test_a_metric_needs_the_shifted_inverse():
    assert not some_update(joint=True, weight=0.01).is_narrow


@pytest.mark.parametrize("n_parts", [1, 3])
def test_both_ways_find_the_same(monkeypatch, spectral, n_parts):
    update = some_update(n_parts=n_parts, spectral=spectral, weight=0.5)
    found = []
    for narrow in (True, False):
        monkeypatch.setattr(GraphUpdate, "is_narrow", narrow)
        found.append(_eigen_update.smallest_eigenpairs(update, 12))
    (values, vectors), (other_values, others) = found
    np.testing.assert_allclose(values, other_values, atol=1e-12)
    np.testing.assert_allclose(vectors @ vectors.T, others @ others.T, atol=1e-9)


@pytest.mark.parametrize(("weight", "n_heavy"), [(0.5, 0), (5.0, 8)])
def test_heavy_rows_are_moved_aside_without_changing_the_others(monkeypatch, weight, n_heavy):
    update = some_update(weight=weight)
    assert update.n_heavy == n_heavy
    values, vectors = _eigen_update.smallest_eigenpairs(update, 12)
    monkeypatch.setattr(_eigen_update_sparse, "_MOST_MOVED", 0)
    assert update.n_heavy == 0
    others, directions = _eigen_update.smallest_eigenpairs(update, 12)
    np.testing.assert_allclose(values, others, atol=1e-12)
    np.testing.assert_allclose(np.abs(vectors.T @ directions), np.eye(12), atol=1e-8)


def test_moving_heavy_rows_aside_saves_products(monkeypatch):
    counted = []
    apply = GraphUpdate.apply
    monkeypatch.setattr(GraphUpdate, "apply", lambda self, v: counted.append(1) or apply(self, v))

    def n_products():
        counted.clear()
        _eigen_update.smallest_eigenpairs(some_update(weight=8.0), 12)
        return len(counted)

    moved = n_products()
    monkeypatch.setattr(_eigen_update_sparse, "_MOST_MOVED", 0)
    assert moved < 0.8 * n_products()
