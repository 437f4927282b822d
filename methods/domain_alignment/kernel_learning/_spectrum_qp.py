r"""The quadratic program of transfer kernel learning: a damped spectrum for given eigenvectors.

.. math:: \min_\lambda\ \lambda^T Q \lambda - 2 r^T \lambda \quad \text{subject to} \quad
          \lambda_i \ge \zeta \lambda_{i+1}\ (i < r), \qquad \lambda_r \ge 0.

The feasible set is a cone with r edges, :math:`\lambda = T v` with :math:`v \ge 0` and

.. math:: T_{ij} = \zeta^{-(i-1)} \quad (j \ge i), \qquad T_{ij} = 0 \quad (j < i),

so that with any root :math:`Q = R^T R` and :math:`R^T b = r` it is a non-negative least-squares
problem, :math:`\min_{v \ge 0} \|R T v - b\|^2`. In this scaling the edges can underflow but not
overflow. R T is a cumulative sum, O(r^2).
"""

import warnings

import numpy as np
from scipy import linalg
from scipy.optimize import nnls

from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._optional import needed

SOLVERS = ("clarabel", "osqp", "scs", "nnls")

# For the interior-point and splitting solvers, on a problem scaled to unit edges and an objective
# between -1 and 0. Reaching an iteration limit is an error.
SOLVER_OPTIONS = {
    "clarabel": {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9},
    "osqp": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 200_000, "polishing": False},
    "scs": {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iters": 200_000},
}

# Largest KKT residual of an accepted spectrum. NNLS leaves about 1e-14, 1e-10 if Q is singular.
KKT_TOLERANCE = 1e-6

# Block pivoting starts from all descent edges, which is fast and well conditioned while the last
# entry is damped by no more than this; beyond, few edges are active and Lawson-Hanson adds them one
# by one. The result is accepted if as accurate as that of Lawson-Hanson.
_LEAST_DAMPING = 1e-3
_PIVOTING_TOLERANCE = 1e-12
_MOST_EXCHANGES = 50

# Negative eigenvalues of Q down to this share of the largest count as rounding.
_INDEFINITE = 1e-8


