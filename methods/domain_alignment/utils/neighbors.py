r"""Exact nearest neighbours by a float32 search with error bounds.

The similarity of two samples is a float64 sum over features in a fixed order, so it depends on the
two samples alone, not on other samples, block sizes or the BLAS. The k nearest are the k of largest
similarity, ties in row order. As computing it for all pairs is slow, all pairs are only *bounded*,
by a float32 matrix product, and the similarity is computed where the bounds are inconclusive.

*The bound.* Ranking the samples x_j around a sample x_i by similarity is ranking them by

.. math:: s_{ij} = x_i \cdot x_j - h_j,

with unit rows and h = 0 for the cosine, and :math:`h_j = \|x_j\|^2 / 2` for the distance. With
unit roundoff u, a computed inner product over p nonzero features has an error of at most
:math:`\gamma \|x_i\| \|x_j\|`, :math:`\gamma = p u / (1 - p u)`, for any order of summation ([1]_,
Eq. 3.5). Eight further roundoffs cover the rounding of the samples to float32 and the operations
outside the product. So the float32 product gives upper and lower bounds of s.

*The search.* Each row keeps the k + m samples of largest upper bounds. The k-th largest lower bound
kept bounds the k-th largest similarity from below: samples whose upper bound is less are excluded.
If this excludes the least upper bound kept, it excludes all samples not kept, and the similarity is
computed for the few above the threshold only. Otherwise (duplicates, or samples that float32 cannot
distinguish) the row is bounded again by a float64 product, and all samples above the threshold are
compared.

References
----------
.. [1] N. J. Higham. Accuracy and Stability of Numerical Algorithms. 2nd ed., SIAM 2002.
"""

import math

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms

from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._rows import row_products

METRICS = ("cosine", "euclidean")

# Entries per block of products (32 MB in float32): large enough to be bound by the matrix product
# and not by Python.
_BLOCK_ENTRIES = 2**23

# Most rows per block, so that small data also have several, each serving both sides. Not fewer for
# large data: of a few rows, nearly all would be candidates of a column.
_BLOCK_ROWS = 1024

# Entries gathered at a time to compute similarities: both sides stay in the cache.
_PAIR_ENTRIES = 2**15

# Pairs of sparse rows at a time, which amortises SciPy's overhead per operation.
_SPARSE_PAIRS = 1024

# Samples kept beyond k.
_SPARE = 12

# Groups of columns per sample kept: more take longer, fewer prune less.
_GROUPS_PER_KEPT = 4

# Candidates per sample kept, over all rows of a block, from which on pruning them pays.
_CROWD = 2


