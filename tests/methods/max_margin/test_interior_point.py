import warnings

import numpy as np
import pytest
from domain_alignment.max_margin import _interior_point
from domain_alignment.max_margin._dual_problem import MarginProblem, relative_gap
from domain_alignment.max_margin._interior_point import interior_point
from domain_alignment.max_margin._mmdt import solve_transform
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning


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


@pytest.mark.parametrize("seed", [0, 1])
def test_variables_at_their_upper_bounds_end_no_solution(seed):
    """Large features and a hard loss, where a difference of bound and variable has no digit."""
    rng = np.random.default_rng(seed)
    V, X = 100 * rng.normal(size=(4, 5)), 100 * rng.normal(size=(20, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = solve_transform(V, X, rng.integers(0, 4, 20), 100.0, loss="hinge", random_state=0)
    assert np.isfinite(found.to_dense()).all()
    assert found.gap < 0.1


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


def test_many_constraints_of_few_features_need_no_large_decomposition(monkeypatch):
    problem = make(True, 10.0, n=200)
    dual, n_steps = interior_point(problem, 1e-8, 100)
    assert gap(problem, dual) <= 1e-8
    sizes = []

    def counted(matrix, cho_factor=linalg.cho_factor, **options):
        sizes.append(len(matrix))
        return cho_factor(matrix, **options)

    monkeypatch.setattr(linalg, "cho_factor", counted)
    again, same = interior_point(problem, 1e-8, 100)
    np.testing.assert_array_equal(again, dual)
    assert (same, max(sizes)) == (n_steps, 3 * 4)
    monkeypatch.setattr(_interior_point, "LARGE", 10**9)
    by_cholesky, _ = interior_point(problem, 1e-8, 100)
    assert max(sizes) == 6 * 200
    np.testing.assert_allclose(again, by_cholesky, atol=1e-5 * by_cholesky.max())
