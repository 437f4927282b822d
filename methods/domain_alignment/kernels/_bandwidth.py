"""Rules for the width of a kernel, each from one domain's own samples.

The KEMA paper and its toolbox state several. All of them are in units of the kernel's own distance:
Euclidean for "rbf", the root of the chi2 distance for "chi2".
"""

import re
from functools import partial
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms

from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernels._tiled import chi2_distances, squared_distances, tiles

WIDTH_RULES = ("mean_labelled", "median", "half_median")

# A rule, or a multiple of one such as "15*mean_labelled".
_RULE = re.compile(rf"(?:(\d*\.?\d+)\s*\*\s*)?({'|'.join(WIDTH_RULES)})")

# Distances of so many pairs are held at once (128 MB); the median of more takes three passes.
_MANY_PAIRS = 2**24

# Bins in which the distances of many pairs are counted.
_BINS = 2**16


def parse_width(rule, name="X"):
    """A width as a factor and a rule; the rule of a number is None.

    Raises
    ------
    ValueError
        If it is neither a positive number nor a positive multiple of a known rule.

    Examples
    --------
    >>> parse_width("15*mean_labelled"), parse_width("median"), parse_width(2)
    ((15.0, 'mean_labelled'), (1.0, 'median'), (2.0, None))
    """
    factor, known = 0.0, None
    if isinstance(rule, Real) and not isinstance(rule, bool):
        factor = float(rule)
    elif isinstance(rule, str) and (found := _RULE.fullmatch(rule)):
        factor, known = float(found[1] or 1), found[2]
    # Kernels divide by the square. A product, since a power of a float raises where it overflows.
    if factor < 0 or not 0 < factor * factor < np.inf:
        raise ValueError(
            f"{name}: sigma is {rule!r}; give a positive number whose square float64 can hold, "
            f"one of {', '.join(WIDTH_RULES)}, "
            'or a multiple such as "15*mean_labelled"'
        )
    return factor, known


def is_label_free(rule):
    """Whether a width, a number or a rule, can be known before the labels."""
    return parse_width(rule)[1] != "mean_labelled"


def kernel_width(rule, X, labelled, function="rbf", name="X"):
    r"""Width of the kernel of one domain.

    ================= =============================================================
    a number          itself
    "mean_labelled"   mean distance of the pairs of labelled samples
    "median"          median distance of the pairs of all samples
    "half_median"     half of that
    "15*median"       15 times the median; likewise with other numbers and rules
    ================= =============================================================

    Parameters
    ----------
    rule : float or str
    X : ndarray or CSR matrix of shape (n, p)
    labelled : ndarray of int or None
        Rows of the labelled samples; needed by "mean_labelled" alone.
    function : {"rbf", "chi2"}, default="rbf"
        The kernel, which says what distance is meant.
    name : str, default="X"
        What messages call the domain.

    Raises
    ------
    ValueError
        If the rule is unknown, or there are fewer than two samples to measure a distance between.
    AlignmentError
        If the rule gives 0 because samples coincide.

    Notes
    -----
    A pair is two different samples, counted once; samples that coincide are at distance 0. Cost:
    O(l^2 p) for l labelled samples, or O(n^2 p); the median of more than 16 million pairs is found
    exactly in three passes over tiles of distances, and those pairs are never held together.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> [kernel_width(rule, X, [0, 1]) for rule in ("mean_labelled", "median", "half_median")]
    [1.0, 2.0, 1.0]
    """
    factor, base = parse_width(rule, name)
    if base is None:
        return factor
    squared = squared_distances if function == "rbf" else chi2_distances
    if base == "mean_labelled":
        X = X[labelled]
    if X.shape[0] < 2:
        kind = "labelled samples" if base == "mean_labelled" else "samples"
        raise ValueError(
            f'{name}: sigma="{rule}" needs two {kind} and there is {X.shape[0]}; give a number'
        )
    width = _mean_distance(squared, X) if base == "mean_labelled" else _median(squared, X)
    width = width / 2 if base == "half_median" else width
    if width <= _rounding(X, function):
        raise AlignmentError(
            f'{name}: sigma="{rule}" gives 0, since the samples coincide; give a number'
        )
    return float(factor * width)


def _rounding(X, function):
    """Distances up to which samples may coincide: a matrix product does not give exact zeros."""
    if function == "chi2":
        return 0.0
    largest = row_norms(X).max()
    spread = largest if sparse.issparse(X) else row_norms(X - X.mean(axis=0)).max()
    return max(1e-7 * spread, 1e-14 * largest)


def _distances(squared, X):
    """Distances of the pairs of samples, a tile at a time, each pair once."""
    blocks = tiles(X.shape[0])
    for i, rows in enumerate(blocks):
        for columns in blocks[: i + 1]:
            values = np.sqrt(squared(X[rows], X[columns]))
            yield values[np.tril_indices(len(values), -1)] if columns == rows else values.ravel()


def _mean_distance(squared, X):
    n_pairs = X.shape[0] * (X.shape[0] - 1) // 2
    return sum(values.sum() for values in _distances(squared, X)) / n_pairs


def _median(squared, X):
    """Median distance; its two middle values are averaged when the number of pairs is even."""
    n_pairs = X.shape[0] * (X.shape[0] - 1) // 2
    middle = ((n_pairs - 1) // 2, n_pairs // 2)
    distances = partial(_distances, squared, X)
    if n_pairs <= _MANY_PAIRS:
        return np.median(np.concatenate(list(distances())))
    return np.mean(_order_statistics(distances, middle))


def _order_statistics(passes, ranks):
    """Values of the given ranks: find the largest, count all in bins, collect the bins asked for.

    Parameters
    ----------
    passes : callable
        Returns a fresh iterator over arrays of non-negative values, always the same.
    ranks : sequence of int
        From 0, ascending and near each other.
    """
    top = max(values.max(initial=0) for values in passes())
    edges = np.linspace(0, top, _BINS + 1)
    counts = np.zeros(_BINS, dtype=np.int64)
    for values in passes():
        counts += np.bincount(_bin(values, edges), minlength=_BINS)
    ends = np.cumsum(counts)
    first, last = np.searchsorted(ends, ranks, side="right")[[0, -1]]
    kept = []
    for values in passes():
        where = _bin(values, edges)
        kept.append(values[(where >= first) & (where <= last)])
    kept = np.sort(np.concatenate(kept))
    below = ends[first] - counts[first]
    return [kept[rank - below] for rank in ranks]


def _bin(values, edges):
    scale = (len(edges) - 1) / edges[-1] if edges[-1] else 0.0
    return np.minimum((values * scale).astype(np.int64), len(edges) - 2)
