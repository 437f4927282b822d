import pickle

import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.manifold import _domain_spectrum
from domain_alignment.manifold._domain_spectrum import (
    SpectrumParams,
    _between_features,
    domain_spectrum,
)
from domain_alignment.utils import _rows, eigen, neighbors
from domain_alignment.utils import gram as gram_matrices
from domain_alignment.utils.gram import definite_factor
from domain_alignment.utils.graphs import degrees, knn_graph
from measure import peak_bytes
from scipy import linalg, sparse

from tests.methods.signs import assert_equal_up_to_sign


def spectrum_params(level, n_neighbors=6):
    return SpectrumParams(level, n_neighbors, "cosine", "union")


def laplacian_of(X, n_neighbors=6):
    graph = knn_graph(X, n_neighbors)
    degree = degrees(graph)
    return np.diag(degree) - graph.toarray(), np.diag(degree)


@pytest.fixture(params=[(80, 12), (30, 45)], ids=["tall", "wide"], name="X")
def domain(request):
    return np.random.default_rng(0).normal(size=request.param)


@pytest.mark.parametrize("level", ["instance", "feature"])
@pytest.mark.parametrize("n_pairs", [7, None])
def test_the_defining_equations(X, level, n_pairs):
    spectrum = domain_spectrum(X, spectrum_params(level), n_pairs)
    L, D = laplacian_of(X)
    E, values = spectrum.basis, spectrum.eigenvalues
    np.testing.assert_allclose(E.T @ D @ E, np.eye(values.size), atol=1e-9)
    np.testing.assert_allclose(E.T @ L @ E, np.diag(values), atol=1e-9)
    assert spectrum.complete == (n_pairs is None)
    assert spectrum.n_pairs == (n_pairs or (len(X) if level == "instance" else min(X.shape)))


def test_the_instance_level_equals_a_dense_generalised_problem(X):
    spectrum = domain_spectrum(X, spectrum_params("instance"), 9)
    L, D = laplacian_of(X)
    np.testing.assert_allclose(
        spectrum.eigenvalues, linalg.eigh(L, D, eigvals_only=True)[:9], atol=1e-12
    )


@pytest.mark.parametrize("parts", [1, 2])
def test_many_samples_have_the_same_spectrum_read_in_another_order(parts, monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 5)) + 30 * np.eye(parts, 5)[rng.integers(parts, size=400)]
    asked = X, spectrum_params("instance"), 12
    monkeypatch.setattr(_domain_spectrum, "_MANY_ROWS", 399)
    read = []
    solver = _domain_spectrum.laplacian_eigenpairs
    monkeypatch.setattr(
        _domain_spectrum, "laplacian_eigenpairs", lambda *of: read.append(of[0]) or solver(*of)
    )
    found = domain_spectrum(*asked)
    monkeypatch.setattr(_domain_spectrum, "_MANY_ROWS", 400)
    expected = domain_spectrum(*asked)
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, atol=1e-12)
    assert (expected.eigenvalues < 1e-10).sum() == parts
    # Any basis of the space of several zeros will do.
    for own, other in zip(*(_projected(one, parts) for one in (found, expected)), strict=True):
        np.testing.assert_allclose(own, other, atol=1e-9)
    widths = [np.abs(np.subtract(*graph.nonzero())).mean() for graph in read]
    assert widths[0] < widths[1] / 1.5


def _projected(spectrum, parts):
    """The projector on the functions at zero, and the others with their signs."""
    E = spectrum.basis
    return E[:, :parts] @ E[:, :parts].T, E[:, parts:]


def formed(loadings):
    """Loadings as one matrix."""
    size = (loadings.left if loadings.right is None else loadings.right).shape[1]
    return loadings @ np.eye(size)


