"""PCA of all domains stacked."""

from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.decomposition import PCA
from sklearn.utils import gen_batches

from domain_alignment.base import Capabilities
from domain_alignment.baselines._stacked import DOMAINS, StackedAligner, at_most
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._params import COUNT, StrOptions
from domain_alignment.utils.eigen import (
    DENSE_ROWS,
    fix_signs,
    lanczos_with_copies,
    largest_eigenpairs,
    takes_lanczos,
)
from domain_alignment.utils.validation import dense, no_way_back

# Variances below this share of the largest are not scaled up to 1.
_NO_VARIANCE = 1e-10

# Above this many samples and features scikit-learn would take Lanczos, and up to it the covariance.
_LANCZOS_ROWS = 1000

# Of a few features, or samples, this many times more of the other are worth their products: with
# the eigenvectors a fifth of a singular value decomposition or less.
_LONG = 5

# Sums of squares between these are far from the limits of float64.
_SQUARED = 1e-200, 1e200

# Eigenvectors of products whose eigenvalues are a larger share of the largest have lost three
# digits at most.
_ACCURATE = 1e-6

# Above this many samples and features their products cost as much as 80 steps of Lanczos on the
# samples, and more; twenty components take 60 to 120 steps if the spectrum decays.
_GRAM_ROWS = 2000

# Values that are read from memory once for both products of such a step: of 1 MB, in place of all,
# it takes two thirds of the time.
_IN_CACHE = 2**17

# A direction that these steps missed is found if its variance exceeds the smallest kept one by this
# share; that takes a tenth to a third as many.
_MISSED = 1e-2

_PROBLEM = "PCA"


class PCAAligner(StackedAligner):
    r"""Principal components of all domains stacked, as scikit-learn's PCA.

    .. math:: \max_{V^T V = I} \operatorname{tr} V^T (X - 1\bar x^T)^T (X - 1\bar x^T) V, \qquad
              X = [X^{(1)}; \dots; X^{(D)}]

    A baseline without alignment: directions of large variance are kept, whether common to the
    domains or separating them.

    Parameters
    ----------
    n_components : int, default=20
        Fewer if the centred samples have a smaller rank.
    whiten : bool, default=False
        Whether to divide each component by its standard deviation.
    domains : {"all", "target"}, default="all"
        Whose samples are decomposed. The target's alone are a baseline of those who leave the
        source aside; a domain with other features is then embedded as zeros.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_components_)
    decomposition_ : sklearn.decomposition.PCA
    n_components_ : int
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If the domains differ in their number of features, unless ``domains="target"``.
    AlignmentError
        If all samples are equal, with ``domains="target"`` those of the target.

    Warns
    -----
    ConvergenceWarning
        If `n_components` exceeds the rank of the centred samples.

    Notes
    -----
    Cost, for n samples of all domains, or of the target: O(n p) memory, of all samples together.

    - ``not sparse and min(n, p) <= 2000``: O(n p min(n, p)) time, for the products of the samples
      or of the features.
    - ``not sparse and min(n, p) > 2000``: the same, O(n p min(n, p)) time; or less by Lanczos, O(n
      p) per step, where at most a twentieth of the components is asked for.
    - ``sparse and p <= 200``: centred implicitly; O(nnz p + p^3) time.
    - ``sparse and p > 200``: centred implicitly; by Lanczos, O(nnz) per step.

    Solvers are exact to rounding and deterministic. Larger domains weigh more.

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

    _parameter_constraints: ClassVar[dict] = {
        "n_components": COUNT,
        "whiten": ["boolean"],
        "domains": [StrOptions(set(DOMAINS))],
    }

    def __init__(self, n_components=20, whiten=False, domains="all"):
        self.n_components = n_components
        self.whiten = whiten
        self.domains = domains

    @property
    def capabilities(self):
        """What this instance can do; heterogeneous for ``domains="target"`` only."""
        return Capabilities(
            labels="none", max_domains=None, heterogeneous=self.domains == "target", invertible=True
        )

    def _decompose(self, X):
        _check_not_equal(X, self._samples_in_words)
        mean = 0.0 if sparse.issparse(X) else X.mean(axis=0)
        if not sparse.issparse(X):
            X -= mean  # a copy of the domains, so without another
        # n centred samples have rank n - 1 at most; a solver's further components are rounding.
        limit = min(X.shape[0] - 1, X.shape[1])
        pca = self._pca(X, min(self.n_components, limit))
        rank = self._rank(pca, mean)
        limit = rank if rank < pca.n_components_ else limit
        what = f"{X.shape[0]} samples of {X.shape[1]} features, which span {limit} dimensions"
        n_components = at_most(self.n_components, limit, what)
        if n_components != pca.n_components_:
            pca = self._pca(X, n_components)
        pca.mean_ = pca.mean_ + mean
        return pca

    def _rank(self, pca, mean):
        """Number of the components found that are more than rounding."""
        variances = pca.explained_variance_
        shape, eps = (pca.n_samples_, pca.n_features_in_), np.finfo(float).eps
        if self.whiten:
            least = _NO_VARIANCE * variances[0]
        elif pca.svd_solver == "full":  # of samples less their mean
            least = (max(shape) * eps) ** 2 * (variances[0] + mean @ mean)
        else:  # of products, from which the mean of sparse samples is taken off
            least = max(10, min(shape)) * eps * (variances[0] + pca.mean_ @ pca.mean_)
        return max(np.count_nonzero(variances > least), 1)

    def _pca(self, X, n_components):
        params = {"whiten": self.whiten, "random_state": 0}
        if sparse.issparse(X):
            return PCA(n_components, svd_solver=_sparse_solver(X, n_components), **params).fit(X)
        found = _leading(X, n_components)
        pca = PCA(n_components, svd_solver=_dense_solver(X.shape, n_components), **params)
        if found is None or (pca.svd_solver == "full" and not _is_accurate(found[0])):
            return pca.set_params(svd_solver="full").fit(X)
        return _with(pca, X.shape, *found)

    def _scores(self, X):
        pca = self.decomposition_
        Z = pca.transform(X)
        # Not from the variances: squares may be below the smallest number.
        spread, limits = pca.singular_values_ / np.sqrt(pca.n_samples_ - 1), np.finfo(float)
        if pca.whiten and spread.min() < limits.eps:
            # scikit-learn has divided by eps in the place of smaller deviations.
            Z *= limits.eps / np.clip(spread, limits.tiny, limits.eps)
        return Z

    def _inverse_transform(self, Z, domain):
        if self._is_foreign(domain):
            raise AlignmentError(no_way_back(domain))
        return self.decomposition_.inverse_transform(dense(Z))  # the sample nearest to the mean


def _check_not_equal(X, of_whom):
    """Raise AlignmentError if all samples are equal, dense or sparse."""
    if sparse.issparse(X):
        equal = np.array_equal(X.max(axis=0).toarray(), X.min(axis=0).toarray())
    else:  # as a rule the second sample tells
        equal = all(np.array_equal(row, X[0]) for row in X[1:])
    if equal:
        raise AlignmentError(
            f"{of_whom}: all are equal, so there is no direction to find; give samples that differ"
        )


def _sparse_solver(X, n_components):
    # ARPACK cannot compute all components, and where rounding is below the smallest number it goes
    # on from random vectors, in each call from others.
    few = X.shape[1] <= DENSE_ROWS or n_components == min(X.shape)
    return "covariance_eigh" if few else "arpack"


def _dense_solver(shape, n_components):
    """scikit-learn's name of the solver whose accuracy is reached; all but "full" square."""
    n_samples, n_features = shape
    smaller = min(shape)
    if smaller > _LANCZOS_ROWS and n_components <= smaller // 10:
        return "arpack"
    squares = smaller > DENSE_ROWS and n_features <= min(n_samples, _LANCZOS_ROWS)
    return "covariance_eigh" if squares else "full"


