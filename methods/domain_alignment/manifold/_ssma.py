"""Semi-supervised manifold alignment with class labels, linear in the features."""

from domain_alignment.base import Capabilities
from domain_alignment.manifold._class_graph_aligner import ManifoldAligner
from domain_alignment.manifold._domain_graph import GraphParams
from domain_alignment.manifold._kernel_operators import PlainColumns


class SSMA(ManifoldAligner):
    r"""Semi-supervised manifold alignment of two or more domains: one linear map each.

    With the samples of domain a in the columns of :math:`Z_a` (:math:`p_a \times n_a`) and
    :math:`Z = \mathrm{blkdiag}(Z_1, \dots, Z_D)`, the maps V are the smallest eigenvectors of
    ([1]_; Eq. 1 of [2]_, where :math:`\rho = 0`)

    .. math:: Z (L + \mu L_s + \rho I) Z^T V = \lambda\, Z L_d Z^T V, \qquad F_a = V_a^T Z_a

    with the graph Laplacians L of nearest neighbours within domains, :math:`L_s` of same-class
    pairs and :math:`L_d` of different-class pairs, over all domains.

    Parameters
    ----------
    n_components : int, default=10
        Dimension of the embedding. With C classes the first C - 1 columns carry the alignment.
    n_neighbors : int, default=10
        Neighbours in the domains' graphs; 10 in the toolbox's toy script.
    mu : float, default=1.0
        :math:`\mu`. The toolbox uses :math:`(1 - m) L + m L_s` with m = 0.5:
        :math:`\mu = m / (1 - m)`, and its eigenvalues are 1 - m times ours.
    ridge : float, default=0.0
        :math:`\rho`; the toolbox's :math:`\lambda` divided by 1 - m.
    standardize : bool, default=True
        As for :class:`~domain_alignment.KEMA`.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        As for :class:`~domain_alignment.FMA`.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_components_)
    n_components_ : int
        `n_components`, or `rank_` if smaller.
    eigenvalues_ : ndarray of shape (n_components_,)
        Ascending.
    coef_ : list of ndarray of shape (p_a, n_components_)
        The parts of V, with :math:`V^T Z L_d Z^T V = I`; the scores are ``Xs[a] @ coef_[a]``.
    rank_ : int
        Dimension of the range of :math:`Z L_d Z^T`, to which V is confined.
    score_scales_ : list of ScoreScale
        Maps from scores to coordinates.
    neighbor_recall_ : list of float
        Share of the nearest neighbours found in each domain; 1 where the search is exact.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If a domain, its labels or a pair is invalid, labels do not link the domains or are of one
        class, or a domain has no more samples than `n_neighbors`.
    AlignmentError
        If the labelled samples are all zero, the eigenproblem fails its residual check, or this
        machine cannot hold matrices of the labelled samples.

    Warns
    -----
    ConvergenceWarning
        If `n_components` exceeds `rank_`, or is less than the eigenvectors at the eigenvalue 0, so
        that the order of the samples decides which are kept; or if a column is constant in a
        domain.

    Notes
    -----
    *Range.* :math:`Z L_d Z^T` has rank at most l - 1 for l labelled samples, and the authors'
    program restricts V to its range, where KEMA with a linear kernel restricts :math:`\alpha` to
    the range of :math:`K L_d K`. Since :math:`V = Z \alpha`, the two agree if the rank is p, the
    number of nonzero features. Otherwise, in particular for p > l - 1, they differ: SSMA finds V in
    the span of :math:`Z L_d`, KEMA in that of :math:`Z K L_d`, which involves unlabelled samples
    too.

    *Cost.* ``prepare``: O(n_a^2 p) time for the graph, O(n p) memory for its search. A fit with
    prepared graphs: O(n p l + n l^2 + l^3) time and O(n p + (n + p) l + l^2) memory for l labelled
    samples, without p x p matrices; see ``_range_eigenproblem.py``.

    *Departures.* From the paper, as for KEMA: rescaled class graphs, :math:`\rho`, V restricted to
    the range, zero eigenvalues kept, standardised coordinates. From the toolbox's toy script, which
    takes all p vectors in an order that depends on the MATLAB version: ascending order, and KEMA's
    standardisation (over all training samples).

    References
    ----------
    .. [1] C. Wang, S. Mahadevan. Heterogeneous Domain Adaptation Using Manifold Alignment. IJCAI
       2011.
    .. [2] D. Tuia, G. Camps-Valls. Kernel Manifold Alignment for Domain Adaptation. PLoS ONE 11(2),
       2016, Eqs. 1-3.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import SSMA
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> centres = np.array([[4.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    >>> source = centres[y] + rng.normal(size=(40, 3))
    >>> target = (centres[y] + rng.normal(size=(40, 3))) @ rng.normal(size=(3, 5))
    >>> seen = np.where(np.arange(40) % 20 < 3, y, -1)  # three labels per class
    >>> ssma = SSMA(n_components=2, n_neighbors=5).fit([source, target], [y, seen])
    >>> [embedding.shape for embedding in ssma.embeddings_]
    [(40, 2), (40, 2)]
    >>> ssma.map_to(target, source=1, target=0).shape
    (40, 3)
    """

    _parameter_constraints = ManifoldAligner._parameter_constraints

    def __init__(
        self,
        n_components=10,
        n_neighbors=10,
        mu=1.0,
        ridge=0.0,
        standardize=True,
        neighbors="auto",
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.mu = mu
        self.ridge = ridge
        self.standardize = standardize
        self.neighbors = neighbors

    @property
    def capabilities(self):
        """Capabilities of the method."""
        return Capabilities(
            labels="source+target", max_domains=None, heterogeneous=True, invertible=True
        )

    @property
    def _rank_rule(self):
        return "auto"

    def _graph_params(self, domain):
        return GraphParams(self.n_neighbors, search=self.neighbors)

    def _columns(self, Xs, graphs, models):
        return [PlainColumns(X) for X in Xs]

    def _fit(self, Xs, ys, models):
        embeddings = super()._fit(Xs, ys, models)
        self.coef_ = self._coefficients
        return embeddings
