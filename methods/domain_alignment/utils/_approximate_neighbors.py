"""Approximate nearest neighbours, for domains too large to compare all pairs of samples.

Candidates come from nearest-neighbour descent ([1]_, by pynndescent): neighbours of neighbours are
compared until few improve, in a few principal directions where nearly all neighbours of some
samples stay near there. The similarities of the candidates, and with them the choice among them,
are those of the exact search in all features, so an approximate answer differs from the exact one
only in the neighbours that were never candidates. Their share is estimated, by the exact search
around some samples.

References
----------
.. [1] W. Dong, M. Charikar, K. Li. Efficient k-nearest neighbor graph construction for generic
   similarity measures. WWW 2011.
"""

import warnings

import numpy as np
from scipy import sparse
from scipy.spatial import KDTree
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from domain_alignment.utils._optional import needed
from domain_alignment.utils.neighbors import Search, nearest_neighbors

# Up to this many samples the exact search takes seconds, the other mostly compiles itself.
EXACT_UP_TO = 10_000

# Candidates per neighbour, and beyond: at 10^5 samples of 20 intrinsic dimensions 99.8 % of 10
# neighbours were among 30 candidates, 97 % among 16.
_PER_NEIGHBOR, _SPARE = 2, 10

# Candidates are looked for in the first of these numbers of principal directions, fewer than there
# are features, in which this share of the neighbours of some samples, among these, stay candidates.
_DIRECTIONS, _STILL_NEAR, _LOOKED_AT = (64, 128, 256), 0.99, 2000

# Samples whose exact neighbours are searched to estimate the recall: a standard error of at most
# 0.03, and 0.005 at a recall of 0.99.
_JUDGED = 300
POOR_RECALL = 0.9

# Samples whose candidates are compared at a time.
_BLOCK_ROWS = 2**15


def approximate_neighbors(X, n_neighbors, *, metric="cosine", name="X"):
    """Most of the most similar other samples of each sample.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    n_neighbors : int
        Number k of neighbours, the sample itself excluded; less than n.
    metric : {"cosine", "euclidean"}, default="cosine"
    name : str, default="X"
        Name of the domain in messages.

    Returns
    -------
    neighbors : ndarray of int of shape (n, k)
        Nearest first, ties in row order.
    similarity : ndarray of shape (n, k)
        Cosines, or negative squared distances, in float64.
    recall : float
        Estimated share of neighbours at least as similar as the k-th nearest; exactly 1 for up to
        10,000 samples, which are searched exactly.

    Raises
    ------
    ImportError
        If pynndescent is not installed.
    ValueError, AlignmentError
        As :func:`~domain_alignment.utils.neighbors.nearest_neighbors`.

    Warns
    -----
    ConvergenceWarning
        If the recall is less than 0.9.

    Notes
    -----
    Seeded, on one thread: the same samples have the same answer.

    Cost: 0.4 of the exact search at 10^5 samples of 200 features and 12 neighbours, about n^1.1
    between 2 x 10^4 and 10^5 (`tests/bench/neighbour_libraries.py`). In few directions the descent
    does not grow with the features; the comparison of its candidates does. Half a minute to a
    minute once per process, in which pynndescent compiles itself. Memory: a float32 copy of the
    samples, or two where none of their features are left out, up to 512 numbers more of each, and
    O(n k).
    """
    n_samples = X.shape[0]
    if n_samples <= EXACT_UP_TO or n_neighbors >= n_samples:
        return *nearest_neighbors(X, n_neighbors, metric=metric, name=name), 1.0
    search = Search(X, None, metric, name)
    candidates, order = _descent(search, n_neighbors)
    neighbors = np.empty((n_samples, n_neighbors), dtype=np.intp)
    similarity = np.empty((n_samples, n_neighbors))
    for start in range(0, n_samples, _BLOCK_ROWS):
        # Most candidates of samples near each other are mutual, and compared once.
        block = np.sort(order[start : start + _BLOCK_ROWS])
        columns = candidates[block]
        valid = (columns >= 0) & (columns != block[:, None])
        # Almost never: a sample with fewer candidates than neighbours.
        lacking = valid.sum(axis=1) < n_neighbors
        place, slot = np.nonzero(valid & ~lacking[:, None])
        full = block[~lacking]
        found = search.best(block[place], columns[place, slot].astype(np.intp), n_neighbors)
        neighbors[full], similarity[full] = found
        if lacking.any():
            rest = block[lacking]
            neighbors[rest], similarity[rest] = _exact(X, rest, n_neighbors, metric, name)
    del candidates
    return neighbors, similarity, _recall(X, similarity, n_neighbors, metric, name)


