"""Subspace alignment."""

from typing import ClassVar

import numpy as np

from domain_alignment.subspace._base import SubspaceAligner


class SubspaceAlignment(SubspaceAligner):
    r"""Subspace alignment: maps the source's principal axes onto the target's.

    With orthonormal principal axes :math:`P_S, P_T` (p x d), the map that best aligns the bases is
    :math:`M = \arg\min_M \|P_S M - P_T\|_F = P_S^T P_T` ([1]_, Eq. 4), and

    .. math:: Z_S = X_S P_S P_S^T P_T, \qquad Z_T = X_T P_T .

    Parameters
    ----------
    n_components : int, default=20
        d; less if a domain has fewer axes with a variance above 1e-10 of its largest, which counts
        as its rank.
    center : bool, default=True
        Whether to subtract the domain's mean from its samples; the axes are those of centred data
        in any case. No difference on z-scored domains, as in the paper; decisive for the accuracy
        on uncentred data.
    source_rows : {"all", "labelled"}, default="all"
        Source rows that its axes and mean are computed from.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, d)
    coef_ : list of ndarray of shape (p, d)
        :math:`P_S P_S^T P_T` and :math:`P_T`.
    means_ : list of ndarray of shape (p,)
        Means subtracted; zeros if ``center=False``.
    n_components_ : int
        d.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If the domains differ in their number of features or are not two, or `source_rows` is
        "labelled" and no source sample is.
    AlignmentError
        If all samples of a domain are equal.

    Warns
    -----
    ConvergenceWarning
        If a domain has fewer than `n_components` components.

    Notes
    -----
    *Cost.* ``prepare``: deferred; a domain's PCA, O(n p m_a + m_a^3) with m_a = min(n_a, p), or
    less than the cube for at most a twentieth of more than 1000 axes, is computed on first use and
    cached. Fit: O(n p d + p d^2). Memory: O(n p + p m_a), with the centred samples of a domain.
    Sparse features stay sparse.

    *Signs* of the source's axes cancel; those of the target's are fixed by convention.

    References
    ----------
    .. [1] B. Fernando, A. Habrard, M. Sebban, T. Tuytelaars. Unsupervised Visual Domain Adaptation
       Using Subspace Alignment. ICCV 2013, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import SubspaceAlignment
    >>> rng = np.random.default_rng(0)
    >>> source = rng.normal(size=(50, 4)) * [5, 3, 1, 1]
    >>> target = rng.normal(size=(50, 4)) * [1, 5, 3, 1]
    >>> aligned = SubspaceAlignment(n_components=2).fit([source, target])
    >>> [Z.shape for Z in aligned.embeddings_]
    [(50, 2), (50, 2)]
    """

    _parameter_constraints: ClassVar[dict] = {
        **SubspaceAligner._parameter_constraints,
        "center": ["boolean"],
    }

    def __init__(self, n_components=20, center=True, source_rows="all"):
        self.n_components = n_components
        self.center = center
        self.source_rows = source_rows

    def _align(self, Xs, ys, axes, bases):
        start, end = bases
        self.coef_ = [start @ (start.T @ end), end]
        means = [domain.mean for domain in axes]
        self.means_ = means if self.center else [np.zeros_like(mean) for mean in means]
        return [self._transform(X, domain) for domain, X in enumerate(Xs)]

    def _transform(self, X, domain):
        coef = self.coef_[domain]
        return X @ coef - self.means_[domain] @ coef
