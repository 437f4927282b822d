r"""Components of large scatter and small discrepancy: what TCA, SSTCA and JDA have in common.

All three look for directions a in some features F (n samples, q features, both domains) that keep
the scatter of the samples and shrink a penalty of low rank beside a ridge:

.. math:: F^T H F\, a = \theta\, (V V^T + \rho I)\, a, \qquad H = I - 11^T / n

with the largest :math:`\theta`. V has one column for every pair of means that is to be brought
together: one for TCA, C + 1 for JDA. So the right-hand matrix has an inverse square root in closed
form, and what remains is an ordinary symmetric problem, solved by Lanczos.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils.eigen import (
    DENSE_ROWS,
    RANK_TOLERANCE,
    all_copies,
    check_residual,
    lanczos,
    symmetric_eigenpairs,
)


@dataclass(frozen=True)
class Scatter:
    r"""The symmetric matrix :math:`F^T H F`, in the form that is cheapest to multiply by.

    Attributes
    ----------
    features : ndarray of shape (n, q)
        F.
    matrix : ndarray of shape (q, q), or None
        The product, or None if it is dearer to form than to multiply by its factors.
    """

    features: np.ndarray
    matrix: np.ndarray | None

    @classmethod
    def of(cls, features):
        """Scatter of samples; formed unless there are as many features as samples (a kernel)."""
        n_samples, n_features = features.shape
        if n_features >= n_samples > DENSE_ROWS:
            return cls(features, None)
        centred = features - features.mean(axis=0)
        return cls(features, centred.T @ centred)

    @property
    def order(self):
        """q."""
        return self.features.shape[1]

    def __matmul__(self, v):
        if self.matrix is not None:
            return self.matrix @ v
        scores = self.features @ v
        return self.features.T @ (scores - scores.mean(axis=0))

    def dense(self):
        """The matrix itself."""
        return self @ np.eye(self.order) if self.matrix is None else self.matrix


@dataclass(frozen=True)
class DiagonalScatter:
    """Scatter in the coordinates of its own eigenvectors.

    Attributes
    ----------
    diagonal : ndarray of shape (q,)
    """

    diagonal: np.ndarray

    @property
    def order(self):
        """q."""
        return self.diagonal.size

    def __matmul__(self, v):
        return self.diagonal * v if v.ndim == 1 else self.diagonal[:, None] * v

    def dense(self):
        """The matrix itself."""
        return np.diag(self.diagonal)


def diagonalised(scatter):
    """A scatter in the coordinates of its eigenvectors, where products cost next to nothing.

    Worth its while for many problems with the same scatter. The eigenvectors are not checked here:
    check the solutions, by :func:`check_components`, against the scatter itself.

    Parameters
    ----------
    scatter : Scatter

    Returns
    -------
    diagonal : DiagonalScatter
    rotation : ndarray of shape (q, q)
        From these coordinates to the features.

    Raises
    ------
    AlignmentError
        If the eigensolver fails.

    Notes
    -----
    Cost: O(q^3), once.
    """
    try:
        values, rotation = linalg.eigh(scatter.dense(), driver="evd", check_finite=False)
    except linalg.LinAlgError as error:
        raise AlignmentError(f"scatter matrix of order {scatter.order}: {error}") from error
    # A Gram matrix has no negative eigenvalue; what lies below zero is rounding.
    return DiagonalScatter(np.maximum(values, 0)), rotation


class LowRankPenalty:
    r"""The matrix :math:`B = V V^T + \rho I`.

    With the thin singular value decomposition :math:`V = U \Sigma R^T`,

    .. math:: B^{-1/2} = (I - U \mathrm{diag}(k) U^T) / \sqrt\rho, \qquad
              k_i = 1 - \sqrt{\rho / (\rho + \sigma_i^2)} .

    Parameters
    ----------
    V : ndarray of shape (q, k)
    ridge : float
        :math:`\rho > 0`.
    """

    def __init__(self, V, ridge):
        self.V, self.ridge = V, ridge
        self._left, sizes, _ = linalg.svd(V, full_matrices=False, check_finite=False)
        self._shrink = 1 - np.sqrt(ridge / (ridge + sizes**2))

    def __matmul__(self, v):
        return self.V @ (self.V.T @ v) + self.ridge * v

    def inverse_root(self, v):
        """B^(-1/2) v, for one vector or several columns."""
        along = self._left.T @ v
        along = self._shrink * along if v.ndim == 1 else self._shrink[:, None] * along
        return (v - self._left @ along) / np.sqrt(self.ridge)

    inverse_root_transposed = inverse_root

    @property
    def size(self):
        """Largest entry on the diagonal, the scale of the matrix."""
        return float(np.max(np.einsum("ij,ij->i", self.V, self.V), initial=0.0)) + self.ridge


class DensePenalty:
    """A positive definite matrix B without structure, by its Cholesky factor.

    Parameters
    ----------
    matrix : ndarray of shape (q, q)

    Raises
    ------
    AlignmentError
        If it is not positive definite in float64.
    """

    def __init__(self, matrix):
        self.matrix = matrix
        try:
            self._factor = linalg.cholesky(matrix, check_finite=False)
        except linalg.LinAlgError as error:
            raise AlignmentError(
                f"the penalty of order {len(matrix)} is not positive definite ({error}); give it "
                "more ridge, or standardise the features"
            ) from error

    def __matmul__(self, v):
        return self.matrix @ v

    def inverse_root(self, v):
        """R^(-1) v with B = R'R."""
        return linalg.solve_triangular(self._factor, v, check_finite=False)

    def inverse_root_transposed(self, v):
        """R^(-T) v."""
        return linalg.solve_triangular(self._factor, v, trans=1, check_finite=False)

    @property
    def size(self):
        """Largest entry on the diagonal, the scale of the matrix."""
        return float(self.matrix.diagonal().max())