def _is_accurate(eigenvalues):
    return eigenvalues[-1] > _ACCURATE * eigenvalues[0]


def _leading(X, n_components):
    """Largest squared singular values of centred X, right singular vectors, sum of all squares.

    None if X is small, where a singular value decomposition is as fast and keeps all digits, or
    its squares are near the limits of float64.
    """
    smaller = min(X.shape)
    if smaller <= DENSE_ROWS and max(X.shape) < _LONG * smaller:
        return None
    flat = X.ravel(order="K")  # in either order of memory without a copy
    with np.errstate(over="ignore"):
        total = flat @ flat
    least, most = _SQUARED
    if not least < total < most:
        return None
    if smaller > _GRAM_ROWS and takes_lanczos(smaller, n_components):
        return *_by_lanczos(X, n_components, total), total
    by_samples = X.shape[0] < X.shape[1]
    gram = X @ X.T if by_samples else X.T @ X
    values, vectors = largest_eigenpairs(gram, n_components, _PROBLEM)
    # Components of small variance lose digits in the product; QR restores orthogonality.
    return values, np.linalg.qr(X.T @ vectors)[0] if by_samples else vectors, total


def _by_lanczos(X, n_components, scale):
    """Both by products with the samples, each of which reads them once."""
    blocks = list(gen_batches(len(X), max(1, _IN_CACHE // X.shape[1])))

    def product(v):
        total = np.zeros(len(v))
        for rows in blocks:
            own = X[rows]
            total += (own @ v) @ own
        return total / scale

    operator = LinearOperator(
        (X.shape[1],) * 2, product, matmat=lambda V: X.T @ (X @ V) / scale, dtype=float
    )
    values, vectors = lanczos_with_copies(operator, n_components, _PROBLEM, _MISSED)
    return scale * values, vectors


def _with(pca, shape, eigenvalues, components, total):
    """scikit-learn's estimator as its own fit to centred X would leave it."""
    eigenvalues = np.maximum(eigenvalues, 0.0)
    n_samples, n_features = shape
    variances, total = eigenvalues / (n_samples - 1), total / (n_samples - 1)
    pca.n_features_in_, pca._fit_svd_solver = n_features, pca.svd_solver
    pca.mean_ = np.zeros(n_features)
    pca.components_ = np.ascontiguousarray((components * fix_signs(components)).T)
    pca.explained_variance_ = variances
    pca.explained_variance_ratio_ = variances / total
    pca.singular_values_ = np.sqrt(eigenvalues)
    rest = min(shape) - len(variances)
    pca.noise_variance_ = max(total - variances.sum(), 0.0) / rest if rest else 0.0
    pca.n_samples_, pca.n_components_ = n_samples, len(variances)
    return pca