def test_the_feature_level_equals_equation_9():
    X = np.random.default_rng(0).normal(size=(80, 12))
    spectrum = domain_spectrum(X, spectrum_params("feature"), 9)
    L, D = laplacian_of(X)
    expected = linalg.eigh(X.T @ L @ X, X.T @ D @ X, eigvals_only=True)[:9]
    np.testing.assert_allclose(spectrum.eigenvalues, expected, atol=1e-12)
    np.testing.assert_allclose(X @ formed(spectrum.loadings), spectrum.basis, atol=1e-14)


def test_more_features_than_samples_express_every_embedding():
    X = np.random.default_rng(0).normal(size=(30, 45))
    feature, instance = (
        domain_spectrum(X, spectrum_params(level)) for level in ("feature", "instance")
    )
    np.testing.assert_allclose(feature.eigenvalues, instance.eigenvalues, atol=1e-9)


@pytest.mark.parametrize("shape", [(80, 12), (30, 45)])
def test_rank_deficient_features_are_truncated(shape):
    X = np.random.default_rng(0).normal(size=shape)
    X[:, 5:] = X[:, :5] @ np.random.default_rng(1).normal(size=(5, shape[1] - 5))
    spectrum = domain_spectrum(X, spectrum_params("feature"))
    assert spectrum.n_pairs == 5
    assert spectrum.complete
    np.testing.assert_allclose(X @ formed(spectrum.loadings), spectrum.basis, atol=1e-12)


@pytest.mark.parametrize("level", ["instance", "feature"])
def test_sparse_equals_dense_and_stays_sparse(X, level, monkeypatch):
    X = np.where(np.abs(X) > 0.5, X, 0)
    dense = domain_spectrum(X, spectrum_params(level), 6)
    given = sparse.csr_array(X)
    for name in ("toarray", "todense"):  # of X itself; products of it may be dense
        monkeypatch.setattr(given, name, None)
    found = domain_spectrum(given, spectrum_params(level), 6)
    np.testing.assert_allclose(found.eigenvalues, dense.eigenvalues, atol=1e-10)
    assert_equal_up_to_sign(found.basis, dense.basis, atol=1e-7)
    assert isinstance(found.basis, np.ndarray)


def test_products_of_sparse_samples_with_the_graph_are_not_held():
    X = sparse.random_array((20_000, 100), density=0.05, format="csr", rng=0)
    weights = sparse.random_array((20_000, 20_000), density=5e-4, format="csr", rng=1)
    product = _between_features(X, weights)
    np.testing.assert_allclose(product, (X.T @ (weights @ X)).toarray(), atol=1e-10)
    assert peak_bytes(_between_features, X, weights) < 8 * X.shape[0] * X.shape[1] / 4


@pytest.mark.parametrize("share", [0.02, 0.15, 1.0])
def test_products_of_features_with_the_graph_are_those_of_dense_ones(share, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 20)) * (rng.random((90, 20)) < share)
    weights = sparse.random_array((90, 90), density=0.05, format="csr", rng=1)
    monkeypatch.setattr(_domain_spectrum, "_BLOCK_ROWS", 32)
    for cache in (_rows.FEW_IN_CACHE, 60):  # then many values are multiplied dense, in blocks
        monkeypatch.setattr(_rows, "FEW_IN_CACHE", cache)
        for given in (X, sparse.csr_array(X)):
            np.testing.assert_allclose(
                _between_features(given, weights), X.T @ weights.toarray() @ X, atol=1e-12
            )


def test_sparse_samples_of_many_features_get_no_dense_loadings():
    X = sparse.random_array((200, 50_000), density=0.01, format="csr", rng=0)
    domain_spectrum(X, spectrum_params("feature"))  # what is loaded and cached by a first call
    assert (
        peak_bytes(domain_spectrum, X, spectrum_params("feature")) < 8 * X.shape[0] * X.shape[1] / 4
    )


def test_the_constant_is_held_at_the_instance_level(X):
    spectrum = domain_spectrum(X, spectrum_params("instance"), 5)
    assert spectrum.holds_constant(1)
    np.testing.assert_allclose(spectrum.basis @ spectrum.constant, 1)