def solve_eigenspectrum(Q, r, zeta, solver="clarabel"):
    r"""Best-fitting eigenspectrum under the damping constraint of TKL.

    .. math:: \min_\lambda\ \lambda^T Q \lambda - 2 r^T \lambda \quad \text{subject to} \quad
              \lambda_i \ge \zeta \lambda_{i+1}, \quad \lambda_r \ge 0.

    Parameters
    ----------
    Q : array-like of shape (r, r)
        Symmetric positive semi-definite;
        :math:`(\bar\Phi_Z^T \bar\Phi_Z) \circ (\bar\Phi_Z^T \bar\Phi_Z)` in TKL.
    r : array-like of shape (r,)
        In the range of Q; :math:`\mathrm{diag}(\bar\Phi_Z^T K_Z \bar\Phi_Z)` in TKL.
    zeta : float
        Damping factor, at least 1.
    solver : {"clarabel", "osqp", "scs", "nnls"}, default="clarabel"
        The first three solve for v through cvxpy, with the tolerances of ``SOLVER_OPTIONS``. "nnls"
        is a finite active-set method: Lawson-Hanson, or, for zeta so near to 1 that many entries of
        v are positive, block principal pivoting ([2]_) if that reaches a KKT residual below 1e-12.

    Returns
    -------
    eigenspectrum : ndarray of shape (r,)
        :math:`T v` with the solver's v clipped at 0, hence feasible up to rounding.

    Raises
    ------
    ValueError
        If Q, r, `zeta` or `solver` is malformed; or Q is found indefinite, or r outside its range
        (the problem may then be unbounded).
    AlignmentError
        If the solver does not report an optimum, or the residual of its optimality conditions
        exceeds 1e-6.
    ImportError
        If the solver needs cvxpy and it is not installed.

    Notes
    -----
    Cost: O(r^3) for the root of Q. Lawson-Hanson: O(r^2) per step, a few steps per positive entry
    of v, of which there is one for large zeta, when all constraints but the last are active and
    :math:`\lambda_i = \lambda_1 \zeta^{-(i-1)}`. Pivoting: no root, and 5 to 15 factorisations in
    as many unknowns as positive entries. The others: some 20 iterations of O(r^3) (Clarabel), or
    hundreds to thousands of O(r^2).

    The optimum is unique if Q is definite; :math:`\bar\Phi_Z \Lambda \bar\Phi_Z^T` always is.

    *Misprints of the report* ([1]_, section 5):
    :math:`Q = (\bar\Phi^T\bar\Phi) \circ (\bar\Phi^T\bar\Phi^T)` and
    :math:`r = \mathrm{diag}(\bar\Phi^T \bar\Phi^T)` multiply shapes that do not match; expanding
    the squared error gives the products above, r with :math:`K_Z`. And :math:`C = I - \zeta \bar I`
    states the constraint only if :math:`\bar I` has its ones on the first *super*\ diagonal; the
    last row of C is then :math:`\lambda_r \ge 0`.

    References
    ----------
    .. [1] M. E. Ullah, A. Aggarwal. Domain-Invariant Transfer Kernel Learning. Report, IIT Kanpur,
       section 5; after M. Long, J. Wang, J. Sun, P. S. Yu. Domain Invariant Transfer Kernel
       Learning. IEEE TKDE 27(6), 2015.
    .. [2] L. F. Portugal, J. J. Júdice, L. N. Vicente. A Comparison of Block Pivoting and
       Interior-Point Algorithms for Linear Least Squares Problems with Nonnegative Variables.
       Mathematics of Computation 63, 1994.

    Examples
    --------
    With Q = I this is the projection of r onto the cone:

    >>> solve_eigenspectrum(np.eye(2), [3.0, 1.0], zeta=2, solver="nnls")
    array([3., 1.])
    >>> solve_eigenspectrum(np.eye(2), [2.0, 2.0], zeta=2, solver="nnls")
    array([2.4, 1.2])
    """
    Q, r = _check_problem(Q, r, zeta, solver)
    damping = float(zeta) ** -np.arange(len(r))
    if solver == "nnls" and damping[-1] >= _LEAST_DAMPING:
        eigenspectrum = _solve_by_pivoting(Q, r, damping)
        if kkt_residual(eigenspectrum, Q, r, zeta) <= _PIVOTING_TOLERANCE:
            return eigenspectrum
    root, b = _square_root(Q, r)
    if not b.any():
        return np.zeros(len(r))
    edges = np.cumsum(root * damping, axis=1)
    lengths, height = np.linalg.norm(edges, axis=0), _length(b)
    # An edge of length 0 does not enter the objective; its coefficient stays 0.
    edges /= np.where(lengths > 0, lengths, 1)
    solve = _solve_nnls if solver == "nnls" else _solve_cvxpy
    weights = solve(edges, b / height, solver)
    weights = np.where(lengths > 0, weights * height / np.where(lengths > 0, lengths, 1), 0)
    eigenspectrum = _on_cone(weights, damping)
    residual = kkt_residual(eigenspectrum, Q, r, zeta)
    if not residual <= KKT_TOLERANCE:
        other = "" if solver == "nnls" else 'solver="nnls", or '
        raise AlignmentError(
            f"solver {solver!r}: KKT residual of {residual:.1e} exceeds {KKT_TOLERANCE:.0e} at "
            f"r={len(r)}, zeta={zeta}; use {other}fewer eigenvectors"
        )
    return eigenspectrum


def _length(b):
    """Euclidean norm, also of numbers whose squares vanish or are infinite."""
    largest = np.abs(b).max()
    return largest * np.linalg.norm(b / largest)


def spectrum_objective(eigenspectrum, Q, r):
    r""":math:`\lambda^T Q \lambda - 2 r^T \lambda`, the squared error up to a constant."""
    return float(eigenspectrum @ Q @ eigenspectrum - 2 * r @ eigenspectrum)


