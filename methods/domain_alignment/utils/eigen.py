"""Symmetric eigenproblems with a stated rank rule, sign rule and residual check."""

import inspect

import numpy as np
from scipy import linalg
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from domain_alignment.exceptions import AlignmentError

# Eigenvalues below this share of the largest count as zero. Rounding leaves an eigenvalue of a
# p x p Gram matrix wrong by about p * 1e-16 of the largest, so real directions start well above.
RANK_TOLERANCE = 1e-10

# Largest residual |A v - B v l| of an accepted eigenpair, relative to the largest entry it is
# made of. Solvers that worked leave about 1e-14.
RESIDUAL_TOLERANCE = 1e-8

# Up to this many rows a dense solver is as fast as Lanczos, and it cannot miss an eigenvalue.
DENSE_ROWS = 200


def fix_signs(vectors):
    """Signs (+1 or -1, one per column) that make each column's largest entry in magnitude positive.

    Entries within 1e-6 of the largest count as equal, and the first of them decides, so that
    rounding does not. Such a tie is the one case in which reordering rows can flip a column, and no
    rule could prevent it: reordering turns (1, -1) into its own negative.

    Examples
    --------
    >>> fix_signs(np.array([[1.0, 0.5], [-2.0, 0.1]]))
    array([-1.,  1.])
    """
    highest, lowest = vectors.max(axis=0), -vectors.min(axis=0)
    signs = np.where(lowest > highest, -1.0, 1.0)
    largest = np.maximum(highest, lowest)
    for column in np.flatnonzero(np.minimum(highest, lowest) >= (1 - 1e-6) * largest):
        values = vectors[:, column]
        first = np.argmax(np.abs(values) >= (1 - 1e-6) * largest[column])
        signs[column] = -1.0 if values[first] < 0 else 1.0
    return signs


def check_residual(residual, scale, problem):
    """Raise AlignmentError if a column of A v - B v l exceeds the tolerance, or is not finite.

    Parameters
    ----------
    residual : ndarray of shape (n, k)
    scale : float
        Size of A, to which the residual is relative.
    problem : str
        What was solved, for the message.
    """
    worst = np.sqrt(np.max(np.einsum("ij,ij->j", residual, residual), initial=0.0))
    # Written so that NaN fails too.
    if not worst <= RESIDUAL_TOLERANCE * max(scale, np.finfo(float).tiny):
        raise AlignmentError(
            f"{problem}: eigenvectors leave a residual of {worst:.1e} against a matrix of size "
            f"{scale:.1e}; the input is too badly scaled (standardise the features)"
        )


def symmetric_eigenpairs(A, B=None, *, n_pairs=None):
    r"""The smallest eigenpairs of a dense problem :math:`A v = \lambda v` or :math:`\lambda B v`.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric.
    B : ndarray of shape (n, n), optional
        Symmetric and positive definite; reduce a singular one by :func:`whitening`.
    n_pairs : int, optional
        How many; all by default.

    Returns
    -------
    eigenvalues : ndarray of shape (n_pairs,)
        Ascending.
    eigenvectors : ndarray of shape (n, n_pairs)
        :math:`V^T B V = I`.

    Raises
    ------
    AlignmentError
        If the residual check fails or `B` is not positive definite.

    Notes
    -----
    Cost: O(n^3) time, O(n^2) memory.
    """
    subset = None if n_pairs is None or n_pairs == len(A) else (0, n_pairs - 1)
    try:
        values, vectors = linalg.eigh(A, B, subset_by_index=subset, check_finite=False)
    except linalg.LinAlgError as error:
        raise AlignmentError(f"dense symmetric eigenproblem of order {len(A)}: {error}") from error
    right = vectors if B is None else B @ vectors
    scale = max(np.abs(A).max(initial=0.0), np.abs(values).max(initial=0.0))
    scale *= max(1.0, np.abs(vectors).max(initial=0.0))
    check_residual(A @ vectors - right * values, scale, "dense symmetric eigenproblem")
    return values, vectors


