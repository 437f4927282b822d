"""HFA: the closed form against the min-max problem itself; and on SURF splits if they are there."""

import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernels._pairwise import kernel_matrix
from domain_alignment.max_margin._hfa import HFA, mean_gamma
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC


@pytest.fixture
def domains(make_domains):
    return make_domains(((40, 6), (30, 9)), n_visible=4)


def labelled(Xs, ys):
    """Labelled rows at length 1, and their labels."""
    rows = [y >= 0 for y in ys]
    Xs = [
        X[kept] / np.linalg.norm(X[kept], axis=1, keepdims=True)
        for X, kept in zip(Xs, rows, strict=True)
    ]
    return Xs, [y[kept] for y, kept in zip(ys, rows, strict=True)]


def mean_squared_distance(X):
    return np.square(X[:, None] - X).sum(axis=2).mean()


def block_kernel(Xs):
    kernels = [kernel_matrix(X, X, "rbf", 1 / mean_squared_distance(X)) for X in Xs]
    return linalg.block_diag(*kernels)


def inner(K, H, signs):
    """Largest value over alpha for a given H, by an SVM, and that alpha."""
    root = np.real(linalg.sqrtm(K))
    svm = SVC(kernel="precomputed", C=1.0, tol=1e-10).fit(root @ (H + np.eye(len(K))) @ root, signs)
    beta = np.zeros(len(K))
    beta[svm.support_] = svm.dual_coef_[0]
    value = np.abs(beta).sum() - 0.5 * beta @ root @ (H + np.eye(len(K))) @ root @ beta
    return value, root, beta


@pytest.mark.parametrize("trace", [0.5, 100.0])
def test_it_is_the_saddle_point(domains, trace):
    """At the H that belongs to alpha, that alpha is the best; at that alpha, no H is better."""
    Xs, ys = labelled(*domains)
    K, y = block_kernel(Xs), np.concatenate(ys)
    hfa = HFA(trace).fit(*domains)
    assert hfa.classes_.tolist() == [0, 1, 2]
    rng = np.random.default_rng(0)
    for number in range(3):
        signs = np.where(y == number, 1, -1)
        beta = hfa.dual_coef_[number] / (1 + trace)
        alpha = beta * signs
        assert alpha.min() >= 0
        assert alpha.max() <= 1 + 1e-12
        assert abs(beta.sum()) < 1e-9  # y'alpha = 0
        value = alpha.sum() - 0.5 * (1 + trace) * beta @ K @ beta
        root = np.real(linalg.sqrtm(K))
        v = root @ beta
        best, _, _ = inner(K, trace * np.outer(v, v) / (v @ v), signs)
        assert best == pytest.approx(value, rel=1e-5)
        for _ in range(5):  # any other H of this trace leaves alpha a larger value
            A = rng.normal(size=(len(K), 2))
            H = A @ A.T
            H *= trace / np.trace(H)
            assert inner(K, H, signs)[0] >= value * (1 - 1e-6)


def test_scores_are_those_of_the_augmented_features(domains):
    Xs, ys = labelled(*domains)
    K, y = block_kernel(Xs), np.concatenate(ys)
    hfa = HFA(trace=7.0).fit(*domains)
    root = np.real(linalg.sqrtm(K))
    for number in range(3):
        beta = hfa.dual_coef_[number] / 8
        v = root @ beta
        H = 7 * np.outer(v, v) / (v @ v)
        scores = root @ (H + np.eye(len(K))) @ root @ beta + hfa.intercept_[number]
        found = [Z[y >= 0, number] for Z, y in zip(hfa.embeddings_, domains[1], strict=True)]
        np.testing.assert_allclose(np.concatenate(found), scores, atol=1e-8)
    assert y.size == hfa.dual_coef_.shape[1]


