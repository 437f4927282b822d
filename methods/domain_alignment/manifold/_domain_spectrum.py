r"""The label-free part of FMA and SMA: the Laplacian eigenpairs of one domain.

For a domain with features X (n, p), neighbour graph W and degrees :math:`d = W 1`,
:math:`D = \mathrm{diag}(d)`, a spectrum is a *basis* E (n, k) and eigenvalues :math:`\lambda` with

.. math:: E^T D E = I, \qquad E^T (D - W) E = \mathrm{diag}(\lambda).

At the instance level :math:`E = D^{-1/2} \Phi` with the eigenvectors of
:math:`I - D^{-1/2} W D^{-1/2}` (Dernbach & Towsley 2020, Algorithm 3, step 4); at the feature level
:math:`E = X T \Phi`, a linear map of the features, with :math:`T = (X^T D X)^{-1/2}` and the
eigenvectors of :math:`T^T X^T (D - W) X T` (Algorithm 4, steps 4 and 5). FMA and SMA need only E
and lambda.

Scaling all edges by a factor keeps lambda and divides E by the root of the factor, so one spectrum
serves every edge weight ``alpha``, and its first columns every smaller dimension.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from domain_alignment.utils._memory import lasting
from domain_alignment.utils._rows import column_products, row_blocks, row_products, times_map
from domain_alignment.utils.eigen import (
    all_copies,
    check_residual,
    fix_signs,
    lanczos,
    laplacian_eigenpairs,
    symmetric_eigenpairs,
)
from domain_alignment.utils.gram import InverseRoot, definite_factor, range_eigenpairs
from domain_alignment.utils.graphs import (
    degrees,
    inverse_roots,
    normalized_similarity,
    searched_graph,
)
from domain_alignment.utils.validation import dense

# Largest domain for a full eigendecomposition, O(n^3): 0.3 s at 1000 samples, which saves 0.2 s per
# fit. At 2000 it takes 2.3 s and saves 0.3 s; at 7341 over a minute.
MOST_EIGENPAIRS = 1250

# Up to this many features a dense solver is faster than Lanczos.
_DENSE_FEATURES = 1000

# Vectors of more samples (1 MB) do not stay in the cache of a core. Then rows that are neighbours
# are put near each other: with a million in random order a product with the graph takes 2.8 times
# as long. Fewer samples keep their last digits.
_MANY_ROWS = 2**17

# Rows of the graph-feature product formed at a time.
_BLOCK_ROWS = 1024


@dataclass(frozen=True)
class SpectrumParams:
    """Parameters of a domain's spectrum."""

    level: Literal["instance", "feature"]
    n_neighbors: int
    metric: Literal["cosine", "euclidean"]
    symmetrize: Literal["union", "mean", "mutual"]
    search: Literal["auto", "exact", "approximate"] = "auto"


@dataclass(frozen=True, eq=False)
class Loadings:
    """Linear map from p features to the k columns of a basis.

    Kept as a sparse and a dense factor if X is sparse and the product would be larger than X.

    Attributes
    ----------
    left : ndarray of shape (p, k), or sparse array of shape (p, r)
    right : ndarray of shape (r, k) or None
        The map is ``left @ right``, or ``left`` if None.
    """

    left: np.ndarray | sparse.sparray
    right: np.ndarray | None = None

    def __matmul__(self, coordinates):
        """Map to coordinates in the first columns of the basis, shape (p, d)."""
        n_columns = len(coordinates)
        if self.right is None:
            return self.left[:, :n_columns] @ coordinates
        return self.left @ (self.right[:, :n_columns] @ coordinates)