def nearest_neighbors(X, n_neighbors, *, queries=None, metric="cosine", name="X"):
    """The most similar other samples of each sample, by exact search.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    n_neighbors : int
        Number k of neighbours, the sample itself excluded; less than n.
    queries : ndarray or CSR matrix of shape (m, p), optional
        Samples whose neighbours in `X` are sought; by default those of `X`.
    metric : {"cosine", "euclidean"}, default="cosine"
    name : str, default="X"
        Name of the domain in messages.

    Returns
    -------
    neighbors : ndarray of int of shape (m, k)
        Nearest first, ties in row order.
    similarity : ndarray of shape (m, k)
        Cosines, or negative squared distances.

    Raises
    ------
    ValueError
        If k is not less than n.
    AlignmentError
        If the metric is cosine and a row is zero, or squares overflow.

    Notes
    -----
    The result is that of float64 arithmetic and does not depend on block sizes; the module explains
    why float32 cannot change a neighbour.

    Cost: O(n^2 p / 2) time in float32 within `X`, since a product of two blocks serves both, else
    O(m n p); O(n k p) in float64 for the similarities; and O(n p) in float64 for each row that
    float32 leaves undecided, plus t similarities for a sample with t equidistant others. Memory: a
    float32 copy of the data and O(n) per row of a block, never m x n. Sparse rows stay sparse, but
    blocks of those with many values are multiplied dense.

    At 7341 samples of 4096 features it takes less than one float32 product of all pairs, half of
    which it needs, and a quarter of the time of pynndescent at a recall of 99.9 %
    (`tests/bench/bench_fma_large.py`).

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
            f"neighbour, so n_neighbors is at most {n_samples - 1}"
        )
    search = Search(X, queries, metric, name)
    bounds = _Bounds(search, np.float32)
    upper, kept = _largest_bounds(bounds, min(n_neighbors + _SPARE, search.n_others))
    threshold = _threshold(upper, bounds.widths(np.arange(len(kept)), kept), n_neighbors)
    certain = (upper.min(axis=1) < threshold) | (kept.shape[1] == search.n_others)

    neighbors = np.empty((len(kept), n_neighbors), dtype=np.intp)
    similarity = np.empty((len(kept), n_neighbors))
    rows, place = np.nonzero(certain[:, None] & (upper >= threshold[:, None]))
    neighbors[certain], similarity[certain] = search.best(rows, kept[rows, place], n_neighbors)
    if not certain.all():
        rest = np.flatnonzero(~certain)
        neighbors[rest], similarity[rest] = _search_in_float64(search, rest, n_neighbors)
    return neighbors, similarity


def _search_in_float64(search, rows, n_neighbors):
    """Neighbours of some queries, by the similarity of all pairs that float64 bounds admit."""
    bounds = _Bounds(search, np.float64)
    columns = np.arange(search.samples.size)
    found = []
    for block in _blocks(rows.size, columns.size):
        queries = rows[block]
        upper = bounds.upper(queries, slice(None))
        threshold = _threshold(upper, bounds.widths(queries, columns[None]), n_neighbors)
        place, pair = np.nonzero(upper >= threshold[:, None])
        found.append(search.best(queries[place], pair, n_neighbors))
    return [np.concatenate(part) for part in zip(*found, strict=True)]


def _threshold(upper, widths, n_neighbors):
    """The k-th largest lower bound of each row, a lower bound of the k-th largest similarity."""
    return np.partition(upper - widths, -n_neighbors, axis=1)[:, -n_neighbors]


def _blocks(n_rows, n_columns):
    """Slices of rows with bounded blocks of all columns."""
    return _slices(0, n_rows, min(_BLOCK_ROWS, max(1, _BLOCK_ENTRIES // n_columns)))


def _slices(start, stop, step):
    return [slice(first, min(first + step, stop)) for first in range(start, stop, step)]


def _tiles(n_rows, n_columns, within):
    """Slices of rows and columns with bounded blocks; within, those that serve all pairs once."""
    n_high = min(_BLOCK_ROWS, math.isqrt(_BLOCK_ENTRIES))
    n_wide = _BLOCK_ENTRIES // n_high
    for rows in _slices(0, n_rows, n_high):
        if within:
            yield rows, rows
        for columns in _slices(rows.stop if within else 0, n_columns, n_wide):
            yield rows, columns


def _largest_bounds(bounds, n_kept):
    """The largest upper bounds of each query and their columns, shape (m, n_kept), unsorted."""
    n_queries, within = bounds.search.queries.size, bounds.search.within
    best = np.full((n_queries, n_kept), -np.inf, dtype=np.float32)
    kept = np.zeros((n_queries, n_kept), dtype=np.intp)
    for rows, columns in _tiles(n_queries, bounds.search.samples.size, within):
        if not within or rows == columns:  # symmetric: BLAS computes one half
            upper = bounds.upper(rows, columns)
            _keep_largest(best[rows], kept[rows], upper, columns.start)
            continue
        products = bounds.products(rows, columns)  # serves both sides
        to_rows = bounds.lift(products, rows, columns)
        _keep_largest(best[rows], kept[rows], to_rows, columns.start)
        to_columns = bounds.lift(products.T, columns, rows)
        _keep_largest(best[columns], kept[columns], to_columns, rows.start)
    return best.astype(np.float64), kept


def _keep_largest(best, kept, upper, first_column):
    """Merge the bounds of further columns into the largest so far, in place."""
    n_kept = best.shape[1]
    better = upper > best.min(axis=1, keepdims=True)
    if np.count_nonzero(better) > _CROWD * best.size:
        better &= upper >= _reached_by(upper, n_kept)
    row, column = _places(better)
    if not row.size:
        return
    # Candidates are packed to the left, and gaps filled with -inf.
    counts = np.bincount(row, minlength=len(best))
    rows = np.flatnonzero(counts)
    place = (np.cumsum(counts > 0) - 1)[row]
    slot = np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)
    values = np.full((rows.size, n_kept + counts.max()), -np.inf, dtype=best.dtype)
    columns = np.zeros(values.shape, dtype=kept.dtype)
    values[:, :n_kept], columns[:, :n_kept] = best[rows], kept[rows]
    values[place, n_kept + slot] = upper[row, column]
    columns[place, n_kept + slot] = first_column + column
    largest = np.argpartition(values, -n_kept, axis=1)[:, -n_kept:]
    best[rows] = np.take_along_axis(values, largest, axis=1)
    kept[rows] = np.take_along_axis(columns, largest, axis=1)


def _places(mask):
    """Rows, ascending, and columns of what is true, read in the order in which it lies."""
    if mask.flags.c_contiguous:
        return np.divmod(np.flatnonzero(mask), mask.shape[1])
    column, row = np.divmod(np.flatnonzero(mask.T), mask.shape[0])
    order = np.argsort(row, kind="stable")
    return row[order], column[order]


def _reached_by(upper, n_kept):
    """A value that at least `n_kept` entries of each row reach, many more only among ties.

    From the maxima of groups of columns, which takes one pass instead of a full sort.
    """
    if upper.shape[1] < n_kept:
        return -np.inf
    size = max(1, upper.shape[1] // (_GROUPS_PER_KEPT * n_kept))
    n_groups = upper.shape[1] // size
    groups = upper[:, : size * n_groups].reshape(len(upper), size, n_groups)
    return np.partition(groups.max(axis=1), -n_kept, axis=1)[:, -n_kept, None]


class _Side:
    """The samples or the queries: rows x, in the units of the search (x - centre) / divisor.

    Attributes
    ----------
    lengths : ndarray of shape (size,)
        Norms in these units, at most 1.
    """

    def __init__(self, X, divisors, lengths, centre=None):
        self.X, self.divisors, self.lengths, self.centre = X, divisors, lengths, centre

    @property
    def size(self):
        return self.X.shape[0]

    @property
    def terms(self):
        """Largest number of nonzero features of a row."""
        if sparse.issparse(self.X):
            return int(np.diff(self.X.indptr).max())
        return self.X.shape[1]

    def scaled(self, dtype):
        """All rows in the units of the search."""
        if sparse.issparse(self.X):
            return (sparse.diags_array(1 / self.divisors) @ self.X).tocsr().astype(dtype)
        rows = np.empty(self.X.shape, dtype=dtype)
        for block in _blocks(*self.X.shape):
            part = self.X[block] if self.centre is None else self.X[block] - self.centre
            np.divide(part, self.divisors[block, None], out=rows[block], casting="same_kind")
        return rows


class Search:
    """Samples, queries, and their similarities."""

    def __init__(self, X, queries, metric, name):
        self.metric = metric
        self.within = queries is None
        make = _directions if metric == "cosine" else _points
        self.samples, self.queries = make(X, queries, name)

    @property
    def n_others(self):
        """Number of possible neighbours of a query."""
        return self.samples.size - self.within

    def best(self, rows, columns, n_neighbors):
        """The k nearest among the given pairs, shape (m, k), for each query in `rows`.

        Parameters
        ----------
        rows, columns : ndarray of int
            Queries, ascending, each at least k times, and samples.
        """
        if self.within:  # most neighbours are mutual, and the similarity is symmetric
            size = self.samples.size
            code = np.minimum(rows, columns) * size + np.maximum(rows, columns)
            distinct, place = np.unique(code, return_inverse=True)
            similarity = self._similarity(distinct // size, distinct % size)[place]
        else:
            similarity = self._similarity(rows, columns)
        order = np.lexsort((columns, -similarity, rows))
        first = np.flatnonzero(np.diff(rows, prepend=-1))
        nearest = order[first[:, None] + np.arange(n_neighbors)]
        return columns[nearest], similarity[nearest]

    def _similarity(self, rows, columns):
        X, others = self.queries.X, self.samples.X
        is_sparse = sparse.issparse(X) or sparse.issparse(others)
        of_pairs = _sparse_similarity if is_sparse else _dense_similarity
        similarity = of_pairs(X, others, rows, columns, self.metric)
        if self.metric == "cosine":
            similarity /= self.queries.divisors[rows] * self.samples.divisors[columns]
            np.clip(similarity, -1, 1, out=similarity)
        return similarity


def _dense_similarity(X, others, rows, columns, metric):
    X, others = np.ascontiguousarray(X), np.ascontiguousarray(others)
    similarity = np.empty(rows.size)
    step = max(1, _PAIR_ENTRIES // X.shape[1])
    left, right = np.empty((2, step, X.shape[1]))  # reused buffers
    for start in range(0, rows.size, step):
        pairs = slice(start, min(start + step, rows.size))
        size = pairs.stop - pairs.start
        x = np.take(X, rows[pairs], axis=0, out=left[:size], mode="clip")
        other = np.take(others, columns[pairs], axis=0, out=right[:size], mode="clip")
        if metric == "cosine":
            np.vecdot(x, other, out=similarity[pairs])
        else:
            x -= other
            similarity[pairs] = 0 - np.vecdot(x, x)
    return similarity


def _sparse_similarity(X, others, rows, columns, metric):
    similarity = np.empty(rows.size)
    for start in range(0, rows.size, _SPARSE_PAIRS):
        pairs = slice(start, start + _SPARSE_PAIRS)
        # Either may be dense.
        x, other = sparse.csr_array(X[rows[pairs]]), sparse.csr_array(others[columns[pairs]])
        if metric == "cosine":
            similarity[pairs] = x.multiply(other).sum(axis=1)
        else:
            difference = x - other
            similarity[pairs] = 0 - difference.multiply(difference).sum(axis=1)
    return similarity


def _directions(X, queries, name):
    """Both sides for the cosine."""
    samples = _Side(X, _positive_norms(X, name), np.ones(X.shape[0]))
    if queries is None:
        return samples, samples
    return samples, _Side(queries, _positive_norms(queries, "X"), np.ones(queries.shape[0]))


def _positive_norms(X, name):
    norms = _finite_norms(X, name)
    if not norms.all():
        zero = np.flatnonzero(norms == 0)
        raise AlignmentError(
            f"{name}: {zero.size} of {X.shape[0]} samples are all zeros, or their squares "
            f"underflow (first at row {zero[0]}), so their cosine is undefined; drop them, or "
            'use metric="euclidean" in a method that has this parameter'
        )
    return norms


def _points(X, queries, name):
    """Both sides for the distance, centred to reduce cancellation in the bounds."""
    given = [X] if queries is None else [X, queries]
    centre = None if any(sparse.issparse(part) for part in given) else X.mean(axis=0)
    names = [name, "X"]
    norms = [_norms_around(part, centre, what) for part, what in zip(given, names, strict=False)]
    scale = max(part.max() for part in norms) or 1.0
    sides = [
        _Side(part, np.full(lengths.size, scale), lengths / scale, centre)
        for part, lengths in zip(given, norms, strict=True)
    ]
    return sides[0], sides[-1]


def _norms_around(X, centre, name):
    if centre is None:
        return _finite_norms(X, name)
    blocks = _blocks(*X.shape)
    return np.concatenate([_finite_norms(X[block] - centre, name) for block in blocks])


def _finite_norms(X, name):
    norms = row_norms(X)
    if not np.isfinite(norms).all():
        raise AlignmentError(
            f"{name}: the squares of its values are too large for float64; scale it down"
        )
    return norms


class _Bounds:
    r"""Bounds of the similarities of a search from products in one precision.

    Up to a term that depends on the query alone, the similarity of query i and sample j is
    :math:`s_{ij}` of the module's formula, and lies between ``upper - widths`` and ``upper``.
    """

    def __init__(self, search, dtype):
        self.search = search
        self._samples = search.samples.scaled(dtype)
        self._queries = self._samples if search.within else search.queries.scaled(dtype)
        info, terms = np.finfo(dtype), 8 + min(search.samples.terms, search.queries.terms)
        roundoff = terms * float(info.eps) / 2
        # The second term is for the similarity itself, computed in float64.
        self._gamma = roundoff / (1 - roundoff) + terms * np.finfo(np.float64).eps
        self._underflow = 4 * terms * float(info.tiny)

    def products(self, rows, columns):
        """Inner products of some queries and some samples, as a new array."""
        return row_products(self._queries[rows], self._samples[columns])

    def lift(self, products, rows, columns):
        """Upper bounds from the products of `rows` with `columns`, of either side."""
        if self.search.metric == "cosine":
            return products  # the error bound is constant
        lengths, others = self.search.queries.lengths[rows], self.search.samples.lengths[columns]
        dtype = products.dtype
        upper = np.empty_like(products)  # lies as they do
        np.multiply.outer((self._gamma * lengths).astype(dtype), others.astype(dtype), out=upper)
        upper -= ((1 - self._gamma) / 2 * others**2).astype(dtype)
        upper += products
        return upper

    def upper(self, rows, columns):
        """Upper bounds of the similarities of some queries and samples, -inf on the diagonal.

        If the queries are the samples, the columns must include the rows.
        """
        upper = self.lift(self.products(rows, columns), rows, columns)
        if self.search.within:
            diagonal = np.arange(self.search.samples.size)[rows] - (columns.start or 0)
            upper[np.arange(diagonal.size), diagonal] = -np.inf
        return upper

    def widths(self, rows, columns):
        """Gap between upper and lower bounds, for an array of columns per query."""
        if self.search.metric == "cosine":
            return 2 * self._gamma + self._underflow
        lengths, others = self.search.queries.lengths[rows], self.search.samples.lengths[columns]
        return self._gamma * (lengths[:, None] + others) ** 2 + self._underflow
