"""Nearest-neighbour graphs of one domain, and the matrices made from them.

A graph is a symmetric CSR matrix of non-negative weights with an empty diagonal. Negative weights
never occur: a neighbour at a cosine of zero or less is no neighbour, since with negative weights
the Laplacian is no longer positive semi-definite and its smallest eigenvectors mean nothing.
"""

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms

from domain_alignment.base import AlignmentError

METRICS = ("cosine", "euclidean")
SYMMETRIZATIONS = ("union", "mean", "mutual")

# Entries of the similarity block held at a time (32 MB): small enough for any machine, large enough
# that the matrix product and not Python is what takes the time.
_BLOCK_ENTRIES = 2**22


def nearest_neighbors(X, n_neighbors, *, queries=None, metric="cosine", name="X"):
    """The most similar other samples of each sample, by exhaustive search.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    n_neighbors : int
        Number k of neighbours, the sample itself excluded; less than n.
    queries : ndarray or CSR matrix of shape (m, p), optional
        Samples whose neighbours in `X` are sought; those of `X` themselves by default.
    metric : {"cosine", "euclidean"}, default="cosine"
    name : str, default="X"
        What messages call the domain.

    Returns
    -------
    neighbors : ndarray of int of shape (m, k)
        Nearest first; equally near samples in the order of their rows.
    similarity : ndarray of shape (m, k)
        Cosines, or negative squared distances.

    Raises
    ------
    ValueError
        If k is not less than n.
    AlignmentError
        If the metric is cosine and a row is zero, which has no direction.

    Notes
    -----
    Cost: O(m n p) time for dense input; a block of rows times all rows at a time, so O(n) memory
    per row of the block and never m x n. Sparse rows are multiplied as sparse rows.

    Examples
    --------
    >>> neighbors, cosines = nearest_neighbors(np.array([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0]]), 1)
    >>> neighbors.ravel()
    array([1, 0, 1])
    """
    n_samples = X.shape[0]
    if not 1 <= n_neighbors < n_samples:
        raise ValueError(
            f"{name}: n_neighbors={n_neighbors} for {n_samples} samples; a sample is not its own "
            f"neighbour, so at most {n_samples - 1} can be asked for"
        )
    n_queries = n_samples if queries is None else queries.shape[0]
    similarities = {"cosine": _cosines, "euclidean": _negative_squared_distances}[metric]
    similarities = similarities(X, queries, name)
    neighbors = np.empty((n_queries, n_neighbors), dtype=np.intp)
    similarity = np.empty((n_queries, n_neighbors))
    step = max(1, _BLOCK_ENTRIES // n_samples)
    for start in range(0, n_queries, step):
        rows = slice(start, min(start + step, n_queries))
        block = similarities(rows)
        if queries is None:
            block[np.arange(len(block)), np.arange(rows.start, rows.stop)] = -np.inf
        neighbors[rows], similarity[rows] = _largest(block, n_neighbors)
    return neighbors, similarity


def _cosines(X, queries, name):
    """Return a function from a slice of the queries to their cosines with all rows of X."""
    unit = _unit_rows(X, name)
    others = unit if queries is None else _unit_rows(queries, "X")
    return lambda rows: np.clip(_product(others[rows], unit), -1, 1)


def _unit_rows(X, name):
    norms = row_norms(X)
    if not norms.all():
        zero = np.flatnonzero(norms == 0)
        raise AlignmentError(
            f"{name}: {zero.size} of {X.shape[0]} samples are all zeros (first at row {zero[0]}), "
            'which have no cosine with others; drop them, or take metric="euclidean"'
        )
    if sparse.issparse(X):
        return (sparse.diags_array(1 / norms) @ X).tocsr()
    return X / norms[:, None]


def _negative_squared_distances(X, queries, name):
    """Return a function from a slice of the queries to minus their squared distances to X."""
    others = X if queries is None else queries
    if not sparse.issparse(X) and not sparse.issparse(others):
        centre = X.mean(axis=0)  # distances stay, and fewer digits cancel below
        X, others = X - centre, others - centre
    squares, other_squares = row_norms(X, squared=True), row_norms(others, squared=True)

    def negative_squared_distances(rows):
        squared = other_squares[rows, None] - 2 * _product(others[rows], X) + squares
        return -np.maximum(squared, 0)

    return negative_squared_distances


def _product(rows, X):
    block = rows @ X.T
    return block.toarray() if sparse.issparse(block) else np.asarray(block)


def _largest(block, k):
    """Columns and values of the k largest entries per row, best first, ties by column."""
    columns = np.argpartition(block, -k, axis=1)[:, -k:]
    least = np.take_along_axis(block, columns, axis=1).min(axis=1, keepdims=True)
    # Among entries equal to the k-th largest, argpartition keeps whichever it likes.
    tied = np.flatnonzero(np.count_nonzero(block >= least, axis=1) > k)
    columns[tied] = np.argsort(-block[tied], axis=1, kind="stable")[:, :k]
    columns.sort(axis=1)
    values = np.take_along_axis(block, columns, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1), np.take_along_axis(values, order, axis=1)


def edge_weights(similarity, metric):
    """Weights of the edges to neighbours of the given similarity.

    The cosine itself, zero where it is negative, or 1 for Euclidean neighbours: the simple-minded
    weights of Laplacian eigenmaps (Belkin & Niyogi 2003, section 2), which need no bandwidth.
    """
    return np.maximum(similarity, 0) if metric == "cosine" else np.ones_like(similarity)


def knn_graph(X, n_neighbors, *, metric="cosine", symmetrize="union", name="X"):
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
    name : str, default="X"
        What messages call the domain.

    Returns
    -------
    weights : CSR array of shape (n, n)

    Raises
    ------
    ValueError, AlignmentError
        As :func:`nearest_neighbors` does.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> knn_graph(X, 1, metric="euclidean").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    neighbors, similarity = nearest_neighbors(X, n_neighbors, metric=metric, name=name)
    n_samples = X.shape[0]
    directed = sparse.csr_array(
        (
            edge_weights(similarity, metric).ravel(),
            neighbors.ravel(),
            np.arange(0, n_samples * n_neighbors + 1, n_neighbors),
        ),
        shape=(n_samples, n_samples),
    )
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
    return weights


def degrees(weights, name="X"):
    """Row sums of a graph, shape (n,).

    Raises
    ------
    AlignmentError
        If a sample has no edge: nothing ties its place in the embedding to the others.
    """
    degree = np.asarray(weights.sum(axis=1)).ravel()
    isolated = np.flatnonzero(degree <= 0)
    if isolated.size:
        raise AlignmentError(
            f"{name}: {isolated.size} of {degree.size} samples have no edge in the neighbour graph "
            f'(first at row {isolated[0]}); drop them, raise n_neighbors, take symmetrize="union", '
            'or metric="euclidean" if they have no neighbour at a positive cosine'
        )
    return degree


def normalized_similarity(weights, degree):
    r""":math:`S = D^{-1/2} W D^{-1/2}`, as a CSR array of shape (n, n)."""
    scale = sparse.diags_array(1 / np.sqrt(degree))
    return (scale @ weights @ scale).tocsr()


def normalized_laplacian(weights, degree):
    r""":math:`I - D^{-1/2} W D^{-1/2}`, as a CSR array of shape (n, n)."""
    return (sparse.eye_array(weights.shape[0]) - normalized_similarity(weights, degree)).tocsr()
