"""Dual coordinate descent with a duality gap stopping rule."""

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from domain_alignment.max_margin._dual_problem import relative_gap
from domain_alignment.max_margin._finite_newton import finite_newton
from domain_alignment.max_margin._interior_point import interior_point
from domain_alignment.max_margin._sweeps_numba import list_active, sweep_dense, sweep_sparse

MIN_SWEEPS = 20  # before the convergence rate is estimated
PATIENCE = 200  # sweeps
SMALL, MEDIUM = 1000, 3000  # constraints; a Newton step costs up to 0.1 s and 1 s
MIN_GAP = 1e-15  # smallest gap attainable in float64


class DualDescent:
    r"""State of one optimisation by sweeps over the dual variables.

    Between sweeps the gap is recomputed from scratch. Variables held at a bound by a gradient above
    the largest violation are then shrunk until the next evaluation.

    Parameters
    ----------
    problem : MarginProblem
    start : ndarray of shape (m, n) or None
        Feasible dual variables, zero if None.
    tol : float
        Target relative duality gap.
    max_sweeps : int
    random_state : int, RandomState or None

    Attributes
    ----------
    dual : ndarray of shape (m, n)
    primal, bound, gap : float
        Primal and dual objective at `dual`, and their relative difference.
    n_sweeps, n_newton_steps : int
        Passes over the constraints, and the number of Newton steps among them.
    converged : bool

    Notes
    -----
    Sweeps converge linearly. If `max_sweeps` will not suffice at the current rate, problems of at
    most 1000 constraints (3000 after 200 sweeps) switch once to Newton steps: of the finite Newton
    method for the squared hinge, of the interior point method for the hinge or if that falls short.
    """

    def __init__(self, problem, start, *, tol, max_sweeps, random_state):
        self.problem, self.tol, self.max_sweeps = problem, tol, max_sweeps
        self.rng = check_random_state(random_state)
        self.state = np.array([self.rng.randint(1, 2**31 - 1)], dtype=np.uint64)
        m, n = problem.shape
        self.active = np.empty((m, n), dtype=np.int32)
        self.counts = np.empty(m, dtype=np.int32)
        self.n_sweeps = self.n_newton_steps = 0
        self._evaluate(np.zeros((m, n)) if start is None else start)

    @property
    def converged(self):
        return bool(self.gap <= self.tol)

    def run(self):
        """Sweep until the gap is at most `tol`, or for `max_sweeps`."""
        while not self.converged and self.n_sweeps < self.max_sweeps:
            before, at = self.gap, self.n_sweeps
            # Evaluations cost a fraction of a sweep; they pay off most early on.
            for _ in range(min(1 + at // 5, 10, self.max_sweeps - at)):
                self._sweep()
                self.n_sweeps += 1
            self._evaluate(self.dual)
            if not self.n_newton_steps and self._is_slow(before, self.n_sweeps - at):
                self._finish()

    def _sweep(self):
        problem, classes = self.problem, self.rng.permutation(len(self.counts))
        rest = self.dual, self.carried, problem.arrays, self.active, self.counts, classes
        if problem.K is None and sparse.issparse(problem.X):
            rows = problem.X.data, problem.X.indices, problem.X.indptr
            sweep_sparse(rows, problem.H, problem.norms, *rest, self.state)
        else:
            gram = problem.K is not None
            rows = problem.K if gram else problem.X
            sweep_dense(rows, gram, problem.H, problem.norms, *rest, self.state)

    def _evaluate(self, dual):
        """Recompute both objectives from the dual variables, which also removes rounding drift."""
        self.dual = dual
        self.carried = np.ascontiguousarray(self.problem.carried(self.problem.signs * dual))
        scores = np.ascontiguousarray(self.problem.scores(self.carried))
        self.primal, self.bound, worst = self.problem.evaluate(dual, scores)
        self.gap = relative_gap(self.primal, self.bound)
        # Variables shrunk wrongly return at the next evaluation.
        list_active(scores, dual, self.problem.arrays, worst, self.active, self.counts)

    def _is_slow(self, before, n_sweeps):
        """Whether sweeps are too slow and the problem is small enough for Newton steps."""
        largest = SMALL if self.n_sweeps < PATIENCE else MEDIUM
        if self.converged or self.n_sweeps < MIN_SWEEPS or self.dual.size > largest:
            return False
        rate = np.log(before / self.gap) / n_sweeps
        remaining = np.log(self.gap / max(self.tol, MIN_GAP)) / rate if rate > 0 else np.inf
        return remaining > (self.max_sweeps - self.n_sweeps) / 2

    def _finish(self):
        if self.problem.squared:
            self._take(*finite_newton(self.problem, self.dual, self.tol, self._budget))
        if not self.converged and self._budget:
            self._take(*interior_point(self.problem, self.tol, self._budget))

    @property
    def _budget(self):
        return self.max_sweeps - self.n_sweeps

    def _take(self, dual, n_steps):
        """Dual variables after Newton steps, unless they are worse."""
        self.n_sweeps += n_steps
        self.n_newton_steps += n_steps
        before = self.dual, self.gap
        self._evaluate(dual)
        if self.gap > before[1]:
            self._evaluate(before[0])
