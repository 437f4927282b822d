import pickle

import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.subspace._labelled_subspace import LabelledSubspace, SubspaceProblem
from domain_alignment.utils.graphs import degrees, knn_graph, normalized_laplacian
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

WEIGHTS = {"alpha": 0.7, "beta": 0.6, "gamma": 0.05}


def make(**params):
    """With rows as they are, for comparison with the formulas."""
    defaults = {"n_components": 3, "n_neighbors": 5, "unit_rows": False, **WEIGHTS}
    return LabelledSubspace(**{**defaults, **params})


@pytest.fixture
def domains(make_domains):
    return make_domains(((30, 8), (25, 6)))


def problem_of(Xs, ys, alpha=0.7, beta=0.6, gamma=0.05):
    graph = knn_graph(Xs[1], 5)
    classes = np.unique(np.concatenate([y[y >= 0] for y in ys]))
    return SubspaceProblem(
        Xs[0][ys[0] >= 0],
        Xs[1],
        np.flatnonzero(ys[1] >= 0),
        *((y[y >= 0][:, None] == classes).astype(float) for y in ys),
        normalized_laplacian(graph, degrees(graph)),
        alpha,
        beta,
        gamma,
    )


def direct_value(Xs, ys, maps, W, b, alpha=0.7, beta=0.6, gamma=0.05):
    """The objective as the docstring states it, sample by sample."""
    classes = np.unique(np.concatenate([y[y >= 0] for y in ys]))
    value = gamma * np.sum(W**2)
    for X, y, P in zip(Xs, ys, maps, strict=True):
        rows = np.flatnonzero(y >= 0)
        for i in rows:
            value += np.sum((X[i] @ P @ W + b - (classes == y[i])) ** 2) / len(rows)
    gaps = [
        np.sum((maps[0].T @ x - maps[1].T @ z) ** 2)
        for x, label in zip(Xs[0], ys[0], strict=True)
        for z, other in zip(Xs[1], ys[1], strict=True)
        if label == other >= 0
    ]
    graph = knn_graph(Xs[1], 5)
    L = normalized_laplacian(graph, degrees(graph)).toarray()
    F = Xs[1] @ maps[1] @ W
    return value + alpha * np.mean(gaps) + beta * np.trace(F.T @ L @ F) / len(F)


def random_maps(widths=(8, 6), d=3, seed=0):
    rng = np.random.default_rng(seed)
    return [np.linalg.qr(rng.normal(size=(p, d)))[0] for p in widths]


def test_the_value_is_that_of_the_formula(domains):
    maps = random_maps()
    state = problem_of(*domains).at(*maps)
    assert state.value == pytest.approx(direct_value(*domains, maps, state.W, state.b))


def test_classifier_is_the_best_of_its_maps(domains):
    maps = random_maps()
    state = problem_of(*domains).at(*maps)
    rng = np.random.default_rng(1)
    for _ in range(5):
        dW, db = rng.normal(size=state.W.shape), rng.normal(size=state.b.shape)
        above, below = (
            direct_value(*domains, maps, state.W + h * dW, state.b + h * db) for h in (1e-4, -1e-4)
        )
        assert above == pytest.approx(below, abs=1e-11)  # the first derivative is 0
        assert min(above, below) > state.value


@pytest.mark.parametrize(
    ("alpha", "beta", "gamma"), [(0.7, 0.6, 0.05), (0, 0, 1.0), (3, 0, 0.1), (0, 5, 0.1)]
)
def test_gradient_by_differences(domains, alpha, beta, gamma):
    problem = problem_of(*domains, alpha, beta, gamma)
    P, Q = random_maps()
    gradient = problem.gradient(problem.at(P, Q))
    rng = np.random.default_rng(2)
    for a in (0, 1):
        for _ in range(4):
            step = 1e-5 * rng.normal(size=(P, Q)[a].shape)
            moves = [(P + s * step, Q) if a == 0 else (P, Q + s * step) for s in (1, -1)]
            above, below = (problem.at(*move).value for move in moves)
            assert above - below == pytest.approx(2 * np.vdot(gradient[a], step), rel=1e-6)


