import sys

import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernel_learning import _spectrum_qp
from domain_alignment.kernel_learning._spectrum_qp import (
    kkt_residual,
    solve_eigenspectrum,
    spectrum_objective,
)
from scipy import linalg, optimize

ZETAS = (1.0, 1.1, 1.5, 2.0, 4.0)


def problem(size, seed=0, rank=None, decay=0.02):
    """Q and r of target eigenvectors extrapolated to a source of another distribution."""
    rng = np.random.default_rng(seed)
    rows = 2 * size if rank is None else rank
    vectors = rng.normal(size=(rows, size)) @ linalg.expm(0.1 * rng.normal(size=(size, size)))
    vectors /= np.linalg.norm(vectors, axis=0)
    truth = np.exp(-decay * np.arange(size)) * rng.uniform(0.5, 1.5, size)
    kernel = (vectors * truth) @ vectors.T
    return np.square(vectors.T @ vectors), np.einsum("ij,ij->j", vectors, kernel @ vectors)


def gap(spectrum, reference, Q, r):
    best = spectrum_objective(reference, Q, r)
    return abs(spectrum_objective(spectrum, Q, r) - best) / abs(best)


@pytest.mark.parametrize("zeta", ZETAS)
def test_kkt_by_multipliers_of_the_unscaled_constraints(zeta):
    Q, r = problem(20)
    spectrum = solve_eigenspectrum(Q, r, zeta, "nnls")
    constraints = np.eye(20) - zeta * np.eye(20, k=1)  # the corrected C: first superdiagonal
    slack = constraints @ spectrum
    multipliers = np.linalg.solve(constraints.T, Q @ spectrum - r)
    size = zeta**20 * 1e-13
    assert slack.min() >= -1e-14 * spectrum[0]
    assert multipliers.min() >= -size
    assert np.abs(multipliers * slack).max() <= size
    assert kkt_residual(spectrum, Q, r, zeta) < 1e-13


def test_the_optimum_by_a_general_solver():
    Q, r = problem(6, seed=3, decay=0.5)
    spectrum = solve_eigenspectrum(Q, r, 1.3, "nnls")
    constraints = np.eye(6) - 1.3 * np.eye(6, k=1)
    slow = optimize.minimize(
        spectrum_objective,
        np.ones(6),
        args=(Q, r),
        jac=lambda x, Q, r: 2 * (Q @ x - r),
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda x: constraints @ x,
            "jac": lambda x: constraints,
        },
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(spectrum, slow.x, atol=1e-6)


@pytest.mark.parametrize("zeta", ZETAS)
@pytest.mark.parametrize("solver", ["clarabel", "osqp", "scs"])
def test_all_solvers_agree(solver, zeta):
    Q, r = problem(40, seed=1)
    exact = solve_eigenspectrum(Q, r, zeta, "nnls")
    other = solve_eigenspectrum(Q, r, zeta, solver)
    assert gap(other, exact, Q, r) < 1e-7
    np.testing.assert_allclose(other, exact, atol=1e-4 * exact[0])


def test_identity_projects_on_the_cone():
    # The projection on decreasing sequences averages what increases.
    spectrum = solve_eigenspectrum(np.eye(4), [1.0, 3.0, 2.0, -1.0], 1, "nnls")
    np.testing.assert_allclose(spectrum, [2, 2, 2, 0], atol=1e-14)
    assert not solve_eigenspectrum(np.eye(2), [-1.0, -1.0], 2, "nnls").any()
    assert not solve_eigenspectrum(np.eye(2), [0.0, 0.0], 2).any()


def test_large_zeta_is_geometric():
    Q, r = problem(60, decay=0.05)
    spectrum = solve_eigenspectrum(Q, r, 4, "nnls")
    ratios = 4.0 ** -np.arange(60)
    np.testing.assert_allclose(spectrum, ratios * (ratios @ r) / (ratios @ Q @ ratios), rtol=1e-13)


