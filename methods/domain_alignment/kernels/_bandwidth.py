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
# Of more levels each holds less than rounding: equal values cannot be divided.
_MOST_HISTOGRAMS = 4


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
    over tiles of distances, or a few more where one sample is far away, never stored together.

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
    """Rounding error in the distances of most samples, where these coincide.

    As `squared_distances` has them: one sample far away takes no digits from the others.
    """
    if function == "chi2":
        return 0.0
    lengths = row_norms(X)
    around = lengths if sparse.issparse(X) else row_norms(X - np.median(X, axis=0))
    return max(1e-7 * np.median(around), 1e-14 * np.median(lengths))


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
    """Values of the given ranks: histograms, each of the bins of interest of the one before, until
    the values in these are few; of equal values and of evenly spread ones the first is enough.

    Parameters
    ----------
    passes : callable
        Returns a new iterator over the same arrays of non-negative values.
    ranks : sequence of int
        From 0, ascending and close to each other.
    """
    low, width = 0.0, max(values.max(initial=0) for values in passes())
    chosen, below = [], 0
    while True:
        counts = np.zeros(_BINS, dtype=np.int64)
        for values in passes():
            counts += np.bincount(_bin(_within(values, chosen), low, width), minlength=_BINS)
        ends = below + np.cumsum(counts)
        first, last = np.searchsorted(ends, ranks, side="right")[[0, -1]]
        below = ends[first] - counts[first]
        chosen.append((low, width, first, last))
        share = (last + 1 - first) / _BINS
        low, width = low + first * width / _BINS, share * width
        few = counts[first : last + 1].sum() <= _MANY_PAIRS
        if few or share == 1 or len(chosen) == _MOST_HISTOGRAMS:
            break
    kept = np.sort(np.concatenate([_within(values, chosen) for values in passes()]))
    return [kept[rank - below] for rank in ranks]


def _within(values, chosen):
    """The values in the chosen bins of one histogram after the other."""
    for low, width, first, last in chosen:
        where = _bin(values, low, width)
        values = values[(where >= first) & (where <= last)]
    return values


def _bin(values, low, width):
    scale = _BINS / width if width else 0.0
    return np.clip(((values - low) * scale).astype(np.int64), 0, _BINS - 1)
