import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.manifold._correspondences import laplacian
from domain_alignment.manifold._fma import FMA
from domain_alignment.manifold._out_of_sample import _nodes, deviations, embed_new_samples
from domain_alignment.manifold._sma import SMA
from domain_alignment.utils.graphs import degrees, edge_weights, knn_graph, nearest_neighbors
from scipy import linalg, sparse
from scipy.spatial.distance import cdist

K = 5


def scatters(embedding, neighbors, weights):
    """C and the mean of the neighbours, of every new sample."""
    spread, mean = deviations(embedding, neighbors, weights)
    return spread.transpose(0, 2, 1) @ spread, mean


def by_root_and_polar_factor(scatter, mean, eigenvalues, second_moment):
    """The definition: the mean after the update, turned to where the training samples are."""
    scale = np.sqrt(eigenvalues)
    values, vectors = np.linalg.eigh(np.diag(eigenvalues) + scale[:, None] * scatter * scale)
    root = (vectors / np.sqrt(values)[:, None]) @ vectors.transpose(0, 2, 1)
    left, _, right = np.linalg.svd(root @ (scale[:, None] * second_moment))
    return ((mean * scale)[:, None] @ root @ left @ right)[:, 0]


def squared_distances_after_refit(Xs, ys, alpha, domain, neighbors, weights):
    """Squared distances in the embedding of all samples and a new one, by all eigenpairs.

    The joint Laplacian gets the new sample's edges; the degrees of the old samples stay.
    """
    graphs = [alpha * knn_graph(X, K).toarray() for X in Xs]
    D = np.concatenate([*(degrees(graph) for graph in graphs), [weights.sum()]])
    starts = np.cumsum([0] + [len(X) for X in Xs])
    rows, restricted = laplacian(ys, 1.0)
    at = np.concatenate([part + start for part, start in zip(rows, starts, strict=False)])
    L = linalg.block_diag(*(np.diag(graph.sum(axis=1)) - graph for graph in graphs), [[0.0]])
    L[np.ix_(at, at)] += restricted
    star = np.zeros((len(D), neighbors.size))
    star[starts[domain] + neighbors, np.arange(neighbors.size)] = np.sqrt(weights)
    star[-1] = -np.sqrt(weights)
    values, vectors = linalg.eigh(L + star @ star.T, np.diag(D))
    Z = vectors[:, 1:] / np.sqrt(values[1:])
    return cdist(Z, Z, "sqeuclidean")


@pytest.mark.parametrize("domain", [0, 1])
def test_equals_refitting_when_nothing_is_truncated_and_degrees_stay(make_domains, domain):
    Xs, ys = make_domains(((30, 6), (30, 6)))
    fma = FMA(n_components=60, n_neighbors=K).fit(Xs, ys)
    new = np.random.default_rng(1).normal(size=(1, 6)) + Xs[domain].mean(axis=0)
    neighbors, similarity = nearest_neighbors(Xs[domain], K, queries=new)
    weights = 0.2 * edge_weights(similarity, "cosine")
    scale = np.sqrt(fma.eigenvalues_)
    C, mean = scatters(fma.embeddings_[domain], neighbors, weights)
    root = linalg.inv(linalg.sqrtm(scale[:, None] * (np.eye(len(scale)) + C[0]) * scale))
    mean, old = mean * scale, np.concatenate(fma.embeddings_) * scale @ root
    expected = squared_distances_after_refit(Xs, ys, 0.2, domain, neighbors[0], weights[0])
    found = cdist(old, old, "sqeuclidean")
    np.testing.assert_allclose(found, expected[:-1, :-1], rtol=1e-7, atol=1e-7)
    to_new = cdist(old, mean @ root, "sqeuclidean")[:, 0]
    # The new sample lies off the old space, on an axis of its own.
    np.testing.assert_allclose(to_new + 1 / weights.sum(), expected[:-1, -1], rtol=1e-7)
    # What transform returns is this point, turned to where the old samples are.
    Z = np.concatenate(fma.embeddings_)
    turn, _ = linalg.orthogonal_procrustes(old, Z)
    np.testing.assert_allclose(fma.transform(new, domain), mean @ root @ turn, atol=1e-7)


