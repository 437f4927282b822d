import numpy as np
import pytest
from domain_alignment.max_margin._dual_problem import MarginProblem, relative_gap
from domain_alignment.max_margin._interior_point import interior_point


def make(squared, C, n=20, seed=0):
    rng = np.random.default_rng(seed)
    V, X = rng.normal(size=(6, 3)), np.abs(rng.normal(size=(n, 4)))  # H and K are singular
    signs = rng.choice([-1, 1], size=(6, n)).astype(np.int8)
    return MarginProblem(V @ V.T, X, X @ X.T, signs, np.ones((6, n)), np.full((1, n), C), squared)


def gap(problem, dual):
    return relative_gap(*problem.evaluate(dual, problem.product(problem.signs * dual))[:2])


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3, 1e6])
def test_the_gap_is_reached_whatever_the_conditioning(squared, C):
    problem = make(squared, C)
    dual, n_steps = interior_point(problem, 1e-8, 100)
    assert -1e-12 <= gap(problem, dual) <= 1e-8
    assert (dual >= 0).all()
    assert (dual <= problem.upper).all()
    assert n_steps <= 50


def test_constraints_of_no_cost_stay_out():
    problem = make(False, 1.0)
    problem.upper = np.where(np.arange(20) < 5, 0.0, 1.0)[None]
    problem.costs = problem.upper
    dual, _ = interior_point(problem, 1e-8, 100)
    assert (dual[:, :5] == 0).all()
    assert gap(problem, dual) <= 1e-8


def test_the_budget_is_kept_and_the_best_is_returned():
    problem = make(False, 100.0)
    gaps = []
    for budget in (0, 3, 6):
        dual, n_steps = interior_point(problem, 1e-12, budget)
        assert n_steps == budget
        gaps.append(gap(problem, dual))
    assert gaps[2] < gaps[1] <= gaps[0]
