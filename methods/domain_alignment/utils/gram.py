"""Factors and inverse roots of Gram matrices: what is 1e-10 of the largest counts as zero.

The largest eigenvalue; with pivots, which know none, the largest entry of the diagonal.
"""

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils.eigen import (
    DENSE_ROWS,
    RANK_TOLERANCE,
    lanczos,
    symmetric_eigenpairs,
)

_ALL_ZERO = "{}: all features are zero; give others, or drop the domain"


def definite_factor(gram):
    """Cholesky factor R of a Gram matrix R'R, upper; None unless it surely has full rank.

    Surely: by the rule of :func:`range_eigenpairs` with a margin of 2, as the smallest and the
    largest eigenvalue are estimated to a hundredth (Lanczos, with the factor for the smallest).
    Cost: O(n^3 / 3), and O(n^2) for each of some tens of steps.

    Examples
    --------
    >>> definite_factor(np.diag([4.0, 1.0, 9.0]))
    array([[2., 0., 0.],
           [0., 1., 0.],
           [0., 0., 3.]])
    >>> definite_factor(np.diag([4.0, 1e-12, 1.0])) is None
    True
    """
    rough = {"problem": "condition", "which": "LA", "tol": 1e-2}
    try:
        factor = np.asfortranarray(linalg.cholesky(gram, check_finite=False))
        inverse = LinearOperator(gram.shape, lambda v: _inverse_times(factor, v), dtype=float)
        largest, inverse_smallest = (lanczos(A, 1, **rough)[0][0] for A in (gram, inverse))
    except (linalg.LinAlgError, AlignmentError):  # not definite, or Lanczos found no end
        return None
    # Written so that NaN fails too.
    return factor if 2 * RANK_TOLERANCE * largest * inverse_smallest < 1 else None


def _inverse_times(factor, v):
    return _solve(factor, _solve(factor, v.ravel(), trans=1))


def pivoted_factor(gram, name="X"):
    r"""Factor of a Gram matrix by Cholesky with pivots, :math:`G = C C^T` of full column rank.

    Pivots, which are what the columns so far leave of the diagonal, end where they are below
    ``RANK_TOLERANCE`` of the largest entry.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Positive semi-definite; overwritten.
    name : str, default="X"
        Name of the features in messages.

    Returns
    -------
    factor : ndarray of shape (p, r)
        C.
    pivots : ndarray of int of shape (r,)
        Rows that are lower triangular in C.

    Raises
    ------
    AlignmentError
        If the matrix is zero.

    Notes
    -----
    Cost: O(p r^2), a tenth to a thirtieth of an eigendecomposition.

    Examples
    --------
    >>> factor, pivots = pivoted_factor(np.diag([4.0, 1e-12, 9.0]))
    >>> factor
    array([[0., 2.],
           [0., 0.],
           [3., 0.]])
    >>> pivots
    array([2, 0])
    """
    largest = gram.diagonal().max()
    if not largest > 0:
        raise AlignmentError(_ALL_ZERO.format(name))
    # Symmetric, so the transpose is the same matrix in the order that LAPACK takes.
    lower, order, rank, _ = linalg.lapack.dpstrf(
        gram.T, tol=RANK_TOLERANCE * largest, lower=True, overwrite_a=True
    )
    factor = np.empty((len(gram), rank))
    factor[order - 1] = np.tril(lower[:, :rank])
    return factor, order[:rank].astype(np.intp) - 1


def range_eigenpairs(gram, name="X"):
    """Eigenpairs of a Gram matrix above ``RANK_TOLERANCE`` of the largest: the rank rule.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Positive semi-definite.
    name : str, default="X"
        Name of the features in messages.

    Returns
    -------
    eigenvalues : ndarray of shape (r,)
        Ascending.
    eigenvectors : ndarray of shape (p, r)

    Raises
    ------
    AlignmentError
        If the matrix is zero.

    Examples
    --------
    >>> range_eigenpairs(np.diag([4.0, 1e-12, 0.0]))[0]
    array([4.])
    """
    values, vectors = symmetric_eigenpairs(gram)
    if values[-1] <= 0:
        raise AlignmentError(_ALL_ZERO.format(name))
    kept = values > RANK_TOLERANCE * values[-1]
    return values[kept], vectors[:, kept]


class InverseRoot:
    r"""Inverse square root T of a Gram matrix G, :math:`T^T G T = I`.

    If G certainly has full rank :math:`T = R^{-1}`, with the Cholesky factor of :math:`G = R^T R`;
    otherwise :math:`T = V S^{-1/2}` by :func:`range_eigenpairs`. T is unique up to a rotation.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Positive semi-definite. Zero features, such as centred constants, give zero rows of T.
    name : str, default="X"
        Name of the features in messages.

    Attributes
    ----------
    rank : int
        Number of columns of T.

    Raises
    ------
    AlignmentError
        If the matrix is zero.

    Notes
    -----
    Cost: p^3 / 3 multiplications by Cholesky, about thirty times as much by eigendecomposition;
    O(p^2) per vector that T is applied to. :math:`T^T G T` is the identity up to rounding times the
    condition number of G, below 1e10 by the rank rule.

    Examples
    --------
    >>> T = InverseRoot(np.diag([4.0, 0.0, 1.0]))
    >>> T.rank
    2
    >>> abs(T.apply(np.eye(2)).T @ np.diag([4.0, 0.0, 1.0]) @ T.apply(np.eye(2)))
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, gram, name="X"):
        self._size = len(gram)
        self._used = np.flatnonzero(gram.diagonal())
        if self._used.size < self._size:
            gram = gram[np.ix_(self._used, self._used)]
        # Small matrices go straight to the eigendecomposition, which decides the rank.
        self._factor = definite_factor(gram) if len(gram) > DENSE_ROWS else None
        self._dense = None
        if self._factor is None:
            if not self._used.size:
                gram = np.zeros((1, 1))
            values, vectors = range_eigenpairs(gram, name)
            self._dense = vectors / np.sqrt(values)
        self.rank = self._used.size if self._dense is None else self._dense.shape[1]

    def apply(self, v):
        """T v for a vector or a matrix of columns."""
        inner = self._dense @ v if self._factor is None else _solve(self._factor, v)
        if self._used.size == self._size:
            return inner
        outer = np.zeros((self._size, *inner.shape[1:]))
        outer[self._used] = inner
        return outer

    def apply_transposed(self, v):
        """T' v."""
        v = v if self._used.size == self._size else v[self._used]
        return self._dense.T @ v if self._factor is None else _solve(self._factor, v, trans=1)


def _solve(factor, v, trans=0):
    if v.ndim == 1:
        return linalg.blas.dtrsv(factor, v, trans=trans)  # skips the checks of solve_triangular
    return linalg.solve_triangular(factor, v, trans=trans, check_finite=False)
