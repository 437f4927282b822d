"""Kernel CCA against the generalised eigenproblem, scikit-learn's CCA, and pairs written out."""

import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernels._pairwise import kernel_matrix
from domain_alignment.subspace._kernel_cca import KernelCCA, between_classes
from scipy import linalg, sparse
from sklearn.cross_decomposition import CCA
from sklearn.exceptions import ConvergenceWarning

from tests.methods.signs import assert_equal_up_to_sign


def views(n=60, widths=(5, 7), seed=0):
    """Two noisy views of the same objects."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, 3))
    return [
        shared @ rng.normal(size=(3, width)) + 0.7 * rng.normal(size=(n, width)) for width in widths
    ]


def generalised(K1, K2, ridge):
    """Largest eigenvalues of the problem as printed, on the ranges of the kernel matrices."""
    H = np.eye(len(K1)) - 1 / len(K1)
    K1, K2 = H @ K1 @ H, H @ K2 @ H
    # Both sides vanish on the null spaces, centring's at least: there is no eigenvalue there.
    U1, U2 = (linalg.orth(K, rcond=1e-10) for K in (K1, K2))
    across = U1.T @ K1 @ K2 @ U2
    zeros = [np.zeros((U.shape[1],) * 2) for U in (U1, U2)]
    A = np.block([[zeros[0], across], [across.T, zeros[1]]])
    B = linalg.block_diag(
        *(U.T @ (K @ K + ridge * K) @ U for U, K in ((U1, K1), (U2, K2))),
    )
    return linalg.eigh(A, B, eigvals_only=True)[::-1]


@pytest.mark.parametrize("kernel", ["linear", "rbf", "cosine", lambda A, B: A @ B.T])
@pytest.mark.parametrize("ridge", [0.3, 5.0])
@pytest.mark.parametrize("widths", [(5, 7), (70, 4)])
def test_the_problem_as_printed(kernel, ridge, widths):
    Xs = views(40, widths)
    cca = KernelCCA(3, kernel, 0.1, ridge).fit(Xs)
    Ks = [kernel_matrix(X, X, kernel, 0.1) for X in Xs]
    np.testing.assert_allclose(cca.correlations_, generalised(*Ks, ridge)[:3], rtol=1e-5)
    first, second = cca.embeddings_
    np.testing.assert_allclose(np.vstack([first.mean(axis=0), second.mean(axis=0)]), 0, atol=1e-10)
    np.testing.assert_allclose(first.T @ second, np.diag(cca.correlations_), atol=1e-9)
    # The constraint: squares of the scores and ridge times the length in the kernel's space.
    if cca.coef_ is not None:
        for Z, A in zip(cca.embeddings_, cca.coef_, strict=True):
            np.testing.assert_allclose(Z.T @ Z + ridge * A.T @ A, np.eye(3), atol=1e-8)
    else:
        for Z, a, K in zip(cca.embeddings_, cca.dual_coef_, Ks, strict=True):
            np.testing.assert_allclose(Z.T @ Z + ridge * a.T @ K @ a, np.eye(3), atol=1e-8)


def test_without_ridge_it_is_canonical_correlation():
    Xs = views()
    cca = KernelCCA(3, ridge=0.0).fit(Xs)
    peer = CCA(3, max_iter=10_000, tol=1e-12).fit(*Xs)
    scores = peer.transform(*Xs)
    expected = [np.corrcoef(scores[0][:, j], scores[1][:, j])[0, 1] for j in range(3)]
    np.testing.assert_allclose(cca.correlations_, expected, rtol=1e-6)
    for Z, other in zip(cca.embeddings_, scores, strict=True):
        size = np.linalg.norm(other, axis=0)
        np.testing.assert_allclose(np.abs(np.sum(Z * other / size, axis=0)), 1, atol=1e-6)


def test_without_ridge_more_features_than_pairs_mean_nothing():
    rng = np.random.default_rng(0)
    Xs = [rng.normal(size=(12, 40)), rng.normal(size=(12, 30))]
    np.testing.assert_allclose(KernelCCA(3, ridge=0.0).fit(Xs).correlations_, 1)
    assert KernelCCA(3, ridge=30.0).fit(Xs).correlations_[0] < 0.9


def test_class_pairs_are_all_pairs_written_out(make_domains):
    Xs, ys = make_domains(((40, 5), (30, 4)), n_classes=4, n_visible=3)
    ys[1][np.flatnonzero(ys[1] == 1)[0]] = -1  # classes of different sizes
    ys[0][ys[0] == 3] = -1  # a class without partners
    pairs = [(i, j) for i in range(40) for j in range(30) if ys[0][i] == ys[1][j] >= 0]
    rows = np.transpose(pairs)
    written = KernelCCA(2, ridge=2.0).fit([X[kept] for X, kept in zip(Xs, rows, strict=True)])
    cca = KernelCCA(2, ridge=2.0, pairs="classes").fit(Xs, ys)
    np.testing.assert_allclose(cca.correlations_, written.correlations_, rtol=1e-9)
    for domain, X in enumerate(Xs):
        np.testing.assert_allclose(cca.embeddings_[domain], written.transform(X, domain), atol=1e-9)
    with pytest.warns(ConvergenceWarning, match="exceeds the 2 nonzero correlations"):
        assert KernelCCA(9, pairs="classes").fit(Xs, ys).n_components_ == 2


def test_squares_of_scores_sum_to_1_over_the_pairs(make_domains):
    Xs, ys = make_domains(((40, 5), (30, 4)), n_classes=4, n_visible=3)
    ys[0][ys[0] == 3] = -1  # a class without partners
    cca = KernelCCA(2, ridge=0.0, pairs="classes").fit(Xs, ys)
    for Z, y, others in zip(cca.embeddings_, ys, ys[::-1], strict=True):
        partners = np.array([np.sum(others == label) if label >= 0 else 0 for label in y])
        np.testing.assert_allclose(partners @ Z**2, 1)


def test_between_classes():
    sums = between_classes(
        [np.array([[1.0], [2.0], [5.0]]), np.array([[1.0], [10.0]])],
        [np.array([0, 0, 2]), np.array([0, 2])],
    )
    assert sums.tolist() == [[53.0]]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("pairs", ["rows", "classes"])
def test_training_samples_transform_to_their_embeddings(make_domains, kernel, pairs):
    Xs, ys = make_domains(((40, 6), (40, 9)))
    cca = KernelCCA(2, kernel, pairs=pairs).fit(Xs, ys if pairs == "classes" else None)
    for domain, X in enumerate(Xs):
        np.testing.assert_allclose(cca.transform(X, domain), cca.embeddings_[domain], atol=1e-10)
        np.testing.assert_allclose(
            cca.transform(X[3:5], domain), cca.embeddings_[domain][3:5], atol=1e-10
        )
    assert (cca.gammas_[0] is None) == (kernel == "linear")


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_what_becomes_of_the_data_after_the_fit_does_not_matter(kernel, form):
    Xs = [form(X) for X in views()]
    cca = KernelCCA(2, kernel).fit(Xs)
    asked = Xs[0][:5].copy()
    expected = cca.transform(asked, 0)
    (Xs[0] if form is np.array else Xs[0].data)[:] = 7.0
    np.testing.assert_array_equal(cca.transform(asked, 0), expected)


def test_order_rotations_and_storage_do_not_matter():
    Xs = views()
    cca = KernelCCA(3, "rbf").fit(Xs)
    order = np.random.default_rng(0).permutation(60)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]
    for changed in (
        KernelCCA(3, "rbf").fit([X[order] for X in Xs]).embeddings_[1],
        KernelCCA(3, "rbf").fit([Xs[0] @ turn, Xs[1]]).embeddings_[1][order],
        KernelCCA(3, "rbf").fit([sparse.csr_array(X) for X in Xs]).embeddings_[1][order],
    ):
        assert_equal_up_to_sign(changed, cca.embeddings_[1][order], atol=1e-6)


def test_identical_domains_correlate_fully():
    X, _ = views()
    cca = KernelCCA(3, ridge=0.0).fit([X, X])
    np.testing.assert_allclose(cca.correlations_, 1)
    # Equal correlations: each pair of directions agrees, whichever they are.
    np.testing.assert_allclose(cca.embeddings_[0], cca.embeddings_[1], atol=1e-8)


def test_capabilities_are_true(make_domains):
    Xs, ys = make_domains(((40, 6), (40, 9)))
    for kernel in ("linear", "rbf"):
        for pairs in ("rows", "classes"):
            known = ys if pairs == "classes" else [None, None]
            cca = KernelCCA(2, kernel, pairs=pairs).fit(Xs, known)
            able = cca.capabilities
            assert (able.max_domains, able.heterogeneous, able.invertible) == (2, True, False)
            assert able.embeds_new_samples
            middle = cca.transform((Xs[1][:9] + Xs[1][9:18]) / 2, 1)
            expected = (cca.embeddings_[1][:9] + cca.embeddings_[1][9:18]) / 2
            assert able.nonlinear != np.allclose(middle, expected)
            order = np.random.default_rng(0).permutation(40)
            moved_labels = [None if known[0] is None else known[0][order], known[1]]
            moved = KernelCCA(2, kernel, pairs=pairs).fit([Xs[0][order], Xs[1]], moved_labels)
            same = np.allclose(np.abs(moved.embeddings_[1]), np.abs(cca.embeddings_[1]), atol=1e-6)
            assert able.needs_pairs != same
            if able.labels == "none":
                same_labels = [ys[0], ys[0]]
                np.testing.assert_array_equal(
                    KernelCCA(2, kernel).fit(Xs, same_labels).embeddings_[0], cca.embeddings_[0]
                )


def test_errors(make_domains):
    Xs, ys = make_domains(((40, 6), (30, 6)))
    with pytest.raises(
        ValueError, match=r"have 40 and 30 samples; .* needs pairs, .* pairs=.classes."
    ):
        KernelCCA().fit(Xs, ys)
    y = np.zeros(40, int)
    other = np.where(np.isin(np.arange(40), [7, 9]), 1, y)
    with pytest.raises(ValueError, match=r"2 of 40 rows have different labels \(first row 7: 0"):
        KernelCCA().fit([Xs[0], Xs[0]], [y, other])
    with pytest.raises(AlignmentError, match="domain 1: all features are zero"):
        KernelCCA().fit([Xs[0], np.zeros((40, 90))])
    with pytest.raises(ValueError, match="none of its 40 samples is labelled"):
        KernelCCA(pairs="classes").fit(Xs)
    with pytest.raises(ValueError, match="domain 1: shares no labelled class with domain 0"):
        KernelCCA(pairs="classes").fit(Xs, [np.zeros(40, int), np.ones(30, int)])
    with pytest.raises(ValueError, match="at most 2"):
        KernelCCA().fit([Xs[0]] * 3)
    with pytest.raises(AlignmentError, match="domain 1, its paired samples: all are equal"):
        KernelCCA().fit([Xs[0], np.tile([0.1, 0.7], (40, 1))])
    one_class = [np.where(y >= 0, 0, -1) for y in ys]
    with pytest.raises(AlignmentError, match=r"all canonical correlations .* are zero"):
        KernelCCA(pairs="classes").fit(Xs, one_class)
    with pytest.raises(ValueError, match="The 'ridge' parameter of KernelCCA"):
        KernelCCA(ridge=-1.0).fit(Xs)