def _descent(search, n_neighbors):
    """Candidates of each sample, and the order of `_by_nearness` of the samples.

    The sample itself is mostly among its candidates; they are -1 where there are fewer.
    """
    pynndescent = needed("pynndescent", 'neighbors="approximate"')
    n_candidates = _PER_NEIGHBOR * n_neighbors + _SPARE
    # In the units of the search the cosine is the distance of rows of length 1.
    rows = _narrowed(search.samples.scaled(np.float32), n_neighbors, n_candidates)
    order = _by_nearness(rows)
    rows = rows[order]  # the others are let go of before the descent
    index = pynndescent.NNDescent(
        rows,
        metric="euclidean",
        n_neighbors=n_candidates,
        random_state=0,
        low_memory=True,
        n_jobs=1,
    )
    places = index.neighbor_graph[0]
    candidates = np.empty_like(places)
    candidates[order] = np.where(places < 0, -1, order.astype(places.dtype)[places])
    return candidates, order


def _by_nearness(rows):
    """An order in which rows near each other are mostly near each other in memory too.

    The descent reads the neighbours of neighbours: of a million rows in random order few are in the
    cache. The order is that of the leaves of a k-d tree.
    """
    if sparse.issparse(rows):
        return np.arange(rows.shape[0])
    tree = KDTree(rows[:, : _DIRECTIONS[-1]], leafsize=64, compact_nodes=False)
    return tree.indices


def _narrowed(rows, n_neighbors, n_candidates):
    """Coordinates of dense rows in few directions, if neighbours stay near there; else the rows."""
    asked = [number for number in _DIRECTIONS if number < rows.shape[1]]
    too_few = not asked or rows.shape[0] < 2 * _LOOKED_AT
    if too_few or sparse.issparse(rows) or n_candidates >= _LOOKED_AT:
        return rows
    looked_at = np.random.default_rng(0).choice(rows.shape[0], 2 * _LOOKED_AT, replace=False)
    some, others = np.split(rows[looked_at].astype(np.float64), 2)
    with np.errstate(invalid="ignore"):  # equal rows have no share of a variance
        axes = PCA(asked[-1], random_state=0).fit(some).components_.T
    near, _ = nearest_neighbors(others, n_neighbors, metric="euclidean")
    pairs = _LOOKED_AT * np.arange(_LOOKED_AT)[:, None]
    for number in asked:
        narrow = others @ axes[:, :number]
        candidates, _ = nearest_neighbors(narrow, n_candidates, metric="euclidean")
        if np.isin(pairs + near, pairs + candidates).mean() >= _STILL_NEAR:
            return rows @ axes[:, :number].astype(rows.dtype)
    return rows


def _exact(X, rows, n_neighbors, metric, name):
    """Neighbours of some samples among all others, by the exact search."""
    found = nearest_neighbors(X, n_neighbors + 1, queries=X[rows], metric=metric, name=name)
    neighbors, similarity = found
    others = neighbors != rows[:, None]
    # Among many equal samples the sample itself may be missing: the last one goes instead.
    others[others.all(axis=1), -1] = False
    shape = len(rows), n_neighbors
    return neighbors[others].reshape(shape), similarity[others].reshape(shape)


def _recall(X, similarity, n_neighbors, metric, name):
    rows = np.sort(np.random.default_rng(0).choice(len(similarity), _JUDGED, replace=False))
    _, exact = _exact(X, rows, n_neighbors, metric, name)
    # Norms of a part of the rows may differ from those of all in the last digit.
    least = exact[:, -1:] - 1e-12 * np.abs(exact[:, -1:])
    recall = float(np.mean(similarity[rows] >= least))
    if recall < POOR_RECALL:
        warnings.warn(
            f"{name}: of the nearest neighbours only {recall:.0%} were found, as estimated around "
            f'{_JUDGED} samples; use neighbors="exact" if there is time',
            ConvergenceWarning,
            stacklevel=2,
        )
    return recall
