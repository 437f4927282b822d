"""Decompositions of scikit-learn as aligners: PCA, kernel PCA and CCA of whole domains."""

import warnings
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.cross_decomposition import CCA
from sklearn.decomposition import PCA, KernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernels._pairwise import distances, median_gamma
from domain_alignment.utils._params import COUNT, FINITE, POSITIVE, StrOptions
from domain_alignment.utils.validation import (
    check_equal_features,
    check_matrix,
    check_row_pairs,
    domain_name,
)

# Variances below this share of the largest are rounding.
_NO_VARIANCE = 1e-10


class _StackedAligner(Aligner):
    """One decomposition of all domains stacked: every sample is treated alike.

    A subclass implements ``_decompose(X)``, which returns a fitted estimator with ``transform``.
    """

    def _fit(self, Xs, ys, models):
        check_equal_features(Xs, "domains of different features cannot be stacked")
        if any(sparse.issparse(X) for X in Xs):
            X = sparse.vstack([sparse.csr_array(X) for X in Xs], format="csr")
        else:
            X = np.vstack(Xs)
        self.decomposition_ = self._decompose(X)
        return [self._transform(X, domain) for domain, X in enumerate(Xs)]

    def _transform(self, X, domain):
        return self.decomposition_.transform(X)

    def _at_most(self, limit, what):
        return _at_most(self.n_components, limit, what)


def _at_most(n_components, limit, what):
    if n_components > limit:
        warnings.warn(
            f"n_components={n_components}, but there are {what}; {limit} components are used",
            ConvergenceWarning,
            stacklevel=5,
        )
    return min(n_components, limit)


class PCAAligner(_StackedAligner):
    r"""Principal components of all domains stacked, by scikit-learn's PCA.

    .. math:: \max_{V^T V = I} \operatorname{tr} V^T (X - 1\bar x^T)^T (X - 1\bar x^T) V, \qquad
              X = [X^{(1)}; \dots; X^{(D)}]

    Nothing is aligned: what the domains have in common survives if it varies much, and so does
    their difference. It is a baseline of the subspace methods, not one of them.

    Parameters
    ----------
    n_components : int, default=20
        Fewer if the centred samples span fewer dimensions.
    whiten : bool, default=False
        Whether to divide each component by its standard deviation.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_components_)
    decomposition_ : sklearn.decomposition.PCA
    n_components_ : int
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If the domains differ in their number of features.

    Warns
    -----
    ConvergenceWarning
        If `n_components` exceeds the dimensions that the centred samples span.

    Notes
    -----
    Cost: O(n p min(n, p)) for n samples of all domains; sparse features (centred implicitly) by
    Lanczos, O(nnz) per step. Exact solvers, so that the answer does not depend on a seed. Domains
    of more samples weigh more.

    References
    ----------
    .. [1] I. T. Jolliffe. Principal Component Analysis. Springer, 2nd ed., 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import PCAAligner
    >>> rng = np.random.default_rng(0)
    >>> pca = PCAAligner(n_components=2).fit([rng.normal(size=(30, 5)), rng.normal(size=(20, 5))])
    >>> pca.transform(np.zeros((3, 5)), domain=1).shape
    (3, 2)
    >>> pca.inverse_transform(pca.embeddings_[0], domain=0).shape
    (30, 5)
    """

    _parameter_constraints: ClassVar[dict] = {"n_components": COUNT, "whiten": ["boolean"]}

    def __init__(self, n_components=20, whiten=False):
        self.n_components = n_components
        self.whiten = whiten

    @property
    def capabilities(self):
        """What this method can do."""
        return Capabilities(labels="none", max_domains=None, invertible=True)

    def _decompose(self, X):
        # Centred, n samples span n - 1 dimensions; what else a solver returns is rounding.
        limit = min(X.shape[0] - 1, X.shape[1])
        pca = self._pca(X, min(self.n_components, limit))
        if self.whiten:  # which would blow rounding up to variance 1
            variances = pca.explained_variance_
            rank = max(np.count_nonzero(variances > _NO_VARIANCE * variances[0]), 1)
            limit = rank if rank < variances.size else limit
        what = f"{X.shape[0]} samples of {X.shape[1]} features, which span {limit} dimensions"
        n_components = self._at_most(limit, what)
        return pca if n_components == pca.n_components_ else self._pca(X, n_components)

    def _pca(self, X, n_components):
        solver = "full"
        if sparse.issparse(X):
            # ARPACK cannot give all components; the covariance then has about as many rows.
            solver = "arpack" if n_components < min(X.shape) else "covariance_eigh"
        pca = PCA(n_components, whiten=self.whiten, svd_solver=solver, random_state=0)
        return pca.fit(X)

    def inverse_transform(self, Z, domain):
        """Samples of shape (n, p) nearest to the mean whose embedding is `Z`.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components_)
        domain : int
            As in :meth:`transform`. All domains have one map.

        Raises
        ------
        ValueError
            If the domain does not exist, or `Z` has another number of columns.
        """
        check_is_fitted(self, "embeddings_")
        self._position(domain)
        Z = check_matrix(Z, "Z")
        if Z.shape[1] != self.n_components_:
            raise ValueError(f"Z has {Z.shape[1]} columns; the embedding has {self.n_components_}")
        return self.decomposition_.inverse_transform(Z)