@dataclass(frozen=True, eq=False)
class DomainSpectrum:
    """Smallest Laplacian eigenpairs of one domain, for unscaled edge weights.

    Attributes
    ----------
    params : SpectrumParams
    shape : tuple of int
        Samples and features of the domain.
    eigenvalues : ndarray of shape (k,)
        Ascending, including the trivial ones.
    basis : ndarray of shape (n, k)
        E of the module docstring.
    loadings : Loadings or None
        Feature level: the basis is ``X @ loadings``. Instance level: None.
    degree : ndarray of shape (n,)
    complete : bool
        Whether the basis spans the whole function space of the level.
    similarity : CSR array of shape (n, n) or None
        Set instead of eigenpairs if all of more than ``MOST_EIGENPAIRS`` samples are requested: the
        basis is then the sparse :math:`D^{-1/2}`, and :math:`E^T (D - W) E = I - S` with S this
        matrix.
    recall : float
        Share of the nearest neighbours found.
    samples : ndarray or CSR matrix of shape (n, p), or None
        Instance level: the samples, kept once for all fits, to compare new ones with.
    """

    params: SpectrumParams
    shape: tuple[int, int]
    eigenvalues: np.ndarray
    basis: np.ndarray
    loadings: Loadings | None
    degree: np.ndarray
    complete: bool
    similarity: sparse.csr_array | None = None
    recall: float = 1.0
    samples: np.ndarray | sparse.csr_matrix | sparse.csr_array | None = None

    @property
    def n_columns(self):
        """Number of columns of the basis."""
        return self.basis.shape[1]

    @property
    def n_pairs(self):
        """Number of eigenpairs held."""
        return self.eigenvalues.size

    @cached_property
    def constant(self):
        """Coordinates c of the constant function; E c is its projection on the basis."""
        return self.basis.T @ self.degree

    def holds_constant(self, n_columns):
        """Whether the first `n_columns` columns of the basis span the constant function."""
        held = self.constant[:n_columns] @ self.constant[:n_columns]
        return abs(self._total - held) <= 1e-8 * self._total

    @cached_property
    def _total(self):
        return self.degree.sum()


def domain_spectrum(X, params, n_pairs=None, name="X", found=None):
    r"""Compute the smallest Laplacian eigenpairs of one domain.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    params : SpectrumParams
    n_pairs : int, optional
        Number of eigenpairs. All by default, but only the graph at the instance level with more
        than ``MOST_EIGENPAIRS`` samples.
    name : str, default="X"
        Name of the domain in messages.
    found : tuple, optional
        Its neighbours, see :func:`~domain_alignment.utils.graphs.found_neighbors`.

    Returns
    -------
    spectrum : DomainSpectrum

    Raises
    ------
    ValueError
        If `n_neighbors` is not less than n.
    AlignmentError
        If too many samples are isolated in the graph (`degrees`; a few have a basis of 0 at the
        instance level), or an eigenproblem fails its residual check.

    Notes
    -----
    Cost, beyond the graph's O(n^2 p), or less with approximate neighbours. Instance level: Lanczos
    with O(n k) memory; all eigenpairs, O(n^3) time and O(n^2) memory, up to ``MOST_EIGENPAIRS``
    samples and only the graph beyond. Feature level, n >= p: O(n p^2 + p^3) time for X^T D X, its
    Cholesky factor and the matrix, then O(p^2) per Lanczos step (a dense solver, O(p^3), for up to
    1000 features or more than a quarter of the pairs); O(p^2) memory, no n x n matrix. For sparse X
    the matrix is not formed and a step is O(nnz(X) + p^2). If X^T D X is singular: its
    eigendecomposition, O(p^3). Feature level, n < p: O(p n^2 + n^3) time, O(n^2) memory; of
    linearly independent samples, if more than 1000, n^3 / 3 and the instance level's. Sparse
    features stay sparse; their nearly full product with the graph is formed in blocks of rows. In
    addition: a scaled copy of sparse X, O(n k) for the basis, and O(p k) for the loadings, or for
    sparse X at most its size and O(n k).
    """
    weights, recall = searched_graph(
        X,
        params.n_neighbors,
        metric=params.metric,
        symmetrize=params.symmetrize,
        search=params.search,
        name=name,
        found=found,
    )
    degree = degrees(weights, name, leaves_out=True)
    samples = lasting(X) if params.level == "instance" else None
    if params.level == "instance" and n_pairs is None and degree.size > MOST_EIGENPAIRS:
        return DomainSpectrum(
            params=params,
            shape=X.shape,
            eigenvalues=np.zeros(0),
            basis=sparse.diags_array(inverse_roots(degree)).tocsr(),
            loadings=None,
            degree=degree,
            complete=True,
            similarity=normalized_similarity(weights, degree),
            recall=recall,
            samples=samples,
        )
    solve = _instance_pairs if params.level == "instance" else _feature_pairs
    eigenvalues, basis, loadings, rank = solve(X, weights, degree, n_pairs, name)
    return DomainSpectrum(
        params=params,
        shape=X.shape,
        eigenvalues=eigenvalues,
        basis=np.ascontiguousarray(basis),  # rows are indexed later
        loadings=loadings,
        degree=degree,
        complete=eigenvalues.size == rank,
        recall=recall,
        samples=samples,
    )


