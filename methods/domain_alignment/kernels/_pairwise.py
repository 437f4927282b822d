"""Kernel matrices between two sets of samples, dense or sparse, and gamma from the data.

Adds to scikit-learn: distances that are computed once for any number of gammas, a gamma from the
data, and batches of rows for sparse input, to avoid a full sparse product beside the dense one.
"""

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import (
    euclidean_distances,
    linear_kernel,
    manhattan_distances,
)
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._memory import check_room
from domain_alignment.utils._rows import near_zero, unit_rows

PAIRWISE_KERNELS = ("linear", "cosine", "rbf", "laplacian")

# Those that are inner products of as many features as are given.
INNER_PRODUCTS = ("linear", "cosine")

# Rounding errors of |x|^2 - 2xy + |y|^2 in units of that of |x|^2 + |y|^2: of rows of many features
# as many at most, since sums of them may round one way.
_ROUNDINGS = 64

_BATCH_ROWS = 1000

# Of more samples the median distance is found without a copy of all distances.
_MEDIAN_ROWS = 500

# Rows of a matrix compared with its transpose at a time.
_COMPARED_ROWS = 100


def has_gamma(kernel):
    r"""Whether a kernel (name or callable) has the form :math:`\exp(-\gamma d(x, y))`."""
    return not callable(kernel) and kernel in ("rbf", "laplacian")