def test_the_source_moves_the_target_by_a_bias_only(domains):
    Xs, ys = domains
    hfa = HFA().fit(Xs, ys)
    targets, (_, y) = labelled(Xs, ys)
    weights = hfa.dual_coef_[:, -y.size :]
    X = Xs[1] / np.linalg.norm(Xs[1], axis=1, keepdims=True)
    K = kernel_matrix(X, targets[1], "rbf", hfa.gammas_[1])
    np.testing.assert_allclose(hfa.embeddings_[1] - K @ weights.T, np.tile(hfa.intercept_, (30, 1)))


def test_without_the_source_s_costs_it_is_the_svm_of_the_target(domains):
    """The baseline of the experiments, against which HFA's gain is its source's."""
    (Xs, ys), trace = domains, 100.0
    alone = HFA(trace=trace, C_source=1e-9, tol=1e-9).fit(Xs, ys)
    (_, X), (_, y) = labelled(Xs, ys)
    unit = Xs[1] / np.linalg.norm(Xs[1], axis=1, keepdims=True)
    svm = SVC(C=1 + trace, gamma=1 / mean_squared_distance(X), tol=1e-9)
    for column, label in enumerate(alone.classes_):
        scores = svm.fit(X, y == label).decision_function(unit)
        np.testing.assert_allclose(alone.embeddings_[1][:, column], scores, atol=1e-5)


def test_without_trace_it_is_a_plain_svm(domains):
    (Xs, ys), hfa = labelled(*domains), HFA(trace=0.0).fit(*domains)
    K, y = block_kernel(Xs), np.concatenate(ys)
    for number in range(3):
        svm = SVC(kernel="precomputed", C=1.0, tol=1e-6).fit(K, y == number)
        scores = hfa.decision_function(domains[0][0][domains[1][0] >= 0], 0)[:, number]
        np.testing.assert_allclose(scores, svm.decision_function(K)[: len(scores)], atol=1e-6)


def test_predictions_and_transform_agree(domains):
    Xs, ys = domains
    hfa = HFA().fit(Xs, ys)
    for domain, X in enumerate(Xs):
        np.testing.assert_allclose(hfa.transform(X, domain), hfa.embeddings_[domain], atol=1e-9)
        expected = hfa.classes_[hfa.embeddings_[domain].argmax(axis=1)]
        np.testing.assert_array_equal(hfa.predict(X, domain), expected)
    np.testing.assert_array_equal(hfa.predict(Xs[1]), hfa.predict(Xs[1], 1))
    assert hfa.gammas_ == pytest.approx(
        [1 / mean_squared_distance(X) for X in labelled(Xs, ys)[0]], rel=1e-9
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "cosine", lambda A, B: A @ B.T])
def test_order_names_and_storage_do_not_matter(domains, kernel):
    Xs, ys = domains
    hfa = HFA(kernel=kernel, tol=1e-9)
    expected = clone(hfa).fit(Xs, ys).embeddings_[1]
    order = np.random.default_rng(0).permutation(30)
    moved = clone(hfa).fit([Xs[0], Xs[1][order]], [ys[0], ys[1][order]]).embeddings_[1]
    np.testing.assert_allclose(moved, expected[order], atol=1e-5)
    renamed = clone(hfa).fit(Xs, [np.where(y >= 0, 5 - y, -1) for y in ys]).embeddings_[1]
    np.testing.assert_allclose(renamed[:, ::-1], expected, atol=1e-5)
    if not callable(kernel):
        stored = clone(hfa).fit([sparse.csr_array(X) for X in Xs], ys)
        np.testing.assert_allclose(stored.embeddings_[1], expected, atol=1e-5)


def test_costs_bound_the_dual_variables(domains):
    Xs, ys = domains
    hfa = HFA(trace=100.0, C_source=1e-4, C_target=3e-4).fit(Xs, ys)
    size, n_source = np.abs(hfa.dual_coef_) / 101, np.sum(ys[0] >= 0)
    assert size[:, :n_source].max() <= 1e-4 + 1e-12
    assert size[:, n_source:].max() == pytest.approx(3e-4)


