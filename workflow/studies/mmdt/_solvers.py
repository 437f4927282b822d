r"""The routes to the transform that LS-MMDT's Table 1 compares, one constraint at a time.

All minimise :math:`\tfrac12 \|W\|_F^2 + C \sum_{ij} \max(0, 1 - s_{ij} v_i^T W x_j)^2` by steps on
one dual variable, which differ in what they keep: W itself (explicit), the scores of all pairs of a
hyperplane and a point (kernelised: no feature is looked at again), or both, taking the constraint
that is violated most each time (Bregman's method, as in the authors' MATLAB).
"""

import numpy as np
from domain_alignment.max_margin._sweeps_numba import sweep_dense
from numba import njit


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def explicit_steps(W, V, X, signs, dual, curvature, ridge, constraints):
    """Steps at the given constraints, (i, j) as i n + j, with W; returns the number of changes."""
    n_changed = 0
    for constraint in constraints:
        i, j = constraint // len(X), constraint % len(X)
        score = 0.0
        for r in range(W.shape[0]):
            part = 0.0
            for c in range(W.shape[1]):
                part += W[r, c] * X[j, c]
            score += V[i, r] * part
        gradient = signs[i, j] * score - 1.0 + ridge * dual[i, j]
        new = max(dual[i, j] - gradient / curvature[i, j], 0.0)
        if new != dual[i, j]:
            step = signs[i, j] * (new - dual[i, j])
            dual[i, j] = new
            n_changed += 1
            _add_outer(W, V[i], X[j], step)
    return n_changed


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def kernel_steps(scores, H, K, signs, dual, curvature, ridge, constraints):
    """Steps with the scores of all pairs, from H = V V^T and K = X X^T."""
    n_changed = 0
    for constraint in constraints:
        i, j = constraint // len(K), constraint % len(K)
        gradient = signs[i, j] * scores[i, j] - 1.0 + ridge * dual[i, j]
        new = max(dual[i, j] - gradient / curvature[i, j], 0.0)
        if new != dual[i, j]:
            step = signs[i, j] * (new - dual[i, j])
            dual[i, j] = new
            n_changed += 1
            _add_outer(scores, H[i], K[j], step)
    return n_changed


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def bregman_steps(W, scores, V, X, H, K, signs, dual, curvature, ridge, tolerance, n_steps):
    """Steps at the most violated constraint each time; returns how many were taken.

    Stops when none is violated, slack included, by more than `tolerance`. As in the authors'
    routine, a multiplier is never lowered.
    """
    for step in range(n_steps):
        i = j = 0
        worst = -np.inf
        for k in range(signs.shape[0]):
            for c in range(signs.shape[1]):
                violation = 1.0 - signs[k, c] * scores[k, c] - ridge * dual[k, c]
                if violation > worst:
                    worst, i, j = violation, k, c
        if worst < tolerance:
            return step
        size = worst / curvature[i, j]
        dual[i, j] += size
        _add_outer(W, V[i], X[j], signs[i, j] * size)
        _add_outer(scores, H[i], K[j], signs[i, j] * size)
    return n_steps


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"}, inline="always")
def _add_outer(matrix, left, right, factor):
    for r in range(len(left)):
        weight = factor * left[r]
        for c in range(len(right)):
            matrix[r, c] += weight * right[c]


class Problem:
    """Hyperplanes, points and everything that is formed once, for one cost C."""

    def __init__(self, V: np.ndarray, X: np.ndarray, y: np.ndarray, C: float):
        self.V, self.X = V, X
        self.signs = np.where(y == np.arange(len(V))[:, None], np.int8(1), np.int8(-1))
        self.ridge = 0.5 / C
        self.norms = np.einsum("ij,ij->i", X, X)
        self.H = V @ V.T
        self.curvature = np.outer(np.diag(self.H), self.norms) + self.ridge

    @property
    def shape(self) -> tuple[int, int]:
        return self.signs.shape

    def gram(self) -> np.ndarray:
        return self.X @ self.X.T

    def explicit(self, W, dual, constraints) -> int:
        rest = self.signs, dual, self.curvature, self.ridge, constraints
        return explicit_steps(W, self.V, self.X, *rest)

    def kernelised(self, scores, K, dual, constraints) -> int:
        rest = self.signs, dual, self.curvature, self.ridge, constraints
        return kernel_steps(scores, self.H, K, *rest)

    def bregman(self, W, scores, K, dual, tolerance: float, n_steps: int) -> int:
        rest = self.signs, dual, self.curvature, self.ridge, tolerance, n_steps
        return bregman_steps(W, scores, self.V, self.X, self.H, K, *rest)

    def low_rank_sweep(self, rows, gram: bool, dual, carried, classes) -> int:
        """One sweep of the library's solver over all constraints, in either of its forms."""
        m, n = self.shape
        costs = np.full((1, n), self.ridge), np.full((1, n), np.inf)
        arrays = self.signs, np.ones((m, n)), *costs
        active = np.tile(np.arange(n, dtype=np.int32), (m, 1))
        state = np.array([1], dtype=np.uint64)
        counts = np.full(m, n, dtype=np.int32)
        rest = arrays, active, counts, classes, state
        return sweep_dense(rows, gram, self.H, self.norms, dual, carried, *rest)
