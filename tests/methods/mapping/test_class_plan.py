import numpy as np
import pytest
from domain_alignment.mapping import _class_plan
from domain_alignment.mapping._class_plan import class_plan, held_matrices, tangent
from ot import sinkhorn

PARAMS = {"reg_e": 0.3, "reg_cl": 0.8, "n_rounds": 5, "max_iter": 60, "tol": 1e-9}


@pytest.fixture(params=["factored", "formed"])
def route(request, monkeypatch):
    """Each way to multiply, in blocks that divide classes."""
    monkeypatch.setattr(_class_plan, "_FEW", 0 if request.param == "factored" else 10**9)
    monkeypatch.setattr(_class_plan, "_BLOCK", 5 * 19)


@pytest.fixture
def problem():
    """A cost, of which one class is far from some columns, and ascending classes of 1 to 12."""
    cost = np.random.default_rng(0).gamma(2.0, size=(24, 19))
    codes = np.repeat([0, 1, 2, 3], [7, 1, 12, 4])
    cost[np.ix_(codes == 2, np.arange(5))] += 30
    return cost, codes


def by_rounds(cost, codes, *, reg_e, reg_cl, n_rounds, max_iter, tol):
    """Each round's cost in full, for POT."""
    a, b = (np.full(n, 1 / n) for n in cost.shape)
    penalty = np.zeros_like(cost)
    for _ in range(n_rounds):
        whole = cost + reg_cl * penalty
        whole -= whole.min(axis=0)
        plan = sinkhorn(a, b, whole, reg_e, numItermax=max_iter, stopThr=tol, warn=False)
        for i, j in np.ndindex(*cost.shape):
            penalty[i, j] = 0.5 / np.sqrt(plan[codes == codes[i], j].sum() + 1e-3)
    return plan


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"reg_cl": 0.0},
        {"n_rounds": 1},
        {"max_iter": 1},
        {"max_iter": 11, "tol": 1e-300},
        {"tol": 1e-3},  # it ends at a tenth iteration
        {"reg_e": 0.1, "reg_cl": 5.0},  # factors of a round down to 1e-300
    ],
)
def test_every_round_is_the_one_of_the_whole_cost(problem, change):
    cost, codes = problem
    expected = by_rounds(cost, codes, **PARAMS | change)
    found = class_plan(cost.copy(), codes, **PARAMS | change)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-300)


@pytest.mark.usefixtures("route")
def test_marginals_and_the_place_of_the_plan(problem):
    cost, codes = problem
    plan = class_plan(cost, codes, **PARAMS | {"max_iter": 2000, "tol": 1e-14})
    assert plan is cost
    np.testing.assert_allclose(plan.sum(axis=1), 1 / 24, rtol=1e-13)
    np.testing.assert_allclose(plan.sum(axis=0), 1 / 19, rtol=1e-10)


@pytest.mark.whole_run
@pytest.mark.usefixtures("route")
def test_the_last_plan_is_that_of_its_own_tangent(problem):
    """At the fixed point log(plan) + (cost + tangent) / reg_e is a row's plus a column's number."""
    cost, codes = problem
    exact = {"n_rounds": 60, "max_iter": 3000, "tol": 1e-15}
    plan = class_plan(cost.copy(), codes, **PARAMS | exact)
    mass = np.array([plan[codes == code].sum(axis=0) for code in codes])
    gap = 0.3 * np.log(plan) + cost + 0.8 * tangent(mass)
    gap -= gap.mean(axis=0)
    np.testing.assert_allclose(gap - gap.mean(axis=1, keepdims=True), 0, atol=1e-8)


@pytest.mark.usefixtures("route")
def test_order_within_classes_and_of_columns(problem):
    cost, codes = problem
    rng = np.random.default_rng(1)
    rows = np.lexsort((rng.random(24), codes))
    columns = rng.permutation(19)
    plan = class_plan(cost.copy(), codes, **PARAMS)
    moved = class_plan(cost[np.ix_(rows, columns)], codes, **PARAMS)
    np.testing.assert_allclose(moved, plan[np.ix_(rows, columns)], rtol=1e-9)


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("far", [0, slice(8, 20)])
def test_rows_that_vanish(problem, far):
    """One sample far from all targets, or a whole class."""
    cost, codes = problem
    cost[far] += 1000
    with pytest.raises(FloatingPointError, match="not finite"):
        class_plan(cost, codes, **PARAMS)


@pytest.mark.usefixtures("route")
def test_a_column_far_from_all_rows_is_no_reason_to_underflow(problem):
    cost, codes = problem
    expected = class_plan(cost.copy(), codes, **PARAMS)
    cost[:, 3] += 1e4
    np.testing.assert_allclose(class_plan(cost, codes, **PARAMS), expected, rtol=1e-9)


def test_small_classes_take_a_second_matrix():
    assert held_matrices(1000, 1000, 10) == 1
    assert held_matrices(1000, 1000, 100) == 2
