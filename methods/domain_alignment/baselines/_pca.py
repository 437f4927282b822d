"""PCA of all domains stacked."""

from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA

from domain_alignment.base import Capabilities
from domain_alignment.baselines._stacked import StackedAligner, at_most
from domain_alignment.utils._params import COUNT
from domain_alignment.utils.eigen import DENSE_ROWS
from domain_alignment.utils.validation import dense

# Variances below this share of the largest count as rounding.
_NO_VARIANCE = 1e-10

# Above this many samples and features Lanczos is faster than a dense eigensolver.
_LANCZOS_ROWS = 1000

# Largest entries between these have squares far from the limits of float64.
_SQUARED = 1e-100, 1e100


class PCAAligner(StackedAligner):
    r"""Principal components of all domains stacked, by scikit-learn's PCA.

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
        If `n_components` exceeds the rank of the centred samples.

    Notes
    -----
    Cost: O(n p min(n, p)) for n samples of all domains, by Lanczos O(n p) per step where both
    exceed 1000 and at most a tenth of the components is asked for; sparse features (centred
    implicitly) by Lanczos, O(nnz) per step, or up to 200 of them O(nnz p + p^3). O(n p) memory, of
    all samples together. Solvers are exact to rounding and deterministic. Larger domains weigh
    more.

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
        # n centred samples have rank n - 1 at most; a solver's further components are rounding.
        limit = min(X.shape[0] - 1, X.shape[1])
        pca = self._pca(X, min(self.n_components, limit))
        if self.whiten:  # would scale rounding up to variance 1
            variances = pca.explained_variance_
            rank = max(np.count_nonzero(variances > _NO_VARIANCE * variances[0]), 1)
            limit = rank if rank < variances.size else limit
        what = f"{X.shape[0]} samples of {X.shape[1]} features, which span {limit} dimensions"
        n_components = at_most(self.n_components, limit, what)
        return pca if n_components == pca.n_components_ else self._pca(X, n_components)

    def _pca(self, X, n_components):
        solver = (_sparse_solver if sparse.issparse(X) else _dense_solver)(X, n_components)
        pca = PCA(n_components, whiten=self.whiten, svd_solver=solver, random_state=0)
        return pca.fit(X)

    def _inverse_transform(self, Z, domain):
        return self.decomposition_.inverse_transform(dense(Z))  # the sample nearest to the mean


def _sparse_solver(X, n_components):
    # ARPACK cannot compute all components, and where rounding is below the smallest number it goes
    # on from random vectors, in each call from others.
    few = X.shape[1] <= DENSE_ROWS or n_components == min(X.shape)
    return "covariance_eigh" if few else "arpack"


def _dense_solver(X, n_components):
    """scikit-learn's name of the fastest exact solver; the others square the samples."""
    n_samples, n_features = X.shape
    smaller = min(X.shape)
    least, most = _SQUARED
    if smaller <= DENSE_ROWS or not least < np.abs(X).max() < most:
        return "full"
    if smaller > _LANCZOS_ROWS and n_components <= smaller // 10:
        return "arpack"
    return "covariance_eigh" if n_features <= min(n_samples, _LANCZOS_ROWS) else "full"
