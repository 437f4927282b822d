"""Correlation alignment."""

from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._params import POSITIVE, StrOptions
from domain_alignment.utils._rows import centred_gram, map_rows, row_blocks, times_map
from domain_alignment.utils.eigen import probes, symmetric_eigenpairs
from domain_alignment.utils.validation import dense, domain_name, labelled_source_rows

# Of variances this many times the ridge the inverse root is a difference of numbers whose ratio is
# its square root, 1e6: six of sixteen digits are lost.
_FAR_ABOVE = 1e12

# Largest error of a whitened covariance that is accepted there. That of the samples that are moved
# was found to be a tenth of it (against 60 digits).
_WHITE = 1e-6


class MappedSamples:
    """Samples of a source as a target and a ridge map them, for fits with other labels.

    Parameters
    ----------
    target : RidgedCovariance
    ridge : float
    samples : ndarray of shape (n, p)
    """

    def __init__(self, target, ridge, samples):
        self.target, self.ridge, self.samples = target, ridge, samples
        self._last = None

    def learnt_from(self, rows, kernel):
        """Some samples and their kernel; the last are kept, for other labels of the same rows.

        Not kept are kernels of more values than the samples have.

        Parameters
        ----------
        rows : ndarray of int, sorted
        kernel : callable
            Of mapped samples.

        Returns
        -------
        mapped : ndarray of shape (n_rows, p)
        K : ndarray of shape (n_rows, n_rows)
            Not the caller's own, either of them.
        """
        last = self._last  # read once: fits of other threads may replace it
        if last is not None and np.array_equal(last[0], rows):
            return last[1:]
        mapped = self.samples if rows.size == len(self.samples) else self.samples[rows]
        K = kernel(mapped)
        if rows.size**2 <= self.samples.size:
            self._last = rows, mapped, K
        return mapped, K


class RidgedCovariance:
    r"""The covariance C of one domain, for powers of :math:`C + \lambda I`.

    With the eigenpairs of C above zero, at most m = min(n, p), :math:`C = V S V^T`,

    .. math:: (C + \lambda I)^q = \lambda^q I + V ((S + \lambda)^q - \lambda^q) V^T ,

    so applying a power costs O(p m) per sample, without a p x p matrix if n < p. The eigenpairs are
    computed on first use and cached. Beside variances of more than 1e12 ridges the difference has
    lost digits, and m = p eigenvectors are used alone.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        The covariance divides by n - 1; that of a single sample is zero.

    Notes
    -----
    Cost of the eigenpairs: O(n p m + m^3).

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0]])  # its variances are 2 and 0
    >>> RidgedCovariance(X).apply(np.eye(2), 0.5, ridge=2.0).round(3)
    array([[2.   , 0.   ],
           [0.   , 1.414]])
    """

    def __init__(self, X):
        self.X, self.shape = X, X.shape
        self._pairs = self._last_mapped = None

    def __getstate__(self):
        return {**vars(self), "_last_mapped": None}

    @property
    def eigenpairs(self):
        """Eigenvalues S of shape (m,) and eigenvectors V of shape (p, m)."""
        if self._pairs is None:
            self._pairs = self._compute()
        return self._pairs

    @property
    def rank(self):
        """m."""
        return self.eigenpairs[0].size

    def _compute(self):
        n_samples, n_features = self.X.shape
        mean = np.asarray(self.X.mean(axis=0)).ravel()
        by_samples = n_samples < n_features
        gram = centred_gram(self.X, mean, by_samples) / max(n_samples - 1, 1)
        values, vectors = symmetric_eigenpairs(gram)
        # Eigenvalues of a covariance below this are rounding.
        kept = values > len(gram) * np.finfo(float).eps * max(values[-1], 0.0)
        values, vectors = values[kept], vectors[:, kept]
        if by_samples:
            axes = self.X.T @ vectors - np.outer(mean, vectors.sum(axis=0))
            vectors = axes / np.sqrt(values * (n_samples - 1))
        return values, vectors

    def _exceeds(self, ridge):
        """Whether differences of powers with and without the variances lose digits."""
        return self.eigenpairs[0].max(initial=0.0) > _FAR_ABOVE * ridge

    def _shares(self, power, ridge):
        """(C + ridge I)^power as a multiple of I, and what is added for each eigenvector."""
        values, vectors = self.eigenpairs
        powers = (values + ridge) ** power
        if self._exceeds(ridge) and values.size == vectors.shape[0]:
            return 0.0, powers
        return ridge**power, powers - ridge**power

    def apply(self, Z, power, ridge):
        """Z (C + ridge I)^power for rows Z of shape (m, p), dense or sparse."""
        everywhere, change = self._shares(power, ridge)
        vectors = self.eigenpairs[1]

        def changed(rows):
            return everywhere * dense(rows) + (times_map(rows, vectors) * change) @ vectors.T

        return map_rows(changed, Z)

    def check(self, ridge, name):
        """Raise AlignmentError if powers are lost in rounding: the inverse root must whiten."""
        if not self._exceeds(ridge):
            return
        seen, mean = probes(self.shape[1]).T, np.asarray(self.X.mean(axis=0)).ravel()
        image = ridge * self.apply(seen, -1, ridge)
        for rows in row_blocks(self.X):
            white = self.apply(dense(self.X[rows]) - mean, -0.5, ridge)
            image += (seen @ white.T) @ white / max(self.shape[0] - 1, 1)
        error = np.linalg.norm(image - seen, axis=1) / np.linalg.norm(seen, axis=1)
        if not error.max() <= _WHITE:  # NaN fails too
            raise AlignmentError(
                f"{name}: powers of its covariance: lost in rounding, as its variances differ too "
                f"much from ridge={ridge:g}; standardise the features or raise ridge"
            )

    def mapped(self, target, ridge, make):
        """The samples of this covariance mapped to a target's; the last are kept, for other labels.

        Parameters
        ----------
        target : RidgedCovariance
        ridge : float
        make : callable
            Maps the samples.

        Returns
        -------
        mapped : MappedSamples
        """
        last = self._last_mapped
        if last is None or last.target is not target or last.ridge != ridge:
            self._last_mapped = last = MappedSamples(target, ridge, make(self.X))
        return last

    def power(self, power, ridge):
        """(C + ridge I)^power itself, of shape (p, p)."""
        everywhere, change = self._shares(power, ridge)
        vectors = self.eigenpairs[1]
        matrix = (vectors * change) @ vectors.T
        matrix[np.diag_indices_from(matrix)] += everywhere
        return matrix