def test_weak_edges_leave_the_old_samples_and_give_the_weighted_mean():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(20, 4))
    neighbors, weights = (
        rng.permuted(np.tile(np.arange(20), (3, 1)), axis=1)[:, :5],
        rng.random((3, 5)),
    )
    found = embed_new_samples(Z, Z.T @ Z, neighbors, 1e-10 * weights)
    mean = np.einsum("mk,mkq->mq", weights / weights.sum(axis=1, keepdims=True), Z[neighbors])
    np.testing.assert_allclose(found, mean, atol=1e-8)


@pytest.mark.parametrize("smallest", [0.3, 1e-3, 1e-6])
@pytest.mark.parametrize("n_neighbors", [1, 4, 9])
def test_the_integral_gives_what_roots_and_singular_values_give(smallest, n_neighbors):
    rng = np.random.default_rng(0)
    eigenvalues = np.geomspace(smallest, 1, 6)
    # Columns that are not quite orthogonal: T has axes of its own.
    Z = linalg.orth(rng.normal(size=(50, 6))) / np.sqrt(eigenvalues) + 0.01 * rng.normal(size=6)
    neighbors = np.argsort(rng.random((300, 50)))[:, :n_neighbors]
    weights = rng.random(neighbors.shape) * np.geomspace(1e-6, 1e3, 300)[:, None]
    found = embed_new_samples(Z, Z.T @ Z, neighbors, weights)
    expected = by_root_and_polar_factor(*scatters(Z, neighbors, weights), eigenvalues, Z.T @ Z)
    largest = abs(expected).max(axis=1, keepdims=True)
    np.testing.assert_allclose(found / largest, expected / largest, atol=1e-10 / smallest)


@pytest.mark.parametrize(
    ("ratio", "error"), [(1.0, 1e-15), (1e-4, 1e-14), (1e-9, 1e-12), (1e-17, 1e-9)]
)
def test_the_nodes_give_inverse_roots_of_all_numbers_between(ratio, error):
    t, share = _nodes(2.0 * ratio, 2.0)
    for value in np.geomspace(2.0 * ratio, 2.0, 7):
        assert (share / (value + t)).sum() == pytest.approx(value**-0.5, rel=error)


@pytest.mark.parametrize("cls", [FMA, SMA])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_each_sample_is_embedded_by_itself(make_domains, cls, convert):
    Xs, ys = make_domains(((300, 8), (40, 12)))
    aligner = cls(n_components=8, n_neighbors=K).fit([convert(X) for X in Xs], ys)
    together = aligner.transform(convert(Xs[0]), 0)
    np.testing.assert_allclose(
        aligner.transform(convert(Xs[0][290:]), 0), together[290:], atol=1e-9
    )


def test_a_copy_of_a_training_sample_lands_beside_it(make_domains):
    Xs, ys = make_domains(((120, 8), (100, 8)))
    fma = FMA(n_components=10, n_neighbors=K).fit(Xs, ys)
    for domain in (0, 1):
        found, old = fma.transform(Xs[domain], domain), fma.embeddings_[domain]
        away = np.linalg.norm(found - old, axis=1)
        among = cdist(found, old)
        assert np.median(away) < 0.25 * np.median(among)
        assert np.mean(among.argmin(axis=1) == np.arange(len(old))) > 0.25
        # The mean of its class is no such place.
        centres = np.array([old[ys[domain] == label].mean(axis=0) for label in range(3)])
        assert np.median(cdist(old, centres).min(axis=1)) > 2 * np.median(away)


def test_unscaled_coordinates_stay_unscaled(make_domains):
    Xs, ys = make_domains()
    scaled, unscaled = (
        SMA(n_components=6, n_neighbors=K, scale=s).fit(Xs, ys) for s in (True, False)
    )
    root = np.sqrt(scaled.eigenvalues_)
    np.testing.assert_allclose(
        unscaled.transform(Xs[1][:9], 1), scaled.transform(Xs[1][:9], 1) * root, atol=1e-8
    )


def test_a_sample_without_a_neighbour(make_domains):
    Xs, ys = make_domains()
    Xs[1] += 20
    fma = FMA(n_components=6, n_neighbors=K).fit(Xs, ys)
    X = np.stack([Xs[1][0], -Xs[1][0]])
    with pytest.warns(UserWarning, match=r"X: 1 of 2 .* in domain 1 \(first at row 1\)"):
        assert not fma.transform(X, 1)[1].any()
    with pytest.raises(AlignmentError, match=r"X: 1 of 1 samples are all zeros"):
        fma.transform(np.zeros((1, 8)), 1)