def test_projected_gradient_is_tangent(domains):
    problem = problem_of(*domains)
    state = problem.at(*random_maps())
    for P, G in zip((state.P, state.Q), problem.projected_gradient(state), strict=True):
        np.testing.assert_allclose(P.T @ G + G.T @ P, 0, atol=1e-12)


def test_descent_and_orthonormality(domains):
    model = make().fit(*domains)
    assert model.n_iter_ == 60
    assert len(model.objectives_) == 61
    assert np.all(np.diff(model.objectives_) < 0)
    for P in model.maps_:
        np.testing.assert_allclose(P.T @ P, np.eye(3), atol=1e-12)
    value = direct_value(*domains, model.maps_, model.coef_, model.intercept_)
    assert model.objectives_[-1] == pytest.approx(value)


def test_many_steps_end_where_the_gradient_is_zero(domains):
    start = make(max_iter=1).fit(*domains).gradient_norm_
    model = make(max_iter=1500).fit(*domains)
    assert model.gradient_norm_ < 1e-4 * start


def test_embeddings_and_predictions(domains):
    Xs, ys = domains
    model = make().fit(Xs, ys)
    for a in (0, 1):
        np.testing.assert_allclose(model.embeddings_[a], Xs[a] @ model.maps_[a])
        np.testing.assert_allclose(model.transform(Xs[a], a), model.embeddings_[a])
        scores = model.embeddings_[a] @ model.coef_ + model.intercept_
        np.testing.assert_allclose(model.decision_function(Xs[a], a), scores)
        np.testing.assert_array_equal(model.predict(Xs[a], a), scores.argmax(axis=1))
    np.testing.assert_array_equal(model.predict(Xs[1]), model.predict(Xs[1], 1))
    assert model.classifier_rows == "source+target"


@pytest.mark.parametrize("d", [3, 5])
def test_order_of_samples_and_names_of_classes(domains, d):
    Xs, ys = domains
    scores = make(n_components=d).fit(Xs, ys).decision_function(Xs[1])
    rng = np.random.default_rng(3)
    orders = [rng.permutation(len(X)) for X in Xs]
    names = np.array([7, 4, 9, -1])  # -1 stays what it is
    model = make(n_components=d).fit(
        [X[order] for X, order in zip(Xs, orders, strict=True)],
        [names[y[order]] for y, order in zip(ys, orders, strict=True)],
    )
    np.testing.assert_array_equal(model.classes_, [4, 7, 9])
    np.testing.assert_allclose(model.decision_function(Xs[1])[:, [1, 0, 2]], scores, atol=1e-7)


def test_rotations_of_a_domain(domains):
    Xs, ys = domains
    R = np.linalg.qr(np.random.default_rng(4).normal(size=(6, 6)))[0]
    scores = make().fit(Xs, ys).decision_function(Xs[1])
    turned = make().fit([Xs[0], Xs[1] @ R], ys).decision_function(Xs[1] @ R)
    np.testing.assert_allclose(turned, scores, atol=1e-7)


def test_a_turned_copy_needs_no_pair_cost(make_domains):
    """The start already brings the two together, and its pairs are as near as within a domain."""
    (X, _), (y, _) = make_domains(n_visible=20)
    R = np.linalg.qr(np.random.default_rng(5).normal(size=(8, 8)))[0]
    model = make(n_components=3)
    one = model.fit([X, X], [y, y]).objectives_
    np.testing.assert_allclose(clone(model).fit([X, X @ R], [y, y]).objectives_, one, rtol=1e-7)


def test_prepared_domains(domains):
    Xs, ys = domains
    model = make()
    prepared = [pickle.loads(pickle.dumps(model.prepare(X))) for X in Xs]
    one = clone(model).fit(Xs, ys).decision_function(Xs[1])
    for _ in range(2):  # the second time the graph is there
        other = clone(model).fit(Xs, ys, prepared).decision_function(Xs[1])
        np.testing.assert_array_equal(one, other)
    assert not make(n_components=2).accepts(prepared[0], Xs[0])
    assert make(alpha=3.0).accepts(prepared[0], Xs[0])
    with pytest.raises(ValueError, match=r"domain 0: was prepared with .*prepare it again"):
        make(n_neighbors=4).fit(Xs, ys, prepared)
    with pytest.raises(ValueError, match="domain 1: prepared model is a int"):
        make().fit(Xs, ys, [None, 3])


