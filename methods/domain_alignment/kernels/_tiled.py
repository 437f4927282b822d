r"""Kernels between samples, and products of kernel matrices with few columns, in tiles.

Kernels are symmetric, :math:`k(x, y) = k(y, x)`, and not centred. They should be positive
semi-definite, but the eigenproblems that use them are defined for indefinite ones too (K enters
twice).
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.utils.extmath import row_norms

from domain_alignment.utils._rows import EQUAL, FAR_MEAN, UNLIKE, row_products
from domain_alignment.utils.validation import dense

# Samples per side of a kernel tile (2 MB): fits in cache, with little Python overhead.
TILE = 512

# Terms in the sums of all pairs of samples from which compiled sums are used: importing numba takes
# as long as 1e9 of them by SciPy, and benchmarks of up to 5e9 (1123 samples of 4096 features) keep
# their last digits. Of chi2 scikit-learn's loop takes 20 times as long as the compiled one, and as
# long as the import for 2e8 terms.
_MANY_TERMS = {"histogram_intersection": 6 * 10**9, "chi2": 2 * 10**8}

# Up to this many features explicit differences are as fast as a matrix product, and exact.
_FEW_FEATURES = 16


def squared_distances(X, Y):
    """Squared Euclidean distances between the rows of two matrices, shape (n, m).

    Sums of squared differences for few features, else :math:`|x|^2 + |y|^2 - 2 x^T y`, with dense
    data first centred at the mean of `Y`, or of most of its rows, against cancellation.
    """
    both_dense = not (sparse.issparse(X) or sparse.issparse(Y))
    if both_dense and X.shape[1] <= _FEW_FEATURES:
        return cdist(X, Y, "sqeuclidean")
    if both_dense:
        X, Y, squares = _centred(X, Y)
    else:
        squares = row_norms(Y, squared=True)
    squared = row_products(X, Y)
    squared *= -2
    squared += row_norms(X, squared=True)[:, None]
    squared += squares
    return np.maximum(squared, 0, out=squared)


def _centred(X, Y):
    """Both less the mean row of Y, or that of most of its rows, and the squared norms of Y's.

    One row 1e9 away moves the mean by a share of that, and with it the distances of all others
    would lose their digits.
    """
    mean = Y.mean(axis=0)
    centred = Y - mean
    squares = row_norms(centred, squared=True)
    median = np.median(squares)
    if squares.max() > UNLIKE * median:
        own = _undrawn(mean, Y[squares <= median])
        if own is not mean:
            centred, mean = Y - own, own
            squares = row_norms(centred, squared=True)
    return X - mean, centred, squares


def _undrawn(mean, near):
    """The mean of the rows nearest to a mean if others have drawn it far from them; else itself."""
    own = near.mean(axis=0)
    drawn, within = np.sum((own - mean) ** 2), np.sum((near - own) ** 2) / len(near)
    # Equal rows are near to no other point, but have no distances to lose.
    differ = within > EQUAL**2 * (own @ own)
    return own if differ and drawn > FAR_MEAN * within else mean


def chi2_distances(X, Y):
    r""":math:`\sum_j (x_j - y_j)^2 / (x_j + y_j)` with 0/0 = 0, for non-negative rows, (n, m)."""
    # Lazy import: loading sklearn.metrics takes a second.
    from sklearn.metrics.pairwise import additive_chi2_kernel

    # Its compiled loop takes no arrays that are open for reading only, as mapped files are. Copies
    # are small: sums of many samples are numba's.
    return -additive_chi2_kernel(*(np.require(dense(Z), requirements="W") for Z in (X, Y)))


def _linear(X, Y, sigma):
    return row_products(X, Y)


def _polynomial(X, Y, sigma):
    product = row_products(X, Y)
    product /= X.shape[1]
    product += 1
    return product**3


def _gaussian(squared, sigma):
    squared *= -0.5 / sigma**2
    return np.exp(squared, out=squared)


def _rbf(X, Y, sigma):
    return _gaussian(squared_distances(X, Y), sigma)


_FUNCTIONS = {"linear": _linear, "rbf": _rbf, "polynomial": _polynomial}


def _absolute_differences(X, Y):
    return cdist(dense(X), dense(Y), "cityblock")


def _intersection(differences, X, Y):
    """The smaller of two numbers is half their sum less half their difference."""
    shared = differences
    shared *= -1
    shared += dense(X).sum(axis=1)[:, None]
    shared += dense(Y).sum(axis=1)
    shared *= 0.5
    return shared


def _compiled_minima(X, Y):
    from domain_alignment.kernels._sums_numba import shared_sums

    return shared_sums(dense(X), dense(Y))


def _compiled_chi2(X, Y):
    from domain_alignment.kernels._sums_numba import chi2_sums

    return chi2_sums(dense(X), dense(Y))


# What kernels sum over the features of each pair of samples, where it is no matrix product.
_SUMS = {"histogram_intersection": _absolute_differences, "chi2": chi2_distances}
_COMPILED_SUMS = {"histogram_intersection": _compiled_minima, "chi2": _compiled_chi2}
TILED_KERNELS = (*_FUNCTIONS, *_SUMS)


def pays_to_compile(kernel, shape):
    """Whether sums over the features of all pairs of samples outweigh the import of numba.

    False without numba. Compiled sums differ from the others in the last digits.
    """
    if callable(kernel) or kernel not in _SUMS:
        return False
    return shape[0] ** 2 * shape[1] >= _MANY_TERMS[kernel] and find_spec("numba") is not None


def has_sigma(kernel):
    """Whether a kernel (name or callable) has a width."""
    return not callable(kernel) and kernel in ("rbf", "chi2")


@dataclass(frozen=True)
class Kernel:
    r"""Kernel of one domain.

    ========================== ==========================================================
    linear                     :math:`x^T y`
    rbf                        :math:`\exp(-|x - y|^2 / (2 \sigma^2))`
    histogram_intersection     :math:`\sum_j \min(x_j, y_j)`, also for negative values
    chi2                       :math:`\exp(-\sum_j (x_j - y_j)^2 / (x_j + y_j) / (2 \sigma^2))`
    polynomial                 :math:`(1 + x^T y / p)^3`, as scikit-learn's default
    a callable                 ``k(X, Y)`` of shape (n, m) for n and m samples
    ========================== ==========================================================

    Parameters
    ----------
    function : str or callable
    sigma : float or None
        Width, for "rbf" and "chi2".
    name : str, default="X"
        Name of the domain in messages.
    compiled : bool, default=False
        Whether "histogram_intersection" and "chi2" are summed by numba; see
        :func:`pays_to_compile`.

    Examples
    --------
    >>> Kernel("histogram_intersection")(np.array([[1.0, 3.0]]), np.array([[2.0, 1.0]]))
    array([[2.]])
    """

    function: str | Callable
    sigma: float | None = None
    name: str = "X"
    compiled: bool = False

    def __call__(self, X, Y):
        """Kernel values between the rows of `X` and of `Y`, shape (n, m).

        Raises
        ------
        ValueError
            If a callable does not return finite numbers of that shape.
        """
        if self.has_sums:
            return self.of_sums(self.sums(X, Y), X, Y)
        if not callable(self.function):
            return _FUNCTIONS[self.function](X, Y, self.sigma)
        values = dense(self.function(X, Y))
        values = np.asarray(values, dtype=np.float64)
        if values.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"{self.name}: the kernel returned shape {values.shape} for {X.shape[0]} and "
                f"{Y.shape[0]} samples; it must return one row per sample of its first argument "
                "and one column per sample of its second"
            )
        if not np.isfinite(values).all():
            raise ValueError(f"{self.name}: the kernel returned NaN or infinity; fix the kernel")
        return values

    @property
    def has_sums(self):
        """Whether its cost is in sums over features that depend on neither labels nor width."""
        return not callable(self.function) and self.function in _SUMS

    def sums(self, X, Y):
        """Sums over features for each row of `X` with each of `Y`, (n, m); the same both ways."""
        functions = _COMPILED_SUMS if self.compiled else _SUMS
        return functions[self.function](X, Y)

    def of_sums(self, sums, X, Y):
        """Kernel values from the :meth:`sums`, which are overwritten."""
        if self.function == "chi2":
            return _gaussian(sums, self.sigma)
        return sums if self.compiled else _intersection(sums, X, Y)

    def check(self, X):
        """Raise ``ValueError`` if the kernel is not defined on these samples."""
        values = X.data if sparse.issparse(X) else X
        if self.function == "chi2" and values.size and values.min() < 0:
            raise ValueError(
                f"{self.name}: holds the negative value {values.min():.3g}, but the chi2 kernel "
                "needs non-negative features; use another kernel"
            )


def tiles(n_samples):
    """Slices of at most ``TILE`` rows that cover all rows in order."""
    return [slice(start, min(start + TILE, n_samples)) for start in range(0, n_samples, TILE)]


def kernel_product(kernel, X, Y, B):
    """``kernel(X, Y) @ B`` for B of shape (m, k), in tiles of the kernel.

    Notes
    -----
    Cost: n m kernel values and 2 n m k operations; memory O(n k) and a tile.
    """
    product = np.zeros((X.shape[0], B.shape[1]))
    for rows in tiles(X.shape[0]):
        block = X[rows]
        for columns in tiles(Y.shape[0]):
            product[rows] += kernel(block, Y[columns]) @ B[columns]
    return product


def _lower_tiles(X):
    """Slices and rows of both sides of the tiles of a symmetric matrix that no others mirror."""
    blocks = tiles(X.shape[0])
    parts = [X[rows] for rows in blocks]
    for i, rows in enumerate(blocks):
        for j, columns in enumerate(blocks[: i + 1]):
            yield rows, columns, parts[i], parts[j]


def symmetric_sums(kernel, X):
    """``kernel.sums(X, X)``, with each of them computed once."""
    sums = np.empty((X.shape[0], X.shape[0]))
    for rows, columns, one, other in _lower_tiles(X):
        sums[rows, columns] = kernel.sums(one, other)
        sums[columns, rows] = sums[rows, columns].T
    return sums


def symmetric_kernel_product(kernel, X, B, sums=None):
    """``kernel(X, X) @ B``, with each kernel value computed once.

    `sums` are those of :func:`symmetric_sums`, where they are known.

    Notes
    -----
    Cost: about n^2 / 2 kernel values and 2 n^2 k operations; memory O(n k) and a tile.
    """
    product = np.zeros((X.shape[0], B.shape[1]))
    for rows, columns, one, other in _lower_tiles(X):
        if sums is None:
            values = kernel(one, other)
        else:
            values = kernel.of_sums(sums[rows, columns].copy(), one, other)
        product[rows] += values @ B[columns]
        if rows != columns:
            product[columns] += values.T @ B[rows]
    return product
