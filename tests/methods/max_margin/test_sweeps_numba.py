import numpy as np
import pytest
from domain_alignment.max_margin._dual_problem import MarginProblem
from domain_alignment.max_margin._sweeps_numba import list_active, sweep_dense, sweep_sparse
from scipy import sparse


def make(squared, n=8, n_target=5, seed=0):
    rng = np.random.default_rng(seed)
    V, X = rng.normal(size=(3, 4)), rng.normal(size=(n, n_target))
    X[np.abs(X) < 0.4] = 0
    signs = rng.choice([-1, 1], size=(3, n)).astype(np.int8)
    costs = rng.uniform(0.2, 2, size=(1, n))
    return MarginProblem(V @ V.T, X, X @ X.T, signs, np.ones((3, n)), costs, squared)


def sweep(problem, dual, form, active=None):
    """One pass in the given form; returns what is carried, the number of changes, and the state."""
    m, n = problem.shape
    active = np.tile(np.arange(n, dtype=np.int32), (m, 1)) if active is None else active
    counts = np.full(m, active.shape[1], dtype=np.int32)
    state = np.array([7], dtype=np.uint64)
    carried = np.ascontiguousarray(
        (problem.signs * dual) @ (problem.K if form == "gram" else problem.X)
    )
    rest = dual, carried, problem.arrays, active, counts, np.arange(m), state
    if form == "sparse":
        rows = sparse.csr_matrix(problem.X)
        arrays = rows.data, rows.indices, rows.indptr
        changed = sweep_sparse(arrays, problem.H, problem.norms, *rest)
    else:
        rows = problem.K if form == "gram" else problem.X
        changed = sweep_dense(rows, form == "gram", problem.H, problem.norms, *rest)
    return carried, changed, active


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("form", ["primal", "gram", "sparse"])
def test_a_sweep_is_coordinate_descent_in_its_own_order(squared, form):
    problem = make(squared)
    rng = np.random.default_rng(1)
    dual = rng.uniform(0, 0.2, size=problem.shape)
    expected = dual.copy()
    carried, changed, order = sweep(problem, dual, form)
    for i in range(3):
        for j in order[i]:  # the shuffled order is left behind
            score = problem.product(problem.signs * expected)[i, j]
            d = problem.ridge[0, j]
            gradient = problem.signs[i, j] * score - 1 + d * expected[i, j]
            curvature = problem.H[i, i] * problem.norms[j] + d
            expected[i, j] = np.clip(expected[i, j] - gradient / curvature, 0, problem.upper[0, j])
    np.testing.assert_allclose(dual, expected, atol=1e-12)
    rows = problem.K if form == "gram" else problem.X
    np.testing.assert_allclose(carried, (problem.signs * dual) @ rows, atol=1e-12)
    assert 0 < changed <= dual.size


def test_every_sweep_raises_the_dual_objective():
    problem = make(False)
    dual = np.zeros(problem.shape)
    bounds = []
    for _ in range(6):
        bounds.append(problem.evaluate(dual, problem.product(problem.signs * dual))[1])
        sweep(problem, dual, "gram")
    assert (np.diff(bounds) >= -1e-12).all()
    assert bounds[-1] > bounds[0]


def test_the_shuffle_keeps_every_point():
    problem = make(True)
    _, _, order = sweep(problem, np.zeros(problem.shape), "gram")
    np.testing.assert_array_equal(np.sort(order, axis=1), np.tile(np.arange(8), (3, 1)))
    assert len({tuple(row) for row in order}) == 3


def test_points_that_are_not_active_are_not_visited():
    problem = make(True)
    dual = np.zeros(problem.shape)
    sweep(problem, dual, "primal", active=np.tile(np.array([2, 5], dtype=np.int32), (3, 1)))
    others = [0, 1, 3, 4, 6, 7]
    assert (dual[:, others] == 0).all()
    assert dual[:, [2, 5]].any()


def test_lines_instead_of_parabolas_end_at_a_bound():
    # Without curvature (p = 1, a point of zeros) the constraint is violated at any value.
    problem = make(False)
    problem.X[0], problem.K[0], problem.K[:, 0], problem.norms[0] = 0, 0, 0, 0
    dual = np.zeros(problem.shape)
    sweep(problem, dual, "gram")
    np.testing.assert_array_equal(dual[:, 0], problem.upper[0, 0])


def test_active_are_those_that_a_bound_does_not_hold():
    problem = make(False, n=4)
    scores = np.zeros((3, 4))
    problem.signs[:] = 1
    problem.margins[:] = [-2.0, -0.5, 2.0, 0.0]  # gradients 2, 0.5, -2, 0 at scores of zero
    dual = np.tile([0.0, 0.0, problem.upper[0, 2], problem.upper[0, 3] / 2], (3, 1))
    active, counts = np.empty((3, 4), dtype=np.int32), np.empty(3, dtype=np.int32)
    list_active(scores, dual, problem.arrays, 1.0, active, counts)
    assert counts.tolist() == [2, 2, 2]
    assert active[0, :2].tolist() == [1, 3]
