import numpy as np
import pytest
from domain_alignment.distribution import _meda
from domain_alignment.distribution._meda import MEDA
from domain_alignment.exceptions import AlignmentError
from domain_alignment.subspace._gfk import GFK
from domain_alignment.utils import _memory
from measure import peak_bytes
from scipy.linalg import sqrtm
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from tests.methods.office_caltech import needs_surf, shares


def domains(make_domains, sizes=(60, 50), n_classes=4, spread=1.5, seed=0):
    """A labelled source, and a target that is moved so far that pseudo labels change."""
    Xs, ys = make_domains([(size, 8) for size in sizes], n_classes, n_visible=1000, seed=seed)
    rng = np.random.default_rng(seed)
    # The classes of the two domains of `make_domains` have centres of their own: take one set.
    centres = np.array([Xs[0][ys[0] == label].mean(axis=0) for label in range(n_classes)])
    target = centres[ys[1]] + spread * rng.normal(size=Xs[1].shape) + rng.normal(size=8)
    return [Xs[0], target], ys


def distance_of_domains(source, target):
    if not len(source) or not len(target):
        return 2.0
    X, y = np.vstack([source, target]), np.repeat([1, -1], [len(source), len(target)])
    svm = LinearSVC(tol=1e-10, max_iter=1_000_000, dual=False).fit(X, y)
    return 2 * (1 - 2 * np.mean(svm.predict(X) != y))


def graph_laplacian(Z, p):
    cosines = Z @ Z.T
    W = np.zeros_like(cosines)
    for i, row in enumerate(cosines):
        nearest = np.argsort(-row)[: p + 1]
        W[i, nearest] = np.maximum(row[nearest], 0)
    W = np.maximum(W, W.T)
    root = 1 / np.sqrt(W.sum(axis=1))
    return np.eye(len(Z)) - root[:, None] * W * root


def direct(Xs, y, params, mu=None):
    """MEDA with p x p and n x n matrices, everything computed anew in each iteration."""
    gfk = GFK(params["n_components"]).fit(Xs)
    root = np.real(sqrtm(gfk.map_ @ gfk.map_.T))
    features = [X @ root for X in Xs]
    Z = normalize(np.vstack(features))
    m, n, classes = len(y), len(Z), np.unique(y)
    K = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2) / (2 * np.mean((Z**2).sum(axis=1))))
    E, L = np.diag(np.arange(n) < m).astype(float), graph_laplacian(Z, params["n_neighbors"])
    Y = np.zeros((n, len(classes)))
    Y[:m] = y[:, None] == classes
    labels = y[np.argmax(Z[m:] @ Z[:m].T, axis=1)]
    steps, nearest = [], labels
    for _ in range(params["n_iterations"]):
        if mu is None:
            d_m = distance_of_domains(*features)
            pairs = [(features[0][y == c], features[1][labels == c]) for c in classes]
            d_c = np.mean([distance_of_domains(*pair) for pair in pairs])
            weight = d_c / (d_c + d_m)
        else:
            weight = mu
        e = np.r_[np.full(m, 1 / m), np.full(n - m, -1 / (n - m))]
        M = (1 - weight) * len(classes) * np.outer(e, e)
        for c in classes:
            of_source, other = y == c, labels == c
            e = np.r_[of_source / of_source.sum(), -1.0 * other / max(other.sum(), 1)]
            M += weight * np.outer(e, e)
        M /= np.linalg.norm(M)
        S = E + params["mmd_weight"] * M + params["graph_weight"] * L
        B = np.linalg.solve(S @ K + params["ridge"] * np.eye(n), E @ Y)
        labels = classes[np.argmax((K @ B)[m:], axis=1)]
        steps.append((weight, B, labels, M))
    return K, L, E, Y, nearest, steps


PARAMS = {
    "n_components": 3,
    "mmd_weight": 10.0,
    "graph_weight": 1.0,
    "ridge": 0.1,
    "n_neighbors": 6,
}


