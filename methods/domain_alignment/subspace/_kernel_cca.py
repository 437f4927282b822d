"""Kernel canonical correlation analysis of two domains with paired samples."""

import warnings
from typing import ClassVar

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernels._pairwise import PAIRWISE_KERNELS
from domain_alignment.kernels._sample_coordinates import SampleFeatures
from domain_alignment.manifold._correspondences import labelled_rows, partners
from domain_alignment.utils._memory import lasting
from domain_alignment.utils._params import COUNT, NOT_NEGATIVE, POSITIVE, StrOptions
from domain_alignment.utils._rows import check_spread
from domain_alignment.utils.eigen import fix_signs
from domain_alignment.utils.gram import InverseRoot
from domain_alignment.utils.validation import check_linked_by_labels, check_row_pairs, domain_name

__all__ = ["KernelCCA"]

# Correlations below this are rounding.
_UNCORRELATED = 1e-8


class KernelCCA(Aligner):
    r"""Kernel canonical correlation analysis: directions in which paired samples agree.

    With the centred kernel matrices of the paired samples of the two domains ([1]_, section 4),

    .. math:: \max_{a, b}\ a^T K_1 K_2 b \quad\text{subject to}\quad
              a^T (K_1^2 + \kappa K_1) a = b^T (K_2^2 + \kappa K_2) b = 1,

    and further pairs of directions uncorrelated with the previous ones. With
    :math:`K_i = R_i R_i^T` they are the singular vectors of

    .. math:: (R_1^T R_1 + \kappa I)^{-1/2}\, R_1^T R_2\, (R_2^T R_2 + \kappa I)^{-1/2} .

    Parameters
    ----------
    n_components : int, default=10
    kernel : {"linear", "cosine", "rbf", "laplacian"} or callable, default="linear"
        Of both domains, each on its own features.
    gamma : "median" or float, default="median"
        Of "rbf" and "laplacian": by default, in each domain, one over the median (squared) distance
        of its paired samples.
    ridge : float, default=1.0
        :math:`\kappa`, in units of the kernel. At 0, a kernel matrix of full rank (or more features
        than pairs) makes every correlation 1, which is meaningless.
    pairs : {"rows", "classes"}, default="rows"
        "rows": row i of both domains is the same object. "classes": every labelled sample is paired
        with all of its class in the other domain, for unpaired data; at most C - 1 correlations are
        then nonzero.

    Attributes
    ----------
    correlations_ : ndarray of shape (n_components_,)
        The maxima, descending; correlations for ``ridge=0``.
    coef_ : list of ndarray of shape (p_a, n_components_), or None
        The linear maps, for a linear kernel.
    dual_coef_ : list of ndarray of shape (n_pairs_a, n_components_), or None
        a and b on the samples that have a partner, for a nonlinear kernel.
    gammas_ : list of float or None
        Value used in each domain; None for kernels without one.
    embeddings_ : list of ndarray of shape (n_a, n_components_)
        Scores, centred on the paired samples. Over these, each counted once per partner, the
        squares of a column sum to at most 1, and to 1 for ``ridge=0``.
    n_components_ : int
        `n_components`, or the number of correlations above 1e-8 if that is less.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If there are not two domains; if ``pairs="rows"`` and their numbers of rows or the labels of
        a row differ; or if ``pairs="classes"`` and no class is labelled in both.
    AlignmentError
        If a domain's paired samples are all equal, or all correlations are zero.

    Warns
    -----
    ConvergenceWarning
        If `n_components` exceeds the number of correlations above 1e-8.

    Notes
    -----
    *Pairs of classes* are never enumerated: with :math:`m_i` partners of sample i and class sums
    :math:`s_c`, the covariances are :math:`\sum_i m_i r_i r_i^T` and
    :math:`\sum_c s_{1c} s_{2c}^T`.

    *Labels* serve to reject mismatched rows, and to pair with ``pairs="classes"``.

    *Cost*, for l paired samples, and O(n p n_components) time to embed n:

    - ``kernel == "linear"``: O(l p min(l, p) + min(l, p)^3) time, O(l min(l, p) + min(l, p)^2)
      memory, and O(n n_components) memory.
    - ``kernel != "linear"``: O(l^2 p + l^3) time and O(n l p) to embed, O(l^2 + n l) memory.

    References
    ----------
    .. [1] D. R. Hardoon, S. Szedmak, J. Shawe-Taylor. Canonical Correlation Analysis: An Overview
       with Application to Learning Methods. Neural Computation 16(12), 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import KernelCCA
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.normal(size=(50, 2))
    >>> left = np.hstack([shared, rng.normal(size=(50, 3))])
    >>> right = np.hstack([rng.normal(size=(50, 2)), shared @ [[1, 1], [-1, 1]]])
    >>> cca = KernelCCA(n_components=2, ridge=0.0).fit([left, right])
    >>> bool((cca.correlations_ > 0.999).all())
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_components": COUNT,
        "kernel": [StrOptions(set(PAIRWISE_KERNELS)), callable],
        "gamma": [StrOptions({"median"}), *POSITIVE],
        "ridge": NOT_NEGATIVE,
        "pairs": [StrOptions({"rows", "classes"})],
    }

    def __init__(self, n_components=10, kernel="linear", gamma="median", ridge=1.0, pairs="rows"):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.ridge = ridge
        self.pairs = pairs

    @property
    def capabilities(self):
        """What this instance can do; ``pairs="classes"`` needs labels instead of pairs."""
        by_rows = self.pairs == "rows"
        return Capabilities(
            labels="none" if by_rows else "source+target",
            needs_pairs=by_rows,
            heterogeneous=True,
            nonlinear=self.kernel != "linear",
        )

    def _fit(self, Xs, ys, models):
        if self.kernel != "linear":  # new samples are compared with these
            Xs = [lasting(X) for X in Xs]
        rows, weights, classes = self._paired(Xs, ys)
        self._features = [
            SampleFeatures.root_of(X[chosen], self.kernel, self.gamma, domain_name(domain))
            for domain, (X, chosen) in enumerate(zip(Xs, rows, strict=True))
        ]
        values = [features.values for features in self._features]
        means = [np.average(R, axis=0, weights=w) for R, w in zip(values, weights, strict=True)]
        for domain, R in enumerate(values):
            check_spread(R, f"{domain_name(domain)}, its paired samples")
        centred = [R - mean for R, mean in zip(values, means, strict=True)]
        roots = [
            self._root(R, w, domain)
            for domain, (R, w) in enumerate(zip(centred, weights, strict=True))
        ]
        self.correlations_, directions = self._directions(centred, classes, roots)
        maps = [f.coefficients(d) for f, d in zip(self._features, directions, strict=True)]
        signs = fix_signs(maps[0])
        self._maps = [coefficients * signs for coefficients in maps]
        self._offsets = [mean @ d * signs for mean, d in zip(means, directions, strict=True)]
        linear = self._features[0].kernel is None
        self.coef_, self.dual_coef_ = (self._maps, None) if linear else (None, self._maps)
        self.gammas_ = [features.gamma for features in self._features]
        return [self._transform(X, domain) for domain, X in enumerate(Xs)]

    def _paired(self, Xs, ys):
        """Rows that have partners, their number of partners, and classes (None: row by row)."""
        if self.pairs == "classes":
            check_linked_by_labels(ys)
            rows, classes, n_classes = labelled_rows(ys)
            counts = partners(classes, n_classes)
            used = [count > 0 for count in counts]
            return tuple(
                [part[chosen] for part, chosen in zip(parts, used, strict=True)]
                for parts in (rows, counts, classes)
            )
        otherwise = 'pairs="classes" to pair samples by their labels'
        check_row_pairs(Xs, ys, "canonical correlation", otherwise)
        return [slice(None)] * 2, [np.ones(X.shape[0]) for X in Xs], None

    def _root(self, R, weights, domain):
        gram = R.T @ (weights[:, None] * R)
        gram[np.diag_indices_from(gram)] += self.ridge
        return InverseRoot(gram, domain_name(domain))

    def _directions(self, centred, classes, roots):
        cross = centred[0].T @ centred[1] if classes is None else between_classes(centred, classes)
        whitened = roots[0].apply_transposed(roots[1].apply_transposed(cross.T).T)
        left, correlations, right = linalg.svd(whitened, full_matrices=False)
        kept = np.flatnonzero(correlations > _UNCORRELATED)[: self.n_components]
        if not kept.size:
            raise AlignmentError(
                "domains 0 and 1: all canonical correlations of the paired samples are zero; check "
                f"the pairs, and ridge={self.ridge:g} against the scale of the squared features"
            )
        if kept.size < self.n_components:
            warnings.warn(
                f"n_components={self.n_components} exceeds the {kept.size} nonzero correlations; "
                f"the embedding has {kept.size} components",
                ConvergenceWarning,
                stacklevel=4,
            )
        directions = [roots[0].apply(left[:, kept]), roots[1].apply(right[kept].T)]
        return correlations[kept], directions

    def _transform(self, X, domain):
        return self._features[domain].scores(X, self._maps[domain]) - self._offsets[domain]


def between_classes(centred, classes):
    """Sum of the outer products of all same-class pairs."""
    numbers = np.unique(classes[0])
    sums = [
        (numbers[:, None] == labels).astype(float) @ R
        for R, labels in zip(centred, classes, strict=True)
    ]
    return sums[0].T @ sums[1]
