r"""Implicit matrices of the KEMA family, accessed by rows and by products.

A columns object stands for the block :math:`\Phi_a` (n_a rows, q_a columns) of one domain:

- ``n_columns``: q_a;
- ``order``: columns that the rule of the rank counts, those of the matrix that it was made for;
- ``at(rows)``: dense rows;
- ``times(B)``: :math:`\Phi_a B`;
- ``weights(coefficients)``: the form of the coefficients that :meth:`project` takes;
- ``project(X, weights)``: scores of new samples;
- ``dual(coefficients)``: coefficients of the samples' kernel values;
- ``primal(weights)``: linear map from features to scores, or None if nonlinear;
- ``release()``: drop what the fit alone needs. Then ``project`` and ``primal`` are left.

Products evaluate kernel matrices in tiles and never store them. Of small intersection and chi2
kernels the sums over features are stored until the fit ends (``kernels/_kept_sums.py``).
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy import linalg, sparse

from domain_alignment.kernels._tiled import kernel_product, symmetric_kernel_product, tiles
from domain_alignment.utils._memory import lasting
from domain_alignment.utils._rows import row_blocks
from domain_alignment.utils.validation import dense

# Largest number of random feature entries (64 MB) to cache during a fit.
_MAX_CACHED_ENTRIES = 2**23

# Beyond this many samples a kernel matrix of few features is compressed: fewer fit as they are, and
# keep the last digits that they have had.
MANY_SAMPLES = 2**16

# Unless the labelled samples are so many times fewer than the features: then their kernel rows take
# less than that share of the samples' memory, and far less time than a QR factorisation of these.
FEWER_LABELLED = 8


class Columns(ABC):
    """Columns of one domain; see the module docstring."""

    @property
    @abstractmethod
    def n_columns(self):
        """Number q_a of columns."""

    @property
    def order(self):
        """Columns that the rule of the rank counts."""
        return self.n_columns

    @abstractmethod
    def at(self, rows):
        """Dense rows of the matrix, shape (len(rows), q_a)."""

    @abstractmethod
    def times(self, B):
        """Product with B of shape (q_a, k), shape (n_a, k)."""

    @abstractmethod
    def project(self, X, weights):
        """Scores of new samples, shape (n, k)."""

    def weights(self, coefficients):
        """Weights for `project`, from coefficients of shape (q_a, k)."""
        return coefficients

    def dual(self, coefficients):
        """Coefficients of the samples' (or landmarks') kernel values, shape (q_a, k)."""
        return coefficients

    @abstractmethod
    def primal(self, weights):
        """Map V of shape (p_a, k) with scores ``X @ V``, or None if nonlinear."""

    @abstractmethod
    def release(self):
        """Drop what the fit alone needs: samples too, where new ones are not compared with them."""


class PlainColumns(Columns):
    """An explicit matrix: features (SSMA), a precomputed kernel, or some of its columns.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    chosen : ndarray of int, optional
        Columns to take; all by default.
    linear : bool, default=True
        Whether `X` holds features, so that scores are linear in them.
    """

    def __init__(self, X, chosen=None, linear=True):
        self.X = X if chosen is None else X[:, chosen]
        self.chosen = chosen
        self.linear = linear

    @property
    def n_columns(self):
        """Number of chosen columns."""
        return self.X.shape[1]

    def at(self, rows):
        """Rows of the chosen columns."""
        return dense(self.X[rows])

    def times(self, B):
        """Product with the chosen columns."""
        return self.X @ B

    def release(self):
        """Drop the matrix."""
        self.X = None

    def project(self, X, weights):
        """Scores of new rows, given in all columns."""
        return (X if self.chosen is None else X[:, self.chosen]) @ weights

    def primal(self, weights):
        """The weights themselves."""
        return weights if self.linear else None


class KernelColumns(Columns):
    """Kernel matrix of all samples of a domain (KEMA).

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or CSR matrix of shape (n, p)
    sums : ndarray of shape (n, n), optional
        The kernel's, where they are known; until :meth:`release`.
    """

    def __init__(self, kernel, X, sums=None):
        self.kernel = kernel
        self.X = lasting(X)
        self.sums = sums

    @property
    def n_columns(self):
        """Number of samples."""
        return self.X.shape[0]

    def at(self, rows):
        """Kernel values of `rows` with all samples."""
        if self.sums is None:
            return self.kernel(self.X[rows], self.X)
        return self.kernel.of_sums(self.sums[rows], self.X[rows], self.X)

    def times(self, B):
        """Product in tiles, each kernel value computed once."""
        return symmetric_kernel_product(self.kernel, self.X, B, self.sums)

    def release(self):
        """Drop the sums."""
        self.sums = None

    def project(self, X, weights):
        """Kernel values with the training samples, times the coefficients."""
        self.kernel.check(X)
        return kernel_product(self.kernel, X, self.X, weights)

    def primal(self, weights):
        """None; linear kernels use FactoredColumns."""


class LandmarkColumns(Columns):
    """Kernel matrix between all samples and landmarks (REKEMA)."""

    def __init__(self, kernel, X, landmarks):
        self.kernel = kernel
        self.X = X
        self.points = X[landmarks]

    @property
    def n_columns(self):
        """Number of landmarks."""
        return self.points.shape[0]

    def at(self, rows):
        """Kernel values of `rows` with the landmarks."""
        return self.kernel(self.X[rows], self.points)

    def times(self, B):
        """Product in tiles."""
        return kernel_product(self.kernel, self.X, self.points, B)

    def release(self):
        """Drop all samples but the landmarks."""
        self.X = None

    def project(self, X, weights):
        """Kernel values with the landmarks, times the coefficients."""
        self.kernel.check(X)
        return kernel_product(self.kernel, X, self.points, weights)

    def primal(self, weights):
        """Landmarks times coefficients, for a linear kernel."""
        return self.points.T @ weights if self.kernel.function == "linear" else None


class FactoredColumns(Columns):
    r"""Kernel matrix :math:`Z Z^T` with few columns in Z.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    features : callable, optional
        Map from rows of `X` to rows of Z; the identity by default (linear kernel). Z is cached
        until :meth:`release` if small, else recomputed in blocks of rows.
    """

    def __init__(self, X, features=None):
        self.X = X
        self.features = features
        self._cached = X
        if features is not None:
            small = X.shape[0] * features.n_features <= _MAX_CACHED_ENTRIES
            self._cached = features(X) if small else None

    @property
    def n_columns(self):
        """Number of samples."""
        return self.X.shape[0]

    def release(self):
        """Drop the samples, and Z."""
        self.X = self._cached = None

    def _blocks(self, X):
        """Row slices and mapped rows, in one block if Z is stored."""
        if self.features is None or (X is self.X and self._cached is not None):
            yield slice(0, X.shape[0]), X if self.features is None else self._cached
            return
        for rows in tiles(X.shape[0]):
            yield rows, self.features(X[rows])

    def at(self, rows):
        """Kernel values of `rows` with all samples."""
        some = dense(self.mapped(self.X[rows]))
        return self.project(self.X, some.T).T

    def mapped(self, X):
        """Rows of Z."""
        return X if self.features is None else self.features(X)

    @property
    def width(self):
        """Number of columns of Z."""
        return self.X.shape[1] if self.features is None else self.features.n_features

    def times(self, B):
        r""":math:`Z (Z^T B)`."""
        return self.project(self.X, self.weights(B))

    def weights(self, coefficients):
        r""":math:`Z^T` times the coefficients."""
        return sum(Z.T @ coefficients[rows] for rows, Z in self._blocks(self.X))

    def project(self, X, weights):
        """Mapped rows times the weights."""
        scores = np.empty((X.shape[0], weights.shape[1]))
        for rows, Z in self._blocks(X):
            scores[rows] = Z @ weights
        return scores

    def primal(self, weights):
        """The weights themselves, for a linear kernel."""
        return weights if self.features is None else None


class CompressedColumns(Columns):
    r"""Kernel matrix :math:`Z Z^T` of many samples, in as many columns as Z has.

    With :math:`Z = Q S` (QR), every coefficient vector in the range of the rows of
    :math:`Z Z^T` is Q v, and :math:`Z Z^T Q v = Z S^T v`: the problem has the columns
    :math:`Z S^T`, with the same singular values as before, and Q is never formed. S comes from the
    blocks of rows one after the other.

    Parameters
    ----------
    factored : FactoredColumns
    """

    def __init__(self, factored):
        self.factored = factored
        triangle = None
        for rows in row_blocks(factored.X):
            block = factored.mapped(factored.X[rows])
            stack = block if triangle is None else np.vstack([triangle, block])
            triangle = linalg.qr(stack, mode="r", check_finite=False)[0][: stack.shape[1]]
        self._triangle = triangle

    @property
    def n_columns(self):
        """Number of columns of Z."""
        return self.factored.width

    @property
    def order(self):
        """Number of samples: the order of the kernel matrix."""
        return self.factored.n_columns

    def at(self, rows):
        """Rows of Z S'."""
        return self.factored.mapped(self.factored.X[rows]) @ self._triangle.T

    def times(self, B):
        """Product with Z S'."""
        return self.factored.project(self.factored.X, self._triangle.T @ B)

    def weights(self, coefficients):
        """Z'Q v = S'v."""
        return self._triangle.T @ coefficients

    def dual(self, coefficients):
        """Q v, by Z x with S x = v."""
        solved = linalg.lstsq(self._triangle, coefficients, check_finite=False)[0]
        return self.factored.project(self.factored.X, solved)

    def project(self, X, weights):
        """Mapped rows times the weights."""
        return self.factored.project(X, weights)

    def primal(self, weights):
        """The weights themselves, for a linear kernel."""
        return self.factored.primal(weights)

    def release(self):
        """Drop the samples, and Z."""
        self.factored.release()


