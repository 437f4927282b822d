r"""Exact nearest neighbours by a search in single precision that knows its own error.

The similarity of two samples is a sum over features in float64, always in the same order, so it
depends on the two samples alone: not on the others, the size of a block, or the BLAS. The k nearest
are the k of largest similarity, equal ones in the order of their rows. That is the definition, and
computing it for all pairs is slow. So all pairs are only *bounded*, by a matrix product in float32,
and the similarity itself is computed where the bounds leave a choice.

*The bound.* Ranking the samples x_j around a sample x_i by similarity is ranking them by

.. math:: s_{ij} = x_i \cdot x_j - h_j,

with unit rows and h = 0 for the cosine, and :math:`h_j = \|x_j\|^2 / 2` for the distance. With
unit roundoff u, a computed inner product over p nonzero features is off by at most
:math:`\gamma \|x_i\| \|x_j\|`, :math:`\gamma = p u / (1 - p u)`, in whatever order it was summed
([1]_, Eq. 3.5). Eight further roundoffs cover the rounding of the samples to float32 and the
operations beside the product. So the float32 product gives an upper and a lower bound of s.

*The search.* Each row keeps the k + m samples of largest upper bounds. The k-th largest of the
lower bounds kept is a lower bound of the k-th largest similarity; what has an upper bound below it
is not among the nearest. If the least upper bound kept is, then so is all that was not kept, and
the row is done: the similarity is computed for the few above the threshold. Otherwise (samples that
are equal, or nearer to each other than float32 can tell) the row is bounded anew by a float64
product, and everything above the threshold is compared, however many there are.

References
----------
.. [1] N. J. Higham. Accuracy and Stability of Numerical Algorithms. 2nd ed., SIAM 2002.
"""

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms

from domain_alignment.base import AlignmentError

METRICS = ("cosine", "euclidean")

# Entries of the block of products held at a time (16 MB in float32): small enough for any machine,
# large enough that the matrix product and not Python is what takes the time.
_BLOCK_ENTRIES = 2**22

# Entries of the rows gathered at a time to compute similarities: both sides stay in the cache.
_PAIR_ENTRIES = 2**15

# Samples kept beyond k. At 7341 samples of 4096 features the float32 bounds leave open 2 or 3.
_SPARE = 12


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
    The answer is that of float64 arithmetic and does not depend on the size of the blocks; the
    module says how float32 is used, and why it cannot change a neighbour.

    Cost: O(n^2 p / 2) time in float32 for the neighbours within `X`, since a product of two blocks
    of rows serves both, else O(m n p); O(n k p) in float64 for the similarities; and O(n p) in
    float64 for each row that float32 leaves undecided. Where a sample is equally near to t others,
    t similarities are computed for it. Memory: a float32 copy of the data and O(n) per row of a
    block, never m x n. Sparse rows are multiplied as sparse rows.

    `tests/bench/bench_fma_large.py` compares it with scikit-learn's exhaustive search and with an
    approximate one.

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
    if metric == "cosine":
        samples = _Directions(X, name)
        others = samples if queries is None else _Directions(queries, "X")
    else:
        samples = _Points(X)
        others = samples if queries is None else _Points(queries, like=samples)
    others.share_scale(samples)
    n_queries = others.X.shape[0]
    n_kept = min(n_neighbors + _SPARE, n_samples - (queries is None))
    upper, kept = _best_bounds(others, samples, n_kept)
    threshold = _threshold(others, samples, np.arange(n_queries), kept, upper, n_neighbors)
    certain = (upper.min(axis=1) < threshold) | (n_kept == n_samples - (queries is None))

    neighbors = np.empty((n_queries, n_neighbors), dtype=np.intp)
    similarity = np.empty((n_queries, n_neighbors))
    open_rows, place = np.nonzero((upper >= threshold[:, None]) & certain[:, None])
    found = _nearest(others, samples, open_rows, kept[open_rows, place], n_neighbors)
    neighbors[certain], similarity[certain] = found
    undecided = np.flatnonzero(~certain)
    step = max(1, _BLOCK_ENTRIES // n_samples)
    for start in range(0, undecided.size, step):
        rows = undecided[start : start + step]
        pairs = _pairs_in_float64(others, samples, rows, n_neighbors)
        neighbors[rows], similarity[rows] = _nearest(others, samples, *pairs, n_neighbors)
    return neighbors, similarity
