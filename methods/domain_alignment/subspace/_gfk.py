"""The geodesic flow kernel."""

from typing import ClassVar

from domain_alignment.subspace._base import SubspaceAligner
from domain_alignment.subspace._grassmann import Geodesic, flow_averages
from domain_alignment.utils._params import StrOptions
from domain_alignment.utils._rows import unit_rows


class GFK(SubspaceAligner):
    r"""Geodesic flow kernel: integrates over all subspaces between source and target.

    With :math:`\Phi(t)` (p x d) the geodesic from the source's subspace :math:`P_S` to the target's
    :math:`P_T`, the kernel of two samples is ([1]_, Eq. 4)

    .. math:: x^T G y, \qquad G = \int_0^1 \Phi(t) \Phi(t)^T dt .

    From the singular value decomposition :math:`P_S^T P_T = U \cos\Theta V^T`, with
    :math:`A = P_S U` and :math:`B_i = (P_T V - A \cos\Theta)_i / \sin\theta_i`, it is

    .. math:: G = \sum_{i=1}^d [a_i\ b_i]
              \begin{pmatrix} \lambda_1 & \lambda_2 \\ \lambda_2 & \lambda_3 \end{pmatrix}_i
              [a_i\ b_i]^T, \quad \lambda_{1, 3} = \tfrac12 \Bigl(1 \pm
              \frac{\sin 2\theta_i}{2\theta_i}\Bigr), \quad
              \lambda_2 = \frac{1 - \cos 2\theta_i}{4\theta_i} .

    The embedding is the explicit feature map of this kernel in 2d dimensions, :math:`[A\ B]` times
    the square roots of the blocks: an isometric image of :math:`G^{1/2} x`.

    Parameters
    ----------
    n_components : int, default=20
        d, the dimension of both subspaces; less if a domain has a smaller rank. Later papers use
        20, the authors' script 10 or 20, depending on the pair. Beyond p / 2 the subspaces
        intersect, and the kernel approaches the linear one.
    basis : {"pca", "pls"}, default="pca"
        The source's subspace: principal axes, or partial least squares weights on its labels, the
        authors' better variant. The target's is always PCA.
    unit_rows : bool, default=False
        Whether to scale embedded samples to unit length. This makes the map nonlinear and is not
        the authors'.
    source_rows : {"all", "labelled"}, default="all"
        Source rows used for the PCA; published numbers differ in this. Partial least squares always
        uses the labelled ones.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, 2d)
    angles_ : ndarray of shape (d,)
        :math:`\theta`, ascending, in radians.
    map_ : ndarray of shape (p, 2d)
        A sample x becomes ``x @ map_``, and G is ``map_ @ map_.T``.
    n_components_ : int
        2d.
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
    *Cost.* ``prepare``: deferred; a domain's PCA, O(n p m_a + m_a^3) with m_a = min(n_a, p), or
    less than the cube for at most a twentieth of more than 1000 axes, is computed on first use and
    cached. Fit: O(n p d + p d^2). Memory: O(n p + p m_a), with the centred samples of a domain. The
    p x p matrix G is never formed; sparse features stay sparse.

    *Degenerate angles.* At an angle of 0, :math:`b_i` is undefined and its column is zero. Equal
    angles, the choice of bases and the signs of the SVD rotate the features, preserving distances.

    *Departures.* The authors' code computes the same G, up to rounding, by a generalised SVD of
    p x p matrices; their opposite sign of :math:`\lambda_2` goes with that of B. Features are
    projected uncentred: only the PCA is centred.

    References
    ----------
    .. [1] B. Gong, Y. Shi, F. Sha, K. Grauman. Geodesic Flow Kernel for Unsupervised Domain
       Adaptation. CVPR 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import GFK
    >>> rng = np.random.default_rng(0)
    >>> spread = np.array([5.0, 4.0, 1.0, 1.0, 1.0, 1.0])
    >>> source = rng.normal(size=(50, 6)) * spread
    >>> target = rng.normal(size=(40, 6)) * spread[::-1]
    >>> gfk = GFK(n_components=2).fit([source, target])
    >>> gfk.embeddings_[0].shape
    (50, 4)
    >>> gfk.map_.shape
    (6, 4)
    """

    _parameter_constraints: ClassVar[dict] = {
        **SubspaceAligner._parameter_constraints,
        "basis": [StrOptions({"pca", "pls"})],
        "unit_rows": ["boolean"],
    }

    def __init__(self, n_components=20, basis="pca", unit_rows=False, source_rows="all"):
        self.n_components = n_components
        self.basis = basis
        self.unit_rows = unit_rows
        self.source_rows = source_rows

    @property
    def _nonlinear(self):
        return self.unit_rows

    def _align(self, Xs, ys, axes, bases):
        path = Geodesic(*bases)
        self.angles_ = path.angles
        self.map_ = path.feature_map(*flow_averages(path.angles))
        return [self._transform(X, domain) for domain, X in enumerate(Xs)]

    def _transform(self, X, domain):
        Z = X @ self.map_
        return unit_rows(Z) if self.unit_rows else Z