def compressed(columns, n_labelled):
    """Columns as they are; those of many samples in few dense features compressed.

    `n_labelled` is the number of the domain's labelled samples, whose rows a fit holds.
    """
    if not isinstance(columns, FactoredColumns) or sparse.issparse(columns.X):
        return columns
    n_samples, width = columns.n_columns, columns.width
    few = n_samples <= max(MANY_SAMPLES, 4 * width) or FEWER_LABELLED * n_labelled < width
    return columns if few else CompressedColumns(columns)


class FourierFeatures:
    r"""Random Fourier features of the Gaussian kernel (Eqs. 11 and 12 of the KEMA paper).

    .. math:: z(x) = \sqrt{2 / m} \cos(\omega_i^T x + b_i)_{i = 1 \dots m}, \qquad
              \omega_i \sim N(0, I / \sigma^2), \quad b_i \sim U(0, 2 \pi),

    so that the mean of :math:`z(x)^T z(y)` is :math:`\exp(-|x - y|^2 / (2 \sigma^2))`. Eq. 11
    lacks the factor 2: the mean square of a cosine is 1/2.

    Parameters
    ----------
    n_features_in : int
        p.
    n_features : int
        m.
    sigma : float
    random_state : numpy.random.RandomState
        Frequencies are drawn first, then phases.

    Examples
    --------
    >>> features = FourierFeatures(3, 4000, 2.0, np.random.RandomState(0))
    >>> Z = features(np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]))
    >>> bool(abs(Z[0] @ Z[1] - np.exp(-3 / 8)) < 0.05)
    True
    """

    def __init__(self, n_features_in, n_features, sigma, random_state):
        self.n_features = n_features
        self.frequencies = random_state.normal(scale=1 / sigma, size=(n_features_in, n_features))
        self.phases = random_state.uniform(0, 2 * np.pi, n_features)

    def __call__(self, X):
        """Mapped samples, shape (n, m)."""
        Z = X @ self.frequencies
        Z += self.phases
        np.cos(Z, out=Z)
        Z *= np.sqrt(2 / self.n_features)
        return Z
