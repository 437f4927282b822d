"""Symmetric eigenproblems with a stated rank rule, sign rule and residual check."""

import inspect

import numpy as np
from scipy import linalg
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from domain_alignment.base import AlignmentError

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


def triangular_root(gram):
    r"""The Cholesky factor R of :math:`R^T R = G`, if G has full rank beyond doubt.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Positive semi-definite.

    Returns
    -------
    root : ndarray of shape (p, p) or None
        Upper triangular, in Fortran's order. None if an eigenvalue is below twice
        ``RANK_TOLERANCE`` of the largest: :func:`range_eigenpairs` then decides.

    Notes
    -----
    Cost: O(p^3 / 3) time, about a thirtieth of an eigendecomposition, and two short Lanczos runs
    for the extreme eigenvalues, since a factorisation that succeeds says nothing of the rank.

    Examples
    --------
    >>> triangular_root(np.diag([4.0, 9.0]))
    array([[2., 0.],
           [0., 3.]])
    >>> triangular_root(np.ones((2, 2)) + 1e-12 * np.eye(2)) is None
    True
    """
    try:
        root = np.asfortranarray(linalg.cholesky(gram, check_finite=False))
    except linalg.LinAlgError:
        return None
    if not np.diagonal(root).all():
        return None
    largest = _largest_eigenvalue(gram)
    inverse = LinearOperator(gram.shape, lambda v: solve_root(root, solve_root(root, v, 1)), dtype=float)
    smallest = 1 / _largest_eigenvalue(inverse)
    # Both are within one per cent. Written so that NaN fails too.
    return root if smallest > 2 * RANK_TOLERANCE * largest else None


def solve_root(root, v, transposed=0):
    """Solve R x = v, or R' x = v, for a vector; R as from :func:`triangular_root`."""
    return linalg.blas.dtrsv(root, v, trans=transposed)


def _largest_eigenvalue(operator):
    if operator.shape[0] < 3:  # fewer than ARPACK takes
        return linalg.eigvalsh(operator @ np.eye(operator.shape[0]))[-1]
    return lanczos(operator, 1, "extreme eigenvalue", which="LA", tol=1e-2)[0][0]


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
    reorders the answer up to rounding because the iteration is run to machine precision.
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
        own = similarity[rows][:, rows]
        values, vectors = _connected_eigenpairs(own, min(n_pairs, rows.size))
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
