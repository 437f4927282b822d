import warnings

import numpy as np
import pytest
from domain_alignment.manifold import _domain_spectrum
from domain_alignment.manifold._correspondences import laplacian
from domain_alignment.manifold._sma import SMA
from domain_alignment.utils.graphs import degrees, knn_graph
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning

from tests.methods.signs import assert_equal_up_to_sign

N_NEIGHBORS = 6


def by_the_paper(Xs, ys, level, degree, n_components, alpha=0.2, weight=1.0):
    """Equations 5 and 9 as one dense generalised eigenproblem of all samples."""
    graphs = [alpha * knn_graph(X, N_NEIGHBORS).toarray() for X in Xs]
    within = np.concatenate([degrees(graph) for graph in graphs])
    rows, restricted = laplacian(ys, weight)
    starts = np.cumsum([0] + [len(y) for y in ys])[:-1]
    at = np.concatenate([part + start for part, start in zip(rows, starts, strict=True)])
    L = np.diag(within) - linalg.block_diag(*graphs)
    L[np.ix_(at, at)] += restricted
    D = np.diag(within)
    if degree == "joint":
        D[at, at] += restricted.diagonal()
    X = linalg.block_diag(*Xs) if level == "feature" else np.eye(len(D))
    values, vectors = linalg.eigh(X.T @ L @ X, X.T @ D @ X)
    trivial = level == "instance"
    return values[trivial : n_components + trivial], (X @ vectors)[
        :, trivial : n_components + trivial
    ]


# The larger shapes go the way of Lanczos, the smaller ones are solved dense.
@pytest.mark.parametrize("shapes", [((60, 8), (50, 11)), ((300, 250), (260, 230)), ((30, 7),) * 4])
@pytest.mark.parametrize("level", ["instance", "feature"])
@pytest.mark.parametrize("degree", ["domain", "joint"])
def test_equals_the_dense_generalised_problem(make_domains, shapes, level, degree):
    Xs, ys = make_domains(shapes)
    sma = SMA(level, 10, N_NEIGHBORS, alpha=0.5, correspondence_weight=2.0, degree=degree)
    Z = np.concatenate(sma.fit_transform(Xs, ys))
    values, vectors = by_the_paper(Xs, ys, level, degree, 10, alpha=0.5, weight=2.0)
    np.testing.assert_allclose(sma.eigenvalues_, values, atol=1e-8)
    assert_equal_up_to_sign(Z, vectors / np.sqrt(values), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("level", ["instance", "feature"])
def test_unscaled_columns_are_orthonormal_in_the_degrees(make_domains, level):
    Xs, ys = make_domains()
    sma = SMA(level=level, n_components=5, n_neighbors=N_NEIGHBORS, scale=False).fit(Xs, ys)
    Z = np.concatenate(sma.embeddings_)
    d = 0.2 * np.concatenate([degrees(knn_graph(X, N_NEIGHBORS)) for X in Xs])
    np.testing.assert_allclose(Z.T * d @ Z, np.eye(5), atol=1e-9)
    if level == "instance":
        np.testing.assert_allclose(Z.T @ d, 0, atol=1e-9)


@pytest.mark.parametrize("level", ["instance", "feature"])
def test_prepared_changes_no_digit(make_domains, level):
    Xs, ys = make_domains()
    sma = SMA(level=level, n_components=5, n_neighbors=N_NEIGHBORS)
    alone = sma.fit(Xs, ys).embeddings_
    prepared = [sma.prepare(X) for X in Xs]
    for Z, expected in zip(sma.fit(Xs, ys, prepared).embeddings_, alone, strict=True):
        np.testing.assert_array_equal(Z, expected)


@pytest.mark.parametrize("level", ["instance", "feature"])
def test_reordering_samples_and_exchanging_domains(make_domains, level):
    Xs, ys = make_domains(((300, 210), (230, 205)))
    order = np.random.default_rng(1).permutation(300)
    sma = SMA(level=level, n_components=10, n_neighbors=N_NEIGHBORS)
    first, second = sma.fit_transform(Xs, ys)
    other, reordered = sma.fit_transform([Xs[1], Xs[0][order]], [ys[1], ys[0][order]])
    np.testing.assert_allclose(reordered, first[order], atol=1e-6)
    np.testing.assert_allclose(other, second, atol=1e-6)


def test_joint_pieces_keep_their_zero_eigenvalues():
    rng = np.random.default_rng(0)
    ys = [np.arange(n) % 3 for n in (300, 240)]
    Xs = [np.eye(6)[y] * 100 + rng.normal(size=(len(y), 6)) for y in ys]
    seen = [np.where(np.arange(len(y)) < 30, y, -1) for y in ys]
    sma = SMA(n_components=12, n_neighbors=N_NEIGHBORS).fit(Xs, seen)
    assert np.count_nonzero(sma.eigenvalues_ < 1e-9) == 2
    values, _ = by_the_paper(Xs, seen, "instance", "domain", 12)
    np.testing.assert_allclose(sma.eigenvalues_, values, atol=1e-10)


@pytest.mark.parametrize("n_samples", [60, 300])  # solved dense, and by Lanczos
def test_a_cut_through_the_joint_pieces_is_told(n_samples):
    rng = np.random.default_rng(0)
    y = np.arange(n_samples) % 6
    Xs = [100 * np.eye(6, p)[y] + rng.normal(size=(n_samples, p)) for p in (6, 8)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SMA(n_components=5, n_neighbors=5).fit(Xs, [y, y])
    with pytest.warns(ConvergenceWarning, match="the eigenvalue 0 has 5 nontrivial") as heard:
        SMA(n_components=4, n_neighbors=5).fit(Xs, [y, y])
    assert [one.filename for one in heard] == [__file__]


def test_the_feature_level_embeds_new_samples(make_domains):
    Xs, ys = make_domains(((60, 8), (30, 40)))
    for convert in (np.asarray, sparse.csr_array):
        sma = SMA("feature", 6, N_NEIGHBORS).fit([convert(X) for X in Xs], ys)
        for domain, X in enumerate(Xs):
            found = sma.transform(convert(X[:4]), domain)
            np.testing.assert_allclose(found, sma.embeddings_[domain][:4], atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"degree": "both"}, "'degree' parameter of SMA must be a str among"),
        ({"scale": "yes"}, "'scale' parameter of SMA must be"),
    ],
)
def test_wrong_parameters(make_domains, parameters, message):
    Xs, ys = make_domains(((30, 8), (20, 8)))
    with pytest.raises(ValueError, match=message):
        SMA(**{"n_components": 5, "n_neighbors": 5, **parameters}).fit(Xs, ys)