def test_centred_features_do_not_hold_the_constant():
    X = np.random.default_rng(0).normal(size=(80, 12))
    assert not domain_spectrum(X - X.mean(axis=0), spectrum_params("feature")).holds_constant(12)
    with_ones = domain_spectrum(np.hstack([X, np.ones((80, 1))]), spectrum_params("feature"))
    assert with_ones.holds_constant(13)
    np.testing.assert_allclose(with_ones.basis @ with_ones.constant, 1)


def test_a_spectrum_can_be_pickled(X):
    spectrum = domain_spectrum(X, spectrum_params("feature"), 4)
    copy = pickle.loads(pickle.dumps(spectrum))
    np.testing.assert_array_equal(copy.basis, spectrum.basis)
    assert copy.params == spectrum.params


@pytest.mark.parametrize("shape", [(30, 5), (8, 20)])
def test_features_that_are_all_zero(shape):
    params = SpectrumParams("feature", 3, "euclidean", "union")
    with pytest.raises(AlignmentError, match="domain 1: all features are zero"):
        domain_spectrum(np.zeros(shape), params, name="domain 1")


@pytest.fixture(name="implicit")
def implicitly(monkeypatch):
    """Small domains take the way of the large ones."""
    monkeypatch.setattr(_domain_spectrum, "_DENSE_FEATURES", 0)
    for module in (eigen, gram_matrices):
        monkeypatch.setattr(module, "DENSE_ROWS", 0)


def by_equation_9(X, n_pairs):
    """Dense; on the range of the features only."""
    L, D = laplacian_of(X)
    basis = linalg.orth(X, rcond=1e-8)
    values, vectors = linalg.eigh(basis.T @ L @ basis, basis.T @ D @ basis)
    return values[:n_pairs], (basis @ vectors)[:, :n_pairs]


def without_some(X, how):
    """Features of full rank, or not."""
    if how == "zero":
        X[:, [0, 17]] = 0
    elif how == "dependent":
        X[:, 60:] = X[:, :60] @ np.random.default_rng(1).normal(size=(60, 20))
    return X


@pytest.mark.parametrize("how", ["independent", "centred"])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_pairs", [9, None])
def test_fewer_samples_than_features_equal_equation_9(how, convert, n_pairs, implicit, monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 300))
    if how == "centred":
        X -= X.mean(axis=0)
    factors = []
    monkeypatch.setattr(
        _domain_spectrum,
        "definite_factor",
        lambda gram: factors.append(definite_factor(gram)) or factors[-1],
    )
    spectrum = domain_spectrum(convert(X), spectrum_params("feature"), n_pairs)
    assert (factors[0] is not None) == (how == "independent")
    values, basis = by_equation_9(X, n_pairs)
    np.testing.assert_allclose(spectrum.eigenvalues, values, atol=1e-12)
    assert_equal_up_to_sign(spectrum.basis, basis, atol=1e-8)
    np.testing.assert_allclose(X @ formed(spectrum.loadings), spectrum.basis, atol=1e-11)
    assert spectrum.complete == (n_pairs is None)


@pytest.mark.parametrize("how", ["full", "zero", "dependent"])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_the_implicit_way_equals_equation_9(how, convert, implicit):
    X = without_some(np.random.default_rng(0).normal(size=(300, 80)), how)
    spectrum = domain_spectrum(convert(X), spectrum_params("feature"), 9)
    values, basis = by_equation_9(X, 9)
    np.testing.assert_allclose(spectrum.eigenvalues, values, atol=1e-12)
    assert_equal_up_to_sign(spectrum.basis, basis, atol=1e-8)
    np.testing.assert_allclose(X @ formed(spectrum.loadings), spectrum.basis, atol=1e-12)
    assert not spectrum.complete


