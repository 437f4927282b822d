r"""The eigenproblem of TCA, SSTCA and JDA: components of large scatter and small discrepancy.

All three look for directions a in features F (n samples of both domains, q features) that
maximise the scatter relative to a penalty of low rank plus a ridge:

.. math:: F^T H F\, a = \theta\, (V V^T + \rho I)\, a, \qquad H = I - 11^T / n

with the largest :math:`\theta`. V has one column per pair of means to be matched: one for TCA,
C + 1 for JDA. The right-hand matrix thus has an inverse square root in closed form, which leaves a
standard symmetric eigenproblem, solved by Lanczos.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._rows import centred_gram
from domain_alignment.utils._threads import threads_for
from domain_alignment.utils.eigen import (
    DENSE_ROWS,
    RANK_TOLERANCE,
    all_copies,
    check_residual,
    lanczos,
    symmetric_eigenpairs,
)

# Of LAPACK: columns of a block of reflections, and the numbers that their product takes.
_BLOCK, _BLOCK_PRODUCT = 64, 65 * 64


@dataclass(frozen=True)
class Scatter:
    r"""The symmetric matrix :math:`F^T H F`, formed or in factors, whichever is cheaper to apply.

    Attributes
    ----------
    features : ndarray of shape (n, q)
        F.
    matrix : ndarray of shape (q, q), or None
        The product; None when applying the factors is cheaper. Of it products read one half.
    symmetric : bool, default=False
        Whether the features are a symmetric matrix, of which products read one half.
    """

    features: np.ndarray
    matrix: np.ndarray | None
    symmetric: bool = False

    @classmethod
    def of(cls, features, symmetric=False):
        """Scatter of samples; formed unless q >= n, as with a kernel matrix."""
        n_samples, n_features = features.shape
        if n_features >= n_samples > DENSE_ROWS:
            return cls(features, None, symmetric)
        return cls(features, _formed(features))

    @property
    def order(self):
        """q."""
        return self.features.shape[1]

    def __matmul__(self, v):
        if self.matrix is not None:
            return _symmetric_product(self.matrix, v) if v.ndim == 1 else self.matrix @ v
        if self.symmetric and v.ndim == 1:
            scores = _symmetric_product(self.features, v)
            return _symmetric_product(self.features, scores - scores.mean())
        scores = self.features @ v
        return self.features.T @ (scores - scores.mean(axis=0))

    def dense(self):
        """The matrix itself."""
        return _formed(self.features) if self.matrix is None else self.matrix


def _formed(features):
    return centred_gram(features, features.mean(axis=0), by_samples=False)


def _symmetric_product(matrix, v):
    # The transpose is in Fortran order, so BLAS takes it without a copy.
    return linalg.blas.dsymv(1.0, matrix.T, v)


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

    @property
    def eigenvalues(self):
        """In any order."""
        return self.diagonal

    def solve_shifted(self, shift, V):
        """(D - shift I)^(-1) V."""
        return V / (self.diagonal - shift)[:, None]


@dataclass(frozen=True)
class TridiagonalScatter:
    """Scatter in coordinates where it is tridiagonal.

    Attributes
    ----------
    diagonal : ndarray of shape (q,)
    beside : ndarray of shape (q - 1,)
        Entries next to the diagonal.
    """

    diagonal: np.ndarray
    beside: np.ndarray

    @property
    def order(self):
        """q."""
        return self.diagonal.size

    def __matmul__(self, v):
        diagonal, beside = self.diagonal, self.beside
        if v.ndim > 1:
            diagonal, beside = diagonal[:, None], beside[:, None]
        product = diagonal * v
        product[1:] += beside * v[:-1]
        product[:-1] += beside * v[1:]
        return product

    def dense(self):
        """The matrix itself."""
        return np.diag(self.diagonal) + np.diag(self.beside, 1) + np.diag(self.beside, -1)

    @cached_property
    def eigenvalues(self):
        """Ascending; O(q^2)."""
        try:
            return linalg.eigvalsh_tridiagonal(self.diagonal, self.beside, check_finite=False)
        except linalg.LinAlgError as error:
            raise AlignmentError(f"scatter matrix of order {self.order}: {error}") from error

    def solve_shifted(self, shift, V):
        """(D - shift I)^(-1) V, by elimination with pivots."""
        return linalg.lapack.dgtsv(self.beside, self.diagonal - shift, self.beside, V)[3]


@dataclass(frozen=True)
class Reflections:
    """The orthogonal matrix that made a symmetric one tridiagonal, as its Householder reflections.

    Attributes
    ----------
    vectors : ndarray of shape (q - 1, q - 1)
        Below the diagonal, as LAPACK leaves them; the first coordinate stays what it is.
    factors : ndarray of shape (q - 1,)
    transposed : bool, default=False
    """

    vectors: np.ndarray
    factors: np.ndarray
    transposed: bool = False

    def transpose(self):
        """The inverse."""
        return replace(self, transposed=not self.transposed)

    def __matmul__(self, v):
        """Product with a matrix of columns, in the time of a dense one."""
        product = np.array(v, order="F")
        product[1:] = linalg.lapack.dormqr(
            "L",
            "T" if self.transposed else "N",
            self.vectors,
            self.factors,
            product[1:],
            lwork=_BLOCK * v.shape[1] + _BLOCK_PRODUCT,
        )[0]
        return product


def simplified(scatter):
    """A scatter in coordinates where a matrix-vector product is O(q).

    Worthwhile for many problems with the same scatter. Beyond the orders that a dense solver takes
    it is made tridiagonal: to find its eigenvectors as well takes some three times as long. The
    coordinates are not checked here; check solutions against the scatter itself by
    :func:`check_components`.

    Parameters
    ----------
    scatter : Scatter

    Returns
    -------
    simple : DiagonalScatter or TridiagonalScatter
    rotation : ndarray of shape (q, q), or Reflections
        From these coordinates to the features.

    Raises
    ------
    AlignmentError
        If the eigensolver fails.

    Notes
    -----
    Cost: O(q^3).
    """
    return diagonalised(scatter) if scatter.order <= DENSE_ROWS else tridiagonalised(scatter)


def tridiagonalised(scatter):
    """A scatter in coordinates where it is tridiagonal, and the reflections from there.

    Cost: O(q^3): 4/3 q^3 multiplications, half of them in products of a matrix and a vector.
    """
    order = scatter.order
    dense = scatter.dense()
    with threads_for(order):
        # Symmetric, so the transpose is the same matrix in the order that LAPACK takes.
        reduced, diagonal, beside, factors, _ = linalg.lapack.dsytrd(
            dense.T, lower=True, lwork=_BLOCK * order, overwrite_a=scatter.matrix is None
        )
    vectors = np.asfortranarray(reduced[1:, :-1])
    return TridiagonalScatter(diagonal, beside), Reflections(vectors, factors)


def diagonalised(scatter):
    """A scatter in its eigenbasis, and the rotation from there, as by :func:`simplified`."""
    try:
        dense = scatter.dense()
        with threads_for(scatter.order):
            values, rotation = linalg.eigh(dense, driver="evd", check_finite=False)
    except linalg.LinAlgError as error:
        raise AlignmentError(f"scatter matrix of order {scatter.order}: {error}") from error
    # Eigenvalues of a Gram matrix are negative only by rounding.
    return DiagonalScatter(np.maximum(values, 0)), rotation


class LowRankPenalty:
    r"""The matrix :math:`B = V V^T + \rho I`. With the thin SVD :math:`V = U \Sigma R^T`,

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
        """B^(-1/2) v for a vector or a matrix of columns."""
        along = self._left.T @ v
        along = self._shrink * along if v.ndim == 1 else self._shrink[:, None] * along
        return (v - self._left @ along) / np.sqrt(self.ridge)

    inverse_root_transposed = inverse_root

    @property
    def size(self):
        """Largest entry on the diagonal, the scale of the matrix."""
        return float(np.max(np.einsum("ij,ij->i", self.V, self.V), initial=0.0)) + self.ridge


