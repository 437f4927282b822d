"""Correlation alignment, and the classifier of its authors' experiments."""

import dataclasses
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._cross_validation import (
    check_candidates,
    precomputed_svc,
    stratified_folds,
    svc_n_correct,
)
from domain_alignment.utils._memory import check_room
from domain_alignment.utils._params import COUNT, POSITIVE, TWO_OR_MORE, ZERO_OR_MORE, StrOptions
from domain_alignment.utils._rows import centred_gram, map_rows, row_blocks, times_map
from domain_alignment.utils.eigen import probes, symmetric_eigenpairs
from domain_alignment.utils.validation import dense, domain_name, labelled_source_rows

# Of variances this many times the ridge the inverse root is a difference of numbers whose ratio is
# its square root, 1e6: six of sixteen digits are lost.
_FAR_ABOVE = 1e12

# Largest error of a whitened covariance that is accepted there. That of the samples that are moved
# was found to be a tenth of it (against 60 digits).
_WHITE = 1e-6


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
        self._pairs = self._mapped = None

    def __getstate__(self):
        return {**vars(self), "_mapped": None}

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
        Z : ndarray of shape (n, p)
            The caller's own.
        """
        if self._mapped is None or self._mapped[0] is not target or self._mapped[1] != ridge:
            self._mapped = target, ridge, make(self.X)
        return self._mapped[2].copy()

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


class AsymmetricCORAL(CORAL):
    r"""CORAL with the classifier of its authors' experiments, whose kernel is not symmetric.

    A one-vs-one SVM on the source, trained with the "kernel" of the first line and evaluated with
    that of the second:

    .. math:: K(x_i, x_j) &= x_i^T A\, x_j, \quad i, j \text{ in the source}; \\
              K(x, x_j) &= x^T (A^T x_j), \quad x \text{ in the target} .

    It is neither symmetric nor positive semi-definite. An SVM on mapped source samples has
    :math:`x_i^T A A^T x_j` instead; for that, use :class:`CORAL` and any linear classifier. Of
    CORAL's published numbers on the SURF features of Office-Caltech with all source labels this
    kernel gives most.

    Parameters
    ----------
    ridge
        As for :class:`CORAL`.
    C : sequence of float, default=(1e-3, 1e-2, 0.1, 1, 10, 100, 1e3, 1e4)
        Candidate costs, the authors'.
    cv : int, default=2
        Number of stratified folds of the labelled source to choose C by; the first wins ties.
    random_state : int, default=0
        Shuffles the samples before folding. The authors fix no seed, and on some pairs of domains
        the C that is chosen depends on it.
    max_iter : int, default=200_000
        Iteration limit of each SVM (libsvm's own is 10 million, scikit-learn has none): with an
        indefinite kernel or columns of very different scales it might not stop by itself. On the
        SURF features of Office-Caltech at most 1,515 are needed.
    source_rows
        As for :class:`CORAL`.

    Attributes
    ----------
    embeddings_, map_, n_components_, n_features_in_
        As for :class:`CORAL`.
    best_C_ : float
    n_correct_ : ndarray of int of shape (len(C),)
        Number of labelled source samples predicted correctly when held out.
    machine_ : SVC
        Fitted on the kernel matrix of the labelled source samples.
    classes_ : ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        As :class:`CORAL`; or if the labelled source has fewer than two classes, or a class with one
        sample.
    AlignmentError
        As :class:`CORAL`.

    Warns
    -----
    ConvergenceWarning
        If an SVM stopped at `max_iter`.

    Notes
    -----
    Cost: that of CORAL, O(n p m_a + m_a^3) time and O(n p + p m_a) memory with m_a = min(n_a, p),
    O(l^2 p) time and O(l^2) memory for the matrix of l labelled source samples, and ``cv * len(C) +
    1`` SVMs on it, O(cv len(C) l^3) time at most, which is most of it if l is large. With an
    indefinite kernel the dual is not concave: an SVM may run to `max_iter`, and where libsvm meets
    its tolerance need not be a maximum.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import AsymmetricCORAL
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> source = rng.normal(size=(40, 3)) + np.where(y[:, None] == 1, 2, -2)
    >>> target = 1.5 * (rng.normal(size=(40, 3)) + np.where(y[:, None] == 1, 2, -2))
    >>> model = AsymmetricCORAL().fit([source, target], [y, None])
    >>> bool(np.mean(model.predict(target) == y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **CORAL._parameter_constraints,
        "C": ["array-like"],
        "cv": TWO_OR_MORE,
        "random_state": ZERO_OR_MORE,
        "max_iter": COUNT,
    }

    def __init__(
        self,
        ridge=1.0,
        C=(1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4),
        cv=2,
        random_state=0,
        max_iter=200_000,
        source_rows="all",
    ):
        super().__init__(ridge, source_rows)
        self.C = C
        self.cv = cv
        self.random_state = random_state
        self.max_iter = max_iter

    @property
    def capabilities(self):
        """Those of CORAL, with the source labels for the classifier."""
        return dataclasses.replace(super().capabilities, labels="source")

    @property
    def classifier_rows(self):
        """The source's, as in the estimator's own classifier."""
        return "source"

    def _fit(self, Xs, ys, models):
        candidates = check_candidates("C", self.C)
        rows = labelled_source_rows(ys[0])
        y = ys[0][rows]
        check_room(y.size, y.size, "CORAL's kernel of the labelled source samples")
        folds = stratified_folds(
            y, self.cv, self.random_state, f"{domain_name(0)}: its labelled samples"
        )
        embeddings = super()._fit(Xs, ys, models)
        self._samples, self._mapped = Xs[0][rows], embeddings[0][rows]
        K = self._products(self._mapped, self._samples)
        self.n_correct_ = svc_n_correct(K, y, candidates, folds, self.max_iter)
        self.best_C_ = float(candidates[self.n_correct_.argmax()])
        self.machine_ = precomputed_svc(self.best_C_, max_iter=self.max_iter).fit(K, y)
        self.classes_ = self.machine_.classes_
        return embeddings

    def _color_fitted(self, X):
        # The classifier alone learns from labels: fits without those of a fold map alike.
        source, target = self._covariances
        if X is not source.X:
            return self._color(X)
        return source.mapped(target, self.ridge, self._color)

    @staticmethod
    def _products(A, B):
        return times_map(B, A.T).T if sparse.issparse(B) else A @ B.T

    def predict(self, X, domain=-1):
        """Classes of samples, each as one of its domain.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, p)
        domain : int, default=-1
            0 is the source, 1 or -1 the target.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "embeddings_")
        domain = self._position(domain)
        if domain == 0:
            K = self._products(self._embed(X, domain), self._samples)
        elif domain in self.unmoved_domains:  # no dense copy of sparse samples
            K = times_map(self._checked(X, domain)[0], self._mapped.T)
        else:
            K = self._embed(X, domain) @ self._mapped.T
        return self.machine_.predict(K)
