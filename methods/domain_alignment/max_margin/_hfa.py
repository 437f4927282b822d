"""Heterogeneous feature augmentation."""

from typing import ClassVar

import numpy as np
from scipy.linalg import block_diag
from sklearn.utils.extmath import row_norms

from domain_alignment.base import Aligner, Capabilities, ClassScoresMixin
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernels._pairwise import (
    PAIRWISE_KERNELS,
    distances,
    has_gamma,
    kernel_matrix,
)
from domain_alignment.utils._cross_validation import precomputed_svc
from domain_alignment.utils._memory import FEWER_LABELS, check_room
from domain_alignment.utils._params import COUNT, NOT_NEGATIVE, POSITIVE, StrOptions
from domain_alignment.utils._rows import unit_rows
from domain_alignment.utils.validation import domain_name, require_labelled

__all__ = ["HFA"]


class HFA(ClassScoresMixin, Aligner):
    r"""Heterogeneous feature augmentation: one SVM on domains with different features.

    **It transfers only a bias.** The decision function of target samples depends on the labelled
    target samples and, through the shared bias of each class, on the source. Expect the accuracy of
    a target-only SVM with the kernel :math:`(1 + \lambda) k_T`.

    Features are augmented to :math:`(P x, x, 0)` and :math:`(Q y, 0, y)`, with P and Q learned by
    the SVM. With :math:`K = \mathrm{blkdiag}(K_S, K_T)`, :math:`\beta = \alpha \circ y` and
    :math:`H = (P, Q)^T (P, Q)`, the one-vs-all problem of each class is ([1]_; [2]_ with p = 1)

    .. math:: \min_{H \succeq 0,\ \mathrm{tr} H \le \lambda}\ \max_\alpha\
              1^T\alpha - \tfrac12 \beta^T K^{1/2} (H + I) K^{1/2} \beta, \qquad
              0 \le \alpha \le C, \quad y^T\alpha = 0 .

    It is linear in H and concave in :math:`\alpha`, so min and max can be exchanged. The optimal H
    for given :math:`\alpha` is :math:`\lambda v v^T / \|v\|^2` with :math:`v = K^{1/2} \beta`, with
    the value :math:`1^T\alpha - \tfrac12 (1 + \lambda) \beta^T K \beta`. Hence :math:`\alpha`
    solves **one SVM with the kernel** :math:`(1 + \lambda) K`, and a target sample scores
    :math:`(1 + \lambda)\, k_T(y)^T \beta_T + b`. The authors' program adds rank-one terms to H, one
    SVM each, and converges to the same solution.

    Parameters
    ----------
    trace : float, default=100.0
        :math:`\lambda`, the trace bound of H; 100 in the authors' program. 0 gives a plain SVM.
    C_source, C_target : float, default=1.0
        Costs of the labelled samples; 1 in the program.
    kernel : {"rbf", "linear", "cosine", "laplacian"} or callable, default="rbf"
    gamma : "mean" or float, default="mean"
        For "rbf" and "laplacian". "mean", as in the program: one over the mean of all n_a^2
        (squared) distances between the labelled samples of each domain.
    unit_rows : bool, default=True
        Whether rows are first scaled to unit norm, as in the program.
    tol : float, default=1e-6
        Gradient tolerance of libsvm.
    max_iter : int, default=1_000_000
        Iteration limit of each SVM (libsvm's own is 10 million, scikit-learn has none): on features
        of large or very different scales, as with the linear kernel and ``unit_rows=False``, it
        might not stop by itself.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of either domain.
    dual_coef_ : ndarray of shape (n_classes, n)
        :math:`(1 + \lambda) \beta` on the labelled samples, source first.
    intercept_ : ndarray of shape (n_classes,)
        The bias b.
    gammas_ : list of float or None
        gamma of each domain's kernel, None if it has none.
    embeddings_ : list of ndarray of shape (n_a, n_classes)
        Class scores; the learned H has rank one per class.
    n_components_ : int
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If a domain has no labelled sample, or all labels are of one class.
    AlignmentError
        If ``gamma="mean"`` and the labelled samples of a domain are all equal, or this machine
        cannot hold their kernel matrix.

    Warns
    -----
    ConvergenceWarning
        If an SVM stopped at `max_iter`.

    Notes
    -----
    *Cost*, for l labelled samples: O(l_S^2 p_S + l_T^2 p_T) for the kernels, one run of libsvm per
    class, O(n_classes l^3) for all at most, and O(n l_a p_a) to embed or classify n samples.
    Memory: O(l^2 + n l_a), and O(n p) for rows scaled to unit length.

    *A class without labelled samples in a domain* has only negative samples there.

    *Not implemented.* p > 1 in [2]_ and the semi-supervised version are different problems without
    this reduction; the demo of the latter takes class proportions from the test labels.

    References
    ----------
    .. [1] L. Duan, D. Xu, I. W. Tsang. Learning with Augmented Features for Heterogeneous Domain
       Adaptation. ICML 2012.
    .. [2] W. Li, L. Duan, D. Xu, I. W. Tsang. Learning with Augmented Features for Supervised and
       Semi-supervised Heterogeneous Domain Adaptation. IEEE TPAMI 36(6), 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import HFA
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 3
    >>> source = 4 * np.eye(3)[y] + rng.normal(size=(60, 3))
    >>> target = 4 * np.eye(3, 5)[y] + rng.normal(size=(60, 5))
    >>> seen = np.where(np.arange(60) < 9, y, -1)
    >>> hfa = HFA().fit([source, target], [y, seen])
    >>> bool(np.mean(hfa.predict(target) == y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "trace": NOT_NEGATIVE,
        "C_source": POSITIVE,
        "C_target": POSITIVE,
        "kernel": [StrOptions(set(PAIRWISE_KERNELS)), callable],
        "gamma": [StrOptions({"mean"}), *POSITIVE],
        "unit_rows": ["boolean"],
        "tol": POSITIVE,
        "max_iter": COUNT,
    }

    def __init__(
        self,
        trace=100.0,
        C_source=1.0,
        C_target=1.0,
        kernel="rbf",
        gamma="mean",
        unit_rows=True,
        tol=1e-6,
        max_iter=1_000_000,
    ):
        self.trace = trace
        self.C_source = C_source
        self.C_target = C_target
        self.kernel = kernel
        self.gamma = gamma
        self.unit_rows = unit_rows
        self.tol = tol
        self.max_iter = max_iter

    @property
    def capabilities(self):
        """Capabilities of this instance; scaling rows to unit norm is nonlinear too."""
        return Capabilities(
            labels="source+target",
            heterogeneous=True,
            nonlinear=self.unit_rows or self.kernel != "linear",
        )

    @property
    def classifier_rows(self):
        """Both domains, as in the estimator itself."""
        return "source+target"

    def _fit(self, Xs, ys, models):
        why = "HFA learns from labels of both domains"
        labelled = [require_labelled(y, domain, why) for domain, y in enumerate(ys)]
        y = np.concatenate([y[rows] for y, rows in zip(ys, labelled, strict=True)])
        self.classes_ = np.unique(y)
        if self.classes_.size < 2:
            raise ValueError(f"all labelled samples are of class {y[0]}; an SVM needs two classes")
        what = "HFA: the kernel matrix of the labelled samples"
        check_room(y.size, y.size, what, n_arrays=1.5, instead=FEWER_LABELS)  # and of each domain
        self._samples = [self._scaled(X[rows]) for X, rows in zip(Xs, labelled, strict=True)]
        kernels = self._training_kernels()
        self._solve((1 + self.trace) * block_diag(*kernels), y, len(kernels[0]))
        return [self._transform(X, domain) for domain, X in enumerate(Xs)]

    def _scaled(self, X):
        return unit_rows(X) if self.unit_rows else X

    def _training_kernels(self):
        self.gammas_, kernels = [], []
        for domain, X in enumerate(self._samples):
            if not has_gamma(self.kernel):
                self.gammas_.append(None)
                kernels.append(kernel_matrix(X, X, self.kernel))
                continue
            D = distances(X, X, self.kernel)
            gamma = (
                mean_gamma(D, _rounding(X, self.kernel), domain)
                if self.gamma == "mean"
                else self.gamma
            )
            self.gammas_.append(gamma)
            kernels.append(np.exp(-gamma * D))
        return kernels

    def _solve(self, K, y, n_source):
        """Fit one one-vs-all SVM per class."""
        costs = np.repeat([self.C_source, self.C_target], [n_source, len(y) - n_source])
        self.dual_coef_ = np.zeros((self.classes_.size, len(y)))
        self.intercept_ = np.empty(self.classes_.size)
        for number, label in enumerate(self.classes_):
            svm = precomputed_svc(1.0, tol=self.tol, max_iter=self.max_iter)
            svm.fit(K, y == label, sample_weight=costs)
            self.dual_coef_[number, svm.support_] = (1 + self.trace) * svm.dual_coef_[0]
            self.intercept_[number] = svm.intercept_[0]

    def _transform(self, X, domain):
        n_source = self._samples[0].shape[0]
        columns = slice(n_source, None) if domain else slice(n_source)
        K = kernel_matrix(self._scaled(X), self._samples[domain], self.kernel, self.gammas_[domain])
        return K @ self.dual_coef_[:, columns].T + self.intercept_

    def _class_scores(self, X, domain):
        return self._embed(X, domain)


def _rounding(X, kernel):
    """Distances of samples that differ by the rounding of their entries alone, as of a scaling."""
    apart = 8 * np.finfo(float).eps * row_norms(X)
    apart = apart + apart[:, None]
    return apart**2 if kernel == "rbf" else np.sqrt(X.shape[1]) * apart


def mean_gamma(distances, rounding, domain):
    """One over the mean of all pairwise distances, including those of samples to themselves.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
    rounding : ndarray of shape (n, n)
        Distances up to which two samples may be equal.
    domain : int
        Position of the domain, for messages.

    Raises
    ------
    AlignmentError
        If all are equal.
    """
    mean = distances.mean()
    if not (mean > 0 and (distances > rounding).any()):
        raise AlignmentError(
            f'{domain_name(domain)}: its labelled samples are all equal, so gamma="mean" is '
            "undefined; give gamma as a number"
        )
    return float(1 / mean)