class CORAL(Aligner):
    r"""Correlation alignment of one source to one target.

    Whitens the source with its own covariance, then colours it with the target's ([1]_,
    Algorithm 1):

    .. math:: A = (C_S + \lambda I)^{-1/2} (C_T + \lambda I)^{1/2}, \qquad Z_S = X_S A, \quad
              Z_T = X_T .

    Parameters
    ----------
    ridge : float, default=1.0
        :math:`\lambda > 0`, in squared feature units; 1 in the paper, which equals the variances of
        z-scored features, and makes A nearly I on rows of length 1.
    source_rows : {"all", "labelled"}, default="all"
        Source rows that :math:`C_S` is estimated from.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, p)
        The target's are its features.
    map_ : ndarray of shape (p, p)
        A; a source sample x becomes ``x @ map_``. Formed on access.
    n_components_ : int
        p.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If the domains differ in their number of features or are not two, or `source_rows` is
        "labelled" and no source sample is.
    AlignmentError
        If variances exceed the ridge by so much that rounding is left of the map.

    Notes
    -----
    *Cost.* ``prepare``: deferred; the eigenpairs of a domain's covariance, O(n p m_a + m_a^3) with
    m_a = min(n_a, p), are computed on first use and cached. Fit: O(n_S p (m_S + m_T)), at best
    halved by forming A where n_S exceeds 3 p; for n_S <= p no p x p matrix is formed. Memory: O(n p
    + p m_a), with the moved samples.

    *A is not symmetric*: it differs by a rotation from the symmetric optimal transport map between
    Gaussians, which yields the same covariance. Means are not aligned, as in the paper. Equal
    domains give A = I, and the method is equivariant under rotations of the features.

    References
    ----------
    .. [1] B. Sun, J. Feng, K. Saenko. Return of Frustratingly Easy Domain Adaptation. AAAI 2016,
       Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import CORAL
    >>> rng = np.random.default_rng(0)
    >>> source, target = rng.normal(size=(300, 2)) * [5, 1], rng.normal(size=(300, 2))
    >>> coral = CORAL(ridge=1e-6).fit([source, target])
    >>> bool(np.allclose(np.cov(coral.embeddings_[0].T), np.cov(target.T), atol=1e-4))
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "ridge": POSITIVE,
        "source_rows": [StrOptions({"all", "labelled"})],
    }
    unmoved_domains = (1,)  # the target
    _model_type = RidgedCovariance
    _features_reason = "their covariances must be of equal order"

    def __init__(self, ridge=1.0, source_rows="all"):
        self.ridge = ridge
        self.source_rows = source_rows

    @property
    def capabilities(self):
        """What this instance can do."""
        return Capabilities(
            labels="none" if self.source_rows == "all" else "source", invertible=True
        )

    @property
    def map_(self):
        """A, of shape (p, p)."""
        check_is_fitted(self, "embeddings_")
        return self._map()

    def _prepare(self, X, name):
        return RidgedCovariance(X)

    def _fit(self, Xs, ys, models):
        source = models[0]
        if self.source_rows == "labelled":
            rows = labelled_source_rows(ys[0])
            source = source if len(rows) == len(ys[0]) else RidgedCovariance(Xs[0][rows])
        self._covariances = source, models[1]
        for domain, covariance in enumerate(self._covariances):
            covariance.check(self.ridge, domain_name(domain))
        return [self._color_fitted(Xs[0]), self._transform(Xs[1], 1)]

    def _inverse_transform(self, Z, domain):
        plain = dense(Z)
        if domain:  # the target's features are the common space
            return plain
        source, target = self._covariances
        return source.apply(target.apply(plain, -0.5, self.ridge), 0.5, self.ridge)

    def _map(self):
        source, target = self._covariances
        return source.power(-0.5, self.ridge) @ target.power(0.5, self.ridge)

    def _color(self, X):
        source, target = self._covariances
        (n, p), ranks = X.shape, source.rank + target.rank
        if n * ranks > p * (ranks + p + n):  # A, and products with it, at half the cost
            A = self._map()
            return map_rows(lambda rows: times_map(rows, A), X)
        return target.apply(source.apply(X, -0.5, self.ridge), 0.5, self.ridge)

    def _color_fitted(self, X):
        """The source of fit, moved; elsewhere the caller's array may hold others by then."""
        return self._color(X)

    def _transform(self, X, domain):
        if domain == 0:
            return self._color(X)
        return dense(X)
