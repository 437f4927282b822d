r"""Finite Newton method for small :class:`MarginProblem` s of the squared hinge (p = 2).

The primal is piecewise quadratic in :math:`W - W_0 = V^T T X`. Where A are the violated margins,
the minimum of the piece has

.. math:: \bigl((H \otimes K)_{AA} + \mathrm{diag}(d_A)\bigr)\, T_A = (s \circ r)_A,
          \qquad T = 0 \text{ outside of } A.

Each step goes to the best point on the way there; after a few, A stays the same and the minimum is
exact ([1]_). An interior point method takes more steps, since it cannot start from what sweeps have
found, and its barrier hides the structure of the systems (:class:`_Systems`).

.. [1] S. S. Keerthi, D. DeCoste. A modified finite Newton method for fast solution of large scale
   linear SVMs. JMLR 6, 2005.
"""

import numpy as np
from scipy import linalg

MAX_STEPS = 50
# Multiplications of decompositions, per cube of the size; those of eigenvectors take their time.
EIGH, CHOLESKY = 5.0, 1 / 6


def finite_newton(problem, start, tol, budget):
    """Dual variables with a relative duality gap of `tol`, or the best after `budget` steps.

    Parameters
    ----------
    problem : MarginProblem
        Of the squared hinge; with N = m n constraints, takes O(N^2) memory at most.
    start : ndarray of shape (m, n)
        Dual variables.
    tol : float
    budget : int

    Returns
    -------
    dual : ndarray of shape (m, n)
    n_steps : int
    """
    systems, solved, n_steps = _Systems(problem), None, 0
    T = problem.signs * start
    scores = problem.product(T)
    best, best_gap = start, problem.gap(start)
    while best_gap > tol and n_steps < min(budget, MAX_STEPS):
        short = problem.margins - problem.signs * scores
        active = _violated(problem, short)
        length = 0.0  # also where the same system was solved before
        if not np.array_equal(active, solved):
            change = systems.solve(active) - T
            slope = problem.product(change)
            whole = _violated(problem, short - problem.signs * slope)
            # The minimum of all is reached. Along the way there the primal may differ by rounding
            # alone, where the dual variables still differ by far.
            there = np.array_equal(whole, active)
            length = 1.0 if there else _best_length(problem, scores, short, change, slope)
        if not 0.0 < length < np.inf:  # at the optimum, as far as the solution is exact
            if systems.by_cholesky:
                break
            systems.by_cholesky, solved = True, None
            continue
        T, scores, solved = T + length * change, scores + length * slope, active
        n_steps += 1
        dual = np.maximum(problem.signs * T, 0.0)
        gap = problem.gap(dual)
        if gap < best_gap:
            best, best_gap = dual, gap
    return best, n_steps


def _violated(problem, short):
    return (short > 0.0) & (problem.costs > 0.0)


def _best_length(problem, scores, short, change, slope):
    """The length of the step along `change` that minimises the primal.

    The derivative increases, and is linear from one margin that is met or missed to the next.
    """
    fall = problem.signs * slope  # of `short`, per length
    moving = (fall != 0.0) & (problem.costs > 0.0)
    weights = 2.0 * np.broadcast_to(problem.costs, fall.shape)[moving]
    fall, short = fall[moving], short[moving]
    violated = (short > 0.0) | ((short == 0.0) & (fall < 0.0))
    pulls, curvatures = weights * fall * short, weights * fall * fall
    order = np.argsort(short / fall)
    order = order[(short * fall)[order] > 0.0]  # those ahead
    turns = np.where(violated[order], -1.0, 1.0)
    # After k of them, the derivative at a length t is starts[k] + rises[k] t.
    starts = np.vdot(change, scores) - pulls[violated].sum()
    rises = np.vdot(change, slope) + curvatures[violated].sum()
    starts = starts - np.r_[0.0, np.cumsum(turns * pulls[order])]
    rises = rises + np.r_[0.0, np.cumsum(turns * curvatures[order])]
    k = np.count_nonzero(starts[:-1] + rises[:-1] * (short / fall)[order] < 0.0)
    return -starts[k] / rises[k] if rises[k] > 0.0 else 0.0