@pytest.mark.parametrize("n_pairs", [9, None])
def test_triangular_and_spectral_roots_agree(n_pairs, monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 80)) * np.logspace(0, -3, 80)
    dense = domain_spectrum(X, spectrum_params("feature"), n_pairs)
    for module in (eigen, gram_matrices):
        monkeypatch.setattr(module, "DENSE_ROWS", 0)
    triangular = domain_spectrum(X, spectrum_params("feature"), n_pairs)
    np.testing.assert_allclose(triangular.eigenvalues, dense.eigenvalues, atol=1e-9)
    E, D = triangular.basis, laplacian_of(X)[1]
    np.testing.assert_allclose(E.T @ D @ E, np.eye(E.shape[1]), atol=1e-9)


def test_features_that_tell_components_apart_keep_all_zeros(implicit):
    rng = np.random.default_rng(0)
    part = np.arange(400) % 4
    # Four components that are copies of each other: all eigenvalues are fourfold.
    cluster = rng.normal(size=(100, 20)) + 5
    X = np.zeros((400, 80))
    for number in range(4):
        X[part == number, 20 * number : 20 * number + 20] = cluster
    X[:, ::20] = np.eye(4)[part]
    spectrum = domain_spectrum(X, spectrum_params("feature"), 14)
    np.testing.assert_allclose(spectrum.eigenvalues, by_equation_9(X, 14)[0], atol=1e-10)
    assert np.count_nonzero(spectrum.eigenvalues < 1e-10) == 4
    E, D = spectrum.basis, laplacian_of(X)[1]
    np.testing.assert_allclose(E.T @ D @ E, np.eye(14), atol=1e-8)


def test_the_feature_level_holds_no_square_of_samples(implicit, monkeypatch):
    monkeypatch.setattr(neighbors, "_BLOCK_ENTRIES", 2**15)
    X = np.random.default_rng(0).normal(size=(3000, 30))
    assert peak_bytes(domain_spectrum, X, spectrum_params("feature"), 5) < 0.25 * 8 * 3000**2


@pytest.mark.parametrize("n_pairs", [30, None])
def test_an_isolated_sample_takes_the_place_of_no_eigenvector(n_pairs):
    """Its own, a column of zeros at the eigenvalue 1, stood among more than half of them."""
    X = np.abs(np.random.default_rng(0).normal(size=(40, 9)))
    X[11] = -X.mean(axis=0)
    rest = np.arange(40) != 11
    with pytest.warns(UserWarning, match="1 of 40 samples have no edge"):
        found = domain_spectrum(X, spectrum_params("instance"), n_pairs)
    without = domain_spectrum(X[rest], spectrum_params("instance"), n_pairs)
    assert found.complete == without.complete
    np.testing.assert_allclose(found.eigenvalues, without.eigenvalues, atol=1e-10)
    assert np.linalg.norm(found.basis, axis=0).min() > 0
    projections = found.basis[rest] @ found.basis[rest].T, without.basis @ without.basis.T
    np.testing.assert_allclose(*projections, atol=1e-8)
    assert not found.basis[11].any()


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_features", [9, 70])
@pytest.mark.parametrize("level", ["instance", "feature"])
def test_an_isolated_sample_changes_nothing_of_the_others(level, n_features, convert):
    X = np.abs(np.random.default_rng(0).normal(size=(40, n_features)))
    X[11] = -X.mean(axis=0)
    rest = np.arange(40) != 11
    params, n_pairs = spectrum_params(level), 5
    with pytest.warns(UserWarning, match="1 of 40 samples have no edge"):
        found = domain_spectrum(convert(X), params, n_pairs)
    without = domain_spectrum(convert(X[rest]), params, n_pairs)
    np.testing.assert_allclose(found.eigenvalues, without.eigenvalues, atol=1e-10)
    signs = np.sign((found.basis[rest] * without.basis).sum(axis=0))
    np.testing.assert_allclose(found.basis[rest], without.basis * signs, atol=1e-8)
    np.testing.assert_allclose(found.constant, without.constant * signs, atol=1e-8)
    if level == "instance":
        assert not found.basis[11].any()
    else:
        np.testing.assert_allclose(found.basis, X @ formed(found.loadings), atol=1e-8)
