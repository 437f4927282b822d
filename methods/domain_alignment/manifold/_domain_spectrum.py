r"""The label-free half of spectral manifold alignment: the Laplacian eigenpairs of one domain.

For a domain with features X (n, p), neighbour graph W and degrees :math:`d = W 1`,
:math:`D = \mathrm{diag}(d)`, a spectrum is a *basis* E (n, k) and eigenvalues :math:`\lambda` with

.. math:: E^T D E = I, \qquad E^T (D - W) E = \mathrm{diag}(\lambda).

At the instance level :math:`E = D^{-1/2} \Phi` with the eigenvectors of
:math:`I - D^{-1/2} W D^{-1/2}` (Dernbach & Towsley 2020, Algorithm 3, step 4); at the feature level
:math:`E = X T \Phi`, a linear map of the features, with
:math:`T = (X^T D X)^{-1/2}` and the eigenvectors of :math:`T^T X^T (D - W) X T` (Algorithm 4,
steps 4 and 5). Everything later, FMA or SMA, truncated or not, is algebra on E and lambda.

Scaling all edges by a factor leaves lambda and divides E by its root, so one spectrum serves every
edge weight ``alpha``; and its first columns serve every smaller dimension.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from domain_alignment.utils.eigen import (
    InverseRoot,
    all_copies,
    check_residual,
    lanczos,
    laplacian_eigenpairs,
    range_eigenpairs,
    symmetric_eigenpairs,
)
from domain_alignment.utils.graphs import degrees, knn_graph, normalized_similarity
from domain_alignment.utils.validation import dense

# All eigenpairs are computed of at most so many samples. That is O(n^3): 3 s for 2500, by which a
# fit then takes a second or two less. For 7341 it would be more than a minute, and 8 s a fit by the
# graph alone.
MOST_EIGENPAIRS = 2500

# Up to this many features a dense solver takes less time than the steps of Lanczos.
_DENSE_FEATURES = 1000

# Rows of the product of a graph with features that are held at a time.
_BLOCK_ROWS = 1024


@dataclass(frozen=True)
class SpectrumParams:
    """What the spectrum of a domain depends on, besides its features."""

    level: Literal["instance", "feature"]
    n_neighbors: int
    metric: Literal["cosine", "euclidean"]
    symmetrize: Literal["union", "mean", "mutual"]


@dataclass(frozen=True, eq=False)
class Loadings:
    """A map of p features to the k columns of a basis.

    Where X is sparse and they would be larger than it, as a sparse and a dense factor.

    Attributes
    ----------
    left : ndarray of shape (p, k), or sparse array of shape (p, r)
    right : ndarray of shape (r, k) or None
        The map is left times right, or left where this is None.
    """

    left: np.ndarray | sparse.sparray
    right: np.ndarray | None = None

    def __matmul__(self, coordinates):
        """The map followed by coordinates in the first columns of the basis, shape (p, d)."""
        n_columns = len(coordinates)
        if self.right is None:
            return self.left[:, :n_columns] @ coordinates
        return self.left @ (self.right[:, :n_columns] @ coordinates)


@dataclass(frozen=True, eq=False)
class DomainSpectrum:
    """Smallest Laplacian eigenpairs of one domain, for edges of unscaled weight.

    Attributes
    ----------
    params : SpectrumParams
    shape : tuple of int
        Samples and features of the domain.
    eigenvalues : ndarray of shape (k,)
        Ascending, the trivial ones included.
    basis : ndarray of shape (n, k)
        E of the module's formula.
    loadings : Loadings or None
        Feature level: the basis is X times these. Instance level: None.
    degree : ndarray of shape (n,)
    complete : bool
        Whether the basis spans all the level can express.
    similarity : CSR array of shape (n, n) or None
        Given where all eigenpairs of more than ``MOST_EIGENPAIRS`` samples were asked for. There
        are none then: the basis is the sparse :math:`D^{-1/2}`, and
        :math:`E^T (D - W) E = I - S` with S this matrix.
    """

    params: SpectrumParams
    shape: tuple[int, int]
    eigenvalues: np.ndarray
    basis: np.ndarray
    loadings: Loadings | None
    degree: np.ndarray
    complete: bool
    similarity: sparse.csr_array | None = None

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
        """Coordinates c of the constant function: E c is its nearest element, 1 if it is in."""
        return self.basis.T @ self.degree

    def holds_constant(self, n_columns):
        """Whether the first `n_columns` columns of the basis span the constant function."""
        held = self.constant[:n_columns] @ self.constant[:n_columns]
        return abs(self._total - held) <= 1e-8 * self._total

    @cached_property
    def _total(self):
        return self.degree.sum()


def domain_spectrum(X, params, n_pairs=None, name="X"):
    r"""Compute the smallest Laplacian eigenpairs of one domain.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    params : SpectrumParams
    n_pairs : int, optional
        How many, at most as many as there are; all by default, or at the instance level of more
        than ``MOST_EIGENPAIRS`` samples the graph instead.
    name : str, default="X"
        What messages call the domain.

    Returns
    -------
    spectrum : DomainSpectrum

    Raises
    ------
    ValueError
        If `n_neighbors` is not less than n.
    AlignmentError
        If a sample is isolated, or an eigenproblem fails its residual check.

    Notes
    -----
    Cost beyond the graph's O(n^2 p). Instance level: Lanczos, O(n k) memory; all eigenpairs O(n^3)
    and O(n^2), up to ``MOST_EIGENPAIRS`` samples, beyond which nothing is added to the graph.
    Feature level, n >= p: O(n p^2 + p^3) for X^T D X, its Cholesky factor and the matrix, then
    O(p^2) per Lanczos step (a dense solver, O(p^3), for up to 1000 features or more than a quarter
    of the pairs), O(p^2) memory, never n x n. Of sparse X the matrix is not formed; a step is
    O(nnz(X) + p^2). Where X^T D X is singular, its eigendecomposition: O(p^3). Feature level,
    n < p: O(p n^2 + n^3) and O(n^2). Sparse features stay sparse; their product with the graph is
    nearly full, so it is made a block of rows at a time and never held. Beyond that: a scaled copy
    of X, O(n k) for the basis, and the loadings, O(p k) or, of sparse X, at most its size and
    O(n k).
    """
    weights = knn_graph(
        X, params.n_neighbors, metric=params.metric, symmetrize=params.symmetrize, name=name
    )
    degree = degrees(weights, name)
    if params.level == "instance" and n_pairs is None and degree.size > MOST_EIGENPAIRS:
        return DomainSpectrum(
            params=params,
            shape=X.shape,
            eigenvalues=np.zeros(0),
            basis=sparse.diags_array(1 / np.sqrt(degree)).tocsr(),
            loadings=None,
            degree=degree,
            complete=True,
            similarity=normalized_similarity(weights, degree),
        )
    solve = _instance_pairs if params.level == "instance" else _feature_pairs
    eigenvalues, basis, loadings, rank = solve(X, weights, degree, n_pairs, name)
    return DomainSpectrum(
        params=params,
        shape=X.shape,
        eigenvalues=eigenvalues,
        basis=np.ascontiguousarray(basis),  # rows are what is picked from it
        loadings=loadings,
        degree=degree,
        complete=eigenvalues.size == rank,
    )


def _instance_pairs(X, weights, degree, n_pairs, name):
    rank = degree.size
    n_pairs = rank if n_pairs is None else min(n_pairs, rank)
    values, vectors = laplacian_eigenpairs(normalized_similarity(weights, degree), n_pairs)
    return values, vectors / np.sqrt(degree)[:, None], None, rank


def _feature_pairs(X, weights, degree, n_pairs, name):
    side = _feature_side if X.shape[0] >= X.shape[1] else _sample_side
    return side(X, weights, degree, n_pairs, name)


def _feature_side(X, weights, degree, n_pairs, name):
    r"""Eigenpairs of :math:`I - T^T X^T W X T` with a root T of :math:`X^T D X`, of order p.

    T leaves out directions without data. Adding a ridge instead would turn them into eigenvectors
    at zero, ahead of all others.

    No matrix of order n is formed. Of sparse samples the matrix stays a product where few of many
    pairs are wanted, and is applied from right to left in O(nnz(X) + p^2). Of dense ones it is
    formed: that is one product more, of the order of X^T D X, and a Lanczos step then reads p^2
    numbers instead of 2 n p + 2 p^2. tests/bench/bench_fma_features.py compares it with the
    eigenproblem as written: the eigenvalues agree to 1e-14.
    """
    rooted = _scaled_rows(X, np.sqrt(degree))
    T = InverseRoot(dense(rooted.T @ rooted), name)
    del rooted
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
        values, vectors = _few_pairs(similarity, n_pairs, problem)
    else:
        values, vectors = _dense_pairs(similarity, n_pairs)
    loadings = T.apply(vectors)
    return values, X @ loadings, Loadings(loadings), T.rank


def _few_pairs(similarity, n_pairs, problem):
    """The smallest eigenpairs of I - S by Lanczos, for a matrix or a product."""
    # A step costs far more than its share of the restarts, so more vectors than ARPACK's default.
    ncv = min(similarity.shape[0], max(60, 5 * n_pairs))
    operator = aslinearoperator(similarity)
    values, vectors = lanczos(operator, n_pairs, problem, which="LA", ncv=ncv)
    if values.max() > 1 - 1e-8:
        # Features tell connected components apart: zero may be multiple, and others with it.
        values, vectors = all_copies(operator, values, vectors, problem)
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    check_residual(operator @ vectors - vectors * values, 1.0, problem)
    return np.maximum(1 - values, 0), vectors


def _between_features(X, weights):
    """X'WX. W X would be dense even of sparse samples: it is made a block of rows at a time."""
    product = np.zeros((X.shape[1], X.shape[1]))
    for start in range(0, X.shape[0], _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        product += dense(X[rows].T @ (weights[rows] @ X))
    return product


def _sample_side(X, weights, degree, n_pairs, name):
    r"""The same from n x n matrices, for fewer samples than features.

    :math:`D^{1/2} X X^T D^{1/2} = P S P^T` has the same S, and up to a rotation
    :math:`T = X^T D^{1/2} P S^{-1}`, :math:`X T = D^{-1/2} P`. T (p x r) is not formed, nor is
    its product with the eigenvectors where it would be larger than the sparse X.
    """
    rooted = _scaled_rows(X, np.sqrt(degree))
    sizes, axes = range_eigenpairs(dense(rooted @ rooted.T), name)
    similarity = axes.T @ (normalized_similarity(weights, degree) @ axes)
    values, vectors = _dense_pairs(similarity, n_pairs)
    basis = (axes @ vectors) / np.sqrt(degree)[:, None]
    right = (axes / sizes) @ vectors
    fills = sparse.issparse(X) and X.shape[1] * right.shape[1] > X.nnz
    loadings = Loadings(rooted.T, right) if fills else Loadings(rooted.T @ right)
    return values, basis, loadings, sizes.size


def _dense_pairs(similarity, n_pairs):
    """The smallest eigenpairs of I - S. Solved as that, not as T'X'(D - W)XT: I is then exact."""
    rank = len(similarity)
    laplacian = np.eye(rank) - (similarity + similarity.T) / 2
    n_pairs = rank if n_pairs is None else min(n_pairs, rank)
    values, vectors = symmetric_eigenpairs(laplacian, n_pairs=n_pairs)
    return np.maximum(values, 0), vectors


def _scaled_rows(X, scale):
    return (sparse.diags_array(scale) @ X).tocsr() if sparse.issparse(X) else X * scale[:, None]
