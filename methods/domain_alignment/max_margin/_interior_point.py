r"""Second-order solver for small :class:`MarginProblem` s.

The number of sweeps of coordinate descent grows with the condition of the dual: large costs, p = 1,
or linearly dependent hyperplanes. Mehrotra's primal-dual interior point method takes ten to forty
steps regardless, at O(N^3) each for N constraints: affordable for small N, where hard margins
occur. With N > 1000 and features of rank r and s, r s <= N / 8, a step costs O(N (r s)^2).

With :math:`Q = s s^T \circ (H \otimes K) + \mathrm{diag}(d)` the dual minimises
:math:`\tfrac12 \alpha^T Q \alpha - r^T \alpha` over :math:`0 \le \alpha \le U`. Each step solves

.. math:: \Bigl(Q + \frac{z}{\alpha} + \frac{w}{U - \alpha}\Bigr) \Delta = \ldots

with the multipliers z, w > 0 of the bounds. With no other constraints, every iterate is feasible
and its duality gap exact.
"""

import numpy as np
from scipy import linalg

MAX_STEPS = 100
# A system of more constraints than this is solved by a factor of Q, if one has so few columns that
# it is far cheaper than a Cholesky decomposition.
LARGE, FEW_COLUMNS = 1000, 1 / 8
FRACTION_TO_BOUND = 0.995


def interior_point(problem, tol, budget):
    """Dual variables with a relative duality gap of `tol`, or the best after `budget` steps.

    Parameters
    ----------
    problem : MarginProblem
        With N = m n constraints; takes O(N^2) memory.
    tol : float
    budget : int

    Returns
    -------
    dual : ndarray of shape (m, n)
    n_steps : int
    """
    counted = np.broadcast_to(problem.upper > 0.0, problem.shape)
    Q, r = _quadratic(problem, counted), problem.margins[counted]
    upper = np.broadcast_to(problem.upper, problem.shape)[counted]
    best, best_gap = np.zeros(problem.shape), np.inf
    root = _few_columns(problem, counted)
    state = _start(Q, r, upper)
    for n_steps in range(min(budget, MAX_STEPS) + 1):
        dual = np.zeros(problem.shape)
        dual[counted] = np.minimum(state[0], upper)
        gap = problem.gap(dual)
        if gap < best_gap:
            best, best_gap = dual, gap
        if gap <= tol or n_steps == budget:
            break
        try:
            state = _step(Q, root, r, *state)
        except linalg.LinAlgError:  # the barrier terms exhaust float64
            break
        if not all(np.isfinite(part).all() for part in (state[0], *state[2:])):  # likewise
            break
    return best, n_steps


def _quadratic(problem, counted):
    i, j = np.nonzero(counted)
    K = problem.gram()
    signs = problem.signs[counted].astype(np.float64)
    Q = problem.H[np.ix_(i, i)] * K[np.ix_(j, j)]
    Q *= signs
    Q *= signs[:, None]
    Q[np.diag_indices_from(Q)] += np.broadcast_to(problem.ridge, problem.shape)[counted]
    return Q


def _few_columns(problem, counted):
    """F and d of Q = F F^T + diag(d), or None where Cholesky is as cheap or d may be zero."""
    n_constraints = np.count_nonzero(counted)
    if n_constraints <= LARGE:
        return None
    ridge = np.broadcast_to(problem.ridge, problem.shape)[counted]
    left, right = _root(problem.H), _root(problem.gram())
    few = left.shape[1] * right.shape[1] <= FEW_COLUMNS * n_constraints
    if not few or not ridge.min() > 0:
        return None
    i, j = np.nonzero(counted)
    columns = left[i][:, :, None] * right[j][:, None, :]
    return problem.signs[counted][:, None] * columns.reshape(n_constraints, -1), ridge


def _root(gram):
    values, vectors = linalg.eigh(gram, check_finite=False)
    kept = values > len(gram) * np.finfo(float).eps * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def _inverse(Q, root, barrier):
    """The product with the inverse of Q + diag(barrier)."""
    if root is None:
        system = Q.copy()
        system[np.diag_indices_from(system)] += barrier
        factor = linalg.cho_factor(system, overwrite_a=True, check_finite=False)
        return lambda right: linalg.cho_solve(factor, right, check_finite=False)
    F, diagonal = root[0], root[1] + barrier
    weighted = F / diagonal[:, None]
    small = F.T @ weighted  # Woodbury's formula
    small[np.diag_indices_from(small)] += 1
    factor = linalg.cho_factor(small, overwrite_a=True, check_finite=False)

    def product(right):
        inner = linalg.cho_solve(factor, weighted.T @ right, check_finite=False)
        return right / diagonal - weighted @ inner

    return product


def _start(Q, r, upper):
    """A point well inside the bounds, its distance from the upper ones, and multipliers that match
    its gradient.
    """
    unconstrained = np.abs(r).mean() / Q.mean(axis=1).clip(Q.diagonal().mean() or 1.0)
    a = np.minimum(np.maximum(unconstrained, 1e-8), upper / 2)
    gradient = Q @ a - r
    size = np.abs(gradient).mean() + np.abs(r).mean()
    z = np.maximum(gradient, 0.0) + size
    w = np.where(np.isfinite(upper), np.maximum(-gradient, 0.0) + size, 0.0)
    return a, upper - a, z, w


def _step(Q, root, r, a, slack, z, w):
    """One predictor-corrector step from (alpha, U - alpha, z, w).

    The second is a variable of its own: near a bound a difference would have no digit of it.
    """
    bounded = np.isfinite(slack)
    n_products = a.size + np.count_nonzero(bounded)
    mu = (a @ z + slack[bounded] @ w[bounded]) / n_products
    newton = _inverse(Q, root, z / a + w / slack)
    stationarity = Q @ a - r - z + w

    def solve(low, high):
        """Newton direction towards a z = low and slack w = high."""
        da = newton(low / a - z - high / slack + w - stationarity)
        return da, low / a - z - z / a * da, high / slack - w + w / slack * da

    da, dz, dw = solve(np.zeros_like(a), np.zeros_like(a))
    length = _length(a, slack, z, w, da, dz, dw)
    ahead = (a + length * da) @ (z + length * dz)
    ahead += ((slack - length * da)[bounded]) @ ((w + length * dw)[bounded])
    centre = mu * (ahead / n_products / mu) ** 3
    da, dz, dw = solve(centre - da * dz, np.where(bounded, centre + da * dw, 0.0))
    length = min(1.0, FRACTION_TO_BOUND * _length(a, slack, z, w, da, dz, dw, np.inf))
    return a + length * da, slack - length * da, z + length * dz, w + length * dw


def _length(a, slack, z, w, da, dz, dw, longest=1.0):
    """Largest step, at most `longest`, that keeps all variables positive."""
    for value, change in ((a, da), (slack, -da), (z, dz), (w, dw)):
        falling = change < 0.0
        if falling.any():
            longest = min(longest, (value[falling] / -change[falling]).min())
    return longest
