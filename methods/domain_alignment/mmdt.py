"""Max-margin domain transforms: MMDT, and LS-MMDT, which scales it up."""

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.in_scene import classify_in_scene
from domain_alignment.one_vs_all import one_vs_all
from domain_alignment.transform_solution import TransformSolution
from domain_alignment.transform_solver import solve_similarities, solve_transform
from domain_alignment.validation import UNLABELLED, check_matrix, domain_name

__all__ = [
    "LSMMDT",
    "MMDT",
    "TransformSolution",
    "classify_in_scene",
    "solve_similarities",
    "solve_transform",
]

_POSITIVE = [Interval(Real, 0, None, closed="neither")]


class _MarginTransform(Aligner):
    """What both have in common: the rows they use, and how they classify."""

    _parameter_constraints: ClassVar[dict] = {
        "C_source": _POSITIVE,
        "C_target": _POSITIVE,
        "fit_intercept": ["boolean"],
        "tol": _POSITIVE,
        "max_sweeps": [Interval(Integral, 1, None, closed="left")],
        "svm_tol": _POSITIVE,
        "random_state": ["random_state"],
    }

    @property
    def capabilities(self):
        """What this instance can do."""
        return Capabilities(
            labels="source+target",
            max_domains=2,
            needs_pairs=False,
            heterogeneous=True,
            nonlinear=False,
            embeds_new_samples=True,
            invertible=False,
        )

    @property
    def classifier_rows(self):
        """The labelled rows of both domains, as the estimator itself uses."""
        return "source+target"

    def _fit(self, Xs, ys, models):
        labelled = [y != UNLABELLED for y in ys]
        for domain, rows in enumerate(labelled):
            if not rows.any():
                raise ValueError(
                    f"{domain_name(domain)}: none of its {len(rows)} samples is labelled, and a "
                    "max-margin transform learns from labels of both domains; label some"
                )
        known = [y[rows] for y, rows in zip(ys, labelled, strict=True)]
        self.classes_, codes = np.unique(np.concatenate(known), return_inverse=True)
        source, target = (
            self._with_constant(X[rows]) for X, rows in zip(Xs, labelled, strict=True)
        )
        self._rng = check_random_state(self.random_state)
        self._alternate(source, target, *np.split(codes, [len(known[0])]))
        del self._rng  # a fitted estimator draws nothing more
        return [self._transform(X, domain) for domain, X in enumerate(Xs)]

    def _with_constant(self, X):
        """Ones come first, so that an identity keeps them also between unequal dimensions."""
        if not self.fit_intercept:
            return X
        ones = np.ones((X.shape[0], 1))
        return sparse.hstack([ones, X], "csr") if sparse.issparse(X) else np.hstack([ones, X])

    def _joint_hyperplanes(self, source, target, y_source, y_target):
        """SVMs of the labelled source, and of the target as the transform now maps it."""
        mapped = self.transform_.apply(target)
        both = sparse.vstack([source, mapped], "csr") if sparse.issparse(source) else None
        return self._hyperplanes(
            np.concatenate([source, mapped]) if both is None else both,
            np.concatenate([y_source, y_target]),
            np.repeat([self.C_source, self.C_target], [len(y_source), len(y_target)]),
        )

    def _hyperplanes(self, X, y, weights):
        return one_vs_all(
            X, y, weights, len(self.classes_), tol=self.svm_tol, random_state=self._rng
        )

    def _solve(self, target, y, C, loss, regularize):
        start = self.transform_ if self.transform_.alpha.size else None
        return solve_transform(
            self.coef_,
            target,
            y,
            C,
            loss=loss,
            regularize=regularize,
            tol=self.tol,
            max_sweeps=self.max_sweeps,
            random_state=self._rng,
            warm_start=start,
        )

    def _transform(self, X, domain):
        X = self._with_constant(X)
        return self.transform_.apply(X) if domain else X

    def decision_function(self, X, domain=-1):
        """Scores of all classes, each sample as one of its domain.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, p_domain)
        domain : int, default=-1
            0 is the source, 1 or -1 the target.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._scores(X, domain, self._checked_coef())

    def predict(self, X, domain=-1):
        """Classes of the samples; arguments as for :meth:`decision_function`."""
        return self.classes_[self.decision_function(X, domain).argmax(axis=1)]

    def decision_new(self, X, source_classifiers):
        """Scores of target samples under classifiers of the source; see :meth:`predict_new`."""
        coef, intercept, _ = self._read_classifiers(source_classifiers)
        return self._scores(X, -1, coef) + intercept

    def predict_new(self, X, source_classifiers):
        r"""Classify target samples into categories that the transform never saw.

        A linear classifier of the source scores the mapped sample, :math:`\theta^T W (1, x)`: the
        category needs no target sample, labelled or not.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, p_target)
        source_classifiers : linear classifier, or array-like of shape (n_categories, p)
            A fitted classifier with ``coef_``, ``intercept_`` and ``classes_`` on the features of
            the source; or hyperplanes, with or without the constant's weight in front.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classifier's classes, or numbers of the hyperplanes.

        Raises
        ------
        ValueError
            If the hyperplanes are not of the source's features.
        """
        scores = self.decision_new(X, source_classifiers)
        return self._read_classifiers(source_classifiers)[2][scores.argmax(axis=1)]

    def _read_classifiers(self, classifiers):
        """Hyperplanes with the constant's weight, what is added to their scores, and the names."""
        width = self._checked_coef().shape[1]
        intercept = getattr(classifiers, "intercept_", 0.0)
        coef = check_matrix(getattr(classifiers, "coef_", classifiers), "source_classifiers")
        names = getattr(classifiers, "classes_", np.arange(coef.shape[0]))
        if len(names) == 2 and coef.shape[0] == 1:  # how scikit-learn writes two classes
            coef, intercept = np.vstack([-coef, coef]), np.r_[-intercept, intercept]
        intercept = np.broadcast_to(intercept, len(coef))
        if self.fit_intercept and coef.shape[1] == width - 1:
            coef, intercept = np.column_stack([intercept, coef]), 0.0
        if coef.shape[1] != width:
            raise ValueError(
                f"source_classifiers have {coef.shape[1]} features; the source has "
                f"{self.n_features_in_[0]}; give classifiers trained on it"
            )
        return coef, intercept, names

    def _checked_coef(self):
        check_is_fitted(self, "coef_")
        return self.coef_

    def _scores(self, X, domain, coef):
        X = self._checked_samples(X, domain)
        if domain == 0 or domain == -2:
            return X @ coef.T
        return self.transform_.scores(X, coef)

    def _checked_samples(self, X, domain):
        if domain not in range(-2, 2):
            raise ValueError(f"domain {domain} does not exist; fitted are 0 to 1")
        X = check_matrix(X)
        if X.shape[1] != self.n_features_in_[domain]:
            raise ValueError(
                f"X has {X.shape[1]} features; domain {domain % 2} was fitted with "
                f"{self.n_features_in_[domain]}"
            )
        return self._with_constant(X)


