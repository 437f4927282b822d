"""Sampling geodesic flow."""

from typing import ClassVar

from domain_alignment.subspace._base import SubspaceAligner
from domain_alignment.subspace._grassmann import Geodesic, PartialLeastSquares, sampled_averages
from domain_alignment.utils._params import COUNT, ZERO_OR_MORE, StrOptions
from domain_alignment.utils.validation import domain_name, labelled_source_rows


class SGF(SubspaceAligner):
    r"""Sampling geodesic flow: projections onto subspaces sampled between source and target.

    With the geodesic :math:`\Phi(t)` of :class:`~domain_alignment.GFK` at :math:`t_k =
    k / (N + 1)`, a sample becomes the concatenation of its projections ([1]_, section 3)

    .. math:: \bigl(\Phi(t_0)^T x, \dots, \Phi(t_{N+1})^T x\bigr) / \sqrt{N + 2},

    which partial least squares on the source labels then reduces to `n_scores` dimensions.

    Parameters
    ----------
    n_components : int, default=20
        d, the dimension of both subspaces; less if a domain has fewer axes with a variance above
        1e-10 of its largest, which counts as its rank.
    n_between : int, default=10
        N, the number of subspaces between the two, equidistant along the geodesic.
    basis : {"pca", "pls"}, default="pls"
        The source's subspace, as for GFK. The target's is always PCA.
    n_scores : int or None, default=10
        Number of partial least squares scores; fewer if no covariance with the class is left. None
        skips this step and gives 2d dimensions.
    source_rows : {"all", "labelled"}, default="all"
        As for GFK.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_scores) or (n_a, 2d)
    angles_ : ndarray of shape (d,)
        Principal angles, ascending, in radians.
    map_ : ndarray of shape (p, n_components_)
        A sample x becomes ``x @ map_ - offset_``.
    offset_ : ndarray of shape (n_components_,)
        Image of the labelled source's mean, the same for both domains.
    n_components_ : int
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If the domains differ in their number of features or are not two, or required labels are
        missing or of a single class.
    AlignmentError
        If all samples of a domain are equal, or no feature varies with the class.

    Warns
    -----
    ConvergenceWarning
        If a domain has fewer than `n_components` components.

    Notes
    -----
    *SGF is GFK by quadrature.* Inner products of the concatenations depend only on the average of
    the :math:`\Phi(t_k)\Phi(t_k)^T`, which has the 2 x 2 blocks of GFK with averages in place of
    integrals. Instead of (N + 2) d columns, 2d with the same inner products are formed, on which
    alone partial least squares depends. On Office-Caltech the Gram matrix differs by 1 % from that
    of GFK at N = 8.

    *Cost.* That of GFK, O(n p m_a + m_a^3) with m_a = min(n_a, p), plus O(n d n_scores) for partial
    least squares, for any N. Memory: O(n p + p m_a).

    *Defaults* of `n_between` and `n_scores` are in the usual range, not taken from the paper. The
    factor :math:`1 / \sqrt{N + 2}` is ours and only a scale.

    References
    ----------
    .. [1] R. Gopalan, R. Li, R. Chellappa. Domain Adaptation for Object Recognition: An
       Unsupervised Approach. ICCV 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import SGF
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 25)
    >>> source = rng.normal(size=(50, 6)) + 3 * y[:, None]
    >>> target = rng.normal(size=(40, 6))
    >>> SGF(n_components=2, n_scores=1).fit([source, target], [y, None]).embeddings_[1].shape
    (40, 1)
    """

    _parameter_constraints: ClassVar[dict] = {
        **SubspaceAligner._parameter_constraints,
        "n_between": ZERO_OR_MORE,
        "basis": [StrOptions({"pca", "pls"})],
        "n_scores": [*COUNT, None],
    }

    def __init__(self, n_components=20, n_between=10, basis="pls", n_scores=10, source_rows="all"):
        self.n_components = n_components
        self.n_between = n_between
        self.basis = basis
        self.n_scores = n_scores
        self.source_rows = source_rows

    @property
    def _reads_labels(self):
        return super()._reads_labels or self.n_scores is not None

    def _align(self, Xs, ys, axes, bases):
        path = Geodesic(*bases)
        self.angles_ = path.angles
        self.map_ = path.feature_map(*sampled_averages(path.angles, self.n_between))
        self.offset_ = 0.0 * self.map_[0]
        if self.n_scores is not None:
            rows = labelled_source_rows(ys[0])
            projected = Xs[0][rows] @ self.map_
            pls = PartialLeastSquares(projected, ys[0][rows], self.n_scores, domain_name(0))
            self.map_, self.offset_ = self.map_ @ pls.rotation, pls.mean @ pls.rotation
        return [self._transform(X, domain) for domain, X in enumerate(Xs)]

    def _transform(self, X, domain):
        return X @ self.map_ - self.offset_
