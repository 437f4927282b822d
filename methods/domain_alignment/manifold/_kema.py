"""Kernel manifold alignment: KEMA, REKEMA and rKEMA."""

from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from domain_alignment.base import Capabilities
from domain_alignment.kernels._bandwidth import is_label_free, kernel_width
from domain_alignment.kernels._tiled import TILED_KERNELS, Kernel, has_sigma
from domain_alignment.manifold._class_graph_aligner import ManifoldAligner
from domain_alignment.manifold._domain_graph import GraphParams
from domain_alignment.manifold._kernel_operators import (
    FactoredColumns,
    FourierFeatures,
    KernelColumns,
    LandmarkColumns,
    PlainColumns,
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

    With the kernel matrices :math:`K_a` of the domains, :math:`K = \mathrm{blkdiag}(K_1, \dots,
    K_D)`, the coefficients :math:`\alpha` are the smallest eigenvectors of (Eq. 6 of [1]_)

    .. math:: K (L + \mu L_s + \rho I) K \alpha = \lambda\, K L_d K \alpha, \qquad
              F_a = \alpha_a^T K_a

    (Eq. 8), with the Laplacians L of the domains' nearest-neighbour graphs, :math:`L_s` of the
    samples that share a class and :math:`L_d` of those that do not, over all domains. So samples of
    one class come together, classes part, neighbours stay neighbours; the domains may have
    different features, and their rows need not correspond.

    *REKEMA* (`landmarks`): :math:`\alpha` belongs to r chosen samples and :math:`K_{rn}` takes the
    place of K (Eq. 10); the graphs are those of all samples. *rKEMA* (`random_features`):
    :math:`K \approx Z Z^T` with m random cosines in Z (Eqs. 11 and 12 with the factor 2 that Eq. 11
    lacks).

    Parameters
    ----------
    n_components : int, default=10
        Number of columns of the embedding. With C classes the first C - 1 carry the alignment; 10
        in the paper's object recognition (10 classes) reproduces its table best.
    kernel : str, callable, or list of them with one per domain, default="rbf"
        "linear", "rbf", "histogram_intersection", "chi2", "polynomial"
        (:class:`Kernel` has the formulas); a function of two sets of
        samples that returns the matrix of kernel values; or "precomputed": then the domain's
        "features" are its kernel matrix, and new samples are given by their kernel values with
        the training samples.
    sigma : float, str, or list, tuple or array with one per domain, default="mean_labelled"
        Width of the rbf and chi2 kernels, or a rule for it
        (:func:`kernel_width`): "mean_labelled" (the toolbox's
        library, and Figs. 3 and 5 of the paper), "median", "half_median" (the paper's text on
        the toys), or a multiple such as "15*mean_labelled" (the toolbox's toy script). In a list
        None stands for a domain whose kernel has no width, so that `sigma_` can be given again.
    n_neighbors : int, default=10
        Neighbours of the graphs of the domains; 10 in the toolbox's toy script, 21 in the paper's
        object recognition.
    mu : float, default=1.0
        :math:`\mu`. The toolbox minimises :math:`(1 - m) L + m L_s` with m = 0.5; then
        :math:`\mu = m / (1 - m)`, and its eigenvalues are 1 - m times ours.
    ridge : float, default=0.0
        :math:`\rho`; the toolbox's :math:`\lambda` divided by 1 - m. It damps all scores alike, and
        does not take the place of the range rule (see Notes).
    rank : int or "auto", default="auto"
        Number of eigenvectors of :math:`K L_d K` whose span holds :math:`\alpha`. "auto": those
        with eigenvalues above n * 2.2e-16 of the largest, n being the order of the matrix (the
        number of all samples; of landmarks in REKEMA), as in the toolbox.
    landmarks : int, or list, tuple or array with the rows of each domain, optional
        REKEMA: how many samples of all domains together, drawn at random in proportion to the
        domains' sizes; or which, a list of rows per domain.
    random_features : int, optional
        rKEMA: m, for each domain. Needs the rbf kernel.
    standardize : bool, default=True
        Whether each domain's columns are standardised by its training samples and turned over to
        agree with domain 0 (:func:`standard_scales`), as in the
        toolbox; REKEMA's and rKEMA's likewise. Else embeddings are the scores F, neither
        standardised nor turned over, as the toolbox leaves those of REKEMA.
    random_state : int, RandomState or None, default=None
        For random landmarks and features.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_components_)
        A column has the sign that makes its largest entry in domain 0 positive.
    n_components_ : int
        `n_components`, or `rank_` if that is less.
    eigenvalues_ : ndarray of shape (n_components_,)
        Ascending.
    dual_coef_ : list of ndarray of shape (n_a or r_a, n_components_)
        :math:`\alpha`, with :math:`\alpha^T K L_d K \alpha = I`.
    rank_ : int
        Dimension of the span that holds it.
    sigma_ : list of float or None
        Width of each domain's kernel; None where it has none.
    landmarks_ : list of ndarray of int, or None
        The landmarks of each domain.
    score_scales_ : list of ScoreScale
        From scores to coordinates.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If a parameter, a domain, its labels or a pair is wrong; a list is not one per domain;
        labels or similar pairs do not link the domains, or name one class only; a kernel is not
        defined on the data or not symmetric; a width cannot be had; `n_neighbors` is not less than
        a domain's number of samples; `rank` is impossible.
    AlignmentError
        If squares are too large for float64, a width comes out as 0, `rank` reaches beyond what the
        labelled samples span in float64, or the eigenproblem fails its residual check.

    Warns
    -----
    ConvergenceWarning
        If `n_components` exceeds `rank_`, `rank` exceeds the "auto" rule, a column is constant in a
        domain, or a callable or precomputed kernel is not positive semi-definite on the labelled
        samples.

    Notes
    -----
    *Structure.* :math:`L_d` and :math:`L_s` live on the l labelled rows, and :math:`L_d = C C^T`
    with l - 1 columns, so :math:`K L_d K = (K C)(K C)^T` and :math:`\alpha` is in the range of
    :math:`K C`: the problem is of order l - 1, not n, and no approximation is made. See
    :mod:`_range_eigenproblem`.

    *Cost.* ``prepare``: O(n_a^2 p) for the graph. A fit evaluates half of each kernel matrix once,
    a tile at a time, and multiplies it by as many columns as the domain has labels, whose rows of
    the kernel are evaluated before: O(sum_a n_a^2 (p + l_a) + n l^2 + l^3) time, O(n l) memory. No
    kernel matrix is held as such; the rows of its labelled samples are, one domain at a time, which
    are all rows where all samples are labelled. Linear kernel: O(n p l + n l^2 + l^3). REKEMA:
    O(n r (p + l) + n l^2). rKEMA: O(n m (p + l) + n l^2). ``transform`` of N samples:
    O(N n_a (p + n_components)), with a linear kernel O(N p n_components).

    *What prepare holds*: the graph's Laplacian, and the median distance where `sigma` is made of
    it. Widths from labelled samples cannot be known then. Kernel matrices could be; they are not,
    for they are n_a x n_a. With a list of kernels of which only some are "precomputed" a domain's
    graph depends on its position, ``prepare`` returns None and ``fit`` computes the graph.

    *Range.* "auto" drops directions made by duplicates among the labelled samples, which must not
    be kept. For smooth kernels the cut lies where the eigenvalues of the n x n matrix are rounding;
    here they are computed from a factor, so that the same data in another order, or on another
    machine, give the same columns up to rounding. Standardisation enlarges that rounding in a
    column that is nearly constant in a domain, as the last ones of a very wide kernel are: there
    two digits may be left. For indefinite kernels everything stays defined, since K
    enters on both sides.

    *Departures from the paper*, all of them with the toolbox: the class graphs are rescaled
    (:func:`class_laplacians`), coefficients are confined to the
    range of :math:`K L_d K`, coordinates are standardised. *From the toolbox*: :math:`L + \mu L_s`
    as in the paper; if :math:`K (L + \mu L_s) K` has a smaller rank than the right-hand side, the
    toolbox loses the smallest eigenvalues, which are zero and are kept here. *rKEMA*: the paper
    samples twice, for the two sides of the problem, and so has no kernel to embed new samples
    with; here there is one map per domain, and rKEMA is KEMA on its kernel :math:`Z Z^T`.

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

    @property
    def capabilities(self):
        """What this instance can do; a linear kernel is linear, and can be inverted."""
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
        return GraphParams(self.n_neighbors, *precomputed) if len(precomputed) == 1 else None

    def _label_free_widths(self, X, name):
        """A median distance, where one kernel and one rule are given for all domains."""
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
                f"landmarks and random_features={self.random_features} are two approximations; "
                "give one of them"
            )
        embeddings = super()._fit(Xs, ys, models)
        self.dual_coef_ = self._coefficients
        return embeddings

    def _columns(self, Xs, graphs, models):
        random = check_random_state(self.random_state)
        kernels = self._kernels(Xs, graphs, models)
        self.sigma_ = [kernel.sigma for kernel in kernels]
        self.landmarks_ = choose_landmarks(self.landmarks, [X.shape[0] for X in Xs], random)
        if self.random_features is not None:
            return [
                FactoredColumns(X, self._random_map(X, kernel, random))
                for X, kernel in zip(Xs, kernels, strict=True)
            ]
        chosen = self.landmarks_ or [None] * len(Xs)
        columns = [
            _columns_of(kernel, X, landmarks)
            for kernel, X, landmarks in zip(kernels, Xs, chosen, strict=True)
        ]
        for kernel, X, rows in zip(kernels, Xs, graphs.rows, strict=True):
            if callable(kernel.function):
                check_own_kernel(kernel(X[rows], X[rows]), kernel.name)
            elif _is_precomputed(kernel.function):
                check_own_kernel(dense(X[np.ix_(rows, rows)]), kernel.name)
        return columns

    def _kernels(self, Xs, graphs, models):
        """The kernel of each domain, with its width."""
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
            kernels.append(kernel)
        return kernels

    def _random_map(self, X, kernel, random):
        if kernel.function != "rbf":
            raise ValueError(
                f"{kernel.name}: random_features={self.random_features} approximate the Gaussian "
                f'kernel and this domain has {kernel.function!r}; take kernel="rbf"'
            )
        return FourierFeatures(X.shape[1], self.random_features, kernel.sigma, random)


def _is_precomputed(kernel):
    return isinstance(kernel, str) and kernel == "precomputed"


def _columns_of(kernel, X, landmarks):
    if _is_precomputed(kernel.function):
        return PlainColumns(X, landmarks, linear=False)
    if landmarks is not None:
        return LandmarkColumns(kernel, X, landmarks)
    if kernel.function == "linear":
        return FactoredColumns(X)
    return KernelColumns(kernel, X)