def range_eigenpairs(gram, name="X"):
    """Eigenpairs of the Gram matrix of some features that count as nonzero.

    The rank rule: those above ``RANK_TOLERANCE`` of the largest.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Positive semi-definite.
    name : str, default="X"
        What messages call the features.

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
        raise AlignmentError(f"{name}: all features are zero; give others, or drop the domain")
    kept = values > RANK_TOLERANCE * values[-1]
    return values[kept], vectors[:, kept]


class InverseRoot:
    r"""An inverse square root T of the Gram matrix of some features, :math:`T^T G T = I`.

    Where G has full rank beyond doubt :math:`T = R^{-1}`, with the Cholesky factor of
    :math:`G = R^T R`; otherwise :math:`T = V S^{-1/2}` by :func:`range_eigenpairs`. All T with the
    same range are equal up to a rotation.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Positive semi-definite. Features that are zero, such as scaled constants, are left out:
        their rows of T are zero.
    name : str, default="X"
        What messages call the features.

    Attributes
    ----------
    rank : int
        Number of columns r of T.

    Raises
    ------
    AlignmentError
        If the matrix is zero.

    Notes
    -----
    Cost: p^3 / 3 multiplications where Cholesky will do, else O(p^3) for the eigendecomposition,
    about thirty times as much; O(p^2) per vector that T is applied to.

    With either root :math:`T^T G T` is the identity up to rounding times the condition number of
    G, which the rank rule keeps below 1e10.

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
        # Where a dense solver is fast, it may decide on the rank.
        self._factor = _certain_cholesky(gram) if len(gram) > DENSE_ROWS else None
        self._dense = None
        if self._factor is None:
            if not self._used.size:
                gram = np.zeros((1, 1))
            values, vectors = range_eigenpairs(gram, name)
            self._dense = vectors / np.sqrt(values)
        self.rank = self._used.size if self._dense is None else self._dense.shape[1]

    def apply(self, v):
        """T v, for one vector or several columns."""
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


def _certain_cholesky(gram):
    """The upper triangular R of R'R = gram, or None where the rank rule might leave out some.

    That a factorisation succeeds says nothing of the rank; two short Lanczos runs find the extreme
    eigenvalues to within one per cent.
    """
    try:
        factor = np.asfortranarray(linalg.cholesky(gram, check_finite=False))
    except linalg.LinAlgError:
        return None
    extreme = {"n_pairs": 1, "problem": "Gram matrix of the features", "which": "LA", "tol": 1e-2}
    inverse = LinearOperator(
        gram.shape, lambda v: _solve(factor, _solve(factor, v.ravel(), trans=1)), dtype=float
    )
    largest, inverse_of_smallest = (lanczos(A, **extreme)[0][0] for A in (gram, inverse))
    # Written so that NaN fails too.
    clear = 2 * RANK_TOLERANCE * largest * inverse_of_smallest < 1
    return factor if clear else None


def _solve(factor, v, trans=0):
    if v.ndim == 1:
        return linalg.blas.dtrsv(factor, v, trans=trans)  # without the checks of solve_triangular
    return linalg.solve_triangular(factor, v, trans=trans, check_finite=False)


def laplacian_eigenpairs(similarity, n_pairs):
    r"""The smallest eigenpairs of the normalised Laplacian :math:`I - S`.

    Parameters
    ----------
    similarity : CSR array of shape (n, n)
        :math:`S = D^{-1/2} W D^{-1/2}` of a graph with non-negative weights.
    n_pairs : int
        At most n.

    Returns
    -------
    eigenvalues : ndarray of shape (n_pairs,)
        Ascending, from 0 (once per connected component) to at most 2.
    eigenvectors : ndarray of shape (n, n_pairs)
        Orthonormal; the sign is that of :func:`fix_signs`.

    Raises
    ------
    AlignmentError
        If Lanczos does not converge, or the residual check fails.

    Notes
    -----
    Lanczos (ARPACK) on S for its largest eigenvalues, to machine precision; a dense solver for up
    to 200 rows or when more than a quarter of the pairs is wanted. Cost: about O(nnz(S) m) time for
    m Lanczos steps, a few times `n_pairs`, or O(n^3) dense; O(n n_pairs) memory, or O(n^2) dense.

    *Connected components* are solved one by one. The eigenvalue 0 has the multiplicity of their
    number, and a Lanczos iteration sees one vector of an eigenspace; within a component it is
    simple.

    *Start vector.* It decides nothing once the iteration has converged, except which eigenvectors
    can be found at all: those it is orthogonal to cannot. The constant and :math:`D^{1/2} 1` are of
    no use, being an eigenvector. Any other vector computed from the graph alone is equal on samples
    that a symmetry of the graph exchanges, hence orthogonal to all eigenvectors that change sign
    under it. So it is a fixed pseudo-random vector in the order of the rows; reordering samples
    reorders the answer up to rounding because the iteration is run to machine precision, and except
    where a multiple eigenvalue is cut: of more components than `n_pairs`, the first are taken.
    """
    n_parts, part = connected_components(similarity, directed=False)
    if n_parts == 1:
        values, vectors = _connected_eigenpairs(similarity, n_pairs)
    else:
        values, vectors = _merged_eigenpairs(similarity, n_parts, part, n_pairs)
    check_residual(vectors - similarity @ vectors - vectors * values, 1.0, "graph Laplacian")
    # The Laplacian is positive semi-definite: what lies below zero is rounding.
    return np.maximum(values, 0), vectors * fix_signs(vectors)


