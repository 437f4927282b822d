import numpy as np
import pytest
from domain_alignment.baselines import _pca
from domain_alignment.baselines._pca import PCAAligner
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils import eigen
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from tests.methods.signs import assert_equal_up_to_sign

# Of each way to the components: samples and features, and scikit-learn's name of the former one.
ROUTES = {
    "products of few features": ((1100, 150), "full"),
    "products of features": ((500, 300), "covariance_eigh"),
    "products of samples": ((300, 500), "full"),
    "Lanczos on products of features": ((480, 420), "arpack"),
    "Lanczos on products of samples": ((420, 480), "arpack"),
    "Lanczos on samples": ((480, 420), "arpack"),
    "Lanczos on few samples": ((420, 480), "arpack"),
}


@pytest.fixture
def domains(make_domains):
    return make_domains(((30, 6), (25, 6), (20, 6)))[0]


def test_pca_has_the_eigenvectors_of_the_covariance(domains):
    pca = PCAAligner(3).fit(domains)
    X = np.vstack(domains)
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    expected = centred @ vectors[:, ::-1][:, :3]
    Z = np.vstack(pca.embeddings_)
    assert_equal_up_to_sign(Z, expected, atol=1e-10)
    np.testing.assert_allclose(np.square(Z).sum(axis=0), values[::-1][:3])
    rest = X - np.vstack([pca.inverse_transform(Z, a) for a, Z in enumerate(pca.embeddings_)])
    np.testing.assert_allclose(np.square(rest).sum(), values[:3].sum())


def test_pca_whitens(domains):
    Z = np.vstack(PCAAligner(3, whiten=True).fit(domains).embeddings_)
    np.testing.assert_allclose(np.cov(Z.T), np.eye(3), atol=1e-12)


@pytest.mark.parametrize("scale", [2.0**-60, 2.0**-64, 2.0**-500])
def test_pca_whitens_samples_close_to_each_other(domains, scale):
    before = PCAAligner(2, whiten=True).fit(domains)
    after = PCAAligner(2, whiten=True).fit([scale * X for X in domains])
    np.testing.assert_allclose(np.vstack(after.embeddings_).std(axis=0, ddof=1), 1)
    assert_equal_up_to_sign(after.embeddings_, before.embeddings_, atol=1e-9)
    back = after.inverse_transform(after.embeddings_[0], 0) / scale
    np.testing.assert_allclose(back, before.inverse_transform(before.embeddings_[0], 0), atol=1e-9)


def test_more_components_than_dimensions(domains):
    with pytest.warns(ConvergenceWarning, match="which span 6 dimensions; 6 components are used"):
        assert PCAAligner(9).fit(domains).n_components_ == 6


@pytest.mark.parametrize("shape", [(30, 6), (6, 30), (300, 250)])
@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("whiten", [False, True])
def test_a_direction_without_variance_is_no_component(shape, offset, form, whiten):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * shape[0], 2)) @ [[1.0], [1e-3]] * rng.normal(size=shape[1]) + offset
    pca = PCAAligner(3, whiten=whiten)
    with pytest.warns(ConvergenceWarning, match="which span 1 dimensions; 1 components are used"):
        assert pca.fit([form(part) for part in np.split(X, 2)]).n_components_ == 1


def test_small_variances_are_components_all_the_same():
    X = np.random.default_rng(0).normal(size=(60, 3)) * [1e5, 1.0, 0.1]
    pca = PCAAligner(3).fit(np.split(X, 2))
    assert pca.n_components_ == 3
    np.testing.assert_allclose(pca.inverse_transform(pca.embeddings_[0], 0), X[:30], atol=1e-8)


def test_one_large_feature_hides_no_component_of_many_samples():
    """Also where products of the samples are decomposed, of which each has half the digits."""
    X = np.random.default_rng(0).normal(size=(12_000, 100))
    X[:, 0] *= 1e6
    for samples in (X, sparse.csr_array(X)):
        assert PCAAligner(20).fit([samples[:5000], samples[5000:]]).n_components_ == 20


def test_an_offset_far_above_the_deviations_hides_no_component():
    X = np.random.default_rng(0).normal(size=(60, 3)) + 1e9
    assert PCAAligner(3).fit(np.split(X, 2)).n_components_ == 3


@pytest.mark.parametrize("value", [0.0, 0.1])
@pytest.mark.parametrize("shape", [(30, 6), (300, 250)])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_equal_samples_have_no_component(value, shape, form):
    X = form(np.full(shape, value))
    with pytest.raises(AlignmentError, match="the samples of all domains: all are equal, so"):
        PCAAligner(3).fit([X, X])


def test_what_is_rounding_is_not_whitened(domains):
    few = [X[:3] for X in domains[:2]]
    pca = PCAAligner(6, whiten=True)
    with pytest.warns(ConvergenceWarning, match="which span 5 dimensions; 5 components are used"):
        Z = pca.fit(few).embeddings_
    with pytest.warns(ConvergenceWarning):
        turned = pca.fit([few[1], few[0]]).embeddings_
    assert_equal_up_to_sign(turned[::-1], Z, atol=1e-8)
    twice = [np.hstack([X, X]) for X in domains]
    with pytest.warns(ConvergenceWarning, match="which span 6 dimensions; 6 components"):
        assert PCAAligner(9, whiten=True).fit(twice).n_components_ == 6


def test_only_embeddings_have_an_inverse(domains):
    with pytest.raises(NotFittedError):
        PCAAligner(2).inverse_transform(np.ones((3, 2)), 0)
    pca = PCAAligner(2).fit(domains)
    with pytest.raises(ValueError, match="domain 7 does not exist"):
        pca.inverse_transform(np.ones((3, 2)), 7)
    with pytest.raises(ValueError, match="Z has 3 columns; the embedding has 2"):
        pca.inverse_transform(np.ones((3, 3)), 0)


def test_sparse_embeddings_have_an_inverse_too(domains):
    pca = PCAAligner(4).fit(domains)
    Z = np.where(np.abs(pca.embeddings_[1]) > 0.5, pca.embeddings_[1], 0.0)
    expected = pca.inverse_transform(Z, 1)
    np.testing.assert_array_equal(pca.inverse_transform(sparse.csr_array(Z), 1), expected)


def test_sparse_features_whose_rounding_is_below_the_smallest_number():
    """ARPACK would go on from random vectors."""
    rng = np.random.default_rng(0)
    X = sparse.csc_array(1e-148 * np.outer(rng.normal(size=45), rng.normal(size=60)))
    one, same = (PCAAligner(8).fit([X[:25], X[25:]]).embeddings_[0] for _ in range(2))
    np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize(
    ("shape", "scale", "solver"),
    [
        ((300, 150), 1.0, "full"),
        ((300, 250), 1.0, "covariance_eigh"),
        ((250, 300), 1.0, "full"),
        ((300, 250), 1e-140, "full"),
        ((1300, 1100), 1.0, "arpack"),
    ],
)
def test_every_solver_finds_the_singular_vectors(shape, scale, solver):
    rng = np.random.default_rng(0)
    X = scale * rng.normal(size=shape) @ np.diag(0.97 ** np.arange(shape[1]))
    pca = PCAAligner(20).fit([X[:200], X[200:]])
    assert pca.decomposition_.svd_solver == solver
    left, sizes, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    Z = np.vstack(pca.embeddings_)
    expected = (left * sizes)[:, :20]
    expected *= np.sign((Z * expected).sum(axis=0))
    np.testing.assert_allclose(Z, expected, atol=1e-11 * sizes[0])
    np.testing.assert_array_equal(PCAAligner(20).fit([X[:200], X[200:]]).embeddings_[1], Z[200:])


@pytest.fixture(params=ROUTES)
def route(request, monkeypatch):
    """Shape and former solver of a way, which is the only one left."""
    for module in (_pca, eigen):
        monkeypatch.setattr(module, "_LANCZOS_ROWS", 400)
    if request.param in ("Lanczos on samples", "Lanczos on few samples"):
        monkeypatch.setattr(_pca, "_GRAM_ROWS", 400)
        monkeypatch.setattr(_pca, "largest_eigenpairs", None)
    else:
        monkeypatch.setattr(_pca, "_by_lanczos", None)
    return ROUTES[request.param]


def with_singular_values(shape, sizes):
    """Samples far from zero that have these singular values once they are centred."""
    rng = np.random.default_rng(0)
    left = rng.normal(size=(shape[0], len(sizes)))
    left = np.linalg.qr(left - left.mean(axis=0))[0]
    right = np.linalg.qr(rng.normal(size=(shape[1], len(sizes))))[0]
    return (left * sizes) @ right.T + 3


def fitted_alone(X, monkeypatch, **params):
    """The decomposition, found without scikit-learn's fit."""
    with monkeypatch.context() as patch:
        patch.setattr(PCA, "fit", None)
        return PCAAligner(20, **params).fit([X[:200], X[200:]]).decomposition_


@pytest.mark.parametrize("whiten", [False, True])
def test_what_is_fitted_is_what_scikit_learn_fits(route, whiten, monkeypatch):
    shape, solver = route
    X = np.random.default_rng(0).normal(size=shape) * 0.98 ** np.arange(shape[1]) + 3
    before = X.copy()
    own = fitted_alone(X, monkeypatch, whiten=whiten)
    np.testing.assert_array_equal(X, before)
    peer = PCA(20, svd_solver=solver, whiten=whiten, random_state=0).fit(X)
    fitted = {name for name in vars(peer) if name.endswith("_")}
    assert {name for name in vars(own) if name.endswith("_")} == fitted
    for name in sorted(fitted):
        got, expected = getattr(own, name), getattr(peer, name)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(own.transform(X), peer.transform(X), atol=1e-8)
    again = own.get_params()
    assert again == {**PCA(20, whiten=whiten, random_state=0).get_params(), "svd_solver": solver}


def test_equal_variances_have_all_their_directions(route, monkeypatch):
    """Of twenty equal ones a Lanczos iteration finds few by itself."""
    shape, _ = route
    others = np.sqrt(np.linspace(0.9, 1e-4, min(shape) - 30))
    for equal in (np.full(20, 1.0), np.repeat([9.0, 7.0, 5.0, 1.0], 5)):
        sizes = np.concatenate([equal, others])
        X = with_singular_values(shape, sizes)
        own = fitted_alone(X, monkeypatch)
        np.testing.assert_allclose(own.singular_values_, sizes[:20], rtol=1e-9)
        expected = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:20]
        components = own.components_
        np.testing.assert_allclose(components @ components.T, np.eye(20), atol=1e-12)
        np.testing.assert_allclose(
            components.T @ components, expected.T @ expected, rtol=0, atol=1e-9
        )


def test_a_rank_below_the_number_of_components(route):
    shape, _ = route
    X = with_singular_values(shape, np.array([5.0, 5.0, 3.0, 2.0, 1.0]))
    for whiten in (False, True):
        pca, words = PCAAligner(20, whiten=whiten), "which span 5 dimensions; 5 components are used"
        with pytest.warns(ConvergenceWarning, match=words):
            pca.fit([X[:200], X[200:]])
        components = pca.decomposition_.components_
        np.testing.assert_allclose(components @ components.T, np.eye(5), atol=1e-12)
        np.testing.assert_allclose(pca.decomposition_.singular_values_, [5, 5, 3, 2, 1], rtol=1e-9)
        Z = np.vstack(pca.embeddings_)
        np.testing.assert_allclose(pca.decomposition_.inverse_transform(Z), X, atol=1e-9)


@pytest.mark.parametrize("shape", [(1100, 150), (300, 500)])
def test_small_variances_keep_their_digits(shape):
    """The former way is gone where squares would lose some of them."""
    sizes = 10.0 ** -np.linspace(0, 8, 20)
    X = with_singular_values(shape, sizes) - 3
    found = PCAAligner(20).fit([X[:100], X[100:]]).decomposition_
    np.testing.assert_allclose(found.singular_values_, sizes, rtol=1e-6)
    peer = PCA(20, svd_solver="full").fit(X)
    np.testing.assert_allclose(found.components_, peer.components_, atol=1e-6)
    np.testing.assert_allclose(found.mean_, peer.mean_, atol=1e-15)


@pytest.mark.parametrize("scale", [1e-140, 1e120])
@pytest.mark.parametrize("shape", [(1100, 150), (1200, 1050)])
def test_samples_without_squares_are_not_squared(shape, scale):
    X = np.random.default_rng(0).normal(size=shape) * 0.9 ** np.arange(shape[1])
    found = PCAAligner(5).fit([scale * X[:400], scale * X[400:]])
    assert found.decomposition_.svd_solver == "full"
    expected = PCA(5, svd_solver="full").fit(X).singular_values_
    np.testing.assert_allclose(found.decomposition_.singular_values_ / scale, expected)


def test_either_order_in_memory():
    X = np.random.default_rng(0).normal(size=(1200, 1050)) * 0.98 ** np.arange(1050)
    one = PCAAligner(5).fit([X[:200], X[200:]])
    other = PCAAligner(5).fit([np.asfortranarray(part) for part in (X[:200], X[200:])])
    for Z, Z_other in zip(one.embeddings_, other.embeddings_, strict=True):
        np.testing.assert_allclose(Z, Z_other, atol=1e-10)
