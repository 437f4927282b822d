import pickle

import numpy as np
import pytest
from domain_alignment.baselines._pca import CCAAligner, KernelPCAAligner, PCAAligner
from domain_alignment.exceptions import AlignmentError
from scipy import linalg, sparse
from scipy.spatial.distance import pdist
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import normalize

STACKED = [PCAAligner(3), KernelPCAAligner(3), KernelPCAAligner(3, kernel="cosine")]


@pytest.fixture
def domains(make_domains):
    return make_domains(((30, 6), (25, 6), (20, 6)))[0]


@pytest.fixture
def views():
    """Two views of the same objects: two directions in common, of different strength."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(80, 2))
    return [
        (np.hstack([common, rng.normal(size=(80, p))]) + 0.3 * rng.normal(size=(80, p + 2)))
        @ rng.normal(size=(p + 2, p + 2))
        for p in (2, 3)
    ]


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


def test_kernel_pca_has_the_eigenvectors_of_the_centred_kernel(domains):
    kpca = KernelPCAAligner(3, gamma=0.1).fit(domains)
    X = np.vstack(domains)
    H = np.eye(len(X)) - 1 / len(X)
    K = rbf_kernel(X, gamma=0.1)
    values, vectors = np.linalg.eigh(H @ K @ H)
    values, vectors = values[::-1][:3], vectors[:, ::-1][:, :3]
    expected = vectors * np.sqrt(values)
    np.testing.assert_allclose(abs(np.vstack(kpca.embeddings_)), abs(expected), atol=1e-9)
    new = domains[0][:4] + 0.2
    centred = (rbf_kernel(new, X, gamma=0.1) - K.mean(axis=0)) @ H
    by_hand = centred @ vectors / np.sqrt(values)
    np.testing.assert_allclose(abs(kpca.transform(new, 0)), abs(by_hand), atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_the_width_of_kernel_pca_is_the_median(domains, kernel):
    X = np.vstack(domains)
    expected = 1 / np.median(pdist(X, "sqeuclidean"))
    kpca = KernelPCAAligner(3, kernel=kernel).fit(domains)
    assert kpca.gamma == "median"
    assert kpca.gamma_ == pytest.approx(expected)
    same = KernelPCAAligner(3, kernel=kernel, gamma=kpca.gamma_).fit(domains)
    assert same.gamma_ == kpca.gamma_
    for Z, F in zip(kpca.embeddings_, same.embeddings_, strict=True):
        np.testing.assert_array_equal(Z, F)


def test_the_unit_of_the_features_does_not_matter_to_kernel_pca(domains):
    before = KernelPCAAligner(3).fit(domains).embeddings_
    after = KernelPCAAligner(3).fit([1000 * X for X in domains]).embeddings_
    for Z, F in zip(before, after, strict=True):
        np.testing.assert_allclose(F, Z, atol=1e-9)


def test_kernel_pca_on_rows_of_length_1_is_not_pca(domains):
    """What 1 / n_features made of it where there are many features: a map all but linear."""
    unit = [np.hstack([normalize(X), np.zeros((len(X), 994))]) for X in domains]
    linear = np.vstack(PCAAligner(3).fit(unit).embeddings_)
    misfits = []
    for gamma in (1e-3, "median"):
        Z = np.vstack(KernelPCAAligner(3, gamma=gamma).fit(unit).embeddings_)
        Z *= np.linalg.norm(linear) / np.linalg.norm(Z)
        misfits.append(np.abs(np.abs(Z) - np.abs(linear)).max())
    assert misfits[0] < 0.01 < 0.1 < misfits[1]


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_kernels_without_a_width(domains, kernel):
    assert KernelPCAAligner(3, kernel=kernel, gamma=7.0).fit(domains).gamma_ is None


@pytest.mark.parametrize("gamma", [0.0, -1.0, "mean", None])
def test_widths_that_are_none(domains, gamma):
    with pytest.raises(ValueError, match="The 'gamma' parameter of KernelPCAAligner"):
        KernelPCAAligner(gamma=gamma).fit(domains)


def test_linear_kernel_pca_is_pca(domains):
    one, other = PCAAligner(3).fit(domains), KernelPCAAligner(3, kernel="linear").fit(domains)
    for Z, F in zip(one.embeddings_, other.embeddings_, strict=True):
        np.testing.assert_allclose(Z @ Z.T, F @ F.T, atol=1e-9)


@pytest.mark.parametrize("aligner", STACKED)
def test_all_domains_have_one_map(domains, aligner):
    aligner.fit(domains)
    for a, X in enumerate(domains):
        np.testing.assert_allclose(aligner.transform(X, a), aligner.embeddings_[a], atol=1e-9)
        np.testing.assert_array_equal(aligner.transform(X, 0), aligner.transform(X, -1))
    again = pickle.loads(pickle.dumps(aligner))
    np.testing.assert_array_equal(again.transform(domains[0], 0), aligner.transform(domains[0], 0))


@pytest.mark.parametrize("aligner", STACKED)
def test_order_of_samples(domains, aligner):
    before = aligner.fit(domains).embeddings_[1]
    order = np.random.default_rng(1).permutation(len(domains[1]))
    after = aligner.fit([domains[0], domains[1][order], domains[2]]).embeddings_[1]
    np.testing.assert_allclose(abs(after), abs(before[order]), atol=1e-9)


@pytest.mark.parametrize("aligner", [*STACKED, PCAAligner(6)])
def test_sparse_features(domains, aligner):
    counts = [np.where(X > 0.3, X, 0) for X in domains]
    dense = aligner.fit(counts).embeddings_
    thin = aligner.fit([sparse.csr_array(X) for X in counts]).embeddings_
    for one, other in zip(thin, dense, strict=True):
        np.testing.assert_allclose(abs(one), abs(other), atol=1e-8)
    mixed = aligner.fit([counts[0], *(sparse.csr_array(X) for X in counts[1:])]).embeddings_
    np.testing.assert_allclose(abs(mixed[0]), abs(dense[0]), atol=1e-8)


def test_more_components_than_there_are(domains):
    with pytest.warns(ConvergenceWarning, match="which span 6 dimensions; 6 components are used"):
        assert PCAAligner(9).fit(domains).n_components_ == 6
    few = [X[:3] for X in domains[:2]]
    with pytest.warns(ConvergenceWarning, match="there are 6 samples; 6 components are used"):
        assert KernelPCAAligner(9).fit(few).n_components_ == 6
    with pytest.warns(ConvergenceWarning, match="3 pairs, which span 2 and 2 dimensions; 2 comp"):
        cca = CCAAligner(4, tol=1e-10).fit(few)
    assert np.isfinite(cca.correlations_).all()
    twice = [np.hstack([X, X]) for X in domains[:2]]  # of rank 6
    with pytest.warns(ConvergenceWarning, match="which span 6 and 6 dimensions; 6 components"):
        CCAAligner(9).fit([X[:20] for X in twice])


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


def test_identical_domains_and_equal_samples(domains):
    for aligner in STACKED:
        one, other = aligner.fit([domains[0], domains[0]]).embeddings_
        np.testing.assert_array_equal(one, other)
    equal = [np.ones((4, 3))] * 2
    for aligner in (PCAAligner(2), KernelPCAAligner(2, gamma=0.5)):
        for Z in aligner.fit(equal).embeddings_:
            np.testing.assert_allclose(Z, 0, atol=1e-7)
    with pytest.raises(AlignmentError, match="the samples of all domains: all are equal, so gamma"):
        KernelPCAAligner(2).fit(equal)


def test_indefinite_kernels(domains):
    kpca = KernelPCAAligner(75, kernel="sigmoid", gamma=1.0, coef0=-2.0, eigen_solver="dense")
    with pytest.raises(AlignmentError, match=r"kernel 'sigmoid' has no principal components"):
        kpca.fit(domains)


def test_canonical_correlations(views):
    cca = CCAAligner(4, tol=1e-14, max_iter=20_000).fit(views)
    roots = []
    for X in views:
        centred = X - X.mean(axis=0)
        roots.append(np.linalg.svd(centred, full_matrices=False)[0])
    expected = linalg.svdvals(roots[0].T @ roots[1])
    np.testing.assert_allclose(cca.correlations_, expected, atol=1e-6)
    for a in (0, 1):  # scores of different components do not correlate
        np.testing.assert_allclose(np.corrcoef(cca.embeddings_[a].T), np.eye(4), atol=1e-5)
        np.testing.assert_allclose(cca.transform(views[a], a), cca.embeddings_[a])
    assert cca.transform(views[1][:5] + 1, -1).shape == (5, 4)


def test_canonical_correlations_are_those_of_any_basis(views):
    rng = np.random.default_rng(2)
    turned = [X @ rng.normal(size=(X.shape[1],) * 2) + 5 for X in views]
    one, other = (CCAAligner(2, tol=1e-12, max_iter=5000).fit(X) for X in (views, turned))
    np.testing.assert_allclose(one.correlations_, other.correlations_, atol=1e-6)
    order = rng.permutation(80)
    moved = CCAAligner(2, tol=1e-12, max_iter=5000).fit([X[order] for X in views])
    np.testing.assert_allclose(moved.correlations_, one.correlations_, atol=1e-6)


def test_data_that_are_not_paired(views):
    y = np.arange(80) % 4
    CCAAligner(1).fit(views, [y, np.where(y > 1, y, -1)])
    with pytest.raises(ValueError, match="have 80 and 79 samples; CCA needs pairs"):
        CCAAligner(1).fit([views[0], views[1][1:]])
    with pytest.raises(ValueError, match=r"20 of 80 rows have different labels \(first row 3: 3"):
        CCAAligner(1).fit(views, [y, np.where(y == 3, 0, y)])


def test_what_cca_refuses(views):
    with pytest.raises(ValueError, match="domain 1: is sparse; CCA needs"):
        CCAAligner(1).fit([views[0], sparse.csr_array(views[1])])
    with pytest.raises(ValueError, match="domain 0: is sparse; CCA needs"):
        CCAAligner(1).fit(views).transform(sparse.csr_array(views[0]), 0)
    with pytest.raises(AlignmentError, match="domain 1: its samples are all equal"):
        CCAAligner(1).fit([views[0], np.ones((80, 2))])
    with pytest.raises(ValueError, match="CCAAligner aligns at most 2"):
        CCAAligner(1).fit([*views, views[0]])


@pytest.mark.parametrize("aligner", STACKED)
def test_different_features(aligner):
    with pytest.raises(ValueError, match="domain 1: has 5 features, domain 0 has 6"):
        aligner.fit([np.eye(6), np.ones((3, 5))])


def test_only_the_linear_kernel_is_linear():
    assert not KernelPCAAligner(kernel="linear").capabilities.nonlinear
    assert KernelPCAAligner(kernel="cosine").capabilities.nonlinear
