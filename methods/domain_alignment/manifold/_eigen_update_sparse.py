"""The joint eigenproblem of domains too large for a full eigendecomposition."""

from functools import cached_property

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from domain_alignment.manifold._eigen_update import RowUpdate
from domain_alignment.utils.validation import dense

# Largest bound on the norm of the change at which Lanczos runs on A itself. Its products grow with
# the root of the width of the spectrum, those of the shifted inverse do not: at 4000 samples and
# bounds of 21, 213 and 2133 it takes 0.5, 2.4 and 9.4 s, the shifted inverse 1.4 to 1.7 s (before
# eigenvalues were moved aside, see below).
_NARROW = 50.0

# Where the domains' spectra end; near the larger diagonal entries of the change A has eigenvalues
# above. A restarted Lanczos iteration for the smallest spends its polynomials on them again and
# again: with 30 of them moved aside it takes 600 products in place of 1300 (8000 samples).
_SPECTRUM_END = 2.0
# Of more the products with their vectors would cost more than is saved.
_MOST_MOVED = 64


class GraphUpdate(RowUpdate):
    r"""Low-rank update of a sparse normalised Laplacian, on a few rows.

    .. math:: A = I - S + R^T C R, \qquad B = I + R^T \mathrm{diag}(m) R

    as in :class:`RowUpdate`, but with the block-diagonal S of the domains' graphs in place of the
    eigenvalues, so that no eigendecomposition is needed.

    Parameters
    ----------
    similarities : list of CSR array of shape (K_a, K_a)
        The blocks of S: :math:`D^{-1/2} W D^{-1/2}` in sample coordinates, or
        :math:`I - \mathrm{diag}(\lambda)` in the coordinates of all eigenvectors.
    rows : list of ndarray or CSR array of shape (l_a, K_a)
        The blocks of R.
    null : list of ndarray of shape (K_a, c_a)
        Orthonormal bases of the null spaces of the blocks of I - S.
    change : ndarray of shape (l, l)
        C, positive semi-definite.
    mass : ndarray of shape (l,), optional
        m >= 0; B is the identity if None.
    """

    # Nearer to zero: fewer Lanczos steps, but more inner iterations in each. At 2400 samples -0.03,
    # -0.1 and -0.3 take 3.1, 1.9 and 1.3 s.
    shift = -0.3

    def __init__(self, similarities, rows, null, change, mass=None):
        self._similarity = sparse.block_diag(similarities, format="csr")
        self._null = null
        super().__init__(1 - self._similarity.diagonal(), rows, change, mass)

    @cached_property
    def _matrix(self):
        """A as one sparse matrix; None if a domain's rows are dense, as of eigenvectors."""
        if not all(map(sparse.issparse, self.rows)):
            return None
        R = sparse.block_diag(self.rows, format="csr")
        change = R.T @ (sparse.csr_array(self.change) @ R)
        return (sparse.eye_array(self.size, format="csr") - self._similarity + change).tocsr()

    def apply(self, v):
        """A v."""
        if self._matrix is not None:
            return self._matrix @ v
        return v - self._similarity @ v + self.extend(self.change @ self.restrict(v))

    @cached_property
    def _lengths(self):
        """Absolute row sums of R R': the squared lengths of rows that are orthogonal."""
        return np.concatenate([np.abs(rows @ rows.T).sum(axis=1) for rows in self.rows])

    @property
    def n_heavy(self):
        """About how many eigenvalues of A are above those of the domains; 0 if too many."""
        n_above = int(np.count_nonzero(self.change.diagonal() * self._lengths > _SPECTRUM_END))
        return n_above if n_above <= _MOST_MOVED else 0

    @property
    def is_narrow(self):
        r"""Whether B is the identity and :math:`R^T C R` has a small norm.

        :math:`R R^T` is at most the diagonal matrix of its absolute row sums, itself in sample
        coordinates, so row sums bound the norm.
        """
        if self.mass is not None:
            return False
        lengths = np.sqrt(self._lengths)
        bound = (np.abs(self.change) * lengths * lengths[:, None]).sum(axis=1)
        return bool(bound.max(initial=0) <= _NARROW)

    def dense(self):
        """A and B as arrays, B None for the identity."""
        identity = np.eye(self.size)
        return self.apply(identity), None if self.mass is None else self.apply_metric(identity)

    def shifted_inverse(self):
        r"""Function that applies :math:`(A - \sigma B)^{-1}`, by Chebyshev iteration.

        The matrix is K - S with :math:`K = (1 - \sigma) I + R^T C_\sigma R`, which the Woodbury
        identity inverts with an l x l solve. The eigenvalues of S are in [-1, 1] and those of K at
        least :math:`1 - \sigma`, so those of :math:`K^{-1} S` are within
        :math:`\pm\rho = \pm 1 / (1 - \sigma)` for any weights between the domains. These bounds fix
        the number of steps beforehand ([1]_, section 10.1.5), so the result is a fixed polynomial,
        symmetric as Lanczos requires.

        References
        ----------
        .. [1] G. H. Golub, C. F. Van Loan. Matrix Computations. 3rd ed., 1996.
        """
        scale = 1 - self.shift
        overlap = linalg.block_diag(*(dense(rows @ rows.T) for rows in self.rows))
        change = self.shifted_change()
        core = linalg.solve(scale * np.eye(len(change)) + change @ overlap, change)
        core = (core + core.T) / 2
        stacked = sparse.block_diag(self.rows, format="csr")
        transposed = stacked.T.tocsr()

        def invert(v):
            return (v - transposed @ (core @ (stacked @ v))) / scale

        radius = 1 / scale
        rate = radius / (1 + np.sqrt(1 - radius**2))
        n_steps = int(np.ceil(np.log(np.finfo(float).eps / 2) / np.log(rate)))

        def apply(b):
            older, x, weight = np.zeros_like(b), invert(b), 2.0
            for _ in range(n_steps):
                weight = 1 / (1 - radius**2 * weight / 4)
                older, x = x, weight * (invert(self._similarity @ x + b) - older) + older
            return x

        return apply

    def _null_before(self):
        return linalg.block_diag(*self._null)


def component_vectors(similarity, degree):
    """Orthonormal null vectors of I - S: roots of the degrees, one vector per component.

    An isolated sample, of degree 0, is none: S has a row of zeros there.

    Returns
    -------
    vectors : ndarray of shape (n, c)
    """
    n_parts, part = connected_components(similarity, directed=False)
    vectors = np.zeros((degree.size, n_parts))
    vectors[np.arange(degree.size), part] = np.sqrt(degree)
    lengths = np.linalg.norm(vectors, axis=0)
    return vectors[:, lengths > 0] / lengths[lengths > 0]
