"""Nearest-neighbour graphs of one domain and their Laplacians.

A graph is a symmetric CSR matrix of non-negative weights with an empty diagonal. Neighbours at a
non-positive cosine are dropped: with negative weights the Laplacian would be indefinite and its
smallest eigenvectors meaningless.
"""

import warnings
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from scipy import sparse

from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._approximate_neighbors import EXACT_UP_TO, approximate_neighbors
from domain_alignment.utils._optional import how_to_install
from domain_alignment.utils.neighbors import METRICS, nearest_neighbors

__all__ = [
    "METRICS",
    "SEARCHES",
    "SYMMETRIZATIONS",
    "KNNGraph",
    "degrees",
    "directed_graph",
    "edge_weights",
    "found_neighbors",
    "inverse_roots",
    "knn_graph",
    "nearest_neighbors",
    "normalized_laplacian",
    "normalized_similarity",
    "searched_graph",
]

SYMMETRIZATIONS = ("union", "mean", "mutual")
SEARCHES = ("auto", "exact", "approximate")
# The exact search of n dense samples with p features takes as long as n^2 (p + 100) products of
# numbers. Of more than these it takes longer than the approximate one with the half minute in which
# that compiles itself: above 110,000 samples with 200 features, 29,000 with 4096 (CPU seconds on an
# AMD EPYC, `tests/bench/neighbour_libraries.py`).
AUTO_EXACT_PRODUCTS, FEATURES_BESIDE = 3.6e12, 100
# The approximate search takes sparse samples in all their features, and is slow: of texts with 66
# of 20,000 words the exact one takes 9 s for 30,000, the other 55 and the half minute (the same
# script with `--texts`); for 100,000 it was 82 and 213, with a recall of 0.85. By powers of these
# it is the faster one from here on.
AUTO_EXACT_SPARSE = 300_000
# Share of samples without an edge that a graph may have.
MOST_ISOLATED = 0.05


class KNNGraph(NamedTuple):
    """A nearest-neighbour graph.

    Attributes
    ----------
    weights : CSR array of shape (n, n)
    recall : float
        Share of the nearest neighbours found; 1 for an exact search.
    """

    weights: sparse.csr_array
    recall: float


def edge_weights(similarity, metric):
    """Edge weights: the cosine clipped at 0, or 1 for Euclidean neighbours.

    The latter are the "simple-minded" weights of Laplacian eigenmaps (Belkin & Niyogi 2003, section
    2), which need no bandwidth.
    """
    return np.maximum(similarity, 0) if metric == "cosine" else np.ones_like(similarity)


def directed_graph(neighbors, weights):
    """Edges of the given weights from each sample to its neighbours: (n, k) to CSR (n, n)."""
    n_samples, n_neighbors = neighbors.shape
    starts = np.arange(0, n_samples * n_neighbors + 1, n_neighbors)
    parts = weights.ravel(), neighbors.ravel(), starts
    return sparse.csr_array(parts, shape=(n_samples, n_samples))


