"""Subspaces of both domains learned jointly with one classifier."""

import warnings
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from domain_alignment.base import Aligner, Capabilities, ClassScoresMixin
from domain_alignment.subspace._grassmann import PrincipalAxes
from domain_alignment.utils._params import COUNT, NOT_NEGATIVE, POSITIVE
from domain_alignment.utils._rows import unit_rows
from domain_alignment.utils.graphs import degrees, knn_graph, normalized_laplacian
from domain_alignment.utils.validation import UNLABELLED, check_linked_by_labels

# Armijo constant of the line search, and its smallest step along a slope of length one or less.
_SUFFICIENT = 1e-4
_SMALLEST_STEP = 1e-12
_LONG = 1e4  # square of a step after which inner products of the maps have lost four digits
# Weight of matching axes by index, relative to the labelled pairs.
_TIE_BREAK = 1e-6


class SubspaceParams(NamedTuple):
    """Parameters of :class:`LabelledSubspace` that the model of a domain depends on."""

    n_components: int
    n_neighbors: int
    unit_rows: bool


class PreparedSubspace:
    """Label-free model of one domain for :class:`LabelledSubspace`.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        The samples, with rows scaled if requested.
    shape : tuple of int
        Of the domain.
    params : SubspaceParams
    axes : ndarray of shape (p, min(n_components, n, p))
        The first principal axes.
    laplacian : CSR array of shape (n, n)
        Normalised Laplacian of the neighbour graph; computed on first use, for targets only.
    """

    def __init__(self, X, params, name):
        self.X = unit_rows(X) if params.unit_rows else X
        self.shape, self.params, self.name = X.shape, params, name
        self.axes = PrincipalAxes(self.X, name).frame(min(params.n_components, *X.shape))
        self._laplacian = None

    @property
    def laplacian(self):
        """See the class."""
        if self._laplacian is None:
            graph = knn_graph(self.X, self.params.n_neighbors, name=self.name)
            weights = degrees(graph, self.name, leaves_out=True)
            self._laplacian = normalized_laplacian(graph, weights)
        return self._laplacian