def kkt_residual(eigenspectrum, Q, r, zeta):
    r"""Scaled violation of the optimality conditions; 0 proves the optimum of the convex problem.

    With :math:`g = Q\lambda - r`, the largest of

    - primal: :math:`-\min_i(\lambda_i - \zeta\lambda_{i+1}) / \lambda_1`, with
      :math:`\lambda_{r+1} = 0`;
    - dual: :math:`-\min_j\, t_j^T g\, /\, (\|t_j\|_Q\, \|b\|)` over the edges t_j of the cone,
      where :math:`\|t\|_Q^2 = t^T Q t` and :math:`\|b\|^2 = \max(\lambda^T Q\lambda, r^T\lambda)`:
      the cosine of the steepest descent edge;
    - complementarity: :math:`|\lambda^T g| / \|b\|^2`.

    All three avoid positive powers of :math:`\zeta`, which would overflow.

    Parameters
    ----------
    eigenspectrum : ndarray of shape (r,)
    Q : ndarray of shape (r, r)
    r : ndarray of shape (r,)
    zeta : float

    Returns
    -------
    residual : float
        Non-negative.
    """
    # As of features in other units: squares of small numbers would vanish, of large be infinite.
    scale = np.abs(r).max(initial=0) or 1.0
    eigenspectrum, r = eigenspectrum / scale, r / scale
    gradient = Q @ eigenspectrum - r
    damping = float(zeta) ** -np.arange(len(r))
    slack = eigenspectrum - zeta * np.append(eigenspectrum[1:], 0)
    primal = -slack.min() / max(np.abs(eigenspectrum).max(), np.finfo(float).tiny)
    downhill = -np.cumsum(damping * gradient)
    size = max(eigenspectrum @ Q @ eigenspectrum, r @ eigenspectrum)
    if not size > 0:  # the apex of the cone, optimal if no edge is a descent direction
        return float(max(primal, np.any(downhill > 0)))
    lengths = np.maximum(_edge_products(Q, damping).diagonal(), 0)
    # Edges in the null space of Q have no slope either; both are exact up to rounding only.
    lengths = np.sqrt(np.maximum(lengths, 1e-16 * lengths.max()) * size)
    dual = np.max(downhill / lengths)
    return float(np.max([primal, dual, abs(eigenspectrum @ gradient) / size, 0.0]))  # NaN too


def _check_problem(Q, r, zeta, solver):
    if solver not in SOLVERS:
        raise ValueError(f"solver: unknown {solver!r}; known: {', '.join(SOLVERS)}")
    Q, r = np.asarray(Q, dtype=np.float64), np.asarray(r, dtype=np.float64)
    if Q.ndim != 2 or Q.shape[0] != Q.shape[1] or r.shape != (len(Q),) or not r.size:
        raise ValueError(
            f"Q has shape {Q.shape} and r {r.shape}; give a square matrix and one entry per row"
        )
    if not (np.isfinite(Q).all() and np.isfinite(r).all()):
        raise ValueError(
            "Q or r holds NaN or infinity; the kernel is badly scaled (standardise the features)"
        )
    if not (np.isfinite(zeta) and zeta >= 1):
        raise ValueError(f"zeta={zeta}; a damping factor is a number of at least 1")
    if np.abs(Q - Q.T).max() > 1e-8 * np.abs(Q).max():
        raise ValueError("Q is not symmetric; give (Q + Q.T) / 2, which has the same objective")
    if Q.diagonal().min() < 0:
        raise ValueError(
            f"Q has a negative diagonal entry ({Q.diagonal().min():.1e}); "
            "it must be positive semi-definite"
        )
    return Q, r


def _edge_products(Q, damping):
    """T^T Q T, the products t_i^T Q t_j of all edges of the cone."""
    products = np.cumsum(Q * damping, axis=1)
    products *= damping[:, None]
    return np.cumsum(products, axis=0, out=products)


def _on_cone(weights, damping):
    """T v."""
    return damping * np.cumsum(weights[::-1])[::-1]


def _square_root(Q, r):
    """R with R^T R = Q, and b with R^T b = r."""
    diagonal = Q.diagonal()
    # Scaled to unit diagonal, so that angles and not lengths of vectors decide the rank.
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1))
    scaled, r = Q * scale * scale[:, None], r * scale
    try:
        lower = linalg.cholesky(scaled, lower=True, check_finite=False)
    except linalg.LinAlgError:
        root, b = _semidefinite_root(scaled, r)
        return root / scale, b
    return lower.T / scale, linalg.solve_triangular(lower, r, lower=True, check_finite=False)


