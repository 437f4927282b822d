"""ARC-t against the problem as printed, solved over all of W."""

import numpy as np
import pytest
from domain_alignment.exceptions import NonfiniteAnswerError
from domain_alignment.max_margin._arct import ARCt
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier


@pytest.fixture
def domains(make_domains):
    return make_domains(((40, 6), (30, 6)), n_visible=4)


@pytest.fixture
def unequal(make_domains):
    return make_domains(((40, 6), (30, 9)), n_visible=4)


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def objective(W, start, pairs, gamma, bounds):
    """Value and gradient over all entries of W."""
    (X, Y), same = pairs
    W = W.reshape(start.shape)
    f = X @ W @ Y.T
    signs = np.where(same, 1.0, -1.0)
    slack = np.maximum(0, np.where(same, bounds[0] - f, f - bounds[1]))
    gradient = W - start - gamma * X.T @ (slack * signs) @ Y
    return 0.5 * np.sum((W - start) ** 2) + gamma / 2 * np.sum(slack**2), gradient.ravel()


def solved(Xs, ys, gamma, regularize, bounds=(1.0, -1.0)):
    rows = [y >= 0 for y in ys]
    pairs = [unit(X[kept]) for X, kept in zip(Xs, rows, strict=True)]
    same = ys[0][rows[0]][:, None] == ys[1][rows[1]]
    start = np.eye(Xs[0].shape[1], Xs[1].shape[1]) if regularize == "identity" else 0
    start = start * np.ones((Xs[0].shape[1], Xs[1].shape[1]))
    found = minimize(
        objective,
        start.ravel(),
        (start, (pairs, same), gamma, bounds),
        method="L-BFGS-B",
        jac=True,
        options={"maxiter": 10_000, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-10},
    )
    return found.fun, found.x.reshape(start.shape)