def _merged_eigenpairs(similarity, n_parts, part, n_pairs):
    found = []
    for rows in (np.flatnonzero(part == number) for number in range(n_parts)):
        block = similarity[rows][:, rows]
        values, vectors = _connected_eigenpairs(block, min(n_pairs, rows.size))
        found += [(value, rows, vector) for value, vector in zip(values, vectors.T, strict=True)]
    found.sort(key=lambda pair: pair[0])
    merged = np.zeros((similarity.shape[0], n_pairs))
    for column, (_, rows, vector) in enumerate(found[:n_pairs]):
        merged[rows, column] = vector
    return np.array([value for value, _, _ in found[:n_pairs]]), merged


def _connected_eigenpairs(similarity, n_pairs):
    n_rows = similarity.shape[0]
    if n_rows <= DENSE_ROWS or n_pairs > n_rows // 4:
        return symmetric_eigenpairs(np.eye(n_rows) - similarity.toarray(), n_pairs=n_pairs)
    problem = f"graph Laplacian of {n_rows} samples"
    values, vectors = lanczos(similarity, n_pairs, problem, which="LA")
    order = np.argsort(-values, kind="stable")
    return 1 - values[order], vectors[:, order]


def all_copies(operator, values, vectors, problem):
    """Complete the largest eigenpairs from Lanczos by further copies of multiple eigenvalues.

    A Lanczos iteration sees one vector of an eigenspace, and finds the others by rounding if at
    all. Here it is repeated on the operator without what was found, until nothing larger is left.

    Parameters
    ----------
    operator : LinearOperator of shape (n, n)
    values : ndarray of shape (n_pairs,)
    vectors : ndarray of shape (n, n_pairs)
        What :func:`lanczos` found.
    problem : str
        What is solved, for the message.

    Returns
    -------
    values, vectors : ndarrays
        As many, orthonormal.
    """
    scale = np.abs(values).max()
    while True:

        def remaining(v, values=values, vectors=vectors):
            # What was found is moved from its eigenvalue to far below the others.
            return operator @ v - vectors @ ((values + 2 * scale) * (vectors.T @ v))

        deflated = LinearOperator(operator.shape, remaining, dtype=float)
        rough = lanczos(deflated, 1, problem, which="LA", tol=1e-4)[0]
        if rough[0] <= values.min() + 1e-9 * scale:
            return values, vectors
        value, vector = lanczos(deflated, 1, problem, which="LA")
        least = values.argmin()
        values, vectors = values.copy(), vectors.copy()
        values[least], vectors[:, least] = value[0], vector[:, 0]


def lanczos(operator, n_pairs, problem, **options):
    """Eigenpairs by ARPACK, to machine precision unless told otherwise, always from the same start.

    Parameters
    ----------
    operator : sparse array or LinearOperator of shape (n, n)
    n_pairs : int
    problem : str
        What is solved, for the message.
    options : dict
        Further arguments of :func:`scipy.sparse.linalg.eigsh`.

    Raises
    ------
    AlignmentError
        If the iteration does not converge.
    """
    n_rows = operator.shape[0]
    start = np.random.RandomState(0).uniform(-1, 1, n_rows)
    # After a breakdown ARPACK draws a new vector: since SciPy 1.17 from here, before from a fixed
    # seed of its own.
    if "rng" in inspect.signature(eigsh).parameters:
        options["rng"] = np.random.default_rng(0)
    try:
        return eigsh(operator, n_pairs, v0=start, **{"tol": 0, **options})
    except ArpackNoConvergence as error:
        raise AlignmentError(
            f"{problem}: Lanczos found {len(error.eigenvalues)} of {n_pairs} eigenvectors; "
            "ask for fewer components or raise n_neighbors"
        ) from error