def _semidefinite_root(Q, r):
    values, vectors = linalg.eigh(Q, check_finite=False)
    if values[0] < -_INDEFINITE * max(values[-1], 0) or values[-1] < 0:
        raise ValueError(
            f"Q is indefinite (eigenvalues from {values[0]:.1e} to {values[-1]:.1e}); "
            "it must be positive semi-definite"
        )
    kept = values > len(Q) * np.finfo(float).eps * values[-1]
    values, vectors = values[kept], vectors[:, kept]
    along = vectors.T @ r
    outside = np.linalg.norm(r - vectors @ along)
    if outside > 1e-6 * np.linalg.norm(r):
        raise ValueError(
            f"r is not in the range of Q (its residual is {outside:.1e}): the problem may be "
            "unbounded; Q and r must come from the same eigenvectors"
        )
    return np.sqrt(values)[:, None] * vectors.T, along / np.sqrt(values)


def _solve_nnls(edges, b, solver):
    # In reverse order: NNLS takes the first of edges made equal by underflow, and the last edge is
    # the one that damps all eigenvalues.
    try:
        weights, _ = nnls(edges[:, ::-1], b)
    except RuntimeError as error:
        raise AlignmentError(f"solver 'nnls': {error}; use solver=\"clarabel\"") from error
    return weights[::-1]


def _solve_by_pivoting(Q, r, damping):
    """Spectrum by block principal pivoting in v; zeros if it does not converge."""
    form, linear = _edge_products(Q, damping), np.cumsum(damping * r)
    lengths = np.sqrt(np.maximum(form.diagonal(), 0))
    lengths[lengths == 0] = 1
    form /= lengths
    form /= lengths[:, None]
    linear /= lengths
    height = np.abs(linear).max() or 1.0
    weights = _pivot_blocks(form, linear / height)
    return _on_cone(weights * height / lengths, damping)


def _pivot_blocks(form, linear):
    """Minimise v^T F v - 2 l^T v over v >= 0, exchanging all infeasible entries at once.

    After three exchanges without a new minimum of infeasibilities only the last infeasible entry is
    exchanged (Murty's rule, which is finite).
    """
    free = np.zeros(len(linear), dtype=bool)
    weights, slope = np.zeros(len(linear)), -linear
    fewest, chances = len(linear) + 1, 3
    for _ in range(_MOST_EXCHANGES):
        wrong = np.where(free, weights, slope) < -1e-14
        n_wrong = np.count_nonzero(wrong)
        if not n_wrong:
            return np.maximum(weights, 0)
        if n_wrong < fewest:
            fewest, chances = n_wrong, 3
        elif chances:
            chances -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        free ^= wrong
        rows = np.flatnonzero(free)
        weights = np.zeros(len(linear))
        try:
            factor = linalg.cho_factor(form[np.ix_(rows, rows)], check_finite=False)
        except linalg.LinAlgError:  # the edges are dependent
            break
        weights[rows] = linalg.cho_solve(factor, linear[rows], check_finite=False)
        slope = form[:, rows] @ weights[rows] - linear
    return np.zeros(len(linear))


def _solve_cvxpy(edges, b, solver):
    # Here: slow to import, and not needed by "nnls".
    cvxpy = needed("cvxpy", f"solver {solver!r}", ', or use solver="nnls"')
    weights = cvxpy.Variable(edges.shape[1])
    # psd_wrap: E^T E is semi-definite, but cvxpy's test of that can fail by rounding.
    square = cvxpy.quad_form(weights, cvxpy.psd_wrap(edges.T @ edges))
    problem = cvxpy.Problem(cvxpy.Minimize(square - 2 * (b @ edges) @ weights), [weights >= 0])
    with warnings.catch_warnings():
        # cvxpy warns of an inaccurate solution; its status is an error below.
        warnings.simplefilter("ignore", UserWarning)
        try:
            problem.solve(solver=solver.upper(), **SOLVER_OPTIONS[solver])
        except cvxpy.error.SolverError as error:
            raise _unsolved(solver, edges.shape[1], error) from error
    if problem.status != cvxpy.OPTIMAL:
        raise _unsolved(solver, edges.shape[1], f"status {problem.status!r}")
    return np.maximum(weights.value, 0)


def _unsolved(solver, size, reason):
    return AlignmentError(
        f"solver {solver!r}: no optimum at r={size} ({reason}); "
        'use solver="nnls", which is exact, or fewer eigenvectors'
    )
