"""Symmetric eigenproblems with a common rank rule, sign convention and residual check."""

import inspect
from contextlib import suppress
from itertools import count

import numpy as np
from scipy import linalg
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._dense_eigen import dense_eigenpairs

# Eigenvalues below this share of the largest count as zero: well above the rounding error of a
# p x p Gram matrix, about p * 1e-16 of the largest.
RANK_TOLERANCE = 1e-10

# Largest residual |A v - B v l| of an accepted eigenpair, relative to the scale of A. Typical
# residuals are about 1e-14.
RESIDUAL_TOLERANCE = 1e-8

# The residuals of more pairs are checked through this many sums of theirs with random signs.
RESIDUAL_PROBES = 16

# Up to this order a dense solver is as fast as Lanczos, and it resolves multiple eigenvalues.
DENSE_ROWS = 200

# Up to this order the largest pairs of a dense matrix cost less by a dense solver that finds no
# others, and above it if more than one in so many is asked for. At 2000 twenty pairs of a flat
# spectrum take 0.55 s by Lanczos, of one that decays 0.14, and by the dense solver 0.67; a
# hundred of a flat one 1.3 s, of one that decays 0.42, and 0.75 (on one thread).
_LANCZOS_ROWS, _LANCZOS_SHARE = 1000, 20

# Up to this order (200 MB) the pairs that Lanczos does not find are those of a dense solver.
FORMED_ROWS = 5000

# Eigenvalues from Lanczos that differ by a smaller share of the largest are taken for copies of
# one: their rounding errors are about 1e-14.
_REPEATED = 1e-10


def fix_signs(vectors):
    """Signs (+1 or -1, one per column) that make each column's largest entry in magnitude positive.

    Entries within 1e-6 of the largest count as ties, decided by the first and not by rounding. Only
    in a tie can reordering rows flip a column, which is unavoidable: it turns (1, -1) into its
    negative.

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
        Scale of A, to which the residual is relative.
    problem : str
        Name of the problem in messages.
    """
    worst = _relative(residual, scale)
    # Written so that NaN fails too.
    if not worst <= RESIDUAL_TOLERANCE:
        raise AlignmentError(
            f"{problem}: eigenvectors leave a residual of {worst:.1e} times the scale of the "
            f"matrix, {scale:.1e}; the input is badly scaled, standardise the features"
        )


def _relative(residual, scale):
    """Norm of the largest column, relative to a scale."""
    # Divided before it is squared: the squares of numbers beyond 1e154 are infinite.
    residual = residual / max(scale, np.finfo(float).tiny)
    return np.sqrt(np.max(np.einsum("ij,ij->j", residual, residual), initial=0.0))


def symmetric_eigenpairs(A, B=None, *, n_pairs=None):
    r"""Smallest eigenpairs of a dense problem :math:`A v = \lambda v` or :math:`\lambda B v`.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric.
    B : ndarray of shape (n, n), optional
        Symmetric positive definite.
    n_pairs : int, optional
        Number of pairs; all by default.

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
    Cost: O(n^3) time, O(n^2) memory. The residuals of more than 16 pairs are checked through 16
    sums of theirs with random signs, O(n^2).
    """
    try:
        values, vectors = dense_eigenpairs(A, B, last=n_pairs)
    except linalg.LinAlgError as error:
        raise AlignmentError(f"dense symmetric eigenproblem of order {len(A)}: {error}") from error
    scale = max(_largest_magnitude(A), _largest_magnitude(values))
    scale *= max(1.0, _largest_magnitude(vectors))
    if values.size > RESIDUAL_PROBES:
        sums = _probed_residual(A, B, values, vectors)
        if _relative(sums, scale) <= RESIDUAL_TOLERANCE:
            return values, vectors
        # A sum's norm is that of all residuals, so a large one need not mean that one of them is.
    residual = _residual(A, B, vectors, vectors * values)
    check_residual(residual, scale, "dense symmetric eigenproblem")
    return values, vectors


def largest_eigenpairs(gram, n_pairs, problem):
    """Largest eigenpairs of a dense Gram matrix, each eigenvalue as often as it occurs.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Positive semi-definite up to rounding.
    n_pairs : int
        At most n.
    problem : str
        Name of the problem in messages.

    Returns
    -------
    eigenvalues : ndarray of shape (n_pairs,)
        Descending.
    eigenvectors : ndarray of shape (n, n_pairs)
        Orthonormal.

    Raises
    ------
    AlignmentError
        If the residual check fails, or Lanczos does not converge.

    Notes
    -----
    Cost: O(n^3) time by a dense solver; above order 1000, of at most a twentieth of the pairs,
    O(n^2) per step of Lanczos, some five to ten for each pair.

    Examples
    --------
    >>> largest_eigenpairs(np.diag([4.0, 1.0, 9.0]), 2, "toy")[0]
    array([9., 4.])
    """
    scale = np.trace(gram)
    # Lanczos on products so small that they are rounded to zero would break down.
    usual = np.finfo(float).tiny < scale < np.inf
    if not (usual and takes_lanczos(len(gram), n_pairs)):
        values, vectors = symmetric_eigenpairs(-gram, n_pairs=n_pairs)
        return -values, vectors
    # Half of the matrix is read; its transpose is in Fortran order, which BLAS takes uncopied.
    operator = LinearOperator(
        gram.shape,
        matvec=lambda v: linalg.blas.dsymv(1 / scale, gram.T, v),
        matmat=lambda V: gram @ V / scale,
        dtype=float,
    )
    values, vectors = lanczos_with_copies(operator, n_pairs, problem)
    return values * scale, vectors


