import numpy as np
import pytest
from domain_alignment.max_margin._dual_problem import MarginProblem, relative_gap
from scipy import sparse


def make(squared=True, gram=True, is_sparse=False, costs=None, seed=0):
    rng = np.random.default_rng(seed)
    V, X = rng.normal(size=(3, 4)), rng.normal(size=(6, 5))
    signs = rng.choice([-1, 1], size=(3, 6)).astype(np.int8)
    costs = rng.uniform(0.5, 2, size=(1, 6)) if costs is None else costs
    rows = sparse.csr_matrix(X) if is_sparse else X
    problem = MarginProblem(V @ V.T, rows, None, signs, rng.normal(size=(3, 6)), costs, squared)
    problem.K = problem.gram() if gram else None
    return problem, V, X


@pytest.mark.parametrize("gram", [True, False])
@pytest.mark.parametrize("is_sparse", [True, False])
def test_the_product_is_that_of_the_dense_matrices(gram, is_sparse):
    problem, V, X = make(gram=gram, is_sparse=is_sparse)
    T = np.random.default_rng(1).normal(size=problem.shape)
    expected = V @ (V.T @ T @ X) @ X.T
    np.testing.assert_allclose(problem.product(T), expected, atol=1e-12)
    np.testing.assert_allclose(problem.scores(problem.carried(T)), expected, atol=1e-12)
    np.testing.assert_allclose(problem.gram(), X @ X.T, atol=1e-12)
    np.testing.assert_allclose(problem.norms, (X**2).sum(axis=1))


@pytest.mark.parametrize("squared", [True, False])
def test_both_objectives_are_the_formulas(squared):
    problem, V, X = make(squared)
    C = np.broadcast_to(problem.costs, problem.shape)
    rng = np.random.default_rng(1)
    dual = rng.uniform(size=problem.shape) * (1.0 if squared else C)
    T = problem.signs * dual
    W = V.T @ T @ X
    scores = V @ W @ X.T
    loss = C * np.maximum(0, problem.margins - problem.signs * scores) ** (2 if squared else 1)
    primal = (W**2).sum() / 2 + loss.sum()
    bound = (problem.margins * dual).sum() - (W**2).sum() / 2
    bound -= (dual**2 / (4 * C)).sum() if squared else 0
    found = problem.evaluate(dual, problem.product(T))
    np.testing.assert_allclose(found[:2], (primal, bound), rtol=1e-12)
    assert primal >= bound


def test_violations_count_only_where_a_bound_does_not_hold():
    problem, _, _ = make(squared=False)
    problem.margins[:] = -1.0  # every margin is kept: alpha = 0 is the optimum
    zero = np.zeros(problem.shape)
    assert problem.evaluate(zero, zero)[2] == 0
    assert problem.evaluate(zero + 0.1, zero)[2] == 1


@pytest.mark.parametrize("squared", [True, False])
def test_constraints_of_no_cost_have_no_room(squared):
    problem, _, _ = make(squared, costs=np.array([[0.0, 1e-320, 1.0, 1.0, 1.0, 1.0]]))
    assert (problem.upper[0, :2] == 0).all()
    assert np.isfinite(problem.ridge).all()
    np.testing.assert_array_equal(problem.upper[0, 2:], np.inf if squared else 1.0)
    assert problem.evaluate(np.zeros(problem.shape), np.zeros(problem.shape))[0] < np.inf


def test_relative_gap():
    assert relative_gap(2.0, 1.0) == 0.5
    assert relative_gap(0.0, 0.0) == 0.0
    assert relative_gap(0.0, -1.0) == np.inf
