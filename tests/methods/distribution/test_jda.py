"""JDA against its rounds as printed, with dense matrices; on SURF features if they are there."""

from itertools import pairwise

import numpy as np
import pytest
from domain_alignment.distribution import _jda
from domain_alignment.distribution._jda import JDA, nearest_labels, penalty_weights, repeated
from domain_alignment.kernels._pairwise import kernel_matrix
from scipy import linalg
from sklearn.neighbors import KNeighborsClassifier

from tests.methods.distribution.test_tca import stacked
from tests.methods.office_caltech import needs_surf, shares


def discrepancy(y, n_target, pseudo):
    """M of the authors' program, normalised, entry by entry."""
    n, classes = len(y) + n_target, np.unique(y[y >= 0])
    e = np.r_[np.full(len(y), 1 / len(y)), np.full(n_target, -1 / n_target)]
    M = len(classes) * np.outer(e, e)
    if pseudo is not None:
        for label in classes:
            weights = np.zeros(n)
            weights[: len(y)][y == label] = 1 / np.sum(y == label)
            if (pseudo == label).any():
                weights[len(y) :][pseudo == label] = -1 / np.sum(pseudo == label)
            M += np.outer(weights, weights)
    return M / np.linalg.norm(M)


def rounds(features, y, n_components, ridge, n_rounds, scaling="unit", unit=True):
    """Directions and pseudo labels of every round."""
    n, pseudo, found = len(features), None, []
    H = np.eye(n) - np.ones((n, n)) / n
    for _ in range(n_rounds):
        M = discrepancy(y, n - len(y), pseudo)
        left = features.T @ M @ features + ridge * np.eye(features.shape[1])
        values, A = linalg.eigh(features.T @ H @ features, left)
        values, A = values[::-1][:n_components], A[:, ::-1][:, :n_components]
        if scaling == "unit":
            A = A / np.linalg.norm(A, axis=0)
        elif scaling == "constraint":
            A = A / np.sqrt(values)
        Z = features @ A
        Z = Z / np.linalg.norm(Z, axis=1, keepdims=True) if unit else Z
        known = np.flatnonzero(y >= 0)
        nearest = KNeighborsClassifier(1).fit(Z[known], y[known])
        pseudo = nearest.predict(Z[len(y) :])
        found.append((values, A, Z, pseudo))
    return found


@pytest.mark.parametrize("scaling", ["unit", "constraint", "objective"])
@pytest.mark.parametrize("shapes", [((60, 8), (50, 8)), ((14, 30), (12, 30))])
@pytest.mark.parametrize("unit", [True, False])
def test_the_rounds(make_domains, shapes, scaling, unit):
    Xs, ys = make_domains(shapes, n_visible=1000)
    expected = rounds(stacked(Xs, unit), ys[0], 4, 0.5, 4, scaling, unit)
    for n_iterations, (values, A, Z, pseudo) in enumerate(expected, start=1):
        jda = JDA(4, 0.5, n_iterations, scaling=scaling, unit_rows=unit).fit(Xs, [ys[0], None])
        np.testing.assert_array_equal(jda.pseudo_labels_, pseudo)
        np.testing.assert_allclose(jda.ratios_, values, rtol=1e-8)
        signs = np.sign(np.sum(A * jda.coef_, axis=0))
        np.testing.assert_allclose(jda.coef_, signs * A, atol=1e-7 * np.abs(A).max())
        np.testing.assert_allclose(
            np.vstack(jda.embeddings_), signs * Z, atol=1e-7 * np.abs(Z).max()
        )
    changes = [np.count_nonzero(one[3] != other[3]) for one, other in pairwise(expected)]
    assert jda.n_changed_.tolist() == changes


@pytest.mark.parametrize("seed", range(20))
def test_cycles_are_not_walked(seed):
    """Rounds of a random function, of which every cycle is cut short, end where all of them do."""
    rng, n_rounds = np.random.default_rng(seed), 40
    follower = rng.integers(0, 8, 8)
    expected = [np.array([0])]
    while len(expected) < n_rounds:
        expected.append(follower[expected[-1]])
    found, n_computed = [np.array([0])], 1
    while len(found) < n_rounds:
        found.append(follower[found[-1]])
        n_computed += 1
        found += repeated(found, n_rounds)
    np.testing.assert_array_equal(found, expected)
    assert n_computed <= 8 + 8