def lanczos_with_copies(operator, n_pairs, problem, tol=1e-4):
    """Largest eigenpairs by Lanczos, each eigenvalue as often as it occurs, descending.

    Parameters
    ----------
    operator, n_pairs, problem
        As for :func:`lanczos`; the operator is symmetric and multiplies several vectors too.
    tol
        As for :func:`all_copies`.

    Returns
    -------
    eigenvalues : ndarray of shape (n_pairs,)
    eigenvectors : ndarray of shape (n, n_pairs)
        Orthonormal.

    Raises
    ------
    AlignmentError
        If the residual check fails, or the iteration does not converge.

    Notes
    -----
    Cost: a product of the operator per step, some five to ten for each pair.
    """
    found = lanczos(operator, n_pairs, problem, which="LA")
    values, vectors = all_copies(operator, *found, problem, tol)
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    check_residual(operator @ vectors - vectors * values, np.abs(values).max(), problem)
    return values, vectors


def takes_lanczos(order, n_pairs):
    """Whether so few of the pairs of a dense matrix are asked for that Lanczos is faster."""
    return order > _LANCZOS_ROWS and n_pairs * _LANCZOS_SHARE <= order


def _largest_magnitude(array):
    return max(array.max(initial=0.0), -array.min(initial=0.0))


def _probed_residual(A, B, values, vectors):
    r"""Sums :math:`R\,\omega` of the columns of :math:`R = A V - B V \Lambda`.

    Freivalds' check of a product, O(n^2) per sum in place of the O(n^3) of R: of random signs
    :math:`\omega`, the squared norm of a sum is in the mean that of all of R, and a single wrong
    column appears in every sum in full. Wrong columns that cancel each other in one sum do so in
    all with probability :math:`2^{-16}`.
    """
    signs = probes(values.size)
    return _residual(A, B, vectors @ signs, vectors @ (values[:, None] * signs))


def probes(order):
    """Vectors by which a product of matrices of an order is checked: random signs, or a basis."""
    if order <= RESIDUAL_PROBES:
        return np.eye(order)
    return np.random.default_rng(0).choice([-1.0, 1.0], size=(order, RESIDUAL_PROBES))


def _residual(A, B, left, right):
    return A @ left - (right if B is None else B @ right)


def laplacian_eigenpairs(similarity, n_pairs):
    r"""Smallest eigenpairs of the normalised Laplacian :math:`I - S`.

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
        Orthonormal, with the signs of :func:`fix_signs`.

    Raises
    ------
    AlignmentError
        If Lanczos does not converge, or the residual check fails.

    Notes
    -----
    Lanczos (ARPACK) on S for its largest eigenvalues, to machine precision; a dense solver up to
    200 rows or for more than a quarter of the pairs. Cost: about O(nnz(S) m) time for m Lanczos
    steps, a few times `n_pairs`, or O(n^3) dense; O(n n_pairs) memory, or O(n^2) dense.

    *Connected components* are solved separately: their number is the multiplicity of the eigenvalue
    0, of whose eigenspace a Lanczos iteration sees one vector; within a component it is simple.

    *Other multiple eigenvalues*, as of graphs with symmetries: if some of the eigenvalues found are
    equal, further copies are looked for, see :func:`all_copies`.

    *Start vector.* Eigenvectors orthogonal to it cannot be found. The constant or
    :math:`D^{1/2} 1`, an eigenvector, will not do; any other vector derived from the graph alone is
    invariant under the graph's symmetries, hence orthogonal to all antisymmetric eigenvectors. So
    it is a fixed pseudo-random vector in row order. As the iteration runs to machine precision,
    reordering samples reorders the result up to rounding, unless a multiple eigenvalue is
    truncated: of more components than `n_pairs` the first are taken.
    """
    n_parts, part = connected_components(similarity, directed=False)
    if n_parts == 1:
        values, vectors = _connected_eigenpairs(similarity, n_pairs)
    else:
        values, vectors = _merged_eigenpairs(similarity, n_parts, part, n_pairs)
    check_residual(vectors - similarity @ vectors - vectors * values, 1.0, "graph Laplacian")
    # Eigenvalues of the Laplacian are negative only by rounding.
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
    if has_repeats(values):
        values, vectors = all_copies(similarity, values, vectors, problem)
    order = np.argsort(-values, kind="stable")
    return 1 - values[order], vectors[:, order]