@pytest.mark.parametrize("zeta", [1.0, 1.5, 4.0, 10.0])
def test_no_overflow_at_a_thousand(zeta):
    Q, r = problem(1000, rank=1200)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        spectrum = solve_eigenspectrum(Q, r, zeta, "nnls")
    assert np.isfinite(spectrum).all()
    assert spectrum[-1] >= 0
    # Below 1e-300 numbers lose their digits.
    assert (spectrum[:-1] >= zeta * (1 - 1e-12) * spectrum[1:] - 1e-300).all()


@pytest.mark.parametrize("solver", ["clarabel", "osqp", "scs"])
def test_no_overflow_in_cvxpy(solver):
    Q, r = problem(150)
    exact = solve_eigenspectrum(Q, r, 10, "nnls")
    assert gap(solve_eigenspectrum(Q, r, 10, solver), exact, Q, r) < 1e-7


@pytest.mark.parametrize("solver", ["clarabel", "nnls"])
@pytest.mark.parametrize("zeta", [1.0, 2.0])
def test_semidefinite(zeta, solver):
    Q, r = problem(30, rank=3)  # at most 6 independent products of eigenvectors
    assert np.linalg.matrix_rank(Q) == 6
    spectrum = solve_eigenspectrum(Q, r, zeta, solver)
    assert kkt_residual(spectrum, Q, r, zeta) < 1e-8
    assert not solve_eigenspectrum(np.zeros((2, 2)), np.zeros(2), zeta, solver).any()


def test_a_vector_that_vanishes_on_the_source():
    Q, r = problem(5)
    Q[0], Q[:, 0], r[0] = 0, 0, 0
    for solver in ("nnls", "clarabel"):
        spectrum = solve_eigenspectrum(Q, r, 1.5, solver)
        assert kkt_residual(spectrum, Q, r, 1.5) < 1e-8


@pytest.mark.parametrize("factor", [1e-250, 1e-120, 1e-9, 1e9, 1e120, 1e250])
def test_a_factor_on_the_kernel_is_a_factor_on_the_spectrum(factor):
    Q, r = problem(10)
    for zeta in (1.0, 1.5):
        expected = solve_eigenspectrum(Q, r, zeta, "nnls") * factor
        np.testing.assert_allclose(
            solve_eigenspectrum(Q, r * factor, zeta, "nnls"), expected, rtol=1e-10, atol=0
        )