@pytest.mark.parametrize("n_iterations", [2, 5, 10])
def test_rounds_that_repeat_change_nothing(make_domains, monkeypatch, n_iterations):
    Xs, ys = make_domains(((60, 8), (50, 8)), n_visible=1000)
    weighed = []

    def counted(*arguments):
        weighed.append(arguments)
        return penalty_weights(*arguments)

    monkeypatch.setattr(_jda, "penalty_weights", counted)
    found = JDA(4, 0.5, n_iterations).fit(Xs, [ys[0], None])
    n_computed = len(weighed)
    monkeypatch.setattr(_jda, "repeated", lambda labels, n_rounds: [])
    expected = JDA(4, 0.5, n_iterations).fit(Xs, [ys[0], None])
    assert len(weighed) - n_computed == n_iterations
    assert n_computed < n_iterations or n_iterations == 2
    for name in ("pseudo_labels_", "n_changed_", "ratios_", "coef_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_lanczos_finds_the_same(make_domains):
    Xs, ys = make_domains(((300, 210), (240, 210)), n_visible=1000)
    values, _, _, pseudo = rounds(stacked(Xs, True), ys[0], 4, 0.5, 3)[-1]
    jda = JDA(4, 0.5, 3).fit(Xs, ys)
    np.testing.assert_array_equal(jda.pseudo_labels_, pseudo)
    np.testing.assert_allclose(jda.ratios_, values, rtol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_dual(make_domains, kernel):
    Xs, ys = make_domains(n_visible=100)
    X = stacked(Xs, True)
    values, W, _, pseudo = rounds(kernel_matrix(X, X, kernel, 0.7), ys[0], 4, 0.5, 3)[-1]
    jda = JDA(4, 0.5, 3, formulation="dual", kernel=kernel, gamma=0.7).fit(Xs, ys)
    np.testing.assert_array_equal(jda.pseudo_labels_, pseudo)
    np.testing.assert_allclose(jda.ratios_, values, rtol=1e-8)
    expected = X.T @ W if kernel == "linear" else W
    found = jda.coef_ if kernel == "linear" else jda.dual_coef_
    signs = np.sign(np.sum(expected * found, axis=0))
    np.testing.assert_allclose(found, signs * expected, atol=1e-7)


def test_the_matrix_of_the_penalty():
    y, pseudo = np.array([0, 0, 1, 2, -1]), np.array([0, 2, 2, 2])
    for guess in (None, pseudo):  # class 1 has no pseudo label
        w = penalty_weights(y, 4, np.arange(3), guess)
        assert w.shape == (9, 1 if guess is None else 4)
        np.testing.assert_allclose(w @ w.T, discrepancy(y, 4, guess), atol=1e-15)


@pytest.mark.parametrize("n_iterations", [1, 10])
def test_predictions_of_the_training_rows_are_the_pseudo_labels(make_domains, n_iterations):
    Xs, ys = make_domains(((90, 8), (80, 8)), n_visible=100)
    jda = JDA(3, n_iterations=n_iterations).fit(Xs, ys)
    np.testing.assert_array_equal(jda.predict(Xs[1]), jda.pseudo_labels_)
    np.testing.assert_array_equal(jda.predict(Xs[1][5:9], 1), jda.pseudo_labels_[5:9])
    np.testing.assert_array_equal(jda.predict(Xs[0], 0), ys[0])
    assert jda.n_changed_.shape == (n_iterations - 1,)


def test_labels_of_the_target_are_not_used(make_domains):
    Xs, ys = make_domains(n_visible=100)
    np.testing.assert_array_equal(
        JDA(3).fit(Xs, ys).embeddings_[1], JDA(3).fit(Xs, [ys[0], None]).embeddings_[1]
    )
    assert JDA().classifier_rows == "source"


def test_unlabelled_source_samples_count_for_the_domain_only(make_domains):
    Xs, ys = make_domains(n_visible=10)
    values, _, _, pseudo = rounds(stacked(Xs, True), ys[0], 3, 1.0, 3)[-1]
    jda = JDA(3, n_iterations=3).fit(Xs, ys)
    np.testing.assert_array_equal(jda.pseudo_labels_, pseudo)
    np.testing.assert_allclose(jda.ratios_, values, rtol=1e-8)


@pytest.mark.parametrize("shapes", [((60, 8), (50, 8)), ((16, 40), (12, 40))])
def test_a_class_that_the_target_lacks(make_domains, shapes):
    Xs, ys = make_domains(shapes, n_visible=100)
    # The target is made of two of the source's classes: the third has no pseudo label.
    common = np.flatnonzero(ys[0] != 2)
    copies = np.random.default_rng(0).choice(common, len(Xs[1]))
    Xs[1] = Xs[0][copies] + 0.01 * Xs[1]
    values, _, _, pseudo = rounds(stacked(Xs, True), ys[0], 3, 1.0, 3)[-1]
    assert 2 not in pseudo
    jda = JDA(3, n_iterations=3).fit(Xs, ys)
    np.testing.assert_array_equal(jda.pseudo_labels_, pseudo)
    np.testing.assert_allclose(jda.ratios_, values, rtol=1e-8)


def test_one_class(make_domains):
    Xs, _ = make_domains()
    jda = JDA(3).fit(Xs, [np.full(60, 4), None])
    assert jda.classes_.tolist() == [4]
    assert (jda.pseudo_labels_ == 4).all()
    assert not jda.n_changed_.any()


def test_nearest_labels_are_those_of_scikit_learn(monkeypatch):
    rng = np.random.default_rng(0)
    samples, queries, y = (
        rng.normal(size=(40, 3)),
        rng.normal(size=(70, 3)),
        rng.integers(5, size=40),
    )
    expected = KNeighborsClassifier(1).fit(samples, y).predict(queries)
    np.testing.assert_array_equal(nearest_labels(queries, samples, y), expected)
    far = nearest_labels(queries + 1e9, samples + 1e9, y)
    np.testing.assert_array_equal(far, expected)
    monkeypatch.setattr("domain_alignment.distribution._jda._BATCH_ENTRIES", 100)
    np.testing.assert_array_equal(nearest_labels(queries, samples, y), expected)


def test_errors(make_domains):
    Xs, _ = make_domains()
    with pytest.raises(ValueError, match="domain 0: none of its 60 samples is labelled, and JDA"):
        JDA().fit(Xs)
    for wrong in ({"ridge": 0.0}, {"n_iterations": 0}):
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of JDA"):
            JDA(**wrong).fit(Xs)


@needs_surf
@pytest.mark.parametrize(
    ("scaling", "expected"), [("unit", [39.5, 89.2, 91.1]), ("constraint", [35.0, 87.8, 88.5])]
)
def test_surf_with_all_source_labels(scaling, expected):
    found = []
    for source, target in (("amazon", "dslr"), ("dslr", "webcam"), ("webcam", "dslr")):
        (X, y), (X_target, y_target) = shares(source), shares(target)
        jda = JDA(scaling=scaling).fit([X, X_target], [y, None])
        found.append(100 * np.mean(jda.pseudo_labels_ == y_target))
    np.testing.assert_allclose(found, expected, atol=0.1)