def largest_components(scatter, penalty, n_components, name):
    r"""The directions of largest scatter per penalty.

    Parameters
    ----------
    scatter : Scatter, DiagonalScatter or any symmetric positive semi-definite matrix of this form
    penalty : LowRankPenalty or DensePenalty
    n_components : int
    name : str
        What is solved, for messages.

    Returns
    -------
    ratios : ndarray of shape (d,)
        :math:`\theta`, descending; d is less than asked for if fewer exceed 1e-10 of the first.
    directions : ndarray of shape (q, d)
        a with :math:`a^T B a = 1`.

    Raises
    ------
    AlignmentError
        If there is no scatter, Lanczos does not converge, or the residual check fails.

    Notes
    -----
    Lanczos takes a few products per component, O(q^2) with a formed scatter, O(q k) with a diagonal
    one and k columns of V. Up to 200 features, or for more than a quarter of the directions, a
    dense solver, O(q^3).
    """
    order = scatter.order
    n_pairs = min(n_components, order)

    def product(v):
        return penalty.inverse_root_transposed(scatter @ penalty.inverse_root(v))

    if order <= DENSE_ROWS or n_pairs > order // 4:
        dense = product(np.eye(order))
        values, vectors = symmetric_eigenpairs(-(dense + dense.T) / 2, n_pairs=n_pairs)
        values = -values
    else:
        operator = LinearOperator((order, order), matvec=product, matmat=product, dtype=float)
        values, vectors = lanczos(operator, n_pairs, name, which="LA")
        if count_above(scatter, penalty, values.min() * (1 - 1e-8)) != n_pairs:
            values, vectors = all_copies(operator, values, vectors, name)
        descending = np.argsort(-values, kind="stable")
        values, vectors = values[descending], vectors[:, descending]
    if not values[0] > 0:
        raise AlignmentError(f"{name}: there is no scatter; give samples that differ")
    kept = values > RANK_TOLERANCE * values[0]
    values, vectors = values[kept], vectors[:, kept]
    directions = penalty.inverse_root(vectors)
    check_components(scatter, penalty, values, directions, name)
    return values, directions


def count_above(scatter, penalty, level):
    r"""How many ratios exceed a level, where that costs next to nothing; None elsewhere.

    Lanczos may miss copies of a multiple eigenvalue, and this tells. With a diagonal scatter D and
    :math:`B = V V^T + \rho I`, eliminating either block of

    .. math:: \begin{pmatrix} D - \tau\rho I & \sqrt\tau V \\ \sqrt\tau V^T & I \end{pmatrix}

    leaves its inertia: the positive eigenvalues of :math:`D - \tau B` are those of
    :math:`D - \tau\rho I`, and of :math:`I - \tau V^T (D - \tau\rho I)^{-1} V`, less the columns
    of V.

    Parameters
    ----------
    scatter, penalty
        As for :func:`largest_components`.
    level : float
        :math:`\tau`.
    """
    if not (isinstance(scatter, DiagonalScatter) and isinstance(penalty, LowRankPenalty)):
        return None
    shifted = scatter.diagonal - level * penalty.ridge
    if not np.abs(shifted).min() > np.finfo(float).eps * scatter.diagonal.max():
        return None
    V = penalty.V
    small = np.eye(V.shape[1]) - level * (V.T @ (V / shifted[:, None]))
    positive = np.count_nonzero(linalg.eigvalsh(small, check_finite=False) > 0)
    return int(np.count_nonzero(shifted > 0) + positive - V.shape[1])


def check_components(scatter, penalty, ratios, directions, name):
    """Raise AlignmentError unless directions solve their eigenproblem; see check_residual."""
    scale = ratios[0] * penalty.size * np.abs(directions).max()
    residual = scatter @ directions - (penalty @ directions) * ratios
    check_residual(residual, scale, name)
