"""Semi-supervised manifold alignment, instance and feature level."""

from typing import ClassVar

import numpy as np
from scipy import sparse

from domain_alignment.manifold._correspondences import laplacian
from domain_alignment.manifold._eigen_update import RowUpdate, smallest_eigenpairs
from domain_alignment.manifold._eigen_update_sparse import GraphUpdate, component_vectors
from domain_alignment.manifold._joint_laplacian import SpectralAligner
from domain_alignment.utils._params import StrOptions


class SMA(SpectralAligner):
    r"""Semi-supervised manifold alignment of two or more domains.

    Embeds all domains at once on the smallest nontrivial eigenpairs of the joint Laplacian ([1]_;
    in the notation of [2]_, Eq. 5):

    .. math:: L \Phi = D \Phi \Lambda, \qquad
              L = \mathrm{blkdiag}(D^{(a)} - W^{(a)}) + L_c, \qquad Z = \Phi \Lambda^{-1/2}

    with :math:`\Phi^T D \Phi = I`, the k-nearest-neighbour graphs :math:`W^{(a)}` of the domains
    and the Laplacian :math:`L_c` of the edges between all samples of different domains with the
    same label. The feature level ([3]_; [2]_, Eq. 9) finds one linear map per domain, with X block
    diagonal:

    .. math:: X^T L X \,\Phi = X^T D X \,\Phi \Lambda, \qquad Z = X \Phi \Lambda^{-1/2}.

    It is what :class:`~domain_alignment.FMA` approximates by keeping few eigenvectors of each
    domain; with all of them kept, the two agree.

    Parameters
    ----------
    level : {"instance", "feature"}, default="instance"
        Eq. 5, or the linear Eq. 9.
    n_components : int, default=40
        Number of nontrivial joint eigenvectors; 40 in [2]_.
    n_neighbors : int, default=12
        k, the sample itself not counted; 12 in [2]_.
    alpha : float, default=0.2
        Factor of the weights within a domain; 0.2 in [2]_.
    correspondence_weight : float, default=1.0
        Weight of an edge between domains; 1 in [2]_.
    symmetrize : {"union", "mean", "mutual"}, default="union"
        As for :class:`~domain_alignment.FMA`.
    metric : {"cosine", "euclidean"}, default="cosine"
        As for :class:`~domain_alignment.FMA`.
    degree : {"domain", "joint"}, default="domain"
        Whether D is made of the weights within the domains, or holds the edges between domains as
        well, as Eq. 5 has it. See Notes.
    scale : bool, default=True
        Whether coordinates are divided by the roots of their eigenvalues, as [2]_ has it after Eq.
        6. Not so in [1]_.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_components)
        The parts of Z. Columns have the sign that makes their largest entry positive.
    n_components_ : int
        `n_components`.
    eigenvalues_ : ndarray of shape (n_components,)
        The smallest of the joint problem, ascending, without the joint constant's zero.
    maps_ : list of ndarray of shape (p_a, n_components), or None
        Feature level: ``embeddings_[a] = Xs[a] @ maps_[a]``. None at the instance level.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If `n_components` exceeds what the domains span together; a domain has no label in common
        with the others; or `n_neighbors` is not less than its number of samples.
    AlignmentError
        If a sample, of `fit` or of `transform`, has no neighbour (or is all zeros, under the
        cosine), or an eigensolver does not converge or fails its residual check.

    Notes
    -----
    *The constant vector* is dropped where all domains span it (always at the instance level). Other
    zero eigenvalues, which come from a joint graph in several pieces, are kept and scaled as 1e-9.

    *New samples* are embedded as by :class:`~domain_alignment.FMA`, with the joint eigenvectors
    as the basis.

    *Cost.* Instance level, domains of up to 2500 samples: ``prepare`` computes the graph, O(n^2 p),
    and all eigenpairs, O(n^3) time and O(n^2) memory. In these coordinates the joint problem is a
    diagonal changed by the l labelled rows, which a fit solves exactly by Lanczos on its inverse:
    O(K l^2 + l^3) and O(K (l + n_components)) per step, K being the number of eigenpairs of all
    domains, and O(N K n_components) for the embedding. Many fits share the cubic part.

    Where one domain is larger, ``prepare`` keeps its graph alone, and each fit solves the same
    problem to the same accuracy on the sparse joint graph: again Lanczos on the inverse, each step
    of which is about 50 products with the graph, O(n_neighbors N + l^2) each. Nothing is N x N,
    but nothing is shared by several fits except the graph.

    Feature level: O(n p min(n, p) + min(n, p)^3) for all eigenpairs, of order min(n, p), in O(n
    min(n, p)) memory, dense features O(min(n, p) (n + p)); then as for the small domains. With few
    samples, or when more than a quarter of the K vectors is wanted, a fit uses a dense solver:
    O(K^3) time and O(K^2) memory. ``prepare`` depends on `level`, `n_neighbors`, `metric` and
    `symmetrize` only.

    *Departures from the papers.* [2]_ prints L in Eq. 4 with a diagonal that lacks the edges
    between domains and so is not a Laplacian (it is indefinite); the sum of Eqs. 1 and 2 is meant.
    The default ``degree="domain"`` is not Eq. 5: none of the readings tried reproduces the SMA
    column of Table 1 of [2]_, this one comes nearer than the joint degree, and it is FMA without
    the filter.

    References
    ----------
    .. [1] J. Ham, D. D. Lee, L. K. Saul. Semisupervised alignment of manifolds. AISTATS 2005.
    .. [2] S. Dernbach, D. Towsley. Filtered Manifold Alignment. 2020, Eqs. 3-6 and 9.
    .. [3] C. Wang, S. Mahadevan. A general framework for manifold alignment. AAAI Fall Symposium
       2009.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import SMA
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> centres = np.array([[4.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    >>> source = centres[y] + rng.normal(size=(40, 3))
    >>> target = (centres[y] + rng.normal(size=(40, 3))) @ rng.normal(size=(3, 5))
    >>> seen = np.where(np.arange(40) % 20 < 3, y, -1)  # three labels per class
    >>> sma = SMA(n_components=2, n_neighbors=5).fit([source, target], [y, seen])
    >>> [embedding.shape for embedding in sma.embeddings_]
    [(40, 2), (40, 2)]
    """

    _parameter_constraints: ClassVar[dict] = {
        **SpectralAligner._parameter_constraints,
        "degree": [StrOptions({"domain", "joint"})],
        "scale": ["boolean"],
    }

    def __init__(
        self,
        level="instance",
        n_components=40,
        n_neighbors=12,
        alpha=0.2,
        correspondence_weight=1.0,
        symmetrize="union",
        metric="cosine",
        degree="domain",
        scale=True,
    ):
        self.level = level
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.correspondence_weight = correspondence_weight
        self.symmetrize = symmetrize
        self.metric = metric
        self.degree = degree
        self.scale = scale

    def _pairs_to_prepare(self):
        return None

    def _check_spectrum(self, spectrum, n_domains, name):
        if not spectrum.complete:
            raise ValueError(
                f"{name}: was prepared with {spectrum.n_pairs} eigenvectors, SMA needs all; "
                "prepare it again by SMA.prepare"
            )

    def _scale(self, eigenvalues):
        return super()._scale(eigenvalues) if self.scale else np.ones_like(eigenvalues)

    def _joint_eigenpairs(self, spectra, ys):
        sizes = [spectrum.n_columns for spectrum in spectra]
        trivial = None
        if all(spectrum.holds_constant(spectrum.n_columns) for spectrum in spectra):
            trivial = np.concatenate([spectrum.constant for spectrum in spectra])
        most = sum(sizes) - (trivial is not None)
        if self.n_components > most:
            raise ValueError(
                f"n_components={self.n_components} eigenvectors asked for; the domains together "
                f"have {most} nontrivial ones"
            )
        # Bases of edges scaled by alpha are these over its root; here it joins the weight.
        rows, change = laplacian(ys, self.correspondence_weight / self.alpha)
        bases = [spectrum.basis[labelled] for spectrum, labelled in zip(spectra, rows, strict=True)]
        mass = change.diagonal() if self.degree == "joint" else None
        if all(spectrum.similarity is None for spectrum in spectra):
            eigenvalues = np.concatenate([spectrum.eigenvalues for spectrum in spectra])
            update = RowUpdate(eigenvalues, bases, change, mass)
        else:
            similarities, null = zip(*map(_as_graph, spectra), strict=True)
            update = GraphUpdate(similarities, bases, null, change, mass)
        found, vectors = smallest_eigenpairs(update, self.n_components, trivial)
        return np.maximum(found, 0), np.split(vectors, np.cumsum(sizes)[:-1])


def _as_graph(spectrum):
    """S in the coordinates of the basis, and the null space of I - S."""
    if spectrum.similarity is not None:
        return spectrum.similarity, component_vectors(spectrum.similarity, spectrum.degree)
    axes = np.eye(spectrum.n_pairs)[:, spectrum.eigenvalues < 1e-10]
    return sparse.diags_array(1 - spectrum.eigenvalues).tocsr(), axes
