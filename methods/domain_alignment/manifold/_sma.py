"""Semi-supervised manifold alignment, instance and feature level."""

import warnings
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from domain_alignment.manifold._correspondences import laplacian
from domain_alignment.manifold._eigen_update import (
    ZERO_EIGENVALUE,
    RowUpdate,
    smallest_eigenpairs,
)
from domain_alignment.manifold._eigen_update_sparse import GraphUpdate, component_vectors
from domain_alignment.manifold._joint_laplacian import SpectralAligner
from domain_alignment.utils._memory import FEWER_LABELS, check_room
from domain_alignment.utils._params import StrOptions


class SMA(SpectralAligner):
    r"""Semi-supervised manifold alignment of two or more domains.

    Embeds all domains jointly on the smallest nontrivial eigenpairs of the joint Laplacian ([1]_;
    Eq. 5 of [2]_):

    .. math:: L \Phi = D \Phi \Lambda, \qquad
              L = \mathrm{blkdiag}(D^{(a)} - W^{(a)}) + L_c, \qquad Z = \Phi \Lambda^{-1/2}

    with :math:`\Phi^T D \Phi = I`, the k-nearest-neighbour graphs :math:`W^{(a)}` of the domains
    and the Laplacian :math:`L_c` of the edges between all samples of different domains with the
    same label. The feature level ([3]_; [2]_, Eq. 9) finds one linear map per domain, with X block
    diagonal:

    .. math:: X^T L X \,\Phi = X^T D X \,\Phi \Lambda, \qquad Z = X \Phi \Lambda^{-1/2}.

    :class:`~domain_alignment.FMA` approximates it with few eigenvectors of each domain; with all of
    them, the two agree.

    Parameters
    ----------
    level : {"instance", "feature"}, default="instance"
        Eq. 5, or the linear Eq. 9.
    n_components : int, default=40
        Number of nontrivial joint eigenvectors, at most all there are; 40 in [2]_.
    n_neighbors : int, default=12
        k, excluding the sample itself; 12 in [2]_.
    alpha : float, default=0.2
        Factor of the weights within a domain; 0.2 in [2]_.
    correspondence_weight : float, default=1.0
        Weight of an edge between domains; 1 in [2]_.
    symmetrize : {"union", "mean", "mutual"}, default="union"
        As for :class:`~domain_alignment.FMA`.
    metric : {"cosine", "euclidean"}, default="cosine"
        As for :class:`~domain_alignment.FMA`.
    degree : {"domain", "joint"}, default="domain"
        Whether D sums the weights within the domains only, or the edges between domains too, as we
        read Eq. 5; see Notes.
    scale : bool, default=True
        Whether coordinates are divided by the roots of their eigenvalues, as in [2]_ after Eq. 6
        but not in [1]_.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        As for :class:`~domain_alignment.FMA`.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_components_)
        The parts of Z. Columns are signed so that their largest entry is positive.
    n_components_ : int
        `n_components`, or the number of nontrivial eigenpairs if that is less.
    eigenvalues_ : ndarray of shape (n_components_,)
        The smallest of the joint problem, ascending, without the zero of the constant vector.
    maps_ : list of ndarray of shape (p_a, n_components_), or None
        Feature level: ``embeddings_[a] = Xs[a] @ maps_[a]``. None at the instance level.
    neighbor_recall_ : list of float
        Share of the nearest neighbours found in each domain; 1 where the search is exact.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If a domain has no label in common with the others or no more samples than `n_neighbors`.
    AlignmentError
        If more than 5 % of a domain's samples have no neighbour, a sample, in `fit` or `transform`,
        is all zeros, with the cosine, an eigensolver does not converge or fails its residual check,
        or this machine cannot hold a matrix of the labelled samples.

    Warns
    -----
    UserWarning
        If fewer samples have no neighbour; see :class:`~domain_alignment.FMA`.
    ConvergenceWarning
        If there are fewer than `n_components` nontrivial eigenpairs, or more of them at the
        eigenvalue 0, since the order of the samples decides which of these are kept.

    Notes
    -----
    *The constant vector* is dropped if all domains span it (always at the instance level). Other
    zero eigenvalues, from a disconnected joint graph, are kept and scaled as 1e-9.

    *New samples* are embedded as in :class:`~domain_alignment.FMA`, with the joint eigenvectors as
    basis.

    *Cost.* ``prepare`` depends only on `level`, `n_neighbors`, `metric`, `symmetrize` and
    `neighbors`. It computes the graph, O(n_a^2 p) time, of which the search takes O(n p) memory, as
    do the samples that new ones are compared with. No matrix is N x N.

    - ``level == "instance" and n_a <= 1250``: ``prepare`` also computes all eigenpairs, O(n_a^3)
      time and O(n_a^2) memory, shared by all fits. In these coordinates the joint problem is a
      diagonal plus a change of rank l, the number of labelled samples, which a fit solves by
      shift-invert Lanczos: O(n l^2 + l^3) and O(n (l + n_components)) per step, and O(n n_a
      n_components) for the embedding.
    - ``level == "instance" and n_a > 1250``: if any domain is so large, ``prepare`` keeps only its
      graph, and each fit solves the same problem to the same accuracy on the sparse joint graph, by
      Lanczos with products of O(n_neighbors n + l^2) per step: one, or about 50 where the edges
      between domains are heavy (many labels, a small `alpha`) and it is shift-invert. O(n
      n_components + l^2) memory; fits share only the graph.
    - ``level == "feature"``: all eigenpairs, of order q_a = min(n_a, p), with O(n q_a) memory,
      dense features O(q_a (n + p)) memory; then as for small domains. Of at most 400 vectors of all
      domains, or where more than a quarter of them is asked for, a fit uses a dense solver, as it
      does at the other level: O(q_a^3) time and O(q_a^2) memory.
    - ``level == "feature" and n_a >= p``: O(n p^2 + p^3) time for them, by products of features.
    - ``level == "feature" and n_a < p``: O(n n_a p + n_a^3) time, by products of samples.

    *Departures from the papers.* [2]_ has the same undefined :math:`D^{(a)}` in L (after Eq. 4) and
    in D (before Eq. 5). With the edges between domains, as its name "joint" says, L is the
    Laplacian of Eqs. 3 and 7, which is used here, and D is ``degree="joint"``; without them, as in
    Algorithms 3 and 4, D is ``degree="domain"`` and the printed L is indefinite. No reading tried
    reproduces the SMA column of its Table 1; the default is closer than the joint degree, and it is
    FMA without the filter. The sum of Eqs. 1 and 2 as printed counts an edge within a domain twice
    and one between domains once, which would be ``correspondence_weight=0.5``.

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
        neighbors="auto",
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
        self.neighbors = neighbors

    def _pairs_to_prepare(self):
        return None

    def _check_spectrum(self, spectrum, n_domains, name):
        if not spectrum.complete:
            raise ValueError(
                f"{name}: was prepared with {spectrum.n_pairs} eigenvectors, SMA needs all; "
                "use SMA.prepare"
            )

    def _check_room(self, Xs, ys):
        n_labelled = sum(np.count_nonzero(y >= 0) for y in ys)
        what = "SMA: the Laplacian of the labelled samples"
        check_room(n_labelled, n_labelled, what, instead=FEWER_LABELS)

    def _scale(self, eigenvalues):
        return super()._scale(eigenvalues) if self.scale else np.ones_like(eigenvalues)

    def _joint_eigenpairs(self, spectra, ys):
        sizes = [spectrum.n_columns for spectrum in spectra]
        trivial = None
        if all(spectrum.holds_constant(spectrum.n_columns) for spectrum in spectra):
            trivial = np.concatenate([spectrum.constant for spectrum in spectra])
        # Of a graph without eigenpairs each isolated sample is one, of no use.
        ranks = [s.n_pairs if s.similarity is None else np.count_nonzero(s.degree) for s in spectra]
        most = sum(ranks) - (trivial is not None)
        if self.n_components > most:
            warnings.warn(
                f"n_components={self.n_components} exceeds the {most} nontrivial eigenvectors of "
                f"all domains together; {most} are used, set n_components={most} to silence this",
                ConvergenceWarning,
                stacklevel=4,
            )
        # Bases of the scaled graphs are these over sqrt(alpha); absorbed in the weight.
        rows, change = laplacian(ys, self.correspondence_weight / self.alpha)
        bases = [spectrum.basis[labelled] for spectrum, labelled in zip(spectra, rows, strict=True)]
        mass = change.diagonal() if self.degree == "joint" else None
        if all(spectrum.similarity is None for spectrum in spectra):
            eigenvalues = np.concatenate([spectrum.eigenvalues for spectrum in spectra])
            update = RowUpdate(eigenvalues, bases, change, mass)
        else:
            similarities, null = zip(*map(_as_graph, spectra), strict=True)
            update = GraphUpdate(similarities, bases, null, change, mass)
        found, vectors = smallest_eigenpairs(update, min(self.n_components, most), trivial)
        if found[-1] <= ZERO_EIGENVALUE:
            self._warn_of_components(update.null_space().shape[1] - (trivial is not None))
        return np.maximum(found, 0), np.split(vectors, np.cumsum(sizes)[:-1])

    def _warn_of_components(self, n_zero):
        if n_zero > self.n_components:
            warnings.warn(
                f"n_components={self.n_components}, but the joint graph is in pieces and the "
                f"eigenvalue 0 has {n_zero} nontrivial eigenvectors; the order of the samples "
                f"decides which are kept. Raise n_neighbors, or n_components to {n_zero} or more",
                ConvergenceWarning,
                stacklevel=5,
            )


def _as_graph(spectrum):
    """S in the coordinates of the basis, and the null space of I - S."""
    if spectrum.similarity is not None:
        return spectrum.similarity, component_vectors(spectrum.similarity, spectrum.degree)
    axes = np.eye(spectrum.n_pairs)[:, spectrum.eigenvalues < ZERO_EIGENVALUE]
    return sparse.diags_array(1 - spectrum.eigenvalues).tocsr(), axes
