"""Dual coordinate descent, run until its duality gap is small."""

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from domain_alignment.max_margin._dual_problem import relative_gap
from domain_alignment.max_margin._interior_point import interior_point
from domain_alignment.max_margin._sweeps_numba import list_active, sweep_dense, sweep_sparse

START = 20  # sweeps, before which their rate says little
PATIENCE = 200  # sweeps
SMALL, NOT_LARGE = 1000, 3000  # constraints; a Newton step costs up to 0.1 s and 1 s
EXACT = 1e-15  # no gap is smaller in float64


class DualDescent:
    r"""The course of one optimisation, by sweeps over the dual variables.

    Between the sweeps the gap is evaluated exactly from scratch. The constraints whose variable is
    then held at a bound, by more than the largest violation, are left out until the next time.

    Parameters
    ----------
    problem : MarginProblem
    start : ndarray of shape (m, n) or None
        Feasible dual variables; None is zero.
    tol : float
        Relative duality gap to be reached.
    max_sweeps : int
    random_state : int, RandomState or None

    Attributes
    ----------
    dual : ndarray of shape (m, n)
    primal, bound, gap : float
        Primal and dual objective at `dual`, and their relative difference.
    n_sweeps, n_newton_steps : int
        Passes over the constraints, and how many of these were Newton steps.
    converged : bool

    Notes
    -----
    Sweeps converge linearly. When the rate says that `max_sweeps` will not do, and the problem has
    at most 1000 constraints (3000 after 200 sweeps), the interior point method takes over, once.
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
        """Sweep until the gap is `tol`, or `max_sweeps` are over."""
        while not self.converged and self.n_sweeps < self.max_sweeps:
            before, at = self.gap, self.n_sweeps
            # An evaluation costs a fraction of a sweep, so early ones are worth it, later ones less
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
        """Both objectives afresh from the dual variables, which also ends any drift of rounding."""
        self.dual = dual
        self.carried = np.ascontiguousarray(self.problem.carried(self.problem.signs * dual))
        scores = np.ascontiguousarray(self.problem.scores(self.carried))
        self.primal, self.bound, worst = self.problem.evaluate(dual, scores)
        self.gap = relative_gap(self.primal, self.bound)
        # Whatever is left out wrongly is back after the next evaluation.
        list_active(scores, dual, self.problem.arrays, worst, self.active, self.counts)

    def _is_slow(self, before, n_sweeps):
        """Whether sweeps alone are too slow, and the problem small enough for another method."""
        largest = SMALL if self.n_sweeps < PATIENCE else NOT_LARGE
        if self.converged or self.n_sweeps < START or self.dual.size > largest:
            return False
        rate = np.log(before / self.gap) / n_sweeps
        remaining = np.log(self.gap / max(self.tol, EXACT)) / rate if rate > 0 else np.inf
        return remaining > (self.max_sweeps - self.n_sweeps) / 2

    def _finish(self):
        budget = self.max_sweeps - self.n_sweeps
        dual, n_steps = interior_point(self.problem, self.tol, budget)
        self.n_sweeps += n_steps
        self.n_newton_steps += n_steps
        before = self.dual, self.gap
        self._evaluate(dual)
        if self.gap > before[1]:
            self._evaluate(before[0])