def _instance_pairs(X, weights, degree, n_pairs, name):
    """Eigenpairs of the linked samples: an isolated one would be a pair with a column of zeros."""
    linked = np.flatnonzero(degree)
    rank = linked.size
    n_pairs = rank if n_pairs is None else min(n_pairs, rank)
    similarity = normalized_similarity(weights, degree)
    if rank < degree.size:
        similarity = similarity[linked][:, linked]
    solve = _ordered_eigenpairs if rank > _MANY_ROWS else laplacian_eigenpairs
    values, vectors = solve(similarity, n_pairs)
    vectors *= inverse_roots(degree[linked])[:, None]
    if rank == degree.size:
        return values, vectors, None, rank
    basis = np.zeros((degree.size, n_pairs))
    basis[linked] = vectors
    return values, basis, None, rank


def _ordered_eigenpairs(similarity, n_pairs):
    """As `laplacian_eigenpairs`, of a graph whose rows are read in the order of its bandwidth."""
    order = reverse_cuthill_mckee(sparse.csr_matrix(similarity), symmetric_mode=True)
    values, ordered = laplacian_eigenpairs(similarity[order][:, order], n_pairs)
    vectors = np.empty_like(ordered)
    vectors[order] = ordered
    return values, vectors * fix_signs(vectors)


def _feature_pairs(X, weights, degree, n_pairs, name):
    side = _feature_side if X.shape[0] >= X.shape[1] else _sample_side
    return side(X, weights, degree, n_pairs, name)


def _feature_side(X, weights, degree, n_pairs, name):
    r"""Eigenpairs of :math:`I - T^T X^T W X T` with a root T of :math:`X^T D X`, of order p.

    T drops directions without data; a ridge would turn them into leading eigenvectors at zero.

    No n x n matrix is formed. For sparse X and few of many pairs the matrix is an implicit product,
    applied in O(nnz(X) + p^2). For dense X it is formed, at the cost of another product like X^T D
    X, and a Lanczos step reads p^2 numbers instead of 2 n p + 2 p^2. Eigenvalues agree with the
    eigenproblem as written to 1e-14 (tests/bench/bench_fma_features.py).
    """
    T = InverseRoot(_weighted_gram(X, degree), name)
    few = n_pairs is not None and T.rank > _DENSE_FEATURES and n_pairs <= T.rank // 4
    if few and sparse.issparse(X):
        similarity = LinearOperator(
            (T.rank, T.rank),
            lambda v: T.apply_transposed(X.T @ (weights @ (X @ T.apply(v.ravel())))),
            dtype=float,
        )
    else:
        inner = T.apply_transposed(_between_features(X, weights))
        similarity = T.apply_transposed(inner.T)
    if few:
        problem = f"{name}: graph Laplacian in {T.rank} features"
        values, vectors = _lanczos_pairs(similarity, n_pairs, problem)
    else:
        values, vectors = _dense_pairs(similarity, n_pairs)
    loadings = T.apply(vectors)
    return values, times_map(X, loadings), Loadings(loadings), T.rank


