"""Filtered manifold alignment."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from domain_alignment.exceptions import AlignmentError
from domain_alignment.manifold._correspondences import projected_laplacian
from domain_alignment.manifold._eigen_update import ZERO_EIGENVALUE, block_update, complement
from domain_alignment.manifold._joint_laplacian import SpectralAligner


class FMA(SpectralAligner):
    r"""Filtered manifold alignment of two or more domains.

    Each domain a is embedded on the smallest eigenpairs of its graph Laplacian, and the embeddings
    are then coupled through samples that share a label ([1]_, Algorithms 3 and 4). With the weights
    :math:`W^{(a)}` of the k-nearest-neighbour graph and the diagonal :math:`D^{(a)}` of their row
    sums,

    .. math:: (D^{(a)})^{-1/2} (D^{(a)} - W^{(a)}) (D^{(a)})^{-1/2} \Phi^{(a)}
              = \Phi^{(a)} \Lambda^{(a)}, \qquad E^{(a)} = (D^{(a)})^{-1/2} \Phi^{(a)}

    at the instance level (Eqs. 6 and 8), or, linear in the features X,

    .. math:: T^T X^T (D - W) X T\, \Phi = \Phi \Lambda, \quad T = (X^T D X)^{-1/2}, \quad
              E = X T \Phi

    at the feature level (Eq. 9). With E block diagonal and :math:`L_c = A A^T` the Laplacian of the
    edges between all samples of different domains with the same label (Eq. 7), the joint embedding
    is

    .. math:: \Lambda + E^T L_c E = F \,\mathrm{diag}(l)\, F^T, \qquad
              Z = E F \,\mathrm{diag}(l)^{-1/2}.

    Parameters
    ----------
    level : {"instance", "feature"}, default="instance"
        Algorithm 3 (FMA-I), or the linear Algorithm 4 (FMA-F).
    n_components : int, default=40
        Each of D domains keeps its ``n_components // D`` smallest eigenpairs, the trivial one
        included; a domain that has fewer keeps all of them. 40 in the paper.
    n_neighbors : int, default=12
        k, excluding the sample itself. 12 in the paper (4 for MNIST-USPS).
    alpha : float, default=0.2
        Factor of the weights within a domain. 0.2 in the paper (1.0 for MNIST-USPS).
    correspondence_weight : float, default=1.0
        Weight of an edge between domains. 1 in the paper, for domains of a few thousand samples; of
        larger ones with as few labels one in proportion to the samples (see Notes). Up to a common
        factor, the embedding depends only on its ratio to `alpha`.
    symmetrize : {"union", "mean", "mutual"}, default="union"
        How the directed neighbour graph is symmetrised. The paper does not say; "union" was found
        by searching: with it the FMA-I column of its Table 1 is matched, not that of FMA-F.
    metric : {"cosine", "euclidean"}, default="cosine"
        Cosine: neighbours and weights by cosine similarity, as in the paper; no edge at a cosine of
        zero or less. Euclidean: nearest neighbours, weights 1.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are searched. The approximate search is nearest-neighbour descent, by
        pynndescent; up to 10,000 samples of a domain it is exact too. By default exact where that
        takes no longer: up to about 110,000 samples with 200 features, 29,000 with 4096, or
        300,000 sparse ones; above approximate, or without pynndescent exact, with a warning.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_components_)
        The parts of Z. Columns are signed so that their largest entry is positive.
    n_components_ : int
        ``D * (n_components // D)``, minus one if the constant vector is dropped (see Notes), and
        less if a domain has fewer eigenpairs than its share.
    eigenvalues_ : ndarray of shape (n_components_,)
        l, ascending.
    maps_ : list of ndarray of shape (p_a, n_components_), or None
        Feature level: ``embeddings_[a] = Xs[a] @ maps_[a]``. None at the instance level.
    neighbor_recall_ : list of float
        Share of the nearest neighbours found in each domain: 1 where the search is exact, else an
        estimate from 300 samples.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If a domain has no label in common with the others, or no more samples than `n_neighbors`.
    AlignmentError
        If more than 5 % of a domain's samples have no neighbour, or a sample, in `fit` or
        `transform`, is all zeros, with the cosine; at the instance level, if a domain's graph has
        more connected components than eigenpairs kept, since the samples of the others would all be
        embedded at 0; or if an eigensolver fails its residual check.

    Warns
    -----
    UserWarning
        If fewer samples have no neighbour. The problem is weighted by their degrees and leaves them
        out; at the instance level they are embedded at 0, as are new samples without a neighbour.
    ConvergenceWarning
        If a domain has fewer samples (or independent features) than its share of the components; at
        the feature level, if its graph has more connected components than eigenpairs kept, or as
        many and the prepared spectrum ends there: the order of the samples may decide which of
        those at the eigenvalue 0 are kept.

    Notes
    -----
    *The constant vector.* The trivial vectors of the domains are kept, since the joint problem
    needs their differences. If all domains span the constant function (always at the instance
    level), its eigenvalue is exactly 0 and its coordinate uninformative: the problem is solved on
    its orthogonal complement. Other zero eigenvalues come from a disconnected joint graph; their
    vectors separate its components and are kept with l = 1e-9. Centred features do not span the
    constant, so nothing is dropped.

    *Many samples, few labels.* An eigenvector is spread over n samples, so what l edges between the
    domains add to its eigenvalue falls as l / n. When that comes near the eigenvalues of structures
    that both domains share, their copies of opposite signs, which tell the domains and not the
    classes apart, count as much as the shared ones. A `correspondence_weight` in proportion to n
    keeps it (``tests/bench/large.py`` has both).

    *New samples.* The feature level applies ``maps_``. The instance level uses the spectral update
    of section 3.2, one sample at a time: edges to its nearest training samples, whose degrees are
    kept, then the rotation that best matches ``embeddings_`` (``_out_of_sample.py``). A copy of a
    training sample is a further node and is embedded near it, not at it. The instance keeps
    a copy of the features of `fit` for this, of a read-only memory map the map itself.

    *Cost.* ``prepare``: O(n_a^2 p) time for the graph, less with approximate neighbours, and O(n p)
    memory for the search, as for the samples that new ones are compared with. It keeps
    ``n_components // 2`` eigenpairs and depends only on `level`, `n_neighbors`, `metric`,
    `symmetrize` and `neighbors`: one spectrum serves every `alpha`, `correspondence_weight` and
    smaller `n_components`. Spectra of :class:`SMA` can be used too, except at the instance level
    with more than 1250 samples. Per fit with prepared spectra: O(l n_components^2 + n_components^3)
    for l labelled samples, and O(n n_components^2) for the embedding of n samples. New samples at
    the instance level: O(n p + r^2 (n_components + r)) each, with r = min(n_neighbors,
    n_components) and the last term once for each of 15 to 60 nodes of an integral.

    - ``level == "instance"``: Lanczos, O(n (n_neighbors + n_components)) per step, hundreds of
      them; O(n n_components) memory.
    - ``level == "feature" and n_a >= p``: products of features, O(n p^2 + p^3) time, O(p^2 + (n +
      p) n_components) memory.
    - ``level == "feature" and n_a < p``: products of samples, O(n n_a p + n_a^3) time, O(n_a^2 + (n
      + p) n_components) memory (solvers: ``_domain_spectrum.py``).

    *Departures from the paper.* Step 8 of Algorithm 4 is printed A' = AT; shapes and algebra
    require :math:`T^T X^T A`. The inverse root of :math:`X^T D X` is truncated at 1e-10 of the
    largest eigenvalue. D holds the weights within the domains only, as in Algorithm 3 and unlike
    Eq. 6 as we read it. "The first nontrivial" eigenvectors of section 2 are the smallest including
    the trivial one. Both were found by searching, by the FMA-I column of Table 1, which they match.

    References
    ----------
    .. [1] S. Dernbach, D. Towsley. Filtered Manifold Alignment. 2020, Algorithms 2-4.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import FMA
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> centres = np.array([[4.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    >>> source = centres[y] + rng.normal(size=(40, 3))
    >>> target = (centres[y] + rng.normal(size=(40, 3))) @ rng.normal(size=(3, 5))
    >>> seen = np.where(np.arange(40) % 20 < 3, y, -1)  # three labels per class
    >>> fma = FMA(n_components=4, n_neighbors=5).fit([source, target], [y, seen])
    >>> [embedding.shape for embedding in fma.embeddings_]
    [(40, 3), (40, 3)]
    """

    def __init__(
        self,
        level="instance",
        n_components=40,
        n_neighbors=12,
        alpha=0.2,
        correspondence_weight=1.0,
        symmetrize="union",
        metric="cosine",
        neighbors="auto",
    ):
        self.level = level
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.correspondence_weight = correspondence_weight
        self.symmetrize = symmetrize
        self.metric = metric
        self.neighbors = neighbors

    def _pairs_to_prepare(self):
        return self.n_components // 2

    def accepts(self, model, X):
        """Whether a model of `X` prepared with other parameters can be used by this instance.

        It must hold the eigenpairs that two domains need.
        """
        if not super().accepts(model, X):
            return False
        enough = model.complete or model.n_pairs >= self._pairs_to_prepare()
        return enough and model.similarity is None

    def _check_spectrum(self, spectrum, n_domains, name):
        kept = self.n_components // n_domains
        if not kept:
            raise ValueError(
                f"n_components={self.n_components} is less than one per domain; "
                f"ask for at least {n_domains}"
            )
        if kept <= spectrum.n_pairs:
            self._check_components(spectrum, kept, name)
            return
        if spectrum.complete and spectrum.similarity is None:
            self._warn_of_fewer(spectrum, kept, n_domains, name)
            return
        if spectrum.similarity is not None:
            raise ValueError(
                f"{name}: was prepared by SMA, which computes no eigenvectors of large domains; "
                "use FMA.prepare"
            )
        raise ValueError(
            f"{name}: was prepared with {spectrum.n_pairs} eigenvectors, {kept} are needed; "
            "repeat prepare with this n_components"
        )

    def _warn_of_fewer(self, spectrum, kept, n_domains, name):
        what = "samples" if self.level == "instance" else "independent features"
        warnings.warn(
            f"{name}: n_components={self.n_components} needs {kept} eigenvectors of each of "
            f"{n_domains} domains, but this one has {spectrum.n_pairs} {what}; all of them are "
            f"used, set n_components={n_domains * spectrum.n_pairs} or less to silence this",
            ConvergenceWarning,
            stacklevel=5,
        )

    def _check_components(self, spectrum, kept, name):
        """Raise or warn if the graph has more components than `kept` eigenpairs."""
        if self.level == "feature":
            self._warn_of_components(spectrum, kept, name)
        elif not spectrum.holds_constant(kept):
            raise AlignmentError(
                f"{name}: its graph of {self.n_neighbors} neighbours has more than {kept} "
                f"connected components, and n_components={self.n_components} keeps {kept} "
                "eigenvectors, one per component; raise n_neighbors or n_components"
            )

    def _warn_of_components(self, spectrum, kept, name):
        n_zero = np.count_nonzero(spectrum.eigenvalues < ZERO_EIGENVALUE)
        others_unknown = kept == spectrum.n_pairs and not spectrum.complete
        if n_zero > kept or (n_zero == kept and others_unknown):
            warnings.warn(
                f"{name}: its graph of {self.n_neighbors} neighbours has {n_zero} connected "
                f"components or more, and n_components={self.n_components} keeps {kept} "
                "eigenvectors; of those at the eigenvalue 0, if there are more, the order of the "
                "samples decides which are kept; raise n_neighbors or n_components",
                ConvergenceWarning,
                stacklevel=6,
            )

    def _joint_eigenpairs(self, spectra, ys):
        share = self.n_components // len(spectra)
        sizes = [min(share, spectrum.n_pairs) for spectrum in spectra]
        parts = list(zip(spectra, sizes, strict=True))
        bases = [spectrum.basis[:, :kept] for spectrum, kept in parts]
        # Bases of the scaled graphs are these over sqrt(alpha); absorbed in the weight.
        change = projected_laplacian(bases, ys, self.correspondence_weight / self.alpha)
        eigenvalues = np.concatenate([spectrum.eigenvalues[:kept] for spectrum, kept in parts])
        if all(spectrum.holds_constant(kept) for spectrum, kept in parts):
            constant = np.concatenate([spectrum.constant[:kept] for spectrum, kept in parts])
            others = complement(constant)
            joint = others.T @ (eigenvalues[:, None] * others + change @ others)
            found, rotation = block_update(np.zeros(len(joint)), (joint + joint.T) / 2)
            rotation = others @ rotation
        else:
            found, rotation = block_update(eigenvalues, change)
        return np.maximum(found, 0), np.split(rotation, np.cumsum(sizes)[:-1])