class DensePenalty:
    """A dense positive definite matrix B, factorised by Cholesky.

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
                f"the penalty of order {len(matrix)} is not positive definite ({error}); increase "
                "the ridge, or standardise the features"
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
    r"""Directions of largest ratio of scatter to penalty.

    Parameters
    ----------
    scatter : Scatter, of :func:`simplified`, or any positive semi-definite operator of such form
    penalty : LowRankPenalty or DensePenalty
    n_components : int
    name : str
        Name of the problem in messages.

    Returns
    -------
    ratios : ndarray of shape (d,)
        :math:`\theta`, descending; d < `n_components` if fewer exceed 1e-10 of the first.
    directions : ndarray of shape (q, d)
        a with :math:`a^T B a = 1`.

    Raises
    ------
    AlignmentError
        If there is no scatter, Lanczos does not converge, or the residual check fails.

    Notes
    -----
    Lanczos takes some five to ten products per component: O(q^2) for a formed scatter, O(q k) for a
    simplified one and k columns of V. Up to 200 features, or for more than q / 4 components, a
    dense solver is used, O(q^3).
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
        with threads_for(order):
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
    r"""Number of ratios above a level, where that is cheap to count; otherwise None.

    Detects multiple eigenvalues whose multiplicity Lanczos missed. For a simplified scatter D and
    :math:`B = V V^T + \rho I`, eliminating either block of

    .. math:: \begin{pmatrix} D - \tau\rho I & \sqrt\tau V \\ \sqrt\tau V^T & I \end{pmatrix}

    preserves its inertia: the number of positive eigenvalues of :math:`D - \tau B` is that of
    :math:`D - \tau\rho I` plus that of :math:`I - \tau V^T (D - \tau\rho I)^{-1} V` minus the
    number of columns of V.

    Parameters
    ----------
    scatter, penalty
        As for :func:`largest_components`.
    level : float
        :math:`\tau`.
    """
    simple = isinstance(scatter, DiagonalScatter | TridiagonalScatter)
    if not (simple and isinstance(penalty, LowRankPenalty)):
        return None
    shift, values, V = level * penalty.ridge, scatter.eigenvalues, penalty.V
    shifted = values - shift
    # To rounding, a tridiagonal matrix has its computed eigenvalues.
    if not np.abs(shifted).min() > scatter.order * np.finfo(float).eps * values.max():
        return None
    small = np.eye(V.shape[1]) - level * (V.T @ scatter.solve_shifted(shift, V))
    positive = np.count_nonzero(linalg.eigvalsh(small, check_finite=False) > 0)
    return int(np.count_nonzero(shifted > 0) + positive - V.shape[1])


def check_components(scatter, penalty, ratios, directions, name):
    """Raise AlignmentError unless the eigenpairs pass :func:`check_residual`."""
    scale = ratios[0] * penalty.size * np.abs(directions).max()
    residual = scatter @ directions - (penalty @ directions) * ratios
    check_residual(residual, scale, name)
