"""Rules for the width of a kernel, from the samples of one domain.

From the KEMA paper and its toolbox, in units of the kernel's distance: Euclidean for "rbf", the
root of the chi2 distance for "chi2".
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

# A rule, or a multiple such as "15*mean_labelled".
_RULE = re.compile(rf"(?:(\d*\.?\d+)\s*\*\s*)?({'|'.join(WIDTH_RULES)})")

# Largest number of distances held at once (128 MB); the median of more takes three passes.
_MANY_PAIRS = 2**24

# Histogram bins for the median of many distances.
_BINS = 2**16


def parse_width(rule, name="X"):
    """Split a width into a factor and a rule, None for a number.

    Raises
    ------
    ValueError
        If `rule` is neither a positive number nor a positive multiple of a known rule.

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
    # Kernels divide by the square; a product, since a power would raise on overflow.
    if factor < 0 or not 0 < factor * factor < np.inf:
        raise ValueError(
            f"{name}: sigma is {rule!r}; give a positive number with a finite nonzero square, "
            f'one of {", ".join(WIDTH_RULES)}, or a multiple such as "15*mean_labelled"'
        )
    return factor, known


def is_label_free(rule):
    """Whether a width, given as a number or a rule, needs no labels."""
    return parse_width(rule)[1] != "mean_labelled"


def kernel_width(rule, X, labelled, function="rbf", name="X"):
    r"""Width of the kernel of one domain.

    ================= =============================================================
    a number          itself
    "mean_labelled"   mean distance between labelled samples
    "median"          median distance between all samples
    "half_median"     half the median
    "15*median"       15 times the median; likewise for other factors and rules
    ================= =============================================================

    Parameters
    ----------
    rule : float or str
    X : ndarray or CSR matrix of shape (n, p)
    labelled : ndarray of int or None
        Rows of the labelled samples; only used by "mean_labelled".
    function : {"rbf", "chi2"}, default="rbf"
        The kernel, which determines the distance.
    name : str, default="X"
        Name of the domain in messages.

    Raises
    ------
    ValueError
        If the rule is unknown, or there are fewer than two samples.
    AlignmentError
        If the rule gives 0 because samples coincide.

    Notes
    -----
    Pairs of distinct rows are counted once; duplicates have distance 0. Cost: O(l^2 p) for l
    labelled samples, or O(n^2 p); the exact median of more than 16 million pairs takes three passes
    over tiles of distances, never stored together.

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
            f'{name}: sigma="{rule}" needs two {kind}, but there is {X.shape[0]}; give a number'
        )
    width = _mean_distance(squared, X) if base == "mean_labelled" else _median(squared, X)
    width = width / 2 if base == "half_median" else width
    if width <= _rounding(X, function):
        raise AlignmentError(f'{name}: sigma="{rule}" is 0 because samples coincide; give a number')
    return float(factor * width)


def _rounding(X, function):
    """Largest rounding error in the distance of coincident samples."""
    if function == "chi2":
        return 0.0
    largest = row_norms(X).max()
    spread = largest if sparse.issparse(X) else row_norms(X - X.mean(axis=0)).max()
    return max(1e-7 * spread, 1e-14 * largest)


def _distances(squared, X):
    """Distances of all pairs of samples, in tiles, each pair once."""
    blocks = tiles(X.shape[0])
    for i, rows in enumerate(blocks):
        for columns in blocks[: i + 1]:
            values = np.sqrt(squared(X[rows], X[columns]))
            yield values[np.tril_indices(len(values), -1)] if columns == rows else values.ravel()


def _mean_distance(squared, X):
    n_pairs = X.shape[0] * (X.shape[0] - 1) // 2
    return sum(values.sum() for values in _distances(squared, X)) / n_pairs


def _median(squared, X):
    """Median distance, the mean of the two middle values for an even number of pairs."""
    n_pairs = X.shape[0] * (X.shape[0] - 1) // 2
    middle = ((n_pairs - 1) // 2, n_pairs // 2)
    distances = partial(_distances, squared, X)
    if n_pairs <= _MANY_PAIRS:
        return np.median(np.concatenate(list(distances())))
    return np.mean(_order_statistics(distances, middle))


def _order_statistics(passes, ranks):
    """Values of the given ranks, by a histogram and the values in the bins of interest.

    Parameters
    ----------
    passes : callable
        Returns a new iterator over the same arrays of non-negative values.
    ranks : sequence of int
        From 0, ascending and close to each other.
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
