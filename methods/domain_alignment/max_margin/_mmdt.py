"""Max-margin domain transforms: MMDT and its large-scale version LS-MMDT."""

import dataclasses
from typing import ClassVar

import numpy as np

from domain_alignment.max_margin._base import MarginTransform
from domain_alignment.max_margin._in_scene import classify_in_scene
from domain_alignment.max_margin._low_rank_transform import REGULARIZERS, TransformSolution
from domain_alignment.max_margin._solver import solve_similarities, solve_transform
from domain_alignment.utils._params import COUNT, POSITIVE, ZERO_OR_MORE, StrOptions
from domain_alignment.utils._rows import of_width

__all__ = [
    "LSMMDT",
    "MMDT",
    "DomainSVM",
    "TransformSolution",
    "classify_in_scene",
    "solve_similarities",
    "solve_transform",
]


class LSMMDT(MarginTransform):
    r"""Large-scale max-margin domain transform of one target to one source.

    Alternates between a linear map W from target to source and one-vs-all SVMs :math:`\theta_k` in
    the source space ([1]_, with the SVMs of [2]_). With s = 1 for a sample's own class and -1
    otherwise, each step minimises over one block of (the step of W with `C_transform` for
    :math:`C_t`, and with `loss`)

    .. math:: \min_{W, \theta}\ \tfrac12 \|W - W_0\|_F^2 + \tfrac12 \sum_k \|\theta_k\|^2
              + C_s \sum_{k, i} \max(0, 1 - s_{ki} \theta_k^T x_i)^2
              + C_t \sum_{k, j} \max(0, 1 - s_{kj} \theta_k^T W \tilde x_j)^2 .

    The first SVMs use the source only. Then `n_iterations` times: W from the hyperplanes
    (:func:`~domain_alignment.max_margin.solve_transform`), and the SVMs from the source and the
    mapped target.

    Parameters
    ----------
    C_source, C_target : float, default=0.05 and 1.0
        Costs of the labelled samples in the SVMs, as in the demo of MMDT [2]_.
    C_transform : float, optional
        Cost of the target samples in the transform step; `C_target` by default, as in the authors'
        C++. The paper cross-validates it over unstated values.
    n_iterations : int, default=3
        Updates of W; 3 in the C++.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        Loss of the transform step. The SVMs use the squared hinge.
    regularize : {"auto", "identity", "zero"}, default="auto"
        :math:`W_0`. Identity in the C++, zero in the paper. "auto" is the identity between equal
        numbers of features, else zero: the truncated identity would pair features by their place.
    n_pca : int, optional
        First project both domains to this many principal axes of the labelled source and all
        target samples, as the demo of MMDT does (20). Needs equal features.
    fit_intercept : bool, default=True
        Whether to prepend a constant feature, regularised like the others.
    tol : float, default=1e-6
        Relative duality gap of the transform.
    max_sweeps : int, default=1000
        Maximum number of sweeps of the transform's solver.
    svm_tol : float, default=0.1
        liblinear's stopping tolerance; its default, used by the C++.
    random_state : int, RandomState or None, default=None
        For both solvers. liblinear's solution depends on it within `svm_tol`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of either domain.
    coef_ : ndarray of shape (n_classes, p)
        SVM hyperplanes, p = p_source (+ 1), the constant's weight first.
    transform_ : TransformSolution
        W of shape (p, p_target (+ 1)), with its duality gap.
    axes_ : ndarray of shape (p_source, n_pca), or None
        Principal axes; replaces p_source and p_target by `n_pca`.
    embeddings_ : list of ndarray of shape (n_a, p)
        Source samples with their constant, and mapped target samples. Of sparse samples without
        `n_pca` those of the source are in CSR format, with W = I those of both domains.
    n_components_ : int
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If a parameter is invalid, or a domain has no labelled sample.

    Warns
    -----
    ConvergenceWarning
        If a transform or an SVM did not reach its tolerance.

    Notes
    -----
    Cost, for n samples, l of them labelled: O(n_classes n p) time and O(n p) memory to embed them;
    O(n_classes l min(l, p)) per pass of liblinear, and O(n_classes (l + n_classes) min(l, p)) per
    sweep of :func:`~domain_alignment.max_margin.solve_transform`, O((n_classes + l)(p_source +
    p_target)) memory. Of both there are usually dozens, and more the larger the costs.

    - ``p > l``: labelled samples of more features than samples (sparse ones if that basis is small)
      are learned from in an orthonormal basis of their span, O(l^2 p) once. The result is the same
      to rounding.

    *Departures from the C++* [3]_. The identity has the correct sign in the margins (see
    :func:`~domain_alignment.max_margin.solve_transform`); W is solved to a small gap, not to
    epsilon = 1; there is no early stopping on the joint objective, which cannot increase if
    ``C_transform`` is `C_target` and the loss is squared.

    References
    ----------
    .. [1] E. Rodner, J. Hoffman, J. Donahue, T. Darrell, K. Saenko. Transform-based Domain
       Adaptation for Big Data. 2013, Eq. (1).
    .. [2] J. Hoffman, E. Rodner, J. Donahue, T. Darrell, K. Saenko. Efficient Learning of
       Domain-invariant Image Representations. ICLR 2013.
    .. [3] liblinear-mmdt, https://github.com/erodner/liblinear-mmdt

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import LSMMDT
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 20)
    >>> centres = 4 * np.eye(3)
    >>> source = centres[y] + rng.normal(size=(60, 3))
    >>> target = (centres[y] + rng.normal(size=(60, 3))) @ rng.normal(size=(3, 5))
    >>> seen = np.where(np.arange(60) % 20 < 5, y, -1)  # five labels per class
    >>> model = LSMMDT(random_state=0).fit([source, target], [y, seen])
    >>> model.transform_.to_dense().shape
    (4, 6)
    >>> bool(np.mean(model.predict(target) == y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **MarginTransform._parameter_constraints,
        "C_transform": [*POSITIVE, None],
        "n_iterations": COUNT,
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "regularize": REGULARIZERS,
    }

    def __init__(
        self,
        C_source=0.05,
        C_target=1.0,
        C_transform=None,
        n_iterations=3,
        loss="squared_hinge",
        regularize="auto",
        n_pca=None,
        fit_intercept=True,
        tol=1e-6,
        max_sweeps=1000,
        svm_tol=0.1,
        random_state=None,
    ):
        self.C_source = C_source
        self.C_target = C_target
        self.C_transform = C_transform
        self.n_iterations = n_iterations
        self.loss = loss
        self.regularize = regularize
        self.n_pca = n_pca
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_sweeps = max_sweeps
        self.svm_tol = svm_tol
        self.random_state = random_state

    def _alternate(self, source, target, y_source, y_target):
        self._start(source, target, self.regularize)
        C = self.C_target if self.C_transform is None else self.C_transform
        self.coef_ = self._hyperplanes(source, y_source, np.full(len(y_source), self.C_source))
        for _ in range(self.n_iterations):
            self.transform_ = self._solve(target, y_target, C, self.loss)
            self.coef_ = self._joint_hyperplanes(source, target, y_source, y_target)


class MMDT(MarginTransform):
    r"""Max-margin domain transform, as in the demo of the ICLR 2013 paper [1]_ behind its PCA.

    From W = I, `n_iterations` times: one-vs-all SVMs :math:`\theta_k` (squared hinge) from the
    labelled source samples at cost :math:`C_s` and the mapped labelled target samples at cost
    :math:`C_t`; then

    .. math:: \min_W\ \tfrac12 \|W - I\|_F^2 + \tfrac\gamma2 \sum_{kj} \xi_{kj}^2, \qquad
              s_{kj}\, \theta_k^T W \tilde x_j \ge 1 - \xi_{kj} .

    Target samples score :math:`\theta_k^T W \tilde x` with the last W and :math:`\theta_k`.

    Parameters
    ----------
    C_source, C_target : float, default=0.05 and 1.0
        SVM costs of the demo.
    gamma : float, default=1e-4
        Cost of the transform's slacks, as in the demo; independent of `C_target`.
    n_iterations : int, default=2
        2 in the demo. 0 keeps W = I: one SVM on both domains, a baseline for the effect of W.
    n_pca : int, optional
        As for :class:`LSMMDT`. The demo first projects to 20 axes; the default does not.
    fit_intercept, tol, max_sweeps
        As for :class:`LSMMDT`.
    svm_tol : float, default=0.1
        liblinear's stopping tolerance, as in the demo. It is so loose that the hyperplanes, and
        with them predictions, depend on it.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_, coef_, transform_, axes_, embeddings_, n_components_, n_features_in_
        As for :class:`LSMMDT`.

    Raises
    ------
    ValueError
        If a parameter is invalid, a domain has no labelled sample, or ``n_iterations=0`` meets
        unequal features.

    Warns
    -----
    ConvergenceWarning
        If a transform or an SVM did not reach its tolerance.

    Notes
    -----
    Cost, for n samples, l of them labelled: O(n_classes n p) time and O(n p) memory to embed them;
    O(n_classes l min(l, p)) per pass of liblinear, and O(n_classes (l + n_classes) min(l, p)) per
    sweep of :func:`~domain_alignment.max_margin.solve_transform`.

    - ``p > l``: O(l^2 p) once, for the span of few samples as in :class:`LSMMDT`.

    *Departures from the authors' MATLAB.* W is solved exactly; theirs adds the most violated
    constraint until no violation exceeds 0.01 and never decreases a multiplier, so that its W meets
    the constraints, but is not optimal. Between unequal dimensions theirs omits the identity from
    the constraints and adds it afterwards; here it is in both, truncated. Either way it pairs
    features by their place, so that predictions change with the order of the columns. (The
    objective of the paper, towards W = 0 at the cost of the SVM, is that of :class:`LSMMDT`.)

    References
    ----------
    .. [1] J. Hoffman, E. Rodner, J. Donahue, T. Darrell, K. Saenko. Efficient Learning of
       Domain-invariant Image Representations. ICLR 2013; demo.m and TrainMmdt.m of its release.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import MMDT
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 20)
    >>> source = 4 * np.eye(3)[y] + rng.normal(size=(60, 3))
    >>> target = source + rng.normal(size=(60, 3)) + [1, -1, 0]
    >>> seen = np.where(np.arange(60) % 20 < 3, y, -1)
    >>> model = MMDT(random_state=0).fit([source, target], [y, seen])
    >>> bool(np.mean(model.predict(target) == y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **MarginTransform._parameter_constraints,
        "gamma": POSITIVE,
        "n_iterations": ZERO_OR_MORE,
    }

    def __init__(
        self,
        C_source=0.05,
        C_target=1.0,
        gamma=1e-4,
        n_iterations=2,
        n_pca=None,
        fit_intercept=True,
        tol=1e-6,
        max_sweeps=1000,
        svm_tol=0.1,
        random_state=None,
    ):
        self.C_source = C_source
        self.C_target = C_target
        self.gamma = gamma
        self.n_iterations = n_iterations
        self.n_pca = n_pca
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_sweeps = max_sweeps
        self.svm_tol = svm_tol
        self.random_state = random_state

    def _takes_unequal_features(self):
        return super()._takes_unequal_features() and self.n_iterations > 0

    def _alternate(self, source, target, y_source, y_target):
        self._start(source, target, "identity")
        for _ in range(self.n_iterations or 1):
            self.coef_ = self._joint_hyperplanes(source, target, y_source, y_target)
            if self.n_iterations:
                # The demo's sum has the factor gamma / 2, Eq. (1) of LS-MMDT has C.
                self.transform_ = self._solve(target, y_target, self.gamma / 2, "squared_hinge")


class DomainSVM(MarginTransform):
    r"""One-vs-all SVMs of a single domain, trained as in MMDT: its baseline.

    .. math:: \min_\theta\ \tfrac12 \|\theta\|^2
              + C \sum_i \max(0, 1 - s_i \theta^T x_i)^2

    for each class, over the labelled samples of the source or of the target. Features, constant and
    solver are those of :class:`MMDT`, whose ``n_iterations=0`` trains on both domains.

    Parameters
    ----------
    domain : {"source", "target"}, default="source"
    C : float, default=1.0
    n_pca, fit_intercept, svm_tol, random_state
        As for :class:`MMDT`. The principal axes do not depend on `domain`.

    Attributes
    ----------
    classes_, coef_, axes_, embeddings_, n_components_, n_features_in_
        As for :class:`MMDT`; embeddings are the features themselves, after a constant column unless
        ``fit_intercept=False``, and zeros in a source with other features than the target's.

    Raises
    ------
    ValueError
        If a parameter is invalid, the domain has no labelled sample, or ``domain="source"`` meets
        unequal features.

    Warns
    -----
    ConvergenceWarning
        If an SVM did not reach its tolerance.

    Notes
    -----
    Cost, for n samples, l of them labelled: O(n p) time and memory to embed them, and O(n_classes l
    min(l, p)) per pass of liblinear.

    - ``p > l``: O(l^2 p) once, for the span of few samples as in :class:`LSMMDT`.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import DomainSVM
    >>> y = np.repeat([0, 1, 2], 10)
    >>> source = 4 * np.eye(3)[y] + np.random.default_rng(0).normal(size=(30, 3))
    >>> model = DomainSVM(random_state=0).fit([source, source + 0.1], [y, None])
    >>> bool(np.mean(model.predict(source + 0.1) == y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **MarginTransform._parameter_constraints,
        "domain": [StrOptions({"source", "target"})],
        "C": POSITIVE,
    }

    def __init__(
        self,
        domain="source",
        C=1.0,
        n_pca=None,
        fit_intercept=True,
        svm_tol=0.1,
        random_state=None,
    ):
        self.domain = domain
        self.C = C
        self.n_pca = n_pca
        self.fit_intercept = fit_intercept
        self.svm_tol = svm_tol
        self.random_state = random_state

    @property
    def capabilities(self):
        """Capabilities of this instance; the source SVM uses no target labels."""
        labels = "source" if self.domain == "source" else "source+target"
        return dataclasses.replace(super().capabilities, labels=labels)

    @property
    def classifier_rows(self):
        """The domain that is trained on."""
        return self.domain

    def _takes_unequal_features(self):
        return super()._takes_unequal_features() and self.domain == "target"

    def _labelled_domains(self):
        return (0,) if self.domain == "source" else (1,)

    def _transform(self, X, domain):
        # The target space is the common one. Nothing relates other features to it.
        return of_width(super()._transform(X, domain), self.coef_.shape[1])

    def _alternate(self, source, target, y_source, y_target):
        width = target.shape[1]
        self.transform_ = TransformSolution.untrained(width, width, "identity")
        X, y = (source, y_source) if self.domain == "source" else (target, y_target)
        self.coef_ = self._hyperplanes(X, y, np.full(len(y), self.C))
