"""Kernel manifold alignment: KEMA, REKEMA and rKEMA."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from domain_alignment.base import Capabilities
from domain_alignment.kernels._bandwidth import is_label_free, kernel_width
from domain_alignment.kernels._kept_sums import kept_sums
from domain_alignment.kernels._tiled import TILED_KERNELS, Kernel, has_sigma, pays_to_compile
from domain_alignment.manifold._class_graph_aligner import ManifoldAligner
from domain_alignment.manifold._domain_graph import GraphParams
from domain_alignment.manifold._kernel_operators import (
    FactoredColumns,
    FourierFeatures,
    KernelColumns,
    LandmarkColumns,
    PlainColumns,
    compressed,
)
from domain_alignment.manifold._kernel_params import (
    check_kernels,
    check_own_kernel,
    check_widths,
    choose_landmarks,
    is_per_domain,
    one_per_domain,
)
from domain_alignment.utils._params import COUNT, POSITIVE, StrOptions
from domain_alignment.utils.validation import dense, domain_name


class KEMA(ManifoldAligner):
    r"""Kernel manifold alignment of two or more domains, exact or approximated.

    With the kernel matrices :math:`K_a` of the domains,
    :math:`K = \mathrm{blkdiag}(K_1, \dots, K_D)`, the coefficients :math:`\alpha` are the smallest
    eigenvectors of (Eq. 6 of [1]_, where :math:`\rho = 0`)

    .. math:: K (L + \mu L_s + \rho I) K \alpha = \lambda\, K L_d K \alpha, \qquad
              F_a = \alpha_a^T K_a

    (Eq. 8), with the graph Laplacians L of nearest neighbours within domains, :math:`L_s` of
    same-class pairs and :math:`L_d` of different-class pairs, over all domains. This pulls samples
    of one class together, separates classes and preserves neighbourhoods; domains may have
    different features and need no corresponding rows.

    *REKEMA* (`landmarks`): :math:`\alpha` is restricted to r samples and :math:`K_{rn}` replaces K
    (Eq. 10), with the graphs of all samples. *rKEMA* (`random_features`): :math:`K \approx Z Z^T`
    with m random Fourier features (Eqs. 11 and 12, with the factor 2 missing in Eq. 11).

    Parameters
    ----------
    n_components : int, default=10
        Dimension of the embedding. With C classes the first C - 1 columns carry the alignment. The
        paper states none; 10 was found by searching on its object recognition table (10 classes).
    kernel : str, callable, or list of them with one per domain, default="rbf"
        "linear", "rbf", "histogram_intersection", "chi2", "polynomial" (``kernels/_tiled.py``);
        a callable ``k(X, Y)`` that returns the kernel matrix; or "precomputed": `X` is then the
        kernel matrix of the domain or, for new samples, their kernel values with the training
        samples.
    sigma : float, str, or list, tuple or array with one per domain, default="mean_labelled"
        Width of the rbf and chi2 kernels, or a rule (``_bandwidth.py``): "mean_labelled" (the
        toolbox's library; Figs. 3 and 5 of the paper), "median", "half_median" (the paper's text on
        the toys), or a multiple such as "15*mean_labelled" (the toolbox's toy script). In a list,
        None for kernels without a width, as in `sigma_`.
    n_neighbors : int, default=10
        Neighbours in the domains' graphs; 10 in the toolbox's toy script, 21 in the paper's object
        recognition.
    mu : float, default=1.0
        :math:`\mu`. The toolbox uses :math:`(1 - m) L + m L_s` with m = 0.5:
        :math:`\mu = m / (1 - m)`, and its eigenvalues are 1 - m times ours.
    ridge : float, default=0.0
        :math:`\rho`; the toolbox's :math:`\lambda` divided by 1 - m. It damps all scores alike and
        does not replace the range rule (see Notes).
    rank : int or "auto", default="auto"
        Number of eigenvectors of :math:`K L_d K` whose span contains :math:`\alpha`. "auto", as in
        the toolbox: those with eigenvalues above n * 2.2e-16 of the largest, where n is the order
        of the matrix (the number of samples, or of landmarks in REKEMA). With a linear kernel a
        domain in units a thousand times those of another may be cut off by this; scale it.
    landmarks : int, or list, tuple or array with the rows of each domain, optional
        REKEMA: total number of landmarks, sampled at random in proportion to the domains' sizes, or
        the rows of each domain.
    random_features : int, optional
        rKEMA: m, per domain. Requires the rbf kernel.
    standardize : bool, default=True
        Whether each domain's columns are standardised by its training samples and sign-flipped to
        match domain 0 (``_score_scaling.py``), as in the toolbox; here also for REKEMA and rKEMA,
        which it lacks. If False, embeddings are the raw scores F of Eq. 8.
    random_state : int, RandomState or None, default=None
        Seeds random landmarks and features.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        As for :class:`~domain_alignment.FMA`; those of a precomputed kernel are exact.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_components_)
        Columns are signed so that their largest entry in domain 0 is positive.
    n_components_ : int
        `n_components`, or `rank_` if smaller.
    eigenvalues_ : ndarray of shape (n_components_,)
        Ascending.
    dual_coef_ : list of ndarray of shape (n_a or r_a, n_components_)
        :math:`\alpha`, with :math:`\alpha^T K L_d K \alpha = I`.
    rank_ : int
        Dimension of the span containing :math:`\alpha`.
    sigma_ : list of float or None
        Width of each domain's kernel, None if it has no width.
    landmarks_ : list of ndarray of int, or None
        The landmarks of each domain.
    score_scales_ : list of ScoreScale
        Maps from scores to coordinates.
    neighbor_recall_ : list of float
        Share of the nearest neighbours found in each domain; 1 where the search is exact.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If a parameter, a domain, its labels or a pair is invalid; a list does not have one entry
        per domain; labels or similar pairs do not link the domains, or are of one class; a kernel
        is undefined on the data or not symmetric; a width rule has too few samples; a domain has no
        more samples than `n_neighbors`; `rank` is too large.
    AlignmentError
        If products overflow float64, a width rule gives 0, `rank` exceeds the numerical rank of the
        labelled samples, the eigenproblem fails its residual check, or this machine cannot hold
        matrices of the labelled samples, or their kernel values with all.

    Warns
    -----
    ConvergenceWarning
        If `n_components` exceeds `rank_` or is less than the eigenvectors at the eigenvalue 0, so
        that the order of the samples decides which are kept; if `rank` exceeds the "auto" rule, a
        column is constant in a domain, or a callable or precomputed kernel is not positive
        semi-definite on the labelled samples.

    Notes
    -----
    *Structure.* :math:`L_d` and :math:`L_s` are zero outside the l labelled rows, and
    :math:`L_d = C C^T` with l - 1 columns, so :math:`K L_d K = (K C)(K C)^T` and :math:`\alpha` is
    in the range of :math:`K C`: the problem has order l - 1 instead of n, without approximation.
    See ``_range_eigenproblem.py``.

    *Cost.* ``prepare``: O(n_a^2 p) time for the graph, O(n p) memory for its search. ``transform``
    of N samples: O(N n_a (p + n_components)), with r landmarks or m random features in place of
    n_a, and with a linear kernel O(N p n_components). A fit, for l labelled samples:

    - ``kernel != "linear" and landmarks is None and random_features is None``: half of each kernel
      matrix is evaluated once, in tiles, and multiplied by at most as many columns as the domain
      has labelled samples, whose kernel rows are evaluated first: O(sum_a n_a^2 (p + l_a) + n l^2 +
      l^3) time, O(n l + l^2) memory. Only the kernel rows of labelled samples are stored, one
      domain at a time (all rows if all are labelled); with the intersection and chi2 kernels also 8
      n_a^2 bytes for each domain of up to 2,896 samples.
    - ``kernel == "linear" and landmarks is None``: O(n p l + n l^2 + l^3) time, O(n l + l^2)
      memory.
    - ``landmarks is not None``: O(n landmarks (p + l) + n l^2 + l^3) time, O(n l + l^2) memory
      (REKEMA).
    - ``random_features is not None``: O(n random_features (p + l) + n l^2 + l^3) time, O(n l + l^2)
      memory (rKEMA).
    - ``n_a > 65536 and 8 * l_a >= p and kernel == "linear" and landmarks is None``: a QR
      factorisation of a dense domain's samples besides (``CompressedColumns``), so that no row of
      the kernel matrix is stored: O(n_a p^2) time, O(p^2) memory; of rKEMA the same in its m random
      features.

    *Prepared models* hold the graph Laplacian and, if `sigma` is based on it, the median distance;
    no widths from labels, and no n_a x n_a matrices. While they live, further fits of the same
    samples do not repeat the sums of the intersection and chi2 kernels: the process keeps the
    latest, between fits at most 128 MB (``_kept_sums.py``; not for landmarks). With a list of
    kernels of which only some are "precomputed", a domain's graph depends on its position:
    ``prepare`` returns None and ``fit`` computes the graph.

    *Range.* "auto" drops the spurious directions of duplicate labelled samples. For smooth kernels
    the cut-off lies where the eigenvalues of the n x n matrix are rounding errors; here they are
    computed from a factor, so the columns do not depend on the order of the data, up to rounding.
    Standardisation amplifies rounding in columns that are nearly constant in a domain, such as the
    last ones of a very wide kernel, where two digits may be left. Indefinite kernels are well
    defined, since K enters on both sides.

    *Departures from the paper*, as in the toolbox: rescaled class graphs (``_class_graphs.py``),
    :math:`\rho`, coefficients restricted to the range of :math:`K L_d K`, standardised
    coordinates. Zero eigenvalues in that range are kept; the paper takes the smallest that are
    not zero. *From the toolbox*: :math:`L + \mu L_s` as in the paper; if
    :math:`K (L + \mu L_s) K` has a smaller rank than the right-hand side, the toolbox loses its
    zero eigenvalues, which are kept here. *rKEMA*: the paper samples separately for the two sides
    of the problem, which leaves no kernel for new samples; here there is one map per domain, and
    rKEMA is KEMA with the kernel :math:`Z Z^T`.

    References
    ----------
    .. [1] D. Tuia, G. Camps-Valls. Kernel Manifold Alignment for Domain Adaptation. PLoS ONE 11(2),
       2016, Eqs. 4-12. Toolbox: dtuia/KEMA, commit 7378c0f.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import KEMA
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> centres = np.array([[4.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    >>> source = centres[y] + rng.normal(size=(40, 3))
    >>> target = (centres[y] + rng.normal(size=(40, 3))) @ rng.normal(size=(3, 5))
    >>> seen = np.where(np.arange(40) % 20 < 3, y, -1)  # three labels per class
    >>> kema = KEMA(n_components=2, n_neighbors=5).fit([source, target], [y, seen])
    >>> [embedding.shape for embedding in kema.embeddings_]
    [(40, 2), (40, 2)]
    >>> kema.transform(target[:3], domain=1).shape
    (3, 2)
    """

    _parameter_constraints: ClassVar[dict] = {
        **ManifoldAligner._parameter_constraints,
        "kernel": [StrOptions({*TILED_KERNELS, "precomputed"}), callable, list, tuple],
        "sigma": [*POSITIVE, str, list, tuple, np.ndarray],
        "rank": [StrOptions({"auto"}), *COUNT],
        "landmarks": [*COUNT, list, tuple, np.ndarray, None],
        "random_features": [*COUNT, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components=10,
        kernel="rbf",
        sigma="mean_labelled",
        n_neighbors=10,
        mu=1.0,
        ridge=0.0,
        rank="auto",
        landmarks=None,
        random_features=None,
        standardize=True,
        random_state=None,
        neighbors="auto",
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.mu = mu
        self.ridge = ridge
        self.rank = rank
        self.landmarks = landmarks
        self.random_features = random_features
        self.standardize = standardize
        self.random_state = random_state
        self.neighbors = neighbors

    @property
    def capabilities(self):
        """Capabilities of this instance; a linear kernel is linear and invertible."""
        kernels = self.kernel if is_per_domain(self.kernel) else [self.kernel]
        linear = [isinstance(kernel, str) and kernel == "linear" for kernel in kernels]
        lists = [
            len(given)
            for given in (self.kernel, self.sigma, self.landmarks)
            if is_per_domain(given)
        ]
        return Capabilities(
            labels="source+target",
            max_domains=min(lists, default=None),
            heterogeneous=True,
            nonlinear=not all(linear),
            invertible=any(linear),
        )

    @property
    def _rank_rule(self):
        return self.rank

    def _graph_params(self, domain):
        if not is_per_domain(self.kernel):
            precomputed = {_is_precomputed(self.kernel)}
        elif domain is None:
            precomputed = {_is_precomputed(kernel) for kernel in self.kernel}
        else:
            precomputed = {_is_precomputed(self.kernel[domain])}
        if len(precomputed) > 1:
            return None
        return GraphParams(self.n_neighbors, *precomputed, search=self.neighbors)

    def _label_free_widths(self, X, name):
        """The median distance, if one kernel and one median rule apply to all domains."""
        function, rule = self.kernel, self.sigma
        if not (isinstance(rule, str) and is_label_free(rule)) or not has_sigma(function):
            return {}
        Kernel(function, name=name).check(X)
        return {(function, rule): kernel_width(rule, X, None, function, name)}

    def _check_number(self, n_domains):
        for what in ("kernel", "sigma", "landmarks"):
            one_per_domain(getattr(self, what), n_domains, what)

    def _fit(self, Xs, ys, models):
        kernels = one_per_domain(self.kernel, len(Xs), "kernel")
        check_kernels(kernels)
        check_widths(one_per_domain(self.sigma, len(Xs), "sigma"), kernels)
        if self.landmarks is not None and self.random_features is not None:
            raise ValueError(
                f"landmarks and random_features={self.random_features} are alternatives; "
                "give one of them"
            )
        embeddings = super()._fit(Xs, ys, models)
        self.dual_coef_ = [
            block.dual(own) for block, own in zip(self._columns_of, self._coefficients, strict=True)
        ]
        return embeddings

    def _columns(self, Xs, graphs, models):
        random = check_random_state(self.random_state)
        kernels = self._kernels(Xs, graphs, models)
        self.sigma_ = [kernel.sigma for kernel in kernels]
        self.landmarks_ = choose_landmarks(self.landmarks, [X.shape[0] for X in Xs], random)
        if self.random_features is not None:
            return [
                compressed(FactoredColumns(X, self._random_map(X, kernel, random)), rows.size)
                for X, kernel, rows in zip(Xs, kernels, graphs.rows, strict=True)
            ]
        chosen = self.landmarks_ or [None] * len(Xs)
        columns = [
            _columns_of(*domain)
            for domain in zip(kernels, Xs, chosen, models, graphs.rows, strict=True)
        ]
        for kernel, X, rows in zip(kernels, Xs, graphs.rows, strict=True):
            if callable(kernel.function):
                check_own_kernel(kernel(X[rows], X[rows]), kernel.name)
            elif _is_precomputed(kernel.function):
                check_own_kernel(dense(X[np.ix_(rows, rows)]), kernel.name)
        return columns

    def _kernels(self, Xs, graphs, models):
        """Kernel of each domain, with its width."""
        functions = one_per_domain(self.kernel, len(Xs), "kernel")
        rules = one_per_domain(self.sigma, len(Xs), "sigma")
        kernels = []
        for domain, (function, rule, X) in enumerate(zip(functions, rules, Xs, strict=True)):
            name = domain_name(domain)
            kernel = Kernel(function, name=name)
            if has_sigma(function):
                kernel.check(X)
                width = models[domain].widths.get((function, rule))
                if width is None:
                    width = kernel_width(rule, X, graphs.rows[domain], function, name)
                kernel = Kernel(function, width, name)
            kernels.append(replace(kernel, compiled=pays_to_compile(function, X.shape)))
        return kernels

    def _random_map(self, X, kernel, random):
        if kernel.function != "rbf":
            raise ValueError(
                f"{kernel.name}: random_features={self.random_features} needs the Gaussian kernel, "
                f'but this domain has {kernel.function!r}; use kernel="rbf"'
            )
        return FourierFeatures(X.shape[1], self.random_features, kernel.sigma, random)


def _is_precomputed(kernel):
    return isinstance(kernel, str) and kernel == "precomputed"


def _columns_of(kernel, X, landmarks, model, labelled):
    if _is_precomputed(kernel.function):
        return PlainColumns(X, landmarks, linear=False)
    if landmarks is not None:
        return LandmarkColumns(kernel, X, landmarks)
    if kernel.function == "linear":
        return compressed(FactoredColumns(X), labelled.size)
    return KernelColumns(kernel, X, kept_sums(model, kernel, X))