class LSMMDT(_MarginTransform):
    r"""Large-scale max-margin domain transform of one target to one source.

    Learns a linear map W of the target into the source together with one-vs-all SVMs
    :math:`\theta_k` there, in turns ([1]_, with the SVMs of [2]_). With s = 1 for a sample's own
    class and -1 otherwise, each turn lowers one part of

    .. math:: \min_{W, \theta}\ \tfrac12 \|W - W_0\|_F^2 + \tfrac12 \sum_k \|\theta_k\|^2
              + C_s \sum_{k, i} \max(0, 1 - s_{ki} \theta_k^T x_i)^2
              + C_t \sum_{k, j} \max(0, 1 - s_{kj} \theta_k^T W \tilde x_j)^2 .

    The first SVMs see the source alone. Then `n_iterations` times: W from the SVMs' hyperplanes
    (:func:`solve_transform`), and the SVMs from the source and the mapped target.

    Parameters
    ----------
    C_source, C_target : float, default=0.05 and 1.0
        Costs of the labelled samples in the SVMs; from the demo of MMDT [2]_.
    C_transform : float, optional
        Cost of the target samples when W is learned; `C_target` by default, as in the authors' C++.
        The paper tunes it by cross-validation, without naming values. On Office-Caltech smaller
        ones (1e-3) are better.
    n_iterations : int, default=3
        Updates of W; 3 in the C++.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        Of the transform. The SVMs' is squared.
    regularize : {"identity", "zero"}, default="identity"
        :math:`W_0`. Identity in the C++, zero in the paper. Between unequal dimensions the identity
        is cut off, which relates features by their number only: take "zero" there.
    fit_intercept : bool, default=True
        Whether both domains get a constant feature, the first, regularised like the others.
    tol : float, default=1e-6
        Relative duality gap of the transform.
    max_sweeps : int, default=1000
        Of the transform's solver.
    svm_tol : float, default=0.1
        liblinear's stopping tolerance; its default, which the C++ runs.
    random_state : int, RandomState or None, default=None
        Of both solvers. liblinear's answer depends on it within `svm_tol`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels met in either domain.
    coef_ : ndarray of shape (n_classes, p)
        The SVMs' hyperplanes, p = p_source (+ 1): the constant's weight first.
    transform_ : TransformSolution
        W of shape (p, p_target (+ 1)), and how well it was solved for.
    embeddings_ : list of ndarray of shape (n_a, p)
        Source samples with their constant, and mapped target samples.
    n_components_ : int
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If a parameter is wrong, or a domain has no labelled sample.

    Warns
    -----
    ConvergenceWarning
        If a transform or an SVM did not reach its tolerance.

    Notes
    -----
    Cost: see :func:`solve_transform` and liblinear; memory O((m + n)(p_source + p_target)).

    *Departures from the C++* [3]_. The identity has the right sign in the margins (see
    :func:`solve_transform`); W is solved to a small gap, not to epsilon = 1; there is no early stop
    on the joint objective, which cannot rise when ``C_transform`` is `C_target` and the loss
    squared.

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
    >>> from domain_alignment.mmdt import LSMMDT
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 20)
    >>> centres = 4 * np.eye(3)
    >>> source = centres[y] + rng.normal(size=(60, 3))
    >>> target = (centres[y] + rng.normal(size=(60, 3))) @ rng.normal(size=(3, 5))
    >>> seen = np.where(np.arange(60) % 20 < 5, y, -1)  # five labels per class
    >>> model = LSMMDT(regularize="zero", random_state=0).fit([source, target], [y, seen])
    >>> model.transform_.to_dense().shape
    (4, 6)
    >>> bool(np.mean(model.predict(target) == y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **_MarginTransform._parameter_constraints,
        "C_transform": [*_POSITIVE, None],
        "n_iterations": [Interval(Integral, 1, None, closed="left")],
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "regularize": [StrOptions({"identity", "zero"})],
    }

    def __init__(
        self,
        C_source=0.05,
        C_target=1.0,
        C_transform=None,
        n_iterations=3,
        loss="squared_hinge",
        regularize="identity",
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
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_sweeps = max_sweeps
        self.svm_tol = svm_tol
        self.random_state = random_state

    def _alternate(self, source, target, y_source, y_target):
        self.transform_ = TransformSolution.untrained(
            source.shape[1], target.shape[1], self.regularize
        )
        C = self.C_target if self.C_transform is None else self.C_transform
        self.coef_ = self._hyperplanes(source, y_source, np.full(len(y_source), self.C_source))
        for _ in range(self.n_iterations):
            self.transform_ = self._solve(target, y_target, C, self.loss, self.regularize)
            self.coef_ = self._joint_hyperplanes(source, target, y_source, y_target)


class MMDT(_MarginTransform):
    r"""Max-margin domain transform, as demonstrated by the authors of the ICLR 2013 paper [1]_.

    From W = I, `n_iterations` times: one-vs-all SVMs :math:`\theta_k` (squared hinge) from the
    labelled source samples at cost :math:`C_s` and the mapped labelled target samples at cost
    :math:`C_t`; then

    .. math:: \min_W\ \tfrac12 \|W - I\|_F^2 + \tfrac\gamma2 \sum_{kj} \xi_{kj}^2, \qquad
              s_{kj}\, \theta_k^T W \tilde x_j \ge 1 - \xi_{kj} .

    A target sample scores :math:`\theta_k^T W \tilde x` with the last of both.

    Parameters
    ----------
    C_source, C_target : float, default=0.05 and 1.0
        Costs in the SVMs; of the demo.
    gamma : float, default=1e-4
        Cost of the transform's slacks; of the demo. `C_target` has no part in it.
    n_iterations : int, default=2
        2 in the demo. 0 leaves W = I: one SVM on both domains, which shows what W adds.
    fit_intercept : bool, default=True
        Whether both domains get a constant feature, the first, regularised like the others.
    tol, max_sweeps
        Of the transform, as for :class:`LSMMDT`.
    svm_tol : float, default=0.1
        liblinear's stopping tolerance, of the demo. It is visible in the results: 1e-4 gives 0.15
        points less on Office-Caltech.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_, coef_, transform_, embeddings_, n_components_, n_features_in_
        As for :class:`LSMMDT`.

    Raises
    ------
    ValueError
        If a parameter is wrong, or a domain has no labelled sample.

    Warns
    -----
    ConvergenceWarning
        If a transform or an SVM did not reach its tolerance.

    Notes
    -----
    Cost: see :func:`solve_transform` and liblinear.

    *Departures from the authors' MATLAB.* W is solved exactly; theirs picks the most violated
    constraint until none exceeds 0.01 and never lowers a multiplier, which ends up to 10 % off in
    ||W - I|| and within 0.2 points of accuracy. Between unequal dimensions theirs leaves the
    identity out of the constraints; here it is cut off, as in :class:`LSMMDT`.

    References
    ----------
    .. [1] J. Hoffman, E. Rodner, J. Donahue, T. Darrell, K. Saenko. Efficient Learning of
       Domain-invariant Image Representations. ICLR 2013; demo.m and TrainMmdt.m of its release.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment.mmdt import MMDT
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
        **_MarginTransform._parameter_constraints,
        "gamma": _POSITIVE,
        "n_iterations": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        C_source=0.05,
        C_target=1.0,
        gamma=1e-4,
        n_iterations=2,
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
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_sweeps = max_sweeps
        self.svm_tol = svm_tol
        self.random_state = random_state

    def _alternate(self, source, target, y_source, y_target):
        self.transform_ = TransformSolution.untrained(source.shape[1], target.shape[1], "identity")
        for _ in range(self.n_iterations or 1):
            self.coef_ = self._joint_hyperplanes(source, target, y_source, y_target)
            if self.n_iterations:
                # The demo writes gamma / 2 before the sum, Eq. (1) of LS-MMDT plain C.
                self.transform_ = self._solve(
                    target, y_target, self.gamma / 2, "squared_hinge", "identity"
                )
