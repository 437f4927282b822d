r"""The optimisation problem of LS-MMDT, its dual, and the products of both."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from domain_alignment.max_margin._sweeps_numba import objective_terms


@dataclass
class MarginProblem:
    r"""Soft margins of a bilinear function, one per pair of hyperplane and point.

    With :math:`f_{ij} = v_i^T (W - W_0) x_j`, signs s, margins r, costs C and p = 1 or 2:

    .. math:: \min_W\ \tfrac12 \|W - W_0\|_F^2
              + \sum_{ij} C_{ij} \max(0, r_{ij} - s_{ij} f_{ij})^p

    With the Gram matrices :math:`H = V V^T` and :math:`K = X X^T`, the dual is

    .. math:: \max_\alpha\ \sum_{ij} r_{ij} \alpha_{ij}
              - \tfrac12 \mathrm{tr}(H\, T K T^T) - \tfrac12 \sum_{ij} d_{ij} \alpha_{ij}^2,
              \qquad T = \alpha \circ s,\quad 0 \le \alpha \le U

    with :math:`d = 1/(2C)`, :math:`U = \infty` for p = 2 and d = 0, U = C for p = 1. At the optimum
    :math:`W - W_0 = V^T T X`, of rank at most m, and :math:`f = H T K`.

    Attributes
    ----------
    H : ndarray of shape (m, m)
    X : ndarray or CSR matrix of shape (n, D~)
    K : ndarray of shape (n, n) or None
        If None, products with K go through X.
    signs : ndarray of int8 of shape (m, n)
    margins : ndarray of shape (m, n)
    costs : ndarray of shape (m, n), or (1, n) if equal for all hyperplanes
        Non-negative; constraints of cost 0 are ignored.
    squared : bool
        p = 2.
    """

    H: np.ndarray
    X: np.ndarray | sparse.csr_matrix
    K: np.ndarray | None
    signs: np.ndarray
    margins: np.ndarray
    costs: np.ndarray
    squared: bool

    def __post_init__(self):
        # Subnormal costs have no inverse in float64; treat them as zero.
        counted = self.costs > np.finfo(float).tiny
        self.costs = np.where(counted, self.costs, 0.0)
        if self.squared:
            self.ridge = np.divide(0.5, self.costs, out=np.zeros_like(self.costs), where=counted)
            self.upper = np.where(counted, np.inf, 0.0)
        else:
            self.ridge, self.upper = np.zeros_like(self.costs), self.costs
        self.norms = row_norms(self.X, squared=True)

    @property
    def arrays(self):
        """Arrays read by the compiled passes, in their order."""
        return self.signs, self.margins, self.ridge, self.upper

    @property
    def shape(self):
        """(m, n)."""
        return self.signs.shape

    def carried(self, coefficients):
        """Product that sweeps keep up to date: T K (Gram form) or T X (primal form)."""
        return safe_sparse_dot(coefficients, self.X if self.K is None else self.K)

    def scores(self, carried):
        """f = H T K from the result of :meth:`carried`."""
        left = self.H @ carried
        return left if self.K is not None else safe_sparse_dot(self.X, left.T).T

    def product(self, coefficients):
        """H T K, the product with an implicit (mn, mn) matrix."""
        return self.scores(self.carried(coefficients))

    def gram(self):
        """K as an ndarray."""
        if self.K is not None:
            return self.K
        K = self.X @ self.X.T
        return K.toarray() if sparse.issparse(K) else K

    def evaluate(self, dual, scores):
        """Primal objective (W from `dual`), dual objective and largest violation."""
        quadratic, loss, linear, ridged, worst = objective_terms(
            np.ascontiguousarray(scores), dual, self.arrays, self.costs, self.squared
        )
        return quadratic / 2 + loss, linear - quadratic / 2 - ridged / 2, worst

    def gap(self, dual):
        """Relative duality gap at `dual`."""
        primal, bound, _ = self.evaluate(dual, self.product(self.signs * dual))
        return relative_gap(primal, bound)


def relative_gap(primal, dual):
    """(primal - dual) / |primal|, or 0 if both are 0."""
    gap = primal - dual
    return gap / abs(primal) if primal else (0.0 if gap == 0 else np.inf)
