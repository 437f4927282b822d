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

from domain_alignment.eigen import (
    laplacian_eigenpairs,
    range_eigenpairs,
    symmetric_eigenpairs,
)
from domain_alignment.graphs import degrees, knn_graph, normalized_similarity


@dataclass(frozen=True)
class SpectrumSettings:
    """What the spectrum of a domain depends on, besides its features."""

    level: Literal["instance", "feature"]
    n_neighbors: int
    metric: Literal["cosine", "euclidean"]
    symmetrize: Literal["union", "mean", "mutual"]


@dataclass(frozen=True, eq=False)
class DomainSpectrum:
    """Smallest Laplacian eigenpairs of one domain, for edges of unscaled weight.

    Attributes
    ----------
    settings : SpectrumSettings
    shape : tuple of int
        Samples and features of the domain.
    eigenvalues : ndarray of shape (k,)
        Ascending, the trivial ones included.
    basis : ndarray of shape (n, k)
        E of the module's formula.
    loadings : ndarray of shape (p, k) or None
        Feature level: ``basis = X @ loadings``. Instance level: None.
    degree : ndarray of shape (n,)
    complete : bool
        Whether the basis spans all the level can express.
    """

    settings: SpectrumSettings
    shape: tuple[int, int]
    eigenvalues: np.ndarray
    basis: np.ndarray
    loadings: np.ndarray | None
    degree: np.ndarray
    complete: bool

    @property
    def n_pairs(self):
        """Number of eigenpairs held."""
        return self.eigenvalues.size

    @cached_property
    def constant(self):
        """Coordinates c of the constant function: E c is its nearest element, 1 if it is in."""
        return self.basis.T @ self.degree

    def holds_constant(self, n_pairs):
        """Whether the first `n_pairs` columns of the basis span the constant function."""
        held = self.constant[:n_pairs] @ self.constant[:n_pairs]
        return abs(self._total - held) <= 1e-8 * self._total

    @cached_property
    def _total(self):
        return self.degree.sum()


def domain_spectrum(X, settings, n_pairs=None, name="X"):
    r"""Compute the smallest Laplacian eigenpairs of one domain.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    settings : SpectrumSettings
    n_pairs : int, optional
        How many, at most as many as there are; all by default.
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
    Cost beyond the graph's O(n^2 p). Instance level: Lanczos, O(n k) memory; all eigenpairs O(n^3).
    Feature level: O(n p^2 + p^3) time and O(p^2) memory if n >= p, else O(p n^2 + n^3) and O(n^2),
    so never n x n when n > p; sparse features stay sparse.
    """
    weights = knn_graph(
        X, settings.n_neighbors, metric=settings.metric, symmetrize=settings.symmetrize, name=name
    )
    degree = degrees(weights, name)
    solve = _instance_pairs if settings.level == "instance" else _feature_pairs
    eigenvalues, basis, loadings, rank = solve(X, weights, degree, n_pairs, name)
    return DomainSpectrum(
        settings=settings,
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
    similarity, to_loadings = side(X, weights, degree, name)
    rank = len(similarity)
    n_pairs = rank if n_pairs is None else min(n_pairs, rank)
    # Solved as I - T'X'WXT, not as T'X'(D - W)XT: the identity is then exact.
    laplacian = np.eye(rank) - (similarity + similarity.T) / 2
    values, vectors = symmetric_eigenpairs(laplacian, n_pairs=n_pairs)
    loadings = to_loadings(vectors)
    return np.maximum(values, 0), X @ loadings, loadings, rank


def _feature_side(X, weights, degree, name):
    r""":math:`T^T X^T W X T`, and a function that multiplies by T, from p x p matrices.

    With :math:`X^T D X = V S V^T`, truncated to its rank, :math:`T = V S^{-1/2}`. Adding a ridge
    instead would turn directions without data into eigenvectors at zero, ahead of all others.
    """
    values, vectors = range_eigenpairs(_dense(X.T @ _scaled_rows(X, degree)), name)
    T = vectors / np.sqrt(values)
    return T.T @ _dense(X.T @ (weights @ X)) @ T, lambda rotation: T @ rotation


def _sample_side(X, weights, degree, name):
    r"""The same from n x n matrices, for fewer samples than features.

    :math:`D^{1/2} X X^T D^{1/2} = P S P^T` has the same S, and up to a rotation
    :math:`T = X^T D^{1/2} P S^{-1}`, :math:`X T = D^{-1/2} P`. T (p x r) is not formed, only its
    product with the eigenvectors wanted.
    """
    rooted = _scaled_rows(X, np.sqrt(degree))
    values, vectors = range_eigenpairs(_dense(rooted @ rooted.T), name)
    similarity = vectors.T @ (normalized_similarity(weights, degree) @ vectors)
    return similarity, lambda rotation: rooted.T @ ((vectors / values) @ rotation)


def _scaled_rows(X, scale):
    return (sparse.diags_array(scale) @ X).tocsr() if sparse.issparse(X) else X * scale[:, None]


def _dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix
