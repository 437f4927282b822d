import numpy as np
import pytest
from domain_alignment.max_margin import _dual_descent, _finite_newton
from domain_alignment.max_margin._dual_descent import DualDescent
from domain_alignment.max_margin._dual_problem import MarginProblem
from domain_alignment.max_margin._finite_newton import _best_length, _Systems, finite_newton
from domain_alignment.max_margin._interior_point import interior_point
from scipy import linalg


def make(C=1.0, n=20, seed=0, rank=3):
    rng = np.random.default_rng(seed)
    V, X = rng.normal(size=(6, rank)), np.abs(rng.normal(size=(n, 4)))
    signs = rng.choice([-1, 1], size=(6, n)).astype(np.int8)
    margins, costs = rng.uniform(0.5, 2, size=(6, n)), np.atleast_2d(C) * np.ones((1, n))
    return MarginProblem(V @ V.T, X, X @ X.T, signs, margins, costs, True)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3, 1e6])
def test_the_optimum_is_exact_and_that_of_the_interior_point_method(C):
    problem = make(C)
    dual, n_steps = finite_newton(problem, np.zeros(problem.shape), 1e-9, 100)
    assert -1e-12 <= problem.gap(dual) <= 1e-9
    assert (dual >= 0).all()
    assert n_steps <= 30
    other, _ = interior_point(problem, 1e-12, 100)
    np.testing.assert_allclose(dual, other, atol=1e-4 * other.max())


def test_with_large_costs_rounding_of_the_line_search_ends_no_solution():
    """Near the optimum the primal of 10^8 changes by less than its last digits along a step."""
    for seed in range(10):
        problem = make(1e6, seed=seed)
        dual, _ = finite_newton(problem, np.zeros(problem.shape), 1e-9, 100)
        assert problem.gap(dual) <= 1e-9


@pytest.mark.parametrize("own", [False, True])
def test_every_way_solves_the_system(own):
    rng = np.random.default_rng(1)
    C = rng.uniform(0.1, 10, size=(6 if own else 1, 20))
    C[:, :3] = 0.0
    problem = make(C)
    systems = _Systems(problem)
    active = (rng.random(problem.shape) < 0.6) & (problem.costs > 0)
    i, j = np.nonzero(active)
    Q = problem.H[np.ix_(i, i)] * problem.K[np.ix_(j, j)]
    Q += np.diag(np.broadcast_to(problem.ridge, problem.shape)[active])
    expected = np.zeros(problem.shape)
    expected[active] = np.linalg.solve(Q, (problem.signs * problem.margins)[active])
    systems._eigen = [linalg.eigh(M) for M in (systems.H, systems.K)]
    ways = [systems._by_cholesky, systems._by_factor, *[systems._by_complement][own:]]
    for found in [systems.solve, *(lambda a, way=way: systems.scale * way(a) for way in ways)]:
        np.testing.assert_allclose(found(active), expected, atol=1e-9 * np.abs(expected).max())


def test_the_cheapest_way_is_taken(monkeypatch):
    problem, sizes = make(n=200, rank=6), []

    def counted(matrix, cho_factor=linalg.cho_factor, **options):
        sizes.append(len(matrix))
        return cho_factor(matrix, **options)

    monkeypatch.setattr(linalg, "cho_factor", counted)
    systems = _Systems(problem)
    systems.solve(np.ones(problem.shape, dtype=bool))  # a Kronecker product
    assert not sizes
    systems.solve(np.arange(200) % 2 > np.zeros((6, 1)))
    systems.solve(np.arange(200) < 2 + np.zeros((6, 1)))
    assert sizes == [6 * 4, 6 * 2]


def test_the_length_is_the_best():
    problem, rng = make(), np.random.default_rng(2)
    T = rng.normal(size=problem.shape)
    change = -T + rng.normal(size=T.shape) / 50
    scores, slope = problem.product(T), problem.product(change)

    def primal(length):
        f = scores + length * slope
        short = np.maximum(problem.margins - problem.signs * f, 0)
        return np.vdot(T + length * change, f) / 2 + (problem.costs * short**2).sum()

    length = _best_length(problem, scores, problem.margins - problem.signs * scores, change, slope)
    assert length > 0
    for other in length + np.array([-1e-3, 1e-3, -0.1, 0.1]):
        assert primal(length) < primal(other)


def test_the_budget_is_kept_and_the_best_is_returned():
    problem = make(100.0)
    start, gaps = np.zeros(problem.shape), []
    for budget in (0, 1, 3):
        dual, n_steps = finite_newton(problem, start, 1e-12, budget)
        assert n_steps == budget
        gaps.append(problem.gap(dual))
    assert gaps[2] <= gaps[1] <= gaps[0]


def test_the_interior_point_method_goes_on_where_it_fails(monkeypatch):
    def lost(*_, **__):
        raise linalg.LinAlgError

    monkeypatch.setattr(_finite_newton._Systems, "_way", lost)
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return interior_point(*arguments)

    monkeypatch.setattr(_dual_descent, "interior_point", counted)
    descent = DualDescent(make(1e3), None, tol=1e-8, max_sweeps=100, random_state=0)
    descent.run()
    assert descent.converged
    assert len(calls) == 1
