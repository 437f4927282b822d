"""The compared solvers against the library's and against their optimality conditions."""

import numpy as np
import pytest
from domain_alignment.max_margin._mmdt import solve_transform

from workflow.studies.mmdt import table1 as mmdt_table1
from workflow.studies.mmdt._solvers import Problem


@pytest.fixture
def small():
    V, X, y = mmdt_table1.generated({"m": 3, "D": 6, "n_target": 12, "D_target": 5}, 0)
    return V, X, y, Problem(V, X, y, C=2.0)


def test_the_compared_solvers_solve_the_same_problem(small):
    V, X, y, problem = small
    expected = solve_transform(V, X, y, 2.0, tol=1e-12, random_state=0).to_dense()
    K, sweep = problem.gram(), np.tile(np.arange(36), 400)
    W, dual = np.zeros((6, 5)), np.zeros((3, 12))
    assert problem.explicit(W, dual, sweep) > 36
    np.testing.assert_allclose(W, expected, atol=1e-6)
    scores, dual = np.zeros((3, 12)), np.zeros((3, 12))
    problem.kernelised(scores, K, dual, sweep)
    np.testing.assert_allclose(scores, V @ expected @ X.T, atol=1e-6)
    for gram in (False, True):
        rows = K if gram else X
        dual, carried = np.zeros((3, 12)), np.zeros((3, rows.shape[1]))
        for _ in range(400):
            problem.low_rank_sweep(rows, gram, dual, carried, np.arange(3))
        np.testing.assert_allclose(V.T @ (dual * problem.signs) @ X, expected, atol=1e-6)


def test_the_most_violated_constraint_is_lifted_until_none_is(small):
    V, X, _, problem = small
    W, scores, dual = np.zeros((6, 5)), np.zeros((3, 12)), np.zeros((3, 12))
    n_steps = problem.bregman(W, scores, problem.gram(), dual, 0.01, 10_000)
    assert 0 < n_steps < 10_000
    np.testing.assert_allclose(scores, V @ W @ X.T, atol=1e-12)
    slack = problem.ridge * dual
    assert (problem.signs * scores + slack >= 1 - 0.01).all()
    assert problem.bregman(W, scores, problem.gram(), dual, -1.0, 5) == 5