@pytest.mark.parametrize("power", [-100, -80, 80, 100])
def test_the_residual_is_free_of_units(power):
    """Products of such numbers vanish or are infinite."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 4))
    Q, r = A.T @ A, rng.uniform(1, 2, size=4)
    found = solve_eigenspectrum(Q, r, 2.0)
    wrong = found * [1, 1.5, 1, 1]
    for one in (found, wrong):
        expected = kkt_residual(one, Q, r, 2.0)
        scaled = kkt_residual(one * 10.0**power, Q, r * 10.0**power, 2.0)
        assert scaled == pytest.approx(expected, rel=1e-6, abs=1e-12)
    solve_eigenspectrum(Q, r * 10.0**power, 2.0)


@pytest.mark.parametrize("zeta", [1.0, 1.005])
def test_block_pivoting_is_lawson_hanson(monkeypatch, zeta):
    for seed in range(5):
        Q, r = problem(80, seed=seed, decay=0.01)
        monkeypatch.undo()
        pivoted = solve_eigenspectrum(Q, r, zeta, "nnls")
        # Above every damping: pivoting is not tried.
        monkeypatch.setattr(_spectrum_qp, "_LEAST_DAMPING", 2.0)
        one_by_one = solve_eigenspectrum(Q, r, zeta, "nnls")
        np.testing.assert_allclose(pivoted, one_by_one, rtol=1e-9)


def test_pivoting_that_does_not_settle_is_not_trusted(monkeypatch):
    Q, r = problem(30)
    expected = solve_eigenspectrum(Q, r, 1.0, "nnls")
    monkeypatch.setattr(_spectrum_qp, "_MOST_EXCHANGES", 1)
    np.testing.assert_allclose(solve_eigenspectrum(Q, r, 1.0, "nnls"), expected, rtol=1e-9)


def test_kkt_residual_sees_each_violation():
    Q, r = problem(8)
    spectrum = solve_eigenspectrum(Q, r, 1.2, "nnls")
    assert kkt_residual(1.01 * spectrum, Q, r, 1.2) > 1e-3  # complementarity
    assert kkt_residual(spectrum - spectrum[2], Q, r, 1.2) > 1e-2  # primal
    edge = np.zeros(8)
    edge[0] = r[0] / Q[0, 0]  # the best on one edge: feasible and complementary
    assert kkt_residual(edge, Q, r, 1.2) > 1e-2  # dual
    assert kkt_residual(np.zeros(8), Q, r, 1.2) > 1e-2
    assert kkt_residual(np.zeros(8), Q, -r, 1.2) == 0


@pytest.mark.parametrize(
    ("Q", "r", "zeta", "solver", "message"),
    [
        (np.eye(2), [1, 1], 1, "simplex", "unknown 'simplex'; known: clarabel, osqp, scs, nnls"),
        (np.eye(2), [1, 1, 1], 1, "nnls", r"Q has shape \(2, 2\) and r \(3,\); give a square"),
        (np.ones((2, 3)), [1, 1], 1, "nnls", r"Q has shape \(2, 3\)"),
        (np.eye(2), [1, np.nan], 1, "nnls", "NaN or infinity.*standardise"),
        (np.eye(2), [1, 1], 0.9, "nnls", r"zeta=0.9; a damping factor is a number of at least 1"),
        (np.eye(2), [1, 1], np.inf, "nnls", "zeta=inf"),
        ([[1, 1], [0, 1]], [1, 1], 1, "nnls", "Q is not symmetric; give"),
        (-np.eye(2), [1, 1], 1, "nnls", r"negative diagonal entry \(-1.0e\+00\)"),
        ([[1, 2], [2, 1]], [1, 1], 1, "nnls", "Q is indefinite .*; it must be positive semi"),
        (np.zeros((2, 2)), [1, 1], 1, "nnls", "r is not in the range of Q .*unbounded"),
        (np.ones((2, 2)), [1, -1], 2, "scs", "r is not in the range of Q .*same eigenvectors"),
    ],
)
def test_wrong_problems(Q, r, zeta, solver, message):
    with pytest.raises(ValueError, match=message):
        solve_eigenspectrum(Q, r, zeta, solver)


@pytest.mark.parametrize("solver", ["osqp", "scs"])
def test_a_solver_that_stops_early(monkeypatch, solver):
    limit = {"osqp": "max_iter", "scs": "max_iters"}[solver]
    options = {**_spectrum_qp.SOLVER_OPTIONS[solver], limit: 2}
    monkeypatch.setitem(_spectrum_qp.SOLVER_OPTIONS, solver, options)
    with pytest.raises(AlignmentError, match=f'{solver}.*no optimum at r=40.*; use solver="nnls"'):
        solve_eigenspectrum(*problem(40), 1.1, solver)


def test_an_inexact_answer_is_refused(monkeypatch):
    monkeypatch.setattr(_spectrum_qp, "_solve_nnls", lambda edges, b, solver: np.ones(len(b)))
    message = "'nnls': KKT residual of .* r=5"
    with pytest.raises(AlignmentError, match=message):
        solve_eigenspectrum(*problem(5), 10, "nnls")

    def out_of_steps(edges, b):
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.undo()
    monkeypatch.setattr(_spectrum_qp, "nnls", out_of_steps)
    with pytest.raises(AlignmentError, match=r'Maximum number .*; use solver="clarabel"'):
        solve_eigenspectrum(*problem(5), 10, "nnls")


def test_without_cvxpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(ImportError, match=r"'scs' needs the package cvxpy; .*\.\[tkl\].*, or use"):
        solve_eigenspectrum(*problem(5), 1.1, "scs")
    assert solve_eigenspectrum(*problem(5), 1.1, "nnls").shape == (5,)
