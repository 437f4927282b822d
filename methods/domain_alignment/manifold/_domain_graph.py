"""The label-free part of the KEMA family: the graph Laplacian of one domain."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import sparse

from domain_alignment.utils.graphs import KNNGraph, degrees, directed_graph, searched_graph
from domain_alignment.utils.validation import check_matrix


class GraphParams(NamedTuple):
    """Parameters of a domain's graph.

    Attributes
    ----------
    n_neighbors : int
    precomputed : bool
        Whether the domain is given by its kernel matrix.
    search : {"auto", "exact", "approximate"}
        How neighbours are found; those in a kernel matrix always by the exact search.
    """

    n_neighbors: int
    precomputed: bool = False
    search: str = "auto"


@dataclass(frozen=True, eq=False)  # known by identity, as a key of `_kept_sums`
class DomainGraph:
    """Label-free model of one domain.

    Attributes
    ----------
    params : GraphParams
    shape : tuple of int
        Shape of `X`.
    laplacian : CSR array of shape (n, n)
    widths : dict
        Kernel widths that need no labels, by (kernel, rule).
    recall : float
        Share of the nearest neighbours found.
    """

    params: GraphParams
    shape: tuple
    laplacian: sparse.csr_array
    widths: dict = field(default_factory=dict)
    recall: float = 1.0

    @property
    def total(self):
        """Sum of the edge weights."""
        return self.laplacian.trace()


def domain_graph(X, params, widths=None, name="X"):
    r"""Laplacian :math:`L = \mathrm{diag}(W 1) - W` of the nearest-neighbour graph of one domain.

    As in the KEMA toolbox: Euclidean neighbours, weights 1, the union of both directions,
    unnormalised.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        Features, or a kernel matrix K with squared distances :math:`K_{ii} + K_{jj} - 2 K_{ij}`.
    params : GraphParams
    widths : dict, optional
        Stored in the model.
    name : str, default="X"
        Name of the domain in messages.

    Raises
    ------
    ValueError
        If `n_neighbors` is not less than n, or the kernel matrix is not symmetric.

    Notes
    -----
    Cost: O(n^2 p) time in blocks of rows, less with approximate neighbours; memory O(n k).

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> domain_graph(X, GraphParams(n_neighbors=1)).laplacian.toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """
    if params.precomputed:
        X = check_kernel_matrix(X, name)
        graph = _kernel_graph(X, params.n_neighbors, name)
    else:
        graph = searched_graph(
            X, params.n_neighbors, metric="euclidean", search=params.search, name=name
        )
    weights = graph.weights
    laplacian = (sparse.diags_array(degrees(weights, name)) - weights).tocsr()
    return DomainGraph(params, X.shape, laplacian, widths or {}, graph.recall)


def check_kernel_matrix(K, name="X"):
    """Validate a precomputed kernel and return it as a dense matrix.

    Raises
    ------
    ValueError
        If it is not square or not symmetric to 1e-10 of its largest entry.
    """
    K = check_matrix(K.toarray() if sparse.issparse(K) else K, name)
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f'{name}: has shape {K.shape}; kernel="precomputed" needs a square kernel matrix'
        )
    worst, size = np.abs(K - K.T).max(), np.abs(K).max()
    if worst > 1e-10 * size:
        raise ValueError(
            f"{name}: the kernel matrix is not symmetric (entries of size {size:.1e} differ by up "
            f"to {worst:.1e}); symmetrise it"
        )
    return K


def _kernel_graph(K, n_neighbors, name):
    n_samples = len(K)
    if not n_neighbors < n_samples:
        # Raises the same error as for other graphs.
        return searched_graph(K, n_neighbors, metric="euclidean", name=name)
    neighbors = np.empty((n_samples, n_neighbors), dtype=np.intp)
    for i in range(n_samples):
        squared = K.diagonal() - 2 * K[i]
        squared[i] = np.inf
        neighbors[i] = np.argsort(squared, kind="stable")[:n_neighbors]
    directed = directed_graph(neighbors, np.ones(neighbors.shape))
    directed.sort_indices()
    return KNNGraph(directed.maximum(directed.T.tocsr()), 1.0)