def test_a_class_missing_in_one_domain(domains):
    Xs, ys = domains
    ys[1][ys[1] == 2] = -1
    hfa = HFA().fit(Xs, ys)
    assert hfa.embeddings_[1].shape == (30, 3)
    assert (hfa.dual_coef_[2, np.sum(ys[0] >= 0) :] <= 0).all()


def test_two_classes_and_more_features_than_samples(make_domains):
    Xs, ys = make_domains(((8, 50), (6, 70)), n_classes=2)
    hfa = HFA().fit(Xs, ys)
    np.testing.assert_allclose(hfa.embeddings_[1][:, 0], -hfa.embeddings_[1][:, 1], atol=1e-4)


def test_an_svm_that_does_not_converge_is_stopped():
    """Three classes on a line: libsvm alone makes more than 20 million steps, if it ever ends."""
    rng, y = np.random.default_rng(0), np.arange(30) % 3
    source = 3 * rng.normal(size=(3, 1))[y] + rng.normal(size=(30, 1))
    target = source + rng.normal(size=(30, 1))
    hfa, ys = HFA(kernel="linear", unit_rows=False), [y, np.where(np.arange(30) < 12, y, -1)]
    assert hfa.max_iter == 1_000_000
    with pytest.warns(ConvergenceWarning, match="max_iter=1000000"):
        hfa.fit([source, target], ys)
    assert np.isfinite(hfa.embeddings_[1]).all()
    with pytest.warns(ConvergenceWarning, match="max_iter=70"):
        clone(hfa).set_params(max_iter=70).fit([source, target], ys)


def test_ordinary_fits_are_far_from_the_limit(domains):
    stopped, free = HFA(max_iter=10_000).fit(*domains), HFA(max_iter=10**9).fit(*domains)
    np.testing.assert_array_equal(stopped.dual_coef_, free.dual_coef_)


def test_capabilities_are_true(domains):
    Xs, ys = domains
    for params in ({}, {"kernel": "linear", "unit_rows": False}):
        hfa = HFA(**params).fit(Xs, ys)
        able = hfa.capabilities
        assert (able.labels, able.max_domains, able.needs_pairs) == ("source+target", 2, False)
        assert able.heterogeneous
        assert able.embeds_new_samples
        assert not able.invertible
        middle = hfa.transform((Xs[1][:9] + Xs[1][9:18]) / 2, 1)
        expected = (hfa.embeddings_[1][:9] + hfa.embeddings_[1][9:18]) / 2
        assert able.nonlinear != np.allclose(middle, expected)
    assert hfa.classifier_rows == "source+target"


def test_errors(domains):
    Xs, ys = domains
    for domain in (0, 1):
        hidden = [np.full_like(y, -1) if d == domain else y for d, y in enumerate(ys)]
        with pytest.raises(ValueError, match=f"domain {domain}: none of its .* labelled, and HFA"):
            HFA().fit(Xs, hidden)
    with pytest.raises(ValueError, match="all labelled samples are of class 1; an SVM needs two"):
        HFA().fit(Xs, [np.where(y == 1, 1, -1) for y in ys])
    with pytest.raises(AlignmentError, match="domain 1: its labelled samples are all equal"):
        HFA().fit([Xs[0], np.eye(9)[np.zeros(30, int)]], ys)
    with pytest.raises(ValueError, match="The 'trace' parameter of HFA"):
        HFA(trace=-1.0).fit(Xs, ys)
    assert mean_gamma(np.array([[0.0, 4.0], [4.0, 0.0]]), np.zeros((2, 2)), 0) == 0.5


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_labelled_samples_that_are_equal_but_for_rounding_have_no_mean_distance(kernel):
    rng = np.random.default_rng(0)
    direction, S, y = rng.normal(size=30), rng.normal(size=(36, 30)), np.arange(36) % 2
    T = np.vstack([np.outer(np.arange(1, 7), direction), rng.normal(size=(30, 30))])
    labels = np.r_[0, 1, 0, 1, 0, 0, -np.ones(30, int)]
    with pytest.raises(AlignmentError, match="domain 1: its labelled samples are all equal"):
        HFA(kernel=kernel).fit([S, T], [y, labels])