def knn_graph(X, n_neighbors, **options):
    """The weights of :func:`searched_graph`, which takes the same arguments.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> knn_graph(X, 1, metric="euclidean").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    return searched_graph(X, n_neighbors, **options).weights


def found_neighbors(X, n_neighbors, *, metric="cosine", search="exact", name="X"):
    """Neighbours, similarities and the recall, by either search; arguments as `searched_graph`."""
    if search == "auto":
        search = _cheaper_search(X, name)
    if search == "exact":
        return *nearest_neighbors(X, n_neighbors, metric=metric, name=name), 1.0
    return approximate_neighbors(X, n_neighbors, metric=metric, name=name)


def _cheaper_search(X, name):
    n_samples = X.shape[0]
    if n_samples <= auto_exact_up_to(X):
        return "exact"
    if find_spec("pynndescent") is not None:
        return "approximate"
    warnings.warn(
        f"{name}: the neighbours of {n_samples:,} samples are searched exactly, in time that grows "
        f"with the square of their number; {how_to_install('pynndescent', 'a faster search')}, or "
        'set neighbors="exact"',
        stacklevel=2,
    )
    return "exact"


def auto_exact_up_to(X):
    """Samples with features like those of X, dense or CSR, that are searched exactly by default.

    Examples
    --------
    >>> auto_exact_up_to(np.empty((2, 200))), auto_exact_up_to(np.empty((2, 4096)))
    (109544, 29290)
    >>> auto_exact_up_to(sparse.csr_array((2, 4096)))
    300000
    """
    if sparse.issparse(X):
        return AUTO_EXACT_SPARSE
    exact = int(np.sqrt(AUTO_EXACT_PRODUCTS / (X.shape[1] + FEATURES_BESIDE)))
    return max(exact, EXACT_UP_TO)


def searched_graph(
    X, n_neighbors, *, metric="cosine", symmetrize="union", search="exact", name="X", found=None
):
    r"""Symmetric nearest-neighbour graph of one domain.

    Row i of the directed graph :math:`\vec W` holds the :func:`edge_weights` of the neighbours of
    sample i. The graph is

    .. math:: W = \max(\vec W, \vec W^T), \quad (\vec W + \vec W^T) / 2, \quad
              \min(\vec W, \vec W^T)

    for the rules "union", "mean" and "mutual".

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    n_neighbors : int
    metric : {"cosine", "euclidean"}, default="cosine"
    symmetrize : {"union", "mean", "mutual"}, default="union"
    search : {"auto", "exact", "approximate"}, default="exact"
    name : str, default="X"
        Name of the domain in messages.
    found : tuple, optional
        What :func:`found_neighbors` returns for the same arguments, of graphs that differ in
        `symmetrize` alone; searched by default.

    Returns
    -------
    KNNGraph

    Raises
    ------
    ValueError, AlignmentError, ImportError
        As :func:`nearest_neighbors` or :func:`approximate_neighbors`.
    """
    if found is None:
        found = found_neighbors(X, n_neighbors, metric=metric, search=search, name=name)
    neighbors, similarity, recall = found
    directed = directed_graph(neighbors, edge_weights(similarity, metric))
    directed.eliminate_zeros()
    transposed = directed.T.tocsr()
    if symmetrize == "mean":
        weights = (directed + transposed) / 2
    elif symmetrize == "union":
        weights = directed.maximum(transposed)
    else:
        weights = directed.minimum(transposed)
    weights.eliminate_zeros()
    weights.sort_indices()
    return KNNGraph(weights, recall)


def degrees(weights, name="X", *, leaves_out=False):
    """Row sums of a graph, shape (n,).

    Parameters
    ----------
    weights : CSR array of shape (n, n)
    name : str, default="X"
        Name of the domain in messages.
    leaves_out : bool, default=False
        Whether the problem is weighted by degrees, so that an isolated sample, of degree 0, has no
        part in it, and is determined all the same.

    Raises
    ------
    AlignmentError
        If a sample is isolated, or of a problem that leaves it out more than ``MOST_ISOLATED`` are:
        their graph then says too little.

    Warns
    -----
    UserWarning
        If samples are left out.
    """
    degree = np.asarray(weights.sum(axis=1)).ravel()
    isolated = np.flatnonzero(degree <= 0)
    if not isolated.size:
        return degree
    told = (
        f"{name}: {isolated.size} of {degree.size} samples have no edge in the neighbour graph "
        f"(first at row {isolated[0]})"
    )
    if leaves_out and isolated.size <= MOST_ISOLATED * degree.size:
        warnings.warn(f"{told}; the graph leaves them out", stacklevel=2)
        return degree
    raise AlignmentError(
        f"{told}; drop them, raise n_neighbors or, in a method that has these parameters, use "
        'symmetrize="union", or metric="euclidean" if all cosines are non-positive'
    )


def inverse_roots(degree):
    """One over the root of each degree; 0 for an isolated sample."""
    return np.divide(1.0, np.sqrt(degree), out=np.zeros(len(degree)), where=degree > 0)


def normalized_similarity(weights, degree):
    r""":math:`S = D^{-1/2} W D^{-1/2}`, as a CSR array of shape (n, n); 0 where D is."""
    similarity = sparse.csr_array(weights, dtype=float, copy=True)
    scale = inverse_roots(degree)
    similarity.data *= np.repeat(scale, np.diff(similarity.indptr))
    similarity.data *= scale[similarity.indices]
    return similarity


def normalized_laplacian(weights, degree):
    r""":math:`I - D^{-1/2} W D^{-1/2}`, as a CSR array of shape (n, n); 0 where D is."""
    linked = sparse.diags_array((degree > 0).astype(float))
    return (linked - normalized_similarity(weights, degree)).tocsr()
