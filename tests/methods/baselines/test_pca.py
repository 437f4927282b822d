import numpy as np
import pytest
from domain_alignment.baselines._pca import PCAAligner
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError


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
    np.testing.assert_allclose(abs(Z), abs(expected), atol=1e-10)
    np.testing.assert_allclose(np.square(Z).sum(axis=0), values[::-1][:3])
    rest = X - np.vstack([pca.inverse_transform(Z, a) for a, Z in enumerate(pca.embeddings_)])
    np.testing.assert_allclose(np.square(rest).sum(), values[:3].sum())


def test_pca_whitens(domains):
    Z = np.vstack(PCAAligner(3, whiten=True).fit(domains).embeddings_)
    np.testing.assert_allclose(np.cov(Z.T), np.eye(3), atol=1e-12)


def test_more_components_than_dimensions(domains):
    with pytest.warns(ConvergenceWarning, match="which span 6 dimensions; 6 components are used"):
        assert PCAAligner(9).fit(domains).n_components_ == 6


def test_what_is_rounding_is_not_whitened(domains):
    few = [X[:3] for X in domains[:2]]
    pca = PCAAligner(6, whiten=True)
    with pytest.warns(ConvergenceWarning, match="which span 5 dimensions; 5 components are used"):
        Z = pca.fit(few).embeddings_
    with pytest.warns(ConvergenceWarning):
        turned = pca.fit([few[1], few[0]]).embeddings_
    np.testing.assert_allclose(np.abs(turned[1]), np.abs(Z[0]), atol=1e-8)
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
