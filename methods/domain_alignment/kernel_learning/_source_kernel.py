r"""The kernel of the source, which the learned one has to fit: a matrix, or a factor of it.

Both give what the quadratic program and its errors ask of a symmetric positive semi-definite K:
quadratic forms, the distance from :math:`V \Lambda V^T`, and the norm.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg, sparse

from domain_alignment.utils._rows import column_products


@dataclass(frozen=True, eq=False)
class DenseKernel:
    """A source kernel held as a matrix."""

    matrix: np.ndarray

    def quadratic(self, V):
        """v^T K v for every column v."""
        return np.einsum("ij,ij->j", V, self.matrix @ V)

    def distances(self, V, *spectra):
        """Frobenius norm of V diag(values) V^T - K for each spectrum of values; O(n^2 c) each."""
        return [float(np.linalg.norm((V * values) @ V.T - self.matrix)) for values in spectra]

    def norm(self):
        """Frobenius norm of K."""
        return float(np.linalg.norm(self.matrix))

    def trace(self):
        """Trace of K."""
        return float(np.trace(self.matrix))


@dataclass(frozen=True, eq=False)
class FactoredKernel:
    """A source kernel held as a factor H with K = H H^T, of fewer columns than rows.

    Attributes
    ----------
    factor : ndarray or CSR matrix of shape (n, q)
        H; of an inner product the features themselves.
    """

    factor: np.ndarray | sparse.csr_matrix | sparse.csr_array

    @cached_property
    def gram(self):
        """H^T H, of shape (q, q), with the eigenvalues of K that are not zero."""
        return column_products(self.factor)

    def quadratic(self, V):
        """v^T K v for every column v."""
        return np.square(self.factor.T @ V).sum(axis=0)

    def distances(self, V, *spectra):
        r"""Frobenius norm of V diag(values) V^T - K for each spectrum of c values.

        With :math:`V = B T`, the columns of B orthonormal, and :math:`C = B^T H` that matrix has
        the blocks

        .. math:: T \Lambda T^T - C C^T, \qquad C H^T (I - B B^T), \qquad
                  (I - B B^T) H H^T (I - B B^T),

        of which the second counts twice, the third has the norm of :math:`H^T H - C^T C`, and only
        the first depends on the spectrum. Cost: O(n c (c + q) + c q^2), and O(c^3) for each.
        """
        # Each block is a difference of matrices, at the rounding error of K. Expanding the square
        # of the norm instead would lose half of the digits of a small distance by cancellation.
        basis, triangle = linalg.qr(V, mode="economic", check_finite=False)
        inner = (self.factor.T @ basis).T
        own = inner @ inner.T
        across = np.linalg.norm(self.factor @ inner.T - basis @ own)
        beyond = np.linalg.norm(self.gram - inner.T @ inner)
        within = [np.linalg.norm((triangle * values) @ triangle.T - own) for values in spectra]
        return [float(np.linalg.norm([block, across, across, beyond])) for block in within]

    def norm(self):
        """Frobenius norm of K."""
        return float(np.linalg.norm(self.gram))

    def trace(self):
        """Trace of K."""
        return float(np.trace(self.gram))