@pytest.mark.parametrize(("level", "most"), [("instance", 49), ("feature", 16)])
def test_more_components_than_there_are_means_all(make_domains, level, most):
    Xs, ys = make_domains(((30, 8), (20, 8)))
    sma = SMA(level, n_components=most, n_neighbors=5).fit(Xs, ys)
    with pytest.warns(ConvergenceWarning, match=f"{most} are used, set n_components={most} to"):
        capped = SMA(level, n_components=60, n_neighbors=5).fit(Xs, ys)
    assert capped.n_components_ == most
    for one, other in zip(sma.embeddings_, capped.embeddings_, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("most", [0, 240, 280])  # both, one or none of the domains by its graph
@pytest.mark.parametrize("degree", ["domain", "joint"])
def test_large_domains_are_solved_on_the_graph(make_domains, most, degree, monkeypatch):
    Xs, ys = make_domains(((300, 8), (260, 11)))
    if most == 280:
        Xs, ys = make_domains(((260, 8), (300, 11)))
    sma = SMA("instance", 10, N_NEIGHBORS, degree=degree)
    expected, values = np.concatenate(sma.fit_transform(Xs, ys)), sma.eigenvalues_
    monkeypatch.setattr(_domain_spectrum, "MOST_EIGENPAIRS", most)
    models = [sma.prepare(X) for X in Xs]
    assert [model.similarity is not None for model in models] == [len(X) > most for X in Xs]
    found = np.concatenate(sma.fit_transform(Xs, ys, models))
    np.testing.assert_allclose(sma.eigenvalues_, values, atol=1e-12)
    np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_array_equal(np.concatenate(sma.fit_transform(Xs, ys)), found)


def test_large_domains_in_pieces(monkeypatch):
    rng = np.random.default_rng(0)
    ys = [np.arange(n) % 3 for n in (300, 240)]
    Xs = [np.eye(6)[y] * 100 + rng.normal(size=(len(y), 6)) for y in ys]
    sma = SMA(n_components=12, n_neighbors=N_NEIGHBORS)
    expected = np.concatenate(sma.fit_transform(Xs, ys))
    monkeypatch.setattr(_domain_spectrum, "MOST_EIGENPAIRS", 0)
    found = np.concatenate(sma.fit_transform(Xs, ys))
    assert np.count_nonzero(sma.eigenvalues_ < 1e-9) == 2
    scale = np.abs(expected).max(axis=0)
    np.testing.assert_allclose(found / scale, expected / scale, atol=1e-8)


def test_the_graph_of_a_large_domain_is_not_enough_for_fma(make_domains, monkeypatch):
    from domain_alignment.manifold._fma import FMA

    monkeypatch.setattr(_domain_spectrum, "MOST_EIGENPAIRS", 0)
    Xs, ys = make_domains()
    prepared = [SMA(n_neighbors=6).prepare(X) for X in Xs]
    with pytest.raises(ValueError, match=r"domain 0: was prepared by SMA, .* FMA\.prepare"):
        FMA(n_components=8, n_neighbors=6).fit(Xs, ys, prepared)


def test_a_filtered_spectrum_is_not_enough(make_domains):
    from domain_alignment.manifold._fma import FMA

    Xs, ys = make_domains()
    with pytest.raises(ValueError, match="domain 0: was prepared with 20 eigenvectors, SMA needs"):
        SMA().fit(Xs, ys, [FMA().prepare(Xs[0]), None])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_samples_that_repeat_have_an_answer(form):
    """Their joint eigenvalues are multiple, of which Lanczos finds too few."""
    base, k = np.random.default_rng(0).random((12, 240)), np.arange(230)
    source, target = base[k % 12], base[k % 12] + 0.1 * (k % 2)[:, None]
    y, order = np.where(k < 40, k % 4, -1), np.random.default_rng(3).permutation(230)
    Xs = [form(source[order]), form(target)]
    Zs = SMA("instance", 40, 4).fit(Xs, [y[order], y]).embeddings_
    assert np.isfinite(Zs).all()
    assert np.shape(Zs) == (2, 230, 40)