def has_repeats(values):
    """Whether eigenvalues from Lanczos repeat, so that further copies of some may be missing.

    To look for copies costs 5 to 30 % of the iteration, too much where there are none. Where one is
    missing, another has nearly always emerged through rounding: in 62 of 62 graphs with symmetries
    (tori, hypercubes, equal arms), and in 82 of 83 joint problems of hypercubes.

    Examples
    --------
    >>> has_repeats(np.array([0.5, 1.0, 0.5])), has_repeats(np.array([0.5, 1.0, 0.7]))
    (True, False)
    """
    gaps = np.diff(np.sort(values))
    return bool(np.any(gaps <= _REPEATED * np.abs(values).max()))


def all_copies(operator, values, vectors, problem, tol=1e-4):
    """Complete the largest eigenpairs from Lanczos to the full multiplicity of each eigenvalue.

    A Lanczos iteration sees one vector of an eigenspace, and finds others only through rounding.
    It is repeated on the deflated operator until no larger eigenvalue is left: each time from
    another start, as the vectors that were not found are orthogonal to the one before.

    Parameters
    ----------
    operator : sparse array or LinearOperator of shape (n, n)
    values : ndarray of shape (n_pairs,)
    vectors : ndarray of shape (n, n_pairs)
        From :func:`lanczos`.
    problem : str
        Name of the problem in messages.
    tol : float, default=1e-4
        Accuracy to which the largest eigenvalue that is left is looked for: one that exceeds the
        smallest of `values` by a smaller share may stay unnoticed.

    Returns
    -------
    values, vectors : ndarrays
        Of the same shapes, orthonormal.
    """
    scale = np.abs(values).max()
    seeds = count(1)
    while True:

        def remaining(v, values=values, vectors=vectors):
            # Shifts the eigenvalues found to far below the others.
            return operator @ v - vectors @ ((values + 2 * scale) * (vectors.T @ v))

        deflated = LinearOperator(operator.shape, remaining, dtype=float)
        start = {"seed": next(seeds), "which": "LA"}
        rough = lanczos(deflated, 1, problem, tol=tol, **start)[0]
        if rough[0] <= values.min() + 1e-9 * scale:
            return values, vectors
        value, vector = lanczos(deflated, 1, problem, **start)
        least = values.argmin()
        values, vectors = values.copy(), vectors.copy()
        values[least], vectors[:, least] = value[0], vector[:, 0]


def lanczos(operator, n_pairs, problem, *, seed=0, **options):
    """Eigenpairs by ARPACK, to machine precision by default, from a fixed start vector.

    Parameters
    ----------
    operator : sparse array or LinearOperator of shape (n, n)
    n_pairs : int
    problem : str
        Name of the problem in messages.
    seed : int, default=0
        Of the start vector: eigenvectors orthogonal to it are found through rounding, if at all.
    options : dict
        Further arguments of :func:`scipy.sparse.linalg.eigsh`.

    Raises
    ------
    AlignmentError
        If the iteration does not converge, or breaks down, and a dense solver is no way out.

    Notes
    -----
    ARPACK breaks down where a few eigenvalues are all that there are, each many times, as of
    categories in equal numbers. Then, up to order 5000, the matrix is formed: O(n^3).
    """
    n_rows = operator.shape[0]
    start = np.random.RandomState(seed).uniform(-1, 1, n_rows)
    # ARPACK restarts from a random vector after a breakdown: since SciPy 1.17 from this generator,
    # before from a fixed seed.
    if "rng" in inspect.signature(eigsh).parameters:
        options["rng"] = np.random.default_rng(0)
    try:
        return eigsh(operator, n_pairs, v0=start, **{"tol": 0, **options})
    except ArpackError as error:
        if options["which"] == "LA" and n_rows <= FORMED_ROWS:
            with suppress(linalg.LinAlgError):
                return _largest_of(operator, n_pairs)
        found = len(getattr(error, "eigenvalues", ()))
        raise AlignmentError(
            f"{problem}: Lanczos found {found} of {n_pairs} eigenvectors; use fewer components or, "
            "of a graph, raise n_neighbors"
        ) from error


def _largest_of(operator, n_pairs):
    """Largest eigenpairs of an operator that is formed, ascending."""
    A = np.array([operator @ unit for unit in np.eye(operator.shape[0])])
    A = (A + A.T) / 2
    if not np.isfinite(A).all():
        raise linalg.LinAlgError("not finite")
    return dense_eigenpairs(A, first=len(A) - n_pairs)
