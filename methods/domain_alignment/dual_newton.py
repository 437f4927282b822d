r"""A second-order finish for :class:`~domain_alignment.margin_problem.MarginProblem`.

Coordinate descent finds the rough shape of the optimum fast and its last digits slowly, above all
for p = 1 and for large costs, where the dual is hardly curved. These digits come from here.

With :math:`d > 0` the primal objective is, as a function of the coefficients T of
:math:`W = W_0 + V^T T X`, piecewise quadratic with a continuous gradient, and its Newton
direction (semismooth) is known in closed form except on the constraints strictly within their
bounds. Let :math:`f = H T K`, :math:`\Phi = s \circ \mathrm{clip}((r - s f) / d, 0, U)` the dual
variables that these scores ask for, and A the entries of :math:`\Phi` off the bounds:

.. math:: \Delta = (\Phi - T) + Y, \qquad
          d_A Y_A + (H Y K)_A = -(H (\Phi - T) K)_A, \quad Y = 0 \text{ off } A,

a positive definite system of order :math:`|A|`; it is factorised if A is small, and otherwise
solved by conjugate gradients, one product H Y K each. An exact line search makes the iteration
converge from anywhere; once A is the right set, one step ends it.

For p = 1, where d = 0, the same is done within the proximal point method on the dual: minimising
:math:`\tfrac\delta2 \|\alpha - \alpha_k\|^2` beside the dual objective amounts to d := delta and
:math:`r := r + \delta \alpha_k`. It converges for every delta, the faster the smaller delta.
"""

import numpy as np
from numba import njit
from scipy import linalg

from domain_alignment.margin_problem import relative_gap

MAX_ORDER_FACTORISED = 3000  # 72 MB, about a second
MAX_CG_STEPS = 250
MAX_PROXIMAL_STEPS = 40


@njit(cache=True)
def _slope(step, linear, square, short, change, ridge, upper):
    """Derivative of the primal objective along the direction, at `step`, and its own derivative."""
    value, curvature = linear + step * square, square
    for i in range(short.shape[0]):
        w, b = i % ridge.shape[0], i % upper.shape[0]
        for j in range(short.shape[1]):
            alpha = (short[i, j] - step * change[i, j]) / ridge[w, j]
            if alpha > 0.0:
                if alpha < upper[b, j]:
                    curvature += change[i, j] ** 2 / ridge[w, j]
                value -= min(alpha, upper[b, j]) * change[i, j]
    return value, curvature


@njit(cache=True)
def _line_minimum(linear, square, short, change, ridge, upper):
    """Root of the slope, which never falls: Newton's method, kept in a bracket."""
    low, high, step = 0.0, np.inf, 1.0
    start = abs(_slope(0.0, linear, square, short, change, ridge, upper)[0])
    for _ in range(60):
        slope, curvature = _slope(step, linear, square, short, change, ridge, upper)
        if abs(slope) <= 1e-10 * start:
            break
        if slope > 0.0:
            high = step
        else:
            low = step
        step = step - slope / curvature if curvature > 0.0 else 2.0 * step
        if not low < step < high:
            step = (low + high) / 2 if high < np.inf else 2.0 * low + 1e-3
    return step


def _solve_direct(problem, ridge, free, right):
    """The system on the free constraints by Cholesky's factorisation."""
    i, j = np.nonzero(free)
    points, j = np.unique(j, return_inverse=True)
    if problem.K is not None:
        K = problem.K[np.ix_(points, points)]
    else:
        part = problem.X[points]
        K = part @ part.T
        K = K if isinstance(K, np.ndarray) else K.toarray()
    system = problem.H[np.ix_(i, i)] * K[np.ix_(j, j)]
    system[np.diag_indices_from(system)] += ridge[free]
    Y = np.zeros(free.shape)
    Y[free] = linalg.solve(system, right[free], assume_a="pos", overwrite_a=True)
    return Y


def _solve_by_cg(problem, ridge, free, right, tolerance):
    """The same by conjugate gradients, preconditioned with the diagonal."""
    inverse = free / (np.outer(problem.H.diagonal(), problem.norms) + ridge)
    Y, residual = np.zeros(free.shape), right * free
    direction = inverse * residual
    size = np.vdot(residual, direction)
    goal = tolerance**2 * size
    for _ in range(MAX_CG_STEPS):
        if size <= goal:
            break
        COUNT[1] += 1
        image = problem.product(direction)
        image += ridge * direction
        image *= free
        step = size / np.vdot(direction, image)
        Y += step * direction
        residual -= step * image
        scaled = inverse * residual
        size, previous = np.vdot(residual, scaled), size
        direction *= size / previous
        direction += scaled
    return Y