def _lanczos_pairs(similarity, n_pairs, problem):
    """Smallest eigenpairs of I - S by Lanczos, for a matrix or a linear operator S."""
    # Matrix products dominate the restarts, hence a larger subspace than ARPACK's default.
    ncv = min(similarity.shape[0], max(60, 5 * n_pairs))
    operator = aslinearoperator(similarity)
    values, vectors = lanczos(operator, n_pairs, problem, which="LA", ncv=ncv)
    if values.max() > 1 - 1e-8:
        # With several connected components zero may be a multiple eigenvalue, and others too.
        values, vectors = all_copies(operator, values, vectors, problem)
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    check_residual(operator @ vectors - vectors * values, 1.0, problem)
    return np.maximum(1 - values, 0), vectors


def _weighted_gram(X, degree):
    """X'DX, of dense X without a scaled copy of all rows."""
    roots = np.sqrt(degree)
    if sparse.issparse(X):
        return column_products(_scaled_rows(X, roots))
    scaled = (_scaled_rows(X[rows], roots[rows]) for rows in row_blocks(X))
    return sum(own.T @ own for own in scaled)


def _between_features(X, weights):
    """X'WX, in blocks of rows: W X is dense even for sparse X."""
    product = np.zeros((X.shape[1], X.shape[1]))
    for start in range(0, X.shape[0], _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        product += times_map(X[rows].T, dense(weights[rows] @ X))
    return product


def _sample_side(X, weights, degree, n_pairs, name):
    r"""Eigenpairs from n x n matrices, for fewer samples than features.

    :math:`D^{1/2} X X^T D^{1/2} = P S P^T` has the same S, and up to a rotation
    :math:`T = X^T D^{1/2} P S^{-1}`, :math:`X T = D^{-1/2} P`. T (p x r) is not formed, nor its
    product with the eigenvectors if larger than the sparse X.

    P is square where the samples are linearly independent: then the eigenpairs are those of the
    graph, turned: few of many come from Lanczos on its sparse matrix.
    """
    rooted = _scaled_rows(X, np.sqrt(degree))
    gram, similarity = row_products(rooted, rooted), normalized_similarity(weights, degree)
    rank = len(gram)
    factor = definite_factor(gram) if rank > _DENSE_FEATURES else None
    if factor is not None:
        wanted = rank if n_pairs is None else min(n_pairs, rank)
        values, vectors = laplacian_eigenpairs(similarity, wanted)
        right = linalg.cho_solve((factor, False), vectors, check_finite=False)
    else:
        sizes, axes = range_eigenpairs(gram, name)
        values, turned = _dense_pairs(axes.T @ (similarity @ axes), n_pairs)
        vectors, right, rank = axes @ turned, (axes / sizes) @ turned, sizes.size
    fills = sparse.issparse(X) and X.shape[1] * right.shape[1] > X.nnz
    loadings = Loadings(rooted.T, right) if fills else Loadings(rooted.T @ right)
    basis = vectors * inverse_roots(degree)[:, None]
    isolated = np.flatnonzero(degree == 0)  # their rows of D^{-1/2} P are 0 / 0
    if isolated.size:
        basis[isolated] = X[isolated] @ (loadings @ np.eye(basis.shape[1]))
    return values, basis, loadings, rank


def _dense_pairs(similarity, n_pairs):
    """Smallest eigenpairs of I - S, with I exact, unlike T'X'(D - W)XT."""
    rank = len(similarity)
    laplacian = np.eye(rank) - (similarity + similarity.T) / 2
    n_pairs = rank if n_pairs is None else min(n_pairs, rank)
    values, vectors = symmetric_eigenpairs(laplacian, n_pairs=n_pairs)
    return np.maximum(values, 0), vectors


def _scaled_rows(X, scale):
    return (sparse.diags_array(scale) @ X).tocsr() if sparse.issparse(X) else X * scale[:, None]