class LabelledSubspace(ClassScoresMixin, Aligner):
    r"""Orthonormal maps of source and target into one subspace, learned with its classifier.

    **A reconstruction** of semi-supervised subspace alignment (SSA [1]_) from its one-sentence
    summary in [2]_ alone: orthogonal maps for source and target that minimise the empirical risk,
    the distance of same-label pairs across the domains and a manifold regulariser on the unlabelled
    target. Its results say nothing about the authors' method.

    With the labelled samples :math:`X_S, X_L` of source and target (:math:`n_S, n_L` rows), their
    class indicators :math:`Y_S, Y_L`, the m pairs (i, j) that share a label across the domains, all
    target samples :math:`X_T` and the normalised Laplacian L of their neighbour graph:

    .. math:: \min_{P_S^T P_S = P_T^T P_T = I,\ W, b}\ &
              \tfrac{1}{n_S} \|X_S P_S W + 1 b^T - Y_S\|_F^2
              + \tfrac{1}{n_L} \|X_L P_T W + 1 b^T - Y_L\|_F^2 \\
              & + \tfrac{\alpha}{m} \sum_{i \sim j} \|P_S^T x_i - P_T^T x_j\|^2
              + \tfrac{\beta}{n_T} \operatorname{tr}(W^T P_T^T X_T^T L X_T P_T W)
              + \gamma \|W\|_F^2 .

    For fixed maps, W and b solve a ridge regression in d unknowns per class (variable projection).
    The remaining function of the maps is minimised by Riemannian gradient descent with a QR
    retraction, starting from the principal axes of each domain.

    Parameters
    ----------
    n_components : int, default=8
        d, the dimension of the subspace; less if a domain has fewer samples or features.
    alpha, beta : float, default=0.1
        Weights of the pairs and of the graph.
    gamma : float, default=0.01
        :math:`\gamma > 0`, of the classifier. The three defaults were searched on test labels, by
        the mean of three official splits per pair of Office-Caltech (SURF).
    n_neighbors : int, default=10
        Of the target's graph (cosine, union).
    max_iter : int, default=60
        Gradient steps. They stop short of convergence; the number is part of the definition.
    unit_rows : bool, default=True
        Whether rows are scaled to length 1, as the default weights assume (see Notes). Chosen as
        these were, on test labels.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_components_)
        ``Xs[a] @ maps_[a]``, of scaled rows if requested.
    maps_ : list of ndarray of shape (p_a, n_components_)
        :math:`P_S` and :math:`P_T`, with orthonormal columns.
    coef_ : ndarray of shape (n_components_, n_classes)
        W.
    intercept_ : ndarray of shape (n_classes,)
        b.
    classes_ : ndarray of shape (n_classes,)
        Labels of either domain.
    objectives_ : ndarray of shape (n_iter_ + 1,)
        Objective values, decreasing.
    gradient_norm_ : float
        Norm of the final projected gradient.
    n_iter_ : int
        Steps made; fewer than `max_iter` only if the line search fails at rounding level.
    n_components_ : int
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If a domain has no labelled sample, the domains share no labelled class, there are more than
        two, or `n_neighbors` is not less than the target's number of samples.
    AlignmentError
        If more than 5 % of the target's samples are isolated in the graph.

    Warns
    -----
    UserWarning
        If fewer are; the graph leaves them out.
    ConvergenceWarning
        If a domain has fewer samples or features than `n_components`.

    Notes
    -----
    *Cost.* ``prepare``: the principal axes, O(n p m_a + m_a^3) with m_a = min(n_a, p), and for the
    target the graph, O(n_T^2 p), once. All steps: O(max_iter (l + n_T + d) p d) for l labelled
    samples of the source, and O((l + n_T) d^2) where a step is halved, unless it was so long that
    it takes all products anew; pairs enter by class sums only. Memory: O((l + n_T) d + p m_a), and
    O(n p) for scaled rows and the search of the graph.

    *Local minimum.* The problem is nonconvex. Initially the target's principal axes are rotated
    onto the source's by orthogonal Procrustes on the labelled pairs, so that features may differ
    and rotating one domain has no effect. C shared classes determine C dimensions; with a larger d
    the other axes are matched by index, with the signs of
    ``domain_alignment.utils.eigen.fix_signs``, and rotations matter.

    *Unit rows* suit the defaults: alpha weighs squared distances against squared errors of
    indicators, which are of the order of 1 whatever the scale of the features.

    References
    ----------
    .. [1] T. Yao, Y. Pan, C.-W. Ngo, H. Li, T. Mei. Semi-supervised Domain Adaptation with Subspace
       Learning for Visual Recognition. CVPR 2015.
    .. [2] S. Dernbach, D. Towsley. Filtered Manifold Alignment. 2020, related work.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import LabelledSubspace
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 20)
    >>> source = 4 * np.eye(3)[y] + rng.normal(size=(60, 3))
    >>> target = (4 * np.eye(3)[y] + rng.normal(size=(60, 3))) @ rng.normal(size=(3, 5))
    >>> seen = np.where(np.arange(60) % 20 < 3, y, -1)  # three labels per class
    >>> model = LabelledSubspace(n_components=3).fit([source, target], [y, seen])
    >>> bool(np.mean(model.predict(target) == y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_components": COUNT,
        "alpha": NOT_NEGATIVE,
        "beta": NOT_NEGATIVE,
        "gamma": POSITIVE,
        "n_neighbors": COUNT,
        "max_iter": COUNT,
        "unit_rows": ["boolean"],
    }
    _model_type = PreparedSubspace

    def __init__(
        self,
        n_components=8,
        alpha=0.1,
        beta=0.1,
        gamma=0.01,
        n_neighbors=10,
        max_iter=60,
        unit_rows=True,
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.unit_rows = unit_rows

    @property
    def capabilities(self):
        """What this method can do."""
        return Capabilities(labels="source+target", heterogeneous=True, nonlinear=self.unit_rows)

    @property
    def classifier_rows(self):
        """Those of both domains, as in the estimator's own classifier."""
        return "source+target"

    def _prepare(self, X, name):
        return PreparedSubspace(X, self._model_params, name)

    @property
    def _model_params(self):
        return SubspaceParams(self.n_components, self.n_neighbors, self.unit_rows)

    def _fit(self, Xs, ys, models):
        check_linked_by_labels(ys)
        Xs = [model.X for model in models]
        rows = [np.flatnonzero(y != UNLABELLED) for y in ys]
        labels = [y[r] for y, r in zip(ys, rows, strict=True)]
        self.classes_ = np.unique(np.concatenate(labels))
        problem = SubspaceProblem(
            Xs[0][rows[0]],
            Xs[1],
            rows[1],
            *((y[:, None] == self.classes_).astype(float) for y in labels),
            models[1].laplacian,
            self.alpha,
            self.beta,
            self.gamma,
        )
        state = self._descend(problem, problem.at(*self._start(problem, models)))
        self.maps_ = [state.P, state.Q]
        self.coef_, self.intercept_ = state.W, state.b
        return [X @ P for X, P in zip(Xs, self.maps_, strict=True)]

    def _start(self, problem, models):
        d = min(model.axes.shape[1] for model in models)
        if d < self.n_components:
            warnings.warn(
                f"n_components={self.n_components}, but a domain has {d} samples or features; "
                f"{d} components are used",
                ConvergenceWarning,
                stacklevel=4,
            )
        P, Q = (model.axes[:, :d] for model in models)
        products = problem.cross_products(P, Q)
        if d > problem.n_shared_classes:
            # Their rank is at most that number; axes that the labels leave free are matched by
            # index.
            products += _TIE_BREAK * linalg.norm(products) * np.eye(d)
        left, _, right = linalg.svd(products)
        return P, Q @ right.T @ left.T

    def _descend(self, problem, state):
        """Projected gradient descent; each line search starts at twice the last step."""
        values, step = [state.value], 1.0
        slope = problem.projected_gradient(state)
        for _ in range(self.max_iter):
            lower, step = _line_search(problem, state, slope, step)
            if lower is None:
                break
            state, step = lower, 2 * step
            values.append(state.value)
            slope = problem.projected_gradient(state)
        self.objectives_, self.n_iter_ = np.array(values), len(values) - 1
        self.gradient_norm_ = float(np.sqrt(sum(np.vdot(g, g) for g in slope)))
        return state

    def _transform(self, X, domain):
        return (unit_rows(X) if self.unit_rows else X) @ self.maps_[domain]

    def _class_scores(self, X, domain):
        return self._embed(X, domain) @ self.coef_ + self.intercept_