@pytest.mark.parametrize("gamma", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("regularize", ["identity", "zero"])
@pytest.mark.parametrize("features", ["domains", "unequal"])
def test_it_is_the_optimum(gamma, regularize, features, request):
    Xs, ys = request.getfixturevalue(features)
    arct = ARCt(gamma, regularize=regularize, tol=1e-10, random_state=0).fit(Xs, ys)
    value, W = solved(Xs, ys, gamma, regularize)
    assert arct.transform_.objective == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(arct.transform_.to_dense(), W, atol=1e-4)
    assert arct.transform_.converged


def test_other_bounds(domains):
    Xs, ys = domains
    arct = ARCt(5.0, 0.8, 0.1, tol=1e-10, random_state=0).fit(Xs, ys)
    value, W = solved(Xs, ys, 5.0, "identity", (0.8, 0.1))
    assert arct.transform_.objective == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(arct.transform_.to_dense(), W, atol=1e-4)


def test_it_classifies_by_the_largest_similarity(unequal):
    Xs, ys = unequal
    arct = ARCt(random_state=0).fit(Xs, ys)
    W, seen = arct.transform_.to_dense(), ys[0] >= 0
    similarity = unit(Xs[1]) @ W.T @ unit(Xs[0][seen]).T
    np.testing.assert_allclose(arct.similarities(Xs[1]), similarity, atol=1e-10)
    expected = ys[0][seen][similarity.argmax(axis=1)]
    np.testing.assert_array_equal(arct.predict(Xs[1]), expected)
    np.testing.assert_array_equal(arct.predict(Xs[1][4:7], 1), expected[4:7])
    np.testing.assert_array_equal(arct.predict(Xs[0][seen], 0), ys[0][seen])
    # Rows of length 1: it is 1-NN in the embedding, trained on the source.
    nearest = KNeighborsClassifier(1).fit(arct.embeddings_[0][seen], ys[0][seen])
    np.testing.assert_array_equal(nearest.predict(arct.embeddings_[1]), expected)
    assert arct.classifier_rows == "source"


def test_training_samples_transform_to_their_embeddings(unequal):
    Xs, ys = unequal
    for params in ({}, {"unit_rows": False}):
        arct = ARCt(random_state=0, **params).fit(Xs, ys)
        assert [Z.shape for Z in arct.embeddings_] == [(40, 6), (30, 6)]
        for domain, X in enumerate(Xs):
            np.testing.assert_allclose(arct.transform(X, domain), arct.embeddings_[domain])


def test_order_names_and_storage_do_not_matter(unequal):
    Xs, ys = unequal
    arct = ARCt(tol=1e-10, random_state=0)
    expected = clone(arct).fit(Xs, ys).embeddings_[1]
    order = np.random.default_rng(0).permutation(30)
    moved = clone(arct).fit([Xs[0], Xs[1][order]], [ys[0], ys[1][order]]).embeddings_[1]
    np.testing.assert_allclose(moved, expected[order], atol=1e-5)
    renamed = clone(arct).fit(Xs, [np.where(y >= 0, 9 - 4 * y, -1) for y in ys]).embeddings_[1]
    np.testing.assert_allclose(renamed, expected, atol=1e-5)
    stored = clone(arct).fit([sparse.csr_array(X) for X in Xs], ys)
    np.testing.assert_allclose(stored.embeddings_[1], expected, atol=1e-5)
    assert isinstance(stored.embeddings_[0], np.ndarray)


@pytest.mark.parametrize("scaled", [True, False])
def test_similarities_are_those_of_embeddings_that_need_not_be_formed(unequal, scaled, monkeypatch):
    Xs, ys = unequal
    arct = ARCt(random_state=0, unit_rows=scaled).fit(Xs, ys)
    for domain, few in ((0, 4), (1, 4)):
        Z = arct.embeddings_[domain]
        expected = Z @ arct._source.T
        for rows in (slice(None), slice(few)):
            found = arct.similarities(Xs[domain][rows], domain)
            np.testing.assert_allclose(found, expected[rows], rtol=1e-12, atol=1e-13)
        monkeypatch.setattr(ARCt, "_transform", None)
        stored = arct.similarities(sparse.csr_array(Xs[domain]), domain)
        np.testing.assert_allclose(stored, expected, rtol=1e-12, atol=1e-13)
        monkeypatch.undo()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_similarities_that_leave_floating_point_are_refused(domains):
    Xs, ys = domains
    arct = ARCt(random_state=0, unit_rows=False).fit(Xs, ys)
    arct._source *= 1e200
    with pytest.raises(NonfiniteAnswerError, match="X: its similarities holds NaN or infinity"):
        arct.similarities(1e153 * Xs[1])


def test_identical_domains_need_no_more_than_a_symmetric_map(domains):
    (X, _), (y, _) = domains
    W = ARCt(tol=1e-10, random_state=0).fit([X, X], [y, y]).transform_.to_dense()
    np.testing.assert_allclose(W, W.T, atol=1e-4)


def test_little_gamma_leaves_the_identity(domains):
    arct = ARCt(gamma=1e-9, random_state=0).fit(*domains)
    np.testing.assert_allclose(arct.transform_.to_dense(), np.eye(6), atol=1e-6)


def test_a_class_missing_in_one_domain(domains):
    Xs, ys = domains
    ys[1][ys[1] == 2] = -1
    arct = ARCt(10.0, tol=1e-10, random_state=0).fit(Xs, ys)
    assert arct.transform_.objective == pytest.approx(solved(Xs, ys, 10.0, "identity")[0], rel=1e-7)
    # No class in common: only pairs that are to differ.
    ys = [np.where(ys[0] == 0, 0, -1), np.where(ys[1] == 1, 1, -1)]
    arct = ARCt(10.0, random_state=0).fit(Xs, ys)
    assert (arct.predict(Xs[1]) == 0).all()


def test_more_features_than_samples(make_domains):
    Xs, ys = make_domains(((12, 40), (9, 50)), n_visible=2)
    arct = ARCt(10.0, tol=1e-10, random_state=0).fit(Xs, ys)
    assert arct.transform_.objective == pytest.approx(solved(Xs, ys, 10.0, "zero")[0], rel=1e-7)


def test_capabilities_are_true(unequal):
    Xs, ys = unequal
    for unit_rows in (True, False):
        arct = ARCt(unit_rows=unit_rows, random_state=0).fit(Xs, ys)
        able = arct.capabilities
        assert (able.labels, able.max_domains, able.needs_pairs) == ("source+target", 2, False)
        assert able.heterogeneous
        assert able.embeds_new_samples
        assert not able.invertible
        middle = arct.transform((Xs[1][:9] + Xs[1][9:18]) / 2, 1)
        expected = (arct.embeddings_[1][:9] + arct.embeddings_[1][9:18]) / 2
        assert able.nonlinear != np.allclose(middle, expected)


def test_errors(domains):
    Xs, ys = domains
    for domain in (0, 1):
        hidden = [np.full_like(y, -1) if d == domain else y for d, y in enumerate(ys)]
        with pytest.raises(
            ValueError, match=f"domain {domain}: none of its .* labelled, and ARC-t"
        ):
            ARCt().fit(Xs, hidden)
    with pytest.raises(ValueError, match=r"other_class=1.0 must be below same_class=1.0"):
        ARCt(other_class=1.0).fit(Xs, ys)
    with pytest.raises(NotFittedError):
        ARCt().predict(Xs[1])
    with pytest.raises(ValueError, match="The 'gamma' parameter of ARCt"):
        ARCt(gamma=0.0).fit(Xs, ys)
