"""Canonical correlations of two paired domains."""

from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.cross_decomposition import CCA

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.baselines._stacked import at_most
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._params import COUNT, POSITIVE
from domain_alignment.utils.validation import check_row_pairs, domain_name


class CCAAligner(Aligner):
    r"""Canonical correlation analysis of two paired domains, by scikit-learn's CCA.

    Row i of both domains is the same object. Each component is the pair of directions of largest
    correlation ([1]_) in the data deflated by the previous ones:

    .. math:: \max_{u, v} \operatorname{corr}(X_1 u, X_2 v) .

    Parameters
    ----------
    n_components : int, default=10
        Fewer if a domain's centred samples span fewer dimensions.
    scale : bool, default=True
        Whether to divide features by their standard deviation; no effect on the correlations up to
        rounding and `tol`.
    max_iter : int, default=500
        Iteration limit of the power method per component.
    tol : float, default=1e-6
        Its stopping tolerance, on the squared change of the direction.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n, n_components_)
        Scores of both domains, in scikit-learn's scaling.
    correlations_ : ndarray of shape (n_components_,)
        Of the training scores, descending.
    decomposition_ : sklearn.cross_decomposition.CCA
    n_components_ : int
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If there are more than two domains, they differ in their number of samples, the labels of a
        row disagree, or a domain is sparse. Unpaired domains of equal size cannot be detected
        without labels.
    AlignmentError
        If a domain is constant or has one sample.

    Warns
    -----
    ConvergenceWarning
        If `n_components` is too large, or a component needs more than `max_iter` steps.

    Notes
    -----
    Cost: O(n p min(n, p)) per component, for the pseudo-inverses. With no more samples than
    features every correlation is trivially 1; use :class:`~domain_alignment.KernelCCA` with a ridge
    instead. Labels only serve to reject mismatched pairs.

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
                    f"{domain_name(domain)}: its samples are all equal, so correlations are "
                    "undefined; give other features"
                )
        ranks = [_rank(X, self.scale) for X in Xs]
        limit = min(*ranks, len(Xs[0]) - 1)
        sizes = f"{len(Xs[0])} pairs, which span {ranks[0]} and {ranks[1]} dimensions"
        n_components = at_most(self.n_components, limit, sizes)
        cca = CCA(n_components, scale=self.scale, max_iter=self.max_iter, tol=self.tol)
        self.decomposition_ = cca.set_output(transform="default").fit(*Xs)
        embeddings = [self._transform(X, domain) for domain, X in enumerate(Xs)]
        self.correlations_ = np.array(
            [np.corrcoef(a, b)[0, 1] for a, b in zip(*(Z.T for Z in embeddings), strict=True)]
        )
        return embeddings

    def _transform(self, X, domain):
        _refuse_sparse(X, domain)
        if domain == 0:
            return self.decomposition_.transform(X)
        # scikit-learn maps the second domain only together with the first.
        others = np.zeros((len(X), self.n_features_in_[0]))
        return self.decomposition_.transform(others, X)[1]


def _rank(X, scale):
    """Dimensions that the centred samples span, in the units in which they are compared."""
    centred = X - X.mean(axis=0)
    if scale:
        norms = np.linalg.norm(centred, axis=0)
        rounding = 4 * np.finfo(float).eps * np.sqrt(len(X)) * np.abs(X).max(axis=0)
        constant = norms <= rounding
        centred = np.where(constant, 0.0, centred / np.where(constant, 1.0, norms))
    return int(np.linalg.matrix_rank(centred))


def _refuse_sparse(X, domain):
    if sparse.issparse(X):
        raise ValueError(f"{domain_name(domain)}: is sparse; CCA needs X.toarray()")