@dataclass(frozen=True)
class SubspaceState:
    """The objective at the maps P and Q with optimal W and b, and the terms its gradient reuses.

    ``images`` are the embedded labelled source and target, ``smoothed`` the Laplacian times the
    latter; ``scores``, ``risks`` and ``sums`` the labelled images, their residuals and class sums.
    """

    P: np.ndarray
    Q: np.ndarray
    W: np.ndarray
    b: np.ndarray
    value: float
    images: tuple
    scores: tuple
    risks: tuple
    sums: tuple
    smoothed: np.ndarray


class SubspaceProblem:
    """The objective of :class:`LabelledSubspace` as a function of the two maps.

    Parameters
    ----------
    source, target : ndarray or CSR matrix of shape (n_S, p_S) and (n_T, p_T)
        The labelled samples, and all samples.
    rows : ndarray of int of shape (n_L,)
        Labelled ones of the target.
    Y_source, Y_target : ndarray of shape (n_S, n_classes) and (n_L, n_classes)
        Class indicators.
    laplacian : CSR array of shape (n_T, n_T)
    alpha, beta, gamma : float
    """

    def __init__(self, source, target, rows, Y_source, Y_target, laplacian, alpha, beta, gamma):
        self.source, self.target, self.rows = source, target, rows
        self.Y = (Y_source, Y_target)
        self.centre_Y = sum(Y.mean(axis=0) for Y in self.Y) / 2
        self.centred_Y = tuple(Y - self.centre_Y for Y in self.Y)
        self.laplacian = laplacian
        # S = Y_source Y_target^T, the indicator of the pairs, is never formed.
        counts = Y_source.sum(axis=0), Y_target.sum(axis=0)
        self.n_pairs = counts[0] @ counts[1]
        self.n_shared_classes = np.count_nonzero(counts[0] * counts[1])
        self.partners = (Y_source @ counts[1], Y_target @ counts[0])
        self.alpha = alpha / self.n_pairs
        self.beta = beta / target.shape[0]
        self.gamma = gamma

    def images(self, P, Q):
        """Source and target times matrices of shape (p_S, d) and (p_T, d)."""
        return self.source @ P, self.target @ Q

    def cross_products(self, P, Q):
        r""":math:`\sum_{i \sim j} P^T x_i x_j^T Q`, of shape (d, d)."""
        source, target = self.images(P, Q)
        return source.T @ self.Y[0] @ (self.Y[1].T @ target[self.rows])

    def at(self, P, Q):
        """The :class:`SubspaceState` at maps of shape (p_S, d) and (p_T, d)."""
        return self.of_images(P, Q, self.images(P, Q))

    def of_images(self, P, Q, images):
        """The same, given :meth:`images` of the maps; these are not read."""
        scores = images[0], images[1][self.rows]
        smoothed = self.laplacian @ images[1]
        roughness = images[1].T @ smoothed
        W, b = self._classifier(scores, roughness)
        risks = tuple(Z @ W + b - Y for Z, Y in zip(scores, self.Y, strict=True))
        sums = tuple(Y.T @ Z for Y, Z in zip(self.Y, scores, strict=True))
        spread = sum(k @ (Z * Z).sum(axis=1) for k, Z in zip(self.partners, scores, strict=True))
        value = (
            sum(np.vdot(R, R) / len(R) for R in risks)
            + self.alpha * (spread - 2 * np.vdot(*sums))
            + self.beta * np.vdot(W, roughness @ W)
            + self.gamma * np.vdot(W, W)
        )
        return SubspaceState(P, Q, W, b, float(value), images, scores, risks, sums, smoothed)

    def _classifier(self, scores, roughness):
        """W and b by least squares with both domains weighted equally; b from centring."""
        centre = sum(Z.mean(axis=0) for Z in scores) / 2
        normal = self.beta * roughness + self.gamma * np.eye(len(centre))
        right = np.zeros((len(centre), len(self.centre_Y)))
        for Z, Y in zip(scores, self.centred_Y, strict=True):
            centred = Z - centre
            normal += centred.T @ centred / len(Z)
            right += centred.T @ Y / len(Z)
        # Symmetric up to rounding; positive definite since gamma > 0.
        W = linalg.solve((normal + normal.T) / 2, right, assume_a="pos")
        return W, self.centre_Y - centre @ W

    def gradient(self, state):
        """Derivatives by P and Q; those through W and b vanish at their optimum."""
        parts = []
        for a, (R, Z) in enumerate(zip(state.risks, state.scores, strict=True)):
            pull = self.partners[a][:, None] * Z - self.Y[a] @ state.sums[1 - a]
            parts.append(R @ (state.W.T / len(R)) + self.alpha * pull)
        whole = state.smoothed @ (self.beta * (state.W @ state.W.T))
        whole[self.rows] += parts[1]
        return [2 * (self.source.T @ parts[0]), 2 * (self.target.T @ whole)]

    def projected_gradient(self, state):
        """The gradient projected on the tangent space of the Stiefel manifold."""
        pairs = [
            (P, G, P.T @ G) for P, G in zip((state.P, state.Q), self.gradient(state), strict=True)
        ]
        return [G - P @ ((inner + inner.T) / 2) for P, G, inner in pairs]


