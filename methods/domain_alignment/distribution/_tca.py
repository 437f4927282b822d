"""Transfer component analysis."""

from typing import ClassVar

import numpy as np

from domain_alignment.distribution._scatter_eigenproblem import (
    LowRankPenalty,
    largest_components,
)
from domain_alignment.distribution._transfer_components import ComponentAligner
from domain_alignment.utils._params import COUNT, POSITIVE, StrOptions

__all__ = ["TCA"]

MU_WEIGHTS = ("norm", "discrepancy")


class TCA(ComponentAligner):
    r"""Transfer component analysis: directions of large variance in which the domains' means agree.

    With the kernel matrix K of both domains, :math:`e = (1/n_S, \dots, -1/n_T, \dots)` and
    :math:`H = I - 11^T/n`, the *dual* ([1]_, section III) looks for sample weights W,

    .. math:: \min_W\ \mathrm{tr}(W^T K e e^T K W) + \mu\, \mathrm{tr}(W^T W)
              \quad\text{subject to}\quad W^T K H K W = I,

    and scores the samples by K W. The *primal* (in the code released with MEDA [2]_) looks for
    directions A in feature space,

    .. math:: \min_A\ \mathrm{tr}(A^T X^T e e^T X A) / \|e\|^2 + \mu\, \mathrm{tr}(A^T A)
              \quad\text{subject to}\quad A^T X^T H X A = I .

    With a linear kernel both are linear maps, but different methods: the dual penalises
    :math:`\|W\|^2 = A^T (X^T X)^+ A`, the primal :math:`\|A\|^2`. Labels are not used.

    Parameters
    ----------
    n_components : int, default=20
    mu : float, default=1.0
    mu_weighs : {"norm", "discrepancy"}, default="norm"
        The term that :math:`\mu` multiplies. "norm" is the journal's: discrepancy + mu norm.
        "discrepancy" is norm + mu discrepancy, :math:`(I + \mu K e e^T K)^{-1} K H K`, as in skada,
        adapt and libtlda; solved as "norm" with 1 / mu, which has the same eigenvectors and to
        which `ratios_` and the scaling "objective" then refer.
    formulation : {"dual", "primal"}, default="dual"
    kernel : {"linear", "cosine", "rbf", "laplacian"} or callable, default="linear"
        For the dual.
    gamma : "median" or float, default="median"
        Of "rbf" and "laplacian": by default one over the median (squared) distance.
    scaling : {"unit", "constraint", "objective"}, default="unit"
        Columns of W or A of unit length; or as in the constraint, which gives all columns of the
        embedding the same variance; or with a quadratic form of 1 in the objective.
    unit_rows : bool, default=True
        Whether rows are scaled to length 1, before and after. Otherwise domains that are z-scored
        separately have equal means, and linear TCA reduces to PCA.
    source_rows : {"all", "labelled"}, default="all"
        Source samples that the components are fitted on; the others are embedded as new samples.
    landmarks : int, optional
        For kernels other than "linear": samples of both domains, drawn at random, by which the
        kernel matrix is approximated (Nyström); `landmark_error_` says how well. By default it is
        exact, and its n^2 numbers are held. `gamma` is then that of the landmarks.
    random_state : int, RandomState instance or None, default=0
        Draws the landmarks.

    Attributes
    ----------
    ratios_ : ndarray of shape (n_components_,)
        Eigenvalues of :math:`(K e e^T K + \mu I)^{-1} K H K`, descending.
    coef_ : ndarray of shape (p, n_components_), or None
        The linear map, for a linear kernel.
    dual_coef_ : ndarray of shape (n, n_components_), or None
        W, source first, for a nonlinear kernel; with landmarks one row for each of these.
    gamma_ : float or None
        The value used; None for kernels without one.
    landmarks_ : ndarray of int of shape (l,), or None
        Rows of the landmarks among the samples that the components are fitted on, source first.
    landmark_error_ : float or None
        Share of the trace of K that the landmarks leave out. What they leave out is positive
        semi-definite, so that this is its trace norm; None without landmarks, and for a callable
        kernel.
    embeddings_ : list of ndarray of shape (n_a, n_components_)
    n_components_ : int
        `n_components`, or the rank of the centred samples if that is less.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If the domains differ in their features, there are more than two, no source sample is
        labelled but ``source_rows="labelled"``, the primal is combined with a nonlinear kernel, or
        landmarks with a linear one.
    AlignmentError
        If all samples are equal, or the eigenproblem fails its residual check.

    Warns
    -----
    ConvergenceWarning
        If `n_components` exceeds the rank of the centred samples.

    Notes
    -----
    *Structure.* The discrepancy has rank 1, so :math:`(\mu I + v v^T)^{-1/2}` is known in closed
    form, which leaves a standard symmetric eigenproblem; Lanczos takes two products with K per
    step. With a linear kernel its order is :math:`q = \min(n, p)`, not n.

    *Cost*, for n samples of both domains and q = min(n, p):

    - ``kernel == "linear"``: O(n p q) time, and O(q^2) per Lanczos step; O(n q + q^2) memory.
    - ``kernel == "linear" and (p <= n if formulation == "dual" else p > n)``: one Cholesky factor
      besides, O(q^3) time.
    - ``kernel != "linear" and landmarks is None``: O(n^2 p) time, and O(n^2) per step, of which
      there are five to ten times `n_components`; O(n^2) memory.
    - ``kernel != "linear" and landmarks is not None``: O(n landmarks p + n landmarks^2 +
      landmarks^3) time, and O(landmarks^2) per step; O(n landmarks) memory.

    *Departures.* The paper leaves the scaling of W open and does not scale rows. A new sample x has
    the score :math:`\sum_i W_i k(x_i, x)`, without another eigenproblem.

    References
    ----------
    .. [1] S. J. Pan, I. W. Tsang, J. T. Kwok, Q. Yang. Domain Adaptation via Transfer Component
       Analysis. IEEE TNN 22(2), 2011.
    .. [2] TCA.m in https://github.com/jindongwang/transferlearning

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import TCA
    >>> rng = np.random.default_rng(0)
    >>> source = rng.normal(size=(50, 6)) * [3, 2, 1, 1, 1, 1]
    >>> target = rng.normal(size=(40, 6)) * [3, 2, 1, 1, 1, 1] + [0, 0, 9, 0, 0, 0]
    >>> tca = TCA(n_components=2, mu=0.1, formulation="primal", unit_rows=False)
    >>> source, target = tca.fit_transform([source, target])
    >>> bool(np.linalg.norm(source.mean(axis=0) - target.mean(axis=0)) < 1)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **ComponentAligner._parameter_constraints,
        "mu": POSITIVE,
        "mu_weighs": [StrOptions(set(MU_WEIGHTS))],
        "landmarks": [*COUNT, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components=20,
        mu=1.0,
        mu_weighs="norm",
        formulation="dual",
        kernel="linear",
        gamma="median",
        scaling="unit",
        unit_rows=True,
        source_rows="all",
        landmarks=None,
        random_state=0,
    ):
        self.n_components = n_components
        self.mu = mu
        self.mu_weighs = mu_weighs
        self.formulation = formulation
        self.kernel = kernel
        self.gamma = gamma
        self.scaling = scaling
        self.unit_rows = unit_rows
        self.source_rows = source_rows
        self.landmarks = landmarks
        self.random_state = random_state

    @property
    def _uses_labels(self):
        return False

    def _fit(self, Xs, ys, models):
        if self.landmarks is not None and self.kernel == "linear":
            raise ValueError(
                "landmarks approximate a kernel matrix, which a linear kernel does not need; leave "
                "them out, or take another kernel"
            )
        embeddings = super()._fit(Xs, ys, models)
        self.landmarks_ = self._features.landmarks
        self.landmark_error_ = self._features.landmark_error
        return embeddings

    def _components(self, joint, y):
        n_source, n_target = joint.n_source, len(joint.values) - joint.n_source
        difference = mean_difference(joint.values, n_source)
        if self.formulation == "primal":
            difference = difference / np.sqrt(1 / n_source + 1 / n_target)
        penalty = LowRankPenalty(difference[:, None], ridge_of(self.mu, self.mu_weighs))
        return largest_components(joint.scatter, penalty, self.n_components, type(self).__name__)


def mean_difference(values, n_source):
    """F'e: mean of the source rows minus that of the target rows."""
    return values[:n_source].mean(axis=0) - values[n_source:].mean(axis=0)


def ridge_of(mu, weighs):
    """The ridge with the same eigenvectors: I + mu M = mu (M + I / mu)."""
    return mu if weighs == "norm" else 1 / mu