class _Systems:
    r"""The systems of one problem, for any violated margins.

    In :math:`\sqrt d \circ T` the matrix is that of G + I in rows and columns A, where G is
    :math:`H \otimes K` with scaled rows and columns. With a constraints in A, it takes O(a^3) to
    decompose; with H and K of rank r and s, O(a (r s)^2) by Woodbury's formula. If d is the same
    for all hyperplanes, G too is a Kronecker product: eigenvectors of both factors invert G + I,
    and the b constraints outside of A, whose T is zero, take O(b^2 m n + b^3). The least is chosen.

    With large costs (G + I)'s condition is that of G, and only Cholesky is stable in rounding: all
    systems are solved by it once ``by_cholesky`` is set.
    """

    def __init__(self, problem):
        self.H, self.K, ridge = problem.H, problem.gram(), problem.ridge
        self.scale = np.divide(1.0, np.sqrt(ridge), out=np.zeros_like(ridge), where=ridge > 0.0)
        self.right = problem.signs * problem.margins * self.scale
        self.is_product = len(ridge) == 1
        if self.is_product:
            self.K = self.K * self.scale * self.scale.T
        self.rows = np.ones_like(self.right) if self.is_product else self.scale
        self._eigen, self.by_cholesky = None, False

    def solve(self, active):
        """T for a mask of shape (m, n); NaN where the ridge is lost in rounding."""
        try:
            return self.scale * self._way(active)(active)
        except linalg.LinAlgError:
            return np.full(active.shape, np.nan)

    def _way(self, active):
        if self.by_cholesky:
            return self._by_cholesky
        n_in = np.count_nonzero(active)
        least, by = CHOLESKY * n_in**3, self._by_cholesky
        if self._eigen is None and EIGH * sum(size**3 for size in active.shape) < least:
            self._eigen = [linalg.eigh(M, check_finite=False) for M in (self.H, self.K)]
        if self._eigen is not None:
            n_out, rank = active.size - n_in, np.prod([len(u) for u, _ in self._factors()])
            others = [(n_in * rank**2 / 2 + CHOLESKY * rank**3, self._by_factor)]
            if self.is_product:
                cost = n_out**2 * active.size / 2 + CHOLESKY * n_out**3
                others.append((cost, self._by_complement))
            by = min([(least, by), *others], key=lambda choice: choice[0])[1]
        return by

    def _by_cholesky(self, active):
        i, j = np.nonzero(active)
        G = self.H[np.ix_(i, i)]
        G *= self.K[np.ix_(j, j)]
        G *= self.rows[active]
        G *= self.rows[active][:, None]
        T = np.zeros(active.shape)
        T[active] = _solved(_plus_one(G), self.right[active])
        return T

    def _by_factor(self, active):
        (u, U), (v, V) = self._factors()
        F = _products(active, U * np.sqrt(u), V * np.sqrt(v)) * self.rows[active][:, None]
        right, T = self.right[active], np.zeros(active.shape)
        T[active] = right - F @ _solved(_plus_one(F.T @ F), F.T @ right)
        return T

    def _by_complement(self, active):
        T, outside = self._inverse(self.right), ~active
        if outside.any():
            (_, U), (_, V) = self._eigen
            F = _products(outside, U, V) / np.sqrt(1.0 + self._spectrum()).ravel()
            forces = np.zeros(active.shape)
            forces[outside] = _solved(F @ F.T, T[outside])
            T -= self._inverse(forces)
            T[outside] = 0.0
        return T

    def _inverse(self, M):
        """The inverse of G + I times M."""
        (_, U), (_, V) = self._eigen
        return U @ (U.T @ M @ V / (1.0 + self._spectrum())) @ V.T

    def _spectrum(self):
        return np.multiply.outer(*(np.maximum(values, 0.0) for values, _ in self._eigen))

    def _factors(self):
        """Eigenvalues of H and of K that are not zero, with their vectors."""
        for values, vectors in self._eigen:
            kept = values > len(values) * np.finfo(float).eps * values[-1]
            yield values[kept], vectors[:, kept]


def _products(mask, left, right):
    """Rows of the Kronecker product of two matrices."""
    i, j = np.nonzero(mask)
    return (left[i][:, :, None] * right[j][:, None, :]).reshape(len(i), -1)


def _plus_one(matrix):
    matrix[np.diag_indices_from(matrix)] += 1.0
    return matrix


def _solved(matrix, right):
    factor = linalg.cho_factor(matrix, overwrite_a=True, check_finite=False)
    return linalg.cho_solve(factor, right, check_finite=False)