def _line_search(problem, state, slope, step):
    """First state of sufficient decrease by step halving, and its step; None if there is none."""
    square = sum(np.vdot(g, g) for g in slope)
    path = _Path(problem, state, slope)
    smallest = _SMALLEST_STEP / max(1.0, np.sqrt(square))
    while step > smallest:
        lower = path.at(step)
        if lower.value <= state.value - _SUFFICIENT * step * square and lower.value < state.value:
            return path.with_maps(lower, step), step
        step /= 2
    return None, step


class _Path:
    """States along a slope, retracted: maps Q of the QR decomposition of P - step * slope.

    R is a Cholesky factor of their inner products, and images are linear, so that to try a step
    takes products with neither samples nor maps; but for one so long that R would lose digits.
    """

    def __init__(self, problem, state, slope):
        self.problem, self.maps, self.slope = problem, (state.P, state.Q), slope
        self.images, self.changes = state.images, problem.images(*slope)
        self.products = [
            (P.T @ P, P.T @ S + S.T @ P, S.T @ S) for P, S in zip(self.maps, slope, strict=True)
        ]

    def at(self, step):
        """The state after a step, without maps if they were not needed."""
        if step**2 * max(np.trace(square) for *_, square in self.products) > _LONG:
            return self.problem.at(*map(_orthonormal, self._moved(step)))
        images = zip(self.images, self.changes, self._scales(step), strict=True)
        return self.problem.of_images(None, None, tuple((Z - step * D) @ T for Z, D, T in images))

    def with_maps(self, state, step):
        """The state that :meth:`at` gave for this step, with its maps."""
        if state.P is None:
            P, Q = (A @ T for A, T in zip(self._moved(step), self._scales(step), strict=True))
            state = replace(state, P=P, Q=Q)
        return state

    def _moved(self, step):
        return [P - step * S for P, S in zip(self.maps, self.slope, strict=True)]

    def _scales(self, step):
        """The inverse of R for each domain."""
        for own, mixed, square in self.products:
            yield np.linalg.inv(np.linalg.cholesky(own - step * mixed + step**2 * square)).T


def _orthonormal(A):
    """Q of the QR decomposition with positive diagonal of R, a retraction."""
    Q, R = linalg.qr(A, mode="economic")
    return Q * np.where(np.diag(R) < 0, -1, 1)