def test_sparse_features(domains):
    counts = [np.where(X > 0.2, X, 0) for X in domains[0]]
    dense = make().fit(counts, domains[1])
    thin = make().fit([sparse.csr_array(X) for X in counts], domains[1])
    np.testing.assert_allclose(thin.objectives_, dense.objectives_, rtol=1e-6)
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_array(counts[1])),
        dense.decision_function(counts[1]),
        atol=1e-5,
    )
    full = make(n_components=6)  # all features of the target, more than there are classes
    values = full.fit([sparse.csr_array(X) for X in counts], domains[1]).objectives_
    np.testing.assert_allclose(values, clone(full).fit(counts, domains[1]).objectives_, rtol=1e-6)


def test_more_components_than_features_or_samples(domains):
    Xs, ys = domains
    with pytest.warns(ConvergenceWarning, match="a domain has 6 samples or features; 6 components"):
        assert make(n_components=20).fit(Xs, ys).n_components_ == 6
    rows = np.flatnonzero(ys[0] >= 0)[:1]
    with pytest.warns(ConvergenceWarning, match="1 components"):
        model = make().fit([Xs[0][rows], Xs[1]], [ys[0][rows], ys[1]])
    assert np.isfinite(model.decision_function(Xs[1])).all()


def test_fewer_samples_than_features(make_domains):
    Xs, ys = make_domains(((12, 40), (15, 30)))
    model = make().fit(Xs, ys)
    assert np.all(np.diff(model.objectives_) < 0)


def test_classes_known_to_one_domain(domains):
    Xs, ys = domains
    ys[0][ys[0] == 2] = -1
    ys[1][ys[1] == 1] = -1
    model = make().fit(Xs, ys)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])


def test_one_class(domains):
    Xs, ys = domains
    ys = [np.where(y == 0, 0, -1) for y in ys]
    model = make().fit(Xs, ys)
    np.testing.assert_allclose(model.decision_function(Xs[1]), 1, atol=1e-8)


def test_wrong_input(domains):
    Xs, ys = domains
    with pytest.raises(ValueError, match=r"domain 1 \(the target\): none of its 25 samples"):
        make().fit(Xs, [ys[0], None])
    with pytest.raises(ValueError, match="shares no labelled class with domain 0"):
        make().fit(Xs, [np.where(ys[0] == 0, 0, -1), np.where(ys[1] == 1, 1, -1)])
    with pytest.raises(ValueError, match="aligns at most 2"):
        make().fit([*Xs, Xs[0]], [*ys, ys[0]])
    with pytest.raises(ValueError, match="n_neighbors"):
        make(n_neighbors=25).fit(Xs, ys)
    with pytest.raises(ValueError, match="'gamma' parameter"):
        make(gamma=0).fit(Xs, ys)
    with pytest.raises(ValueError, match="domain 2 does not exist"):
        make().fit(Xs, ys).predict(Xs[1], 2)


def test_isolated_target_samples(domains):
    Xs, ys = domains
    Xs[1][4] = 0
    with pytest.raises(AlignmentError, match="domain 1: 1 of 25 samples"):
        make().fit(Xs, ys)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_rows_of_length_1(domains, convert):
    Xs, ys = domains
    given = [convert(X) for X in Xs]
    model = make(unit_rows=True).fit(given, ys)
    expected = make().fit([X / np.linalg.norm(X, axis=1, keepdims=True) for X in Xs], ys)
    for domain in (0, 1):
        np.testing.assert_allclose(
            model.embeddings_[domain], expected.embeddings_[domain], atol=1e-6
        )
        longer = model.transform(3 * given[domain], domain)
        np.testing.assert_allclose(longer, model.embeddings_[domain], atol=1e-9)
    assert not make().accepts(model.prepare(given[0]), given[0])


def test_large_units_do_not_end_the_descent_at_its_first_step(make_domains):
    Xs, ys = make_domains()
    small, large = (
        make(unit_rows=False, max_iter=30).fit([scale * X for X in Xs], ys) for scale in (1.0, 1e7)
    )
    assert small.n_iter_ > 5
    assert large.n_iter_ > 5
