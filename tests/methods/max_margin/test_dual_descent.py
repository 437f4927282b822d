import numpy as np
import pytest
from domain_alignment.max_margin import _dual_descent
from domain_alignment.max_margin._dual_descent import DualDescent
from domain_alignment.max_margin._dual_problem import MarginProblem
from scipy import sparse


def make(C=1.0, squared=False, m=4, n=30, n_target=6, gram=True, is_sparse=False):
    rng = np.random.default_rng(0)
    V, X = rng.normal(size=(m, 5)), np.abs(rng.normal(size=(n, n_target)))
    signs = np.where(np.arange(n) % m == np.arange(m)[:, None], 1, -1).astype(np.int8)
    rows = sparse.csr_matrix(X) if is_sparse else X
    costs = np.full((1, n), C)
    problem = MarginProblem(V @ V.T, rows, None, signs, np.ones((m, n)), costs, squared)
    problem.K = problem.gram() if gram else None
    return problem


def run(problem, start=None, tol=1e-6, max_sweeps=1000):
    descent = DualDescent(problem, start, tol=tol, max_sweeps=max_sweeps, random_state=0)
    descent.run()
    return descent


@pytest.mark.parametrize("form", [{}, {"gram": False}, {"gram": False, "is_sparse": True}])
@pytest.mark.parametrize("squared", [True, False])
def test_converges_to_the_same_in_every_form(form, squared):
    descent = run(make(C=0.01, squared=squared, **form), tol=1e-9)
    assert descent.converged
    assert descent.gap <= 1e-9
    expected = run(make(C=0.01, squared=squared), tol=1e-12)
    np.testing.assert_allclose(descent.primal, expected.primal, rtol=1e-8)


def test_slow_problems_are_finished_by_the_interior_point_method(monkeypatch):
    hard = make(C=1e3)
    descent = run(hard)
    assert descent.converged
    assert 0 < descent.n_newton_steps < descent.n_sweeps <= 1000
    monkeypatch.setattr(_dual_descent, "SMALL", 0)
    monkeypatch.setattr(_dual_descent, "MEDIUM", 0)
    alone = run(hard)
    assert not alone.converged
    assert alone.n_sweeps == 1000
    assert alone.n_newton_steps == 0
    assert alone.gap > descent.gap


def test_a_finish_that_fails_is_not_kept(monkeypatch):
    monkeypatch.setattr(
        _dual_descent, "interior_point", lambda problem, tol, budget: (problem.upper / 2 + 0, 1)
    )
    descent = run(make(C=1e3), max_sweeps=100)
    before = run(make(C=1e3), max_sweeps=20)
    assert descent.n_newton_steps == 1
    assert descent.gap <= before.gap


def test_easy_problems_are_not():
    descent = run(make(C=1e-2, squared=True))
    assert descent.converged
    assert descent.n_newton_steps == 0


def test_the_optimum_needs_no_sweep():
    problem = make(C=0.01)
    first = run(problem, tol=1e-9)
    again = run(problem, start=first.dual.copy(), tol=1e-9)
    assert again.n_sweeps == 0
    assert again.primal == first.primal


def test_leaving_out_what_is_held_changes_no_answer(monkeypatch):
    monkeypatch.setattr(_dual_descent, "SMALL", 0)  # sweeps end on the bounds, not beside them
    monkeypatch.setattr(_dual_descent, "MEDIUM", 0)
    problem = make(C=0.1, n_target=40, gram=False)
    descent = run(problem, tol=1e-7)
    assert descent.counts.sum() < descent.dual.size
    monkeypatch.setattr(_dual_descent, "list_active", _all_active)
    np.testing.assert_allclose(run(problem, tol=1e-7).primal, descent.primal, rtol=1e-6)


def _all_active(scores, dual, problem, threshold, active, counts):
    active[:] = np.arange(active.shape[1])
    counts[:] = active.shape[1]