def _newton(problem, ridge, margins, start, tol, budget, inner_tol):
    """Minimise with the given d > 0 and r; returns feasible dual variables and the steps taken.

    Ends when the duality gap of this problem, or of the one without the proximal term, is small.
    """
    signs, upper = problem.signs, problem.upper
    T = signs * start
    scores = problem.product(T)
    for step in range(budget + 1):
        dual = np.clip(signs * T, 0.0, upper)
        if np.allclose(dual, signs * T, rtol=1e-13, atol=1e-13 * np.abs(T).max()):
            primal, bound, _ = problem.evaluate(dual, scores)
            if relative_gap(primal, bound) <= tol:
                return dual, step
        short = margins - signs * scores
        asked = np.clip(short / ridge, 0.0, upper)
        residual = signs * asked - T
        image = problem.product(residual)
        gap, primal = _gap_of_step(asked, short, margins, ridge, signs, T, scores, image)
        if (step and gap <= inner_tol * abs(primal)) or step == budget:
            return (asked), step
        free = (asked > 0.0) & (asked < upper)
        accuracy = min(1e-2, max(1e-8, 0.1 * gap / abs(primal)))
        Y = _solve(problem, ridge, free, -image, accuracy)
        direction, change = residual + Y, image + problem.product(Y)
        length = _line_minimum(
            np.vdot(direction, scores), np.vdot(direction, change), short, signs * change,
            np.ascontiguousarray(ridge), upper,
        )
        T += length * direction
        scores = scores + length * change


def _gap_of_step(asked, short, margins, ridge, signs, T, scores, image):
    quadratic = np.vdot(T, scores)
    primal = quadratic / 2 + np.vdot(asked, short) - np.vdot(ridge * asked, asked) / 2
    coefficients = signs * asked
    quadratic = np.vdot(coefficients, scores + image)
    dual = np.vdot(asked, margins) - quadratic / 2 - np.vdot(ridge * asked, asked) / 2
    return primal - dual, primal


def _solve(problem, ridge, free, right, accuracy):
    order = np.count_nonzero(free)
    if order == 0:
        return np.zeros(free.shape)
    ridge = np.broadcast_to(ridge, free.shape)
    width = problem.X.shape[1] * 2 if problem.K is None else problem.shape[1]
    cost = 40 * 2 * free.size * width
    if order <= 600 or (order ** 3 / 3 <= cost and order <= MAX_ORDER_FACTORISED):
        COUNT[0] += 1
        return _solve_direct(problem, ridge, free, right)
    Y = _solve_by_cg(problem, ridge, free, right, accuracy)
    return Y


def polish(problem, dual, tol, budget):
    curvature = np.mean(problem.norms) * np.mean(problem.H.diagonal()) or 1.0
    primal, bound, _ = problem.evaluate(dual, problem.product(problem.signs * dual))
    gap = relative_gap(primal, bound)
    delta = np.clip(gap, 1e-2, 1.0) * curvature
    base = np.where(problem.upper > 0.0, problem.ridge, 1.0)
    n_steps, trace = 0, []
    best, best_gap = dual, gap
    for _ in range(MAX_PROXIMAL_STEPS):
        own = delta
        if problem.squared and delta < 0.5 * base.min(): own = 0.0
        most = min(20, budget - n_steps)
        t = __import__('time').time()
        dual, taken = _newton(problem, base * problem.squared + own, problem.margins + own * dual, dual, tol, most, max(0.1 * tol, min(0.05 * gap, 1e-3)))
        n_steps += taken
        primal, bound, _ = problem.evaluate(dual, problem.product(problem.signs * dual))
        gap = relative_gap(primal, bound)
        trace.append('%.1e %d %.1e %.2fs' % (own/curvature, taken, gap, __import__('time').time()-t))
        if gap < best_gap: best, best_gap = dual, gap
        if gap <= tol or n_steps >= budget: break
        delta *= 0.1 if taken <= 4 else 0.3 if taken < 10 else 1.0 if taken < most else 3.0
    if DEBUG: print(trace, COUNT)
    return best, n_steps
DEBUG = False
COUNT = [0, 0]