class KernelPCAAligner(_StackedAligner):
    r"""Kernel principal components of all domains stacked, by scikit-learn's KernelPCA.

    The leading eigenvectors of the centred kernel matrix of all samples, :math:`H K H \alpha_k =
    \lambda_k \alpha_k`, scaled to :math:`\|\alpha_k\|^2 = 1 / \lambda_k`; a sample has the
    coordinates :math:`\alpha_k^T H (k(X, x) - K 1 / n)` ([1]_, Eqs. 3.1 to 4.6). As for PCA,
    nothing is aligned.

    Parameters
    ----------
    n_components : int, default=20
        Fewer if there are fewer samples. Components of eigenvalue 0 are columns of zeros.
    kernel : {"rbf", "linear", "poly", "sigmoid", "cosine"}, default="rbf"
    gamma : "median" or float, default="median"
        Of "rbf", "poly" and "sigmoid": by default one over the median squared distance of all
        samples, so that the unit of the features does not matter to "rbf". scikit-learn's default,
        1 / n_features, suits features of variance 1; on rows of length 1 it makes every kernel
        nearly linear.
    degree : int, default=3
    coef0 : float, default=1.0
        As in scikit-learn.
    eigen_solver : {"auto", "dense", "arpack"}, default="auto"
        "auto" takes ARPACK for less than 10 components of more than 200 samples.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_components_)
    decomposition_ : sklearn.decomposition.KernelPCA
    gamma_ : float or None
        The width used; None for "linear" and "cosine".
    n_components_ : int
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If the domains differ in their number of features.
    AlignmentError
        If the kernel has significantly negative eigenvalues, as "sigmoid" may, or all samples are
        equal where their distances are to give `gamma`.

    Warns
    -----
    ConvergenceWarning
        If `n_components` exceeds the number of samples.

    Notes
    -----
    Cost: O(n^2 p + n^3) time ("arpack": O(n^2) per step instead of O(n^3)) and O(n^2) memory for
    n samples of all domains; new samples O(n p) each. Sparse features stay sparse.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, K.-R. Müller. Nonlinear Component Analysis as a Kernel Eigenvalue
       Problem. Neural Computation 10(5), 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import KernelPCAAligner
    >>> rng = np.random.default_rng(0)
    >>> Xs = [rng.normal(size=(30, 5)), rng.normal(size=(20, 5))]
    >>> KernelPCAAligner(n_components=4).fit(Xs).embeddings_[1].shape
    (20, 4)
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_components": COUNT,
        "kernel": [StrOptions({"rbf", "linear", "poly", "sigmoid", "cosine"})],
        "gamma": [StrOptions({"median"}), *POSITIVE],
        "degree": COUNT,
        "coef0": FINITE,
        "eigen_solver": [StrOptions({"auto", "dense", "arpack"})],
    }

    def __init__(
        self,
        n_components=20,
        kernel="rbf",
        gamma="median",
        degree=3,
        coef0=1.0,
        eigen_solver="auto",
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.eigen_solver = eigen_solver

    @property
    def capabilities(self):
        """What this instance can do; only the kernel decides whether it is linear."""
        return Capabilities(labels="none", max_domains=None, nonlinear=self.kernel != "linear")

    def _decompose(self, X):
        self.gamma_ = self._gamma(X)
        kpca = KernelPCA(
            self._at_most(X.shape[0], f"{X.shape[0]} samples"),
            kernel=self.kernel,
            gamma=self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
            eigen_solver=self.eigen_solver,
            random_state=0,  # of ARPACK's start vector
        )
        try:
            return kpca.fit(X)
        except ValueError as error:
            # The input has been checked: what is left is an indefinite kernel.
            raise AlignmentError(
                f"all domains: kernel {self.kernel!r} has no principal components ({error}); take "
                "another kernel, or other values of gamma and coef0"
            ) from error

    def _gamma(self, X):
        if self.kernel in ("linear", "cosine"):
            return None
        if self.gamma != "median":
            return self.gamma
        return median_gamma(distances(X, X, "rbf"), "the samples of all domains")


class CCAAligner(Aligner):
    r"""Canonical correlations of two paired domains, by scikit-learn's CCA.

    Row i of both domains is one object. Components are found one after the other, each the pair of
    directions of largest correlation ([1]_), of what the earlier ones left (deflation):

    .. math:: \max_{u, v} \operatorname{corr}(X_1 u, X_2 v) .

    Parameters
    ----------
    n_components : int, default=10
        Fewer if a domain's centred samples span fewer dimensions.
    scale : bool, default=True
        Whether features are divided by their standard deviation. The correlations do not depend on
        it, up to rounding and `tol`.
    max_iter : int, default=500
        Steps of the power method per component.
    tol : float, default=1e-6
        Squared change of the direction at which it stops.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n, n_components_)
        Scores of both domains, on the scales that scikit-learn gives them.
    correlations_ : ndarray of shape (n_components_,)
        Of the training scores, descending.
    decomposition_ : sklearn.cross_decomposition.CCA
    n_components_ : int
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If there are more than two domains, they differ in their number of samples, two samples of
        one row have different labels, or a domain is sparse. Samples of domains that were not drawn
        in pairs but happen to be as many cannot be recognised without labels.
    AlignmentError
        If a domain is constant or has one sample.

    Warns
    -----
    ConvergenceWarning
        If `n_components` is too large, or a component needs more than `max_iter` steps.

    Notes
    -----
    Cost: O(n p min(n, p)) per component, from the pseudo-inverses. With no more samples than
    features every correlation is 1 and says nothing; :class:`~domain_alignment.Aligner`
    methods for unpaired data, or a regularised kernel CCA, are for that.

    Labels are used to refuse wrong pairs, for nothing else.

    References
    ----------
    .. [1] H. Hotelling. Relations Between Two Sets of Variates. Biometrika 28, 1936.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import CCAAligner
    >>> rng = np.random.default_rng(0)
    >>> both = rng.normal(size=(50, 2))  # what the two views have in common
    >>> mixed = [both @ rng.normal(size=(2, 2)) for _ in range(2)]
    >>> views = [np.hstack([m, rng.normal(size=(50, p))]) for m, p in zip(mixed, (2, 4))]
    >>> CCAAligner(n_components=2).fit(views).correlations_.round(3)
    array([1., 1.])
    >>> CCAAligner().fit([views[0], views[1][:40]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: domains 0 and 1: have 50 and 40 samples; CCA needs pairs, ...
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_components": COUNT,
        "scale": ["boolean"],
        "max_iter": COUNT,
        "tol": POSITIVE,
    }

    def __init__(self, n_components=10, scale=True, max_iter=500, tol=1e-6):
        self.n_components = n_components
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol

    @property
    def capabilities(self):
        """What this method can do."""
        return Capabilities(labels="none", needs_pairs=True, heterogeneous=True)

    def _fit(self, Xs, ys, models):
        check_row_pairs(Xs, ys, "CCA", "take a method for unpaired data")
        for domain, X in enumerate(Xs):
            _refuse_sparse(X, domain)
            if np.ptp(X, axis=0).max() == 0:
                raise AlignmentError(
                    f"{domain_name(domain)}: its samples are all equal, so nothing correlates with "
                    "them; give other features"
                )
        ranks = [int(np.linalg.matrix_rank(X - X.mean(axis=0))) for X in Xs]
        limit = min(*ranks, len(Xs[0]) - 1)
        sizes = f"{len(Xs[0])} pairs, which span {ranks[0]} and {ranks[1]} dimensions"
        n_components = _at_most(self.n_components, limit, sizes)
        cca = CCA(n_components, scale=self.scale, max_iter=self.max_iter, tol=self.tol)
        self.decomposition_ = cca.fit(*Xs)
        embeddings = [self._transform(X, domain) for domain, X in enumerate(Xs)]
        self.correlations_ = np.array(
            [np.corrcoef(a, b)[0, 1] for a, b in zip(*(Z.T for Z in embeddings), strict=True)]
        )
        return embeddings

    def _transform(self, X, domain):
        _refuse_sparse(X, domain)
        if domain == 0:
            return self.decomposition_.transform(X)
        # scikit-learn maps the second domain together with samples of the first only.
        others = np.zeros((len(X), self.n_features_in_[0]))
        return self.decomposition_.transform(others, X)[1]


def _refuse_sparse(X, domain):
    if sparse.issparse(X):
        raise ValueError(f"{domain_name(domain)}: is sparse; CCA needs X.toarray()")
