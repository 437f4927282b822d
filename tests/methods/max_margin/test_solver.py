import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from domain_alignment.max_margin._mmdt import solve_similarities, solve_transform
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

LOSSES = ["squared_hinge", "hinge"]
REGULARIZERS = ["zero", "identity"]


def points(m=4, n=14, n_source=6, n_target=5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % m
    X = (rng.normal(size=(m, n_target))[y] + rng.normal(size=(n, n_target))) / 2
    return rng.normal(size=(m, n_source)) / 2, X, y


def signs(m, y):
    return np.where(np.asarray(y) == np.arange(m)[:, None], 1.0, -1.0)


def objective(W, V, X, S, C, loss, regularize, margins=1.0):
    """Eq. (1) written out with a dense W."""
    W0 = np.eye(*W.shape) if regularize == "identity" else 0.0
    short = np.maximum(0, margins - S * (V @ W @ X.T))
    return ((W - W0) ** 2).sum() / 2 + (C * short ** (2 if loss == "squared_hinge" else 1)).sum()


def by_cvxpy(V, X, S, C, loss, regularize, margins=1.0):
    import cvxpy

    W = cvxpy.Variable((V.shape[1], X.shape[1]))
    W0 = np.eye(*W.shape) if regularize == "identity" else np.zeros(W.shape)
    short = cvxpy.pos(margins - cvxpy.multiply(S, V @ W @ X.T))
    short = cvxpy.square(short) if loss == "squared_hinge" else short
    cost = cvxpy.sum_squares(W - W0) / 2 + cvxpy.sum(
        cvxpy.multiply(np.broadcast_to(C, S.shape), short)
    )
    cvxpy.Problem(cvxpy.Minimize(cost)).solve("CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10)
    return W.value


def assert_exact(solution, V, X, S, C, loss, regularize, tol=1e-6, margins=1.0):
    """The objective is that of the dense W, and no further than the gap from the optimum."""
    X = X.toarray() if sparse.issparse(X) else X
    dense = objective(solution.to_dense(), V, X, S, C, loss, regularize, margins)
    np.testing.assert_allclose(solution.objective, dense, rtol=1e-9, atol=1e-12)
    assert solution.converged
    assert -1e-9 <= solution.gap <= tol


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("regularize", REGULARIZERS)
@pytest.mark.parametrize("form", ["primal", "gram"])
def test_equals_the_convex_program(loss, regularize, form):
    V, X, y = points()
    C = np.random.default_rng(1).uniform(0.2, 2, size=len(y))
    S = signs(4, y)
    expected = by_cvxpy(V, X, S, C, loss, regularize)
    solution = solve_transform(
        V, X, y, C, loss=loss, regularize=regularize, form=form, tol=1e-9, random_state=0
    )
    assert solution.form == form
    assert_exact(solution, V, X, S, C, loss, regularize, tol=1e-9)
    np.testing.assert_allclose(solution.to_dense(), expected, atol=2e-4)
    optimum = objective(expected, V, X, S, C, loss, regularize)
    np.testing.assert_allclose(solution.objective, optimum, rtol=1e-6)


def projected_gradient(V, X, S, C, sweeps=4000):
    """Squared hinge, W_0 = 0, by coordinate descent on the explicit features vec(v x')."""
    features = (S[:, :, None, None] * V[:, None, :, None] * X[None, :, None, :]).reshape(S.size, -1)
    ridge, alpha, w = 0.5 / np.broadcast_to(C, S.shape).ravel(), np.zeros(S.size), 0.0
    curvature = (features**2).sum(axis=1) + ridge
    w = np.zeros(features.shape[1])
    for step in range(sweeps * S.size):
        i = step % S.size
        new = max(alpha[i] - (features[i] @ w - 1 + ridge[i] * alpha[i]) / curvature[i], 0.0)
        w += (new - alpha[i]) * features[i]
        alpha[i] = new
    return w.reshape(V.shape[1], X.shape[1])


def test_equals_the_explicit_features():
    V, X, y = points(m=3, n=6, n_source=4, n_target=3)
    expected = projected_gradient(V, X, signs(3, y), 0.5, sweeps=500)
    solution = solve_transform(V, X, y, 0.5, tol=1e-12, random_state=0)
    np.testing.assert_allclose(solution.to_dense(), expected, atol=1e-6)


# Hyperplanes that depend on each other, repeated points, hard margins, few points, many.
HARD = [
    {"m": 12, "n": 24, "n_source": 5, "n_target": 9},
    {"m": 1, "n": 7},
    {"m": 6, "n": 6},
    {"m": 3, "n": 40, "n_target": 2},
    {"m": 5, "n": 30, "n_source": 40, "n_target": 60},
]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", HARD)
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_the_default_accuracy_is_reached(loss, shape, C):
    V, X, y = points(**shape)
    for regularize in REGULARIZERS:
        solution = solve_transform(V, X, y, C, loss=loss, regularize=regularize, random_state=0)
        assert_exact(solution, V, X, signs(len(V), y), C, loss, regularize)


def test_sparse_equals_dense_and_is_not_densified(monkeypatch):
    V, X, y = points(m=4, n=60, n_target=30)
    X[np.abs(X) < 0.8] = 0
    dense = solve_transform(V, X, y, 1.0, tol=1e-10, random_state=0, regularize="identity")
    rows = sparse.csr_matrix(X)
    toarray = sparse.csr_matrix.toarray

    def of_another_shape(matrix, *arguments, **options):
        assert matrix.shape != X.shape, "X was densified"
        return toarray(matrix, *arguments, **options)

    monkeypatch.setattr(sparse.csr_matrix, "toarray", of_another_shape)
    for form in ("primal", "auto"):
        solution = solve_transform(
            V, rows, y, 1.0, tol=1e-10, random_state=0, regularize="identity", form=form
        )
        assert solution.form == "primal"
        np.testing.assert_allclose(solution.to_dense(), dense.to_dense(), atol=1e-5)


def test_sparse_takes_the_gram_form_when_few():
    V, X, y = points(n=8, n_target=40)
    solution = solve_transform(V, sparse.csr_matrix(X), y, 1.0, tol=1e-10, random_state=0)
    assert solution.form == "gram"
    expected = solve_transform(V, X, y, 1.0, tol=1e-10, random_state=0, form="primal")
    np.testing.assert_allclose(solution.to_dense(), expected.to_dense(), atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_vanishing_cost_leaves_the_regulariser(loss):
    V, X, y = points()
    for C in (1e-9, 0.0, 1e-320):
        identity = solve_transform(V, X, y, C, loss=loss, regularize="identity")
        np.testing.assert_allclose(identity.to_dense(), np.eye(6, 5), atol=1e-7)
        zero = solve_transform(V, X, y, C, loss=loss)
        np.testing.assert_allclose(zero.to_dense(), 0, atol=1e-7)
        assert identity.converged
        assert zero.converged


@pytest.mark.parametrize("loss", LOSSES)
def test_scaling_the_hyperplanes_is_scaling_the_cost(loss):
    # W' = c W turns Eq. (1) with c V into 1/c^2 times Eq. (1) with c^2 C.
    V, X, y = points()
    scaled = solve_transform(3 * V, X, y, 0.5, loss=loss, tol=1e-10, random_state=0)
    other = solve_transform(V, X, y, 9 * 0.5, loss=loss, tol=1e-10, random_state=0)
    np.testing.assert_allclose(3 * scaled.to_dense(), other.to_dense(), atol=1e-4)
    np.testing.assert_allclose(9 * scaled.objective, other.objective, rtol=1e-8)
    points_scaled = solve_transform(V, 3 * X, y, 0.5, loss=loss, tol=1e-10, random_state=0)
    np.testing.assert_allclose(points_scaled.to_dense(), scaled.to_dense(), atol=1e-4)


def test_turning_both_signs_changes_nothing_and_one_turns_the_transform():
    V, X, y = points()
    W = solve_transform(V, X, y, 1.0, tol=1e-10, random_state=0).to_dense()
    both = solve_transform(-V, -X, y, 1.0, tol=1e-10, random_state=0).to_dense()
    one = solve_transform(V, -X, y, 1.0, tol=1e-10, random_state=0).to_dense()
    np.testing.assert_allclose(both, W, atol=1e-5)
    np.testing.assert_allclose(one, -W, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_order_of_points_and_classes_does_not_matter(loss):
    V, X, y = points()
    rng = np.random.default_rng(2)
    rows, classes = rng.permutation(len(y)), rng.permutation(len(V))
    W = solve_transform(V, X, y, 1.0, loss=loss, tol=1e-10, random_state=0).to_dense()
    shuffled = solve_transform(
        V[classes], X[rows], np.argsort(classes)[y[rows]], 1.0, loss=loss, tol=1e-10
    )
    np.testing.assert_allclose(shuffled.to_dense(), W, atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_point_twice_is_a_point_of_twice_the_cost(loss):
    V, X, y = points()
    twice = solve_transform(V, np.r_[X, X[:3]], np.r_[y, y[:3]], 1.0, loss=loss, tol=1e-10)
    C = np.where(np.arange(len(y)) < 3, 2.0, 1.0)
    heavy = solve_transform(V, X, y, C, loss=loss, tol=1e-10)
    np.testing.assert_allclose(twice.to_dense(), heavy.to_dense(), atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_point_of_no_cost_is_no_point(loss):
    V, X, y = points()
    C = np.where(np.arange(len(y)) < 3, 0.0, 1.0)
    weighted = solve_transform(V, X, y, C, loss=loss, tol=1e-10)
    without = solve_transform(V, X[3:], y[3:], 1.0, loss=loss, tol=1e-10)
    np.testing.assert_allclose(weighted.to_dense(), without.to_dense(), atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_classes_without_a_point_and_points_and_hyperplanes_of_zeros(loss):
    V, X, y = points()
    y = np.where(y == 3, 1, y)  # class 3 is missing in the target
    V[0], X[1] = 0, 0
    solution = solve_transform(V, X, y, 1.0, loss=loss, random_state=0)
    assert_exact(solution, V, X, signs(4, y), 1.0, loss, "zero")


def test_one_constraint_has_a_known_answer():
    # min w^2/2 + C max(0, 1 - w)^2 has w = 2C / (1 + 2C), and with p = 1 w = min(C, 1).
    C = 0.3
    squared = solve_transform([[1.0]], [[1.0]], [0], C, tol=1e-12)
    np.testing.assert_allclose(squared.to_dense(), [[2 * C / (1 + 2 * C)]], atol=1e-12)
    hinge = solve_transform([[1.0]], [[1.0]], [0], C, loss="hinge", tol=1e-12)
    np.testing.assert_allclose(hinge.to_dense(), [[C]], atol=1e-12)


def test_margins_that_the_identity_already_has_cost_nothing():
    solution = solve_transform(2 * np.eye(2) - 1, [[2.0, -2.0]], [0], 1.0, regularize="identity")
    np.testing.assert_array_equal(solution.to_dense(), np.eye(2))
    assert solution.objective == solution.dual_objective == solution.gap == solution.n_sweeps == 0


def test_the_answer_repeats_and_does_not_depend_on_the_seed():
    V, X, y = points()
    first, again, other = (
        solve_transform(V, X, y, 1.0, tol=1e-10, random_state=seed) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.beta, again.beta)
    np.testing.assert_allclose(first.to_dense(), other.to_dense(), atol=1e-5)


def test_the_solution_has_hyperplanes_of_its_own():
    V, X, y = points()
    for solution in (
        solve_transform(V, X, y, 1.0),
        solve_similarities(V, X, signs(len(V), y), 1.0),
    ):
        np.testing.assert_array_equal(solution.V, V)
        assert not np.may_share_memory(solution.V, V)


@pytest.mark.parametrize("loss", LOSSES)
def test_warm_start(loss):
    V, X, y = points(m=5, n=60)
    cold = solve_transform(V, X, y, 1.0, loss=loss, tol=1e-8, random_state=0)
    assert solve_transform(V, X, y, 1.0, loss=loss, tol=1e-8, warm_start=cold).n_sweeps == 0
    with pytest.warns(ConvergenceWarning):
        once = [
            solve_transform(V * 1.01, X, y, 1.0, loss=loss, max_sweeps=1, warm_start=start)
            for start in (None, cold.alpha)
        ]
    assert once[1].gap < once[0].gap / 10
    lower = solve_transform(V, X, y, 0.1, loss=loss, warm_start=cold)  # not feasible any more
    assert lower.converged


@pytest.mark.parametrize("loss", LOSSES)
def test_non_convergence_is_reported(loss):
    V, X, y = points(m=6, n=30)
    with pytest.warns(ConvergenceWarning, match=r"gap of .* after 2 sweeps, above tol=1.0e-12"):
        solution = solve_transform(V, X, y, 10.0, loss=loss, tol=1e-12, max_sweeps=2)
    assert not solution.converged
    assert solution.gap > 1e-12
    assert solution.n_sweeps == 2
    assert solution.dual_objective < solution.objective
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert solve_transform(V, X, y, 10.0, loss=loss).converged


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("regularize", REGULARIZERS)
def test_real_valued_similarities(loss, regularize):
    V, X, _ = points()
    rng = np.random.default_rng(3)
    S = rng.normal(size=(4, len(X))) * rng.integers(0, 2, size=(4, len(X)))
    C, margins = rng.uniform(0.1, 2, size=S.shape), rng.normal(size=S.shape)
    solution = solve_similarities(
        V, X, S, C, margins=margins, loss=loss, regularize=regularize, tol=1e-9, random_state=0
    )
    related = np.where(S != 0, C, 0)
    assert_exact(solution, V, X, S, related, loss, regularize, 1e-9, margins)
    expected = by_cvxpy(V, X, S, related, loss, regularize, margins)
    np.testing.assert_allclose(solution.to_dense(), expected, atol=2e-4)


def test_similarities_of_sign_are_classes():
    V, X, y = points()
    classes = solve_transform(V, X, y, 0.7, tol=1e-10, random_state=0)
    general = solve_similarities(V, X, signs(4, y), 0.7, tol=1e-10, random_state=0)
    np.testing.assert_allclose(general.to_dense(), classes.to_dense(), atol=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [0, 1, 4]}, "y: label 4 at row 2; V has 3 hyperplanes, so labels are 0 to 2"),
        ({"y": [0, -1, 1]}, r"y: label -1 at row 1; .*leave out unlabelled points"),
        ({"y": [0, 1]}, r"y: labels have shape \(2,\) for 3 samples"),
        ({"y": [0.0, 1.0, 2.0]}, "y: labels are of type float64"),
        ({"C": [1.0, 2.0]}, r"C has shape \(2,\); give one of shape \(\) or \(n,\)"),
        ({"C": -1.0}, "C: costs must be finite and non-negative"),
        ({"C": np.inf}, "C: costs must be finite"),
        ({"V": [[1.0, np.nan]] * 3}, "V: 3 of 3 samples hold NaN"),
        ({"V": sparse.eye(3)}, r"V: is sparse; hyperplanes are dense, give V.toarray\(\)"),
        ({"X": [1.0, 2.0, 3.0]}, r"X: has 1 dimension\(s\)"),
        ({"loss": "log"}, "loss is 'log'; it must be one of squared_hinge, hinge"),
        ({"regularize": None}, "regularize is None; it must be one of zero, identity"),
        ({"form": "dual"}, "form is 'dual'; it must be one of auto, primal, gram"),
        ({"tol": -1e-6}, "tol is -1e-06; give a relative duality gap"),
        ({"max_sweeps": 0}, "max_sweeps is 0; give an integer of at least 1"),
        ({"warm_start": np.zeros((2, 2))}, r"warm_start holds dual variables of shape \(2, 2\)"),
    ],
)
def test_wrong_arguments(change, message):
    arguments = {"V": np.eye(3), "X": np.eye(3), "y": [0, 1, 2], "C": 1.0, **change}
    positional = [arguments.pop(name) for name in ("V", "X", "y", "C")]
    with pytest.raises(ValueError, match=message):
        solve_transform(*positional, **arguments)


@pytest.mark.parametrize(
    ("S", "options", "message"),
    [
        (np.ones((2, 3)), {}, r"S has shape \(2, 3\); for 3 hyperplanes and 3 points"),
        (1.0, {}, r"S has shape \(\); .* shape \(3, 3\) is needed"),
        (np.full((3, 3), np.inf), {}, "S: holds NaN or infinity"),
        (np.ones((3, 3)), {"margins": np.ones(3)}, r"margins has shape \(3,\)"),
    ],
)
def test_wrong_similarities(S, options, message):
    with pytest.raises(ValueError, match=message):
        solve_similarities(np.eye(3), np.eye(3), S, 1.0, **options)


def golden_files():
    folder = os.environ.get("ALIGNMENT_GOLDEN")
    return sorted(Path(folder, "mmdt").glob("*.npz")) if folder else []


@pytest.mark.skipif(not golden_files(), reason="ALIGNMENT_GOLDEN names no folder with mmdt/*.npz")
@pytest.mark.parametrize("path", golden_files(), ids=lambda path: path.stem)
def test_golden_optima(path):
    stored = np.load(path)
    loss = "hinge" if stored["p"] == 1 else "squared_hinge"
    regularize = "identity" if stored["reg_identity"] else "zero"
    arguments = [stored["V"], stored["X"], stored["y"] - 1, stored["C"]]  # labels count from 1
    for form in ("primal", "gram"):
        solution = solve_transform(
            *arguments, loss=loss, regularize=regularize, form=form, random_state=0
        )
        assert -1e-9 <= solution.objective / stored["objective"] - 1 <= 1e-6
        S = signs(len(stored["V"]), stored["y"] - 1)
        assert_exact(solution, stored["V"], stored["X"], S, stored["C"], loss, regularize)
    exact = solve_transform(*arguments, loss=loss, regularize=regularize, tol=1e-10, random_state=0)
    off = np.linalg.norm(
        exact.to_dense()
        - np.eye(*exact.to_dense().shape) * (regularize == "identity")
        - stored["V"].T @ stored["beta"]
    )
    assert off**2 <= 2.1 * 1e-10 * stored["objective"] + 1e-12