@pytest.mark.parametrize("mu", [None, 0.0, 0.3, 1.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_direct_form(make_domains, mu, seed):
    Xs, ys = domains(make_domains, seed=seed)
    params = {**PARAMS, "n_iterations": 6}
    meda = MEDA(**params, mu="estimate" if mu is None else mu).fit(Xs, [ys[0], None])
    steps = direct(Xs, ys[0], params, mu)[-1]
    _, B, labels, _ = steps[meda.n_iter_ - 1]
    np.testing.assert_allclose(meda.mu_, [step[0] for step in steps[: meda.n_iter_]], atol=1e-9)
    np.testing.assert_allclose(meda.dual_coef_, B, atol=1e-6 * np.abs(B).max())
    np.testing.assert_array_equal(meda.transduction_, labels)
    # Where it stopped earlier, later iterations change nothing.
    np.testing.assert_array_equal(meda.transduction_, steps[-1][2])


@pytest.mark.parametrize(
    ("marginal", "conditional", "mu"),
    [(1.0, 9e-4, 0.0), (1.0, 1.1e-3, 1.1e-3 / 1.0011), (0.5, 1.5, 0.75), (0.0, 0.0, 0.5)],
)
def test_a_small_share_of_the_conditional_shift_is_none(monkeypatch, marginal, conditional, mu):
    """As the authors' code has it; and half where the domains cannot be told apart at all."""
    distances = iter([marginal, conditional, conditional])
    monkeypatch.setattr(
        _meda.DomainSeparator, "proxy_distance", lambda self, source, target: next(distances)
    )
    X, labels = np.eye(4), np.array([0, 0, 1, 1])
    assert _meda._Balance(X, X, labels, 2).estimate(labels) == pytest.approx(mu)


def test_a_given_mu_estimates_nothing(make_domains, monkeypatch):
    monkeypatch.setattr(_meda, "_Balance", None)
    Xs, ys = make_domains()
    assert MEDA(5, mu=0.5).fit(Xs, [ys[0], None]).mu_[0] == 0.5


@pytest.mark.parametrize("rows", [1, 7])
def test_the_kernel_matrix_in_columns(make_domains, monkeypatch, rows):
    """Also those of samples whose pseudo-labels change, which are added up over iterations."""
    Xs, ys = domains(make_domains, spread=3)
    whole = MEDA(**PARAMS).fit(Xs, [ys[0], None])
    assert whole.n_iter_ > 2
    monkeypatch.setattr(_meda, "_BATCH", rows)
    blocks = MEDA(**PARAMS).fit(Xs, [ys[0], None])
    np.testing.assert_array_equal(blocks.transduction_, whole.transduction_)
    scale = np.abs(whole.dual_coef_).max()
    np.testing.assert_allclose(blocks.dual_coef_, whole.dual_coef_, atol=1e-10 * scale)


def test_dual_coefficients_are_those_of_the_scores(make_domains):
    """The scores come from sums of the kernel over classes, the coefficients from the system."""
    Xs, ys = domains(make_domains, spread=3)
    meda = MEDA(**PARAMS).fit(Xs, [ys[0], None])
    K = direct(Xs, ys[0], {**PARAMS, "n_iterations": 1})[0]
    scores = (K @ meda.dual_coef_)[60:]
    np.testing.assert_allclose(meda.decision_function(Xs[1]), scores, atol=1e-10)
    np.testing.assert_array_equal(meda.classes_[scores.argmax(axis=1)], meda.transduction_)


def test_one_matrix_of_all_pairs_is_held_and_asked_for(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=1000)
    Xs = [np.eye(3, 6)[y] + rng.normal(size=(1000, 6)) for _ in range(2)]
    meda = MEDA(n_components=3, n_iterations=2)
    meda.fit([X[:100] for X in Xs], [y[:100], None])  # imports
    assert peak_bytes(meda.fit, Xs, [y, None]) < 1.6 * 8 * 2000**2
    monkeypatch.setattr(_memory, "memory_of_machine", lambda: 8 * 2000**2 - 1)
    with pytest.raises(AlignmentError, match="of 2000 x 2000 numbers takes"):
        meda.fit(Xs, [y, None])


def test_the_gradient_of_the_objective_is_zero(make_domains):
    Xs, ys = domains(make_domains)
    params = {**PARAMS, "mmd_weight": 3.0, "graph_weight": 0.5, "ridge": 0.2, "n_iterations": 1}
    B = MEDA(**params).fit(Xs, [ys[0], None]).dual_coef_
    K, L, E, Y, _, steps = direct(Xs, ys[0], params)
    F, M = K @ B, steps[0][3]
    gradient = K @ (E @ (F - Y) + 0.2 * B + 3.0 * M @ F + 0.5 * L @ F)
    assert np.abs(gradient).max() < 1e-10

    def objective(B):
        F = K @ B
        return (
            np.sum((E @ (Y - F)) ** 2)
            + 0.2 * np.trace(B.T @ F)
            + 3.0 * np.trace(F.T @ M @ F)
            + 0.5 * np.trace(F.T @ L @ F)
        )

    rng = np.random.default_rng(0)
    for _ in range(10):
        assert objective(B + 0.01 * rng.normal(size=B.shape)) > objective(B)


def test_own_predictions_of_the_target_are_the_transductive_ones(make_domains):
    Xs, ys = domains(make_domains)
    meda = MEDA(**PARAMS).fit(Xs, [ys[0], None])
    np.testing.assert_array_equal(meda.predict(Xs[1]), meda.transduction_)
    np.testing.assert_array_equal(meda.predict(Xs[1][4:7], 1), meda.transduction_[4:7])
    np.testing.assert_array_equal(meda.predict(Xs[0], 0), meda.predict(Xs[0], -2))
    scores = meda.decision_function(Xs[1])
    np.testing.assert_array_equal(meda.classes_[scores.argmax(axis=1)], meda.transduction_)
    for Z in meda.embeddings_:
        np.testing.assert_allclose(np.linalg.norm(Z, axis=1), 1)


def test_only_labels_of_the_source_are_used(make_domains):
    Xs, ys = domains(make_domains)
    meda = MEDA(**PARAMS)
    assert meda.classifier_rows == "source"
    expected = meda.fit(Xs, [ys[0], None]).predict(Xs[1])
    np.testing.assert_array_equal(meda.fit(Xs, [ys[0], ys[1][::-1]]).predict(Xs[1]), expected)


def test_order_of_samples_and_names_of_classes(make_domains):
    Xs, ys = domains(make_domains)
    plain = MEDA(**PARAMS).fit(Xs, [ys[0], None])
    rng = np.random.default_rng(1)
    orders = [rng.permutation(len(X)) for X in Xs]
    names = np.array([3, 11, 4, 8])
    moved = MEDA(**PARAMS).fit(
        [X[order] for X, order in zip(Xs, orders, strict=True)], [names[ys[0]][orders[0]], None]
    )
    np.testing.assert_allclose(moved.mu_, plain.mu_, atol=1e-9)
    np.testing.assert_array_equal(moved.transduction_, names[plain.transduction_][orders[1]])
    np.testing.assert_array_equal(moved.classes_, np.sort(names))


def test_unlabelled_source_samples_play_no_part(make_domains):
    Xs, ys = domains(make_domains)
    seen = np.arange(60) % 5 < 3
    part = MEDA(**PARAMS).fit(Xs, [np.where(seen, ys[0], -1), ys[1]])
    alone = MEDA(**PARAMS).fit([Xs[0][seen], Xs[1]], [ys[0][seen], None])
    np.testing.assert_array_equal(part.transduction_, alone.transduction_)
    np.testing.assert_allclose(part.dual_coef_, alone.dual_coef_, atol=1e-9)
    np.testing.assert_allclose(part.embeddings_[0][seen], alone.embeddings_[0], atol=1e-12)
    assert len(part.embeddings_[0]) == 60


def test_a_class_without_pseudo_labels(make_domains):
    Xs, ys = domains(make_domains)
    # One sample of the source, opposite to the target, is a class by itself.
    far = np.vstack([Xs[0], -Xs[1].mean(axis=0)])
    y = np.r_[ys[0], 7]
    meda = MEDA(**{**PARAMS, "n_components": 4}).fit([far, Xs[1]], [y, None])
    params = {**PARAMS, "n_components": 4, "n_iterations": meda.n_iter_}
    *_, nearest, steps = direct([far, Xs[1]], y, params)
    assert 7 in meda.classes_
    assert 7 not in nearest
    np.testing.assert_allclose(meda.mu_, [step[0] for step in steps], atol=1e-9)
    np.testing.assert_array_equal(meda.transduction_, steps[-1][2])


def test_one_class_and_identical_domains(make_domains):
    Xs, ys = domains(make_domains)
    one = MEDA(**PARAMS).fit(Xs, [np.full(60, 5), None])
    np.testing.assert_array_equal(one.transduction_, 5)
    same = MEDA(**PARAMS).fit([Xs[0], Xs[0]], [ys[0], None])
    np.testing.assert_array_equal(same.predict(Xs[0]), same.predict(Xs[0], 0))
    # Neither the domains nor their classes can be told apart at first.
    assert same.mu_[0] == 0.5


def test_wrong_input_is_named(make_domains):
    Xs, ys = domains(make_domains)
    with pytest.raises(ValueError, match="domain 0: none of its 60 samples is labelled"):
        MEDA(**PARAMS).fit(Xs)
    with pytest.raises(ValueError, match="labelled source and target: n_neighbors=200 for 110"):
        MEDA(3, n_neighbors=200).fit(Xs, ys)
    for params in ({"ridge": 0.0}, {"mu": 1.5}, {"mu": "guess"}, {"n_iterations": 0}):
        with pytest.raises(ValueError, match=next(iter(params))):
            MEDA(**params).fit(Xs, ys)
    meda = MEDA(**PARAMS).fit(Xs, [ys[0], None])
    with pytest.raises(ValueError, match="domain 2 does not exist"):
        meda.predict(Xs[1], 2)
    Xs[1][3] = 0
    with pytest.raises(AlignmentError, match="domain 1: 1 of 50 samples have no component"):
        MEDA(**PARAMS).fit(Xs, [ys[0], None])


def test_a_new_sample_without_a_component_is_at_right_angles_to_all(make_domains):
    Xs, ys = domains(make_domains)
    meda = MEDA(**PARAMS).fit(Xs, [ys[0], None])
    X = np.vstack([np.zeros(8), Xs[1][0]])
    Z = meda.transform(X, 1)
    np.testing.assert_array_equal(Z[0], 0)
    np.testing.assert_allclose(Z[1], meda.transform(X[1:], 1)[0])
    # exp(-|z - z'|^2 / 2) of unit rows at right angles is exp(-1) for every sample.
    scores = np.exp(-1) * meda.dual_coef_.sum(axis=0)
    assert meda.predict(X)[0] == meda.classes_[scores.argmax()]


@needs_surf
@pytest.mark.parametrize(
    ("pair", "published"), [("AD", 45.9), ("WA", 42.7), ("DW", 87.5), ("WD", 88.5), ("CD", 50.3)]
)
def test_published_accuracies(pair, published):
    (X, y), (X_target, y_target) = (shares(name) for name in pair)
    meda = MEDA().fit([X, X_target], [y, None])
    assert 100 * np.mean(meda.transduction_ == y_target) == pytest.approx(published, abs=0.1)