def inner_features(X, kernel):
    """X, or its unit rows: features whose inner products are the linear or the cosine kernel.

    Examples
    --------
    >>> inner_features(np.array([[3.0, 4.0], [0.0, 0.0]]), "cosine")
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    return unit_rows(X) if kernel == "cosine" else X


def distances(X, Y, kernel):
    """Distances d of the kernels with a gamma.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    Y : ndarray or CSR matrix of shape (m, p)
    kernel : {"rbf", "laplacian"}
        Squared Euclidean distances, or Manhattan distances.

    Returns
    -------
    distances : ndarray of shape (n, m)

    Raises
    ------
    AlignmentError
        If this machine cannot hold them.
    """
    check_room(X.shape[0], Y.shape[0], "the matrix of distances between samples")
    if kernel == "laplacian":
        return _by_batches(manhattan_distances, X, Y)
    X, Y = near_zero(X, Y)
    return _by_batches(lambda A, B: euclidean_distances(A, B, squared=True), X, Y)


def kernel_matrix(X, Y, kernel, gamma=None):
    r"""Matrix of k(x, y) for all rows x of `X` and y of `Y`.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    Y : ndarray or CSR matrix of shape (m, p)
    kernel : {"linear", "cosine", "rbf", "laplacian"} or callable
        :math:`x^T y`; that of unit rows (zero rows stay zero); :math:`\exp(-\gamma \|x - y\|_2^2)`;
        :math:`\exp(-\gamma \|x - y\|_1)`; or ``kernel(X, Y) -> (n, m)``, called with whole matrices
        as in scikit-learn's SVC.
    gamma : float, optional
        For "rbf" and "laplacian".

    Returns
    -------
    K : ndarray of shape (n, m)

    Raises
    ------
    ValueError
        If a callable does not return finite numbers of this shape.
    AlignmentError
        If this machine cannot hold the matrix.

    Examples
    --------
    >>> kernel_matrix(np.eye(2), np.array([[3.0, 0.0]]), "cosine")
    array([[1.],
           [0.]])
    """
    check_room(X.shape[0], Y.shape[0], "the kernel matrix of the samples")
    if callable(kernel):
        return _checked(kernel(X, Y), (X.shape[0], Y.shape[0]))
    if has_gamma(kernel):
        return radial(distances(X, Y, kernel), gamma)
    # Equal rows of one matrix give bitwise symmetric products, of two copies they need not.
    same = X is Y
    X = inner_features(X, kernel)
    Y = X if same else inner_features(Y, kernel)
    return _by_batches(linear_kernel, X, Y)


def kernel_diagonal(X, kernel):
    """k(x, x) of all rows x of X, of the kernels with a name.

    Examples
    --------
    >>> kernel_diagonal(np.array([[3.0, 4.0], [0.0, 0.0]]), "cosine")
    array([1., 0.])
    """
    if has_gamma(kernel):
        return np.ones(X.shape[0])
    return row_norms(inner_features(X, kernel), squared=True)


def radial(distances, gamma):
    r""":math:`\exp(-\gamma d)` of distances, in their place."""
    distances *= -gamma
    return np.exp(distances, out=distances)


def pair_rounding(X, kernel):
    """Each row's part of the rounding errors of ``distances(X, X, kernel)``.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    kernel : {"rbf", "laplacian"}
        Manhattan distances of equal rows have none.

    Returns
    -------
    rounding : ndarray of shape (n,)
        A distance of rows i and j up to ``rounding[i] + rounding[j]`` may be that of equal rows.

    Examples
    --------
    >>> pair_rounding(np.array([[1.0], [1e6]]), "rbf")
    array([1.42108547e-14, 1.42108547e-02])
    """
    if kernel == "laplacian":
        return np.zeros(X.shape[0])
    squares = row_norms(near_zero(X, X)[0], squared=True)
    return max(_ROUNDINGS, X.shape[1]) * np.finfo(float).eps * squares


def median_gamma(distances, rounding, name="the samples"):
    """One over the median distance between distinct samples.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
        Pairwise distances of n samples. Duplicates (distance zero) are excluded, since the median
        would be zero if they were more than half of the pairs.
    rounding : ndarray of shape (n,)
        The samples' :func:`pair_rounding`, by which duplicates are told.
    name : str, default="the samples"
        Name of the samples in messages.

    Returns
    -------
    gamma : float

    Raises
    ------
    AlignmentError
        If all samples are equal.

    Examples
    --------
    >>> D = np.array([[0.0, 4.0, 0.0], [4.0, 0.0, 4.0], [0.0, 4.0, 0.0]])
    >>> median_gamma(D, np.zeros(3))
    0.25
    """
    median = _median_of_pairs(distances, rounding)
    if median is None:
        raise AlignmentError(
            f'{name}: all are equal, so gamma="median" is undefined; give gamma as a number'
        )
    return float(1 / median)


def _median_of_pairs(distances, rounding):
    """Median of the entries above the diagonal that exceed rounding; None if there are none.

    Of many samples only the pairs near the middle are held, between two quantiles of those of some
    samples, drawn from a fixed seed: a copy of all would take half as much as the matrix.
    """
    n_samples = len(distances)
    rows = np.sort(np.random.default_rng(0).permutation(n_samples)[:_MEDIAN_ROWS])
    part = distances[np.ix_(rows, rows)]
    one, other = np.triu_indices(len(part), k=1)
    some, least = part[one, other], rounding[rows]
    some = some[some > least[one] + least[other]]
    if rows.size == n_samples:
        return np.median(some) if some.size else None
    low, high = np.quantile(some, [0.43, 0.57]) if some.size else (0.0, np.inf)
    median = _middle(distances, rounding, low, high)
    # Samples that say little about the others: all pairs are held.
    return _middle(distances, rounding, 0.0, np.inf) if median is None else median


def _middle(distances, rounding, low, high):
    """The median of the pairs above their rounding, or None if it is not in (low, high]."""
    n_pairs, n_lower, inside = 0, 0, []
    for row, values in enumerate(distances):
        values = values[row + 1 :]
        values = values[values > rounding[row] + rounding[row + 1 :]]
        n_pairs += values.size
        values = values[values > low]
        n_lower += values.size
        inside.append(values[values <= high])
    n_lower = n_pairs - n_lower
    inside = np.concatenate(inside)
    first, last = (n_pairs - 1) // 2 - n_lower, n_pairs // 2 - n_lower
    if not 0 <= first <= last < inside.size:
        return None
    inside.partition((first, last))
    return (inside[first] + inside[last]) / 2


def check_symmetric(K, name):
    """Raise ``ValueError`` unless a kernel matrix is symmetric."""
    # In batches: the difference of two whole matrices takes as much as both.
    batches = list(gen_batches(len(K), _COMPARED_ROWS))
    asymmetry = max((np.abs(K[rows] - K[:, rows].T).max() for rows in batches), default=0)
    largest = max((np.abs(K[rows]).max() for rows in batches), default=0)
    if asymmetry > 1e-8 * largest:
        raise ValueError(
            f"{name}: the kernel of its samples is not symmetric (k(x, y) and k(y, x) differ by up "
            f"to {asymmetry:.1e}); give a symmetric positive semi-definite kernel"
        )


def _by_batches(function, X, Y):
    """Dense ``function(X, Y)``, in batches of rows for sparse input."""
    if not sparse.issparse(X):
        return function(X, Y)
    K = np.empty((X.shape[0], Y.shape[0]))
    for rows in gen_batches(X.shape[0], _BATCH_ROWS):
        part = function(X[rows], Y)
        K[rows] = part.toarray() if sparse.issparse(part) else part
    return K


def _checked(K, shape):
    K = np.asarray(K, dtype=np.float64)
    if K.shape != shape:
        raise ValueError(
            f"kernel: the callable returned shape {K.shape} for {shape[0]} and {shape[1]} samples; "
            "it must return the matrix of k(x, y), one row per sample of its first argument"
        )
    if not np.isfinite(K).all():
        raise ValueError(
            "kernel: the callable returned NaN or infinity; it must be finite on these samples"
        )
    return K
