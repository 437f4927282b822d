"""Linear SVM with C chosen by cross-validation on its training rows."""

from numbers import Integral

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import linear_kernel
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from domain_alignment.utils._cross_validation import (
    check_candidates,
    precomputed_svc,
    stratified_folds,
    svc_n_correct,
)
from domain_alignment.utils._memory import check_room, lasting

FEWER_ROWS = "give fewer samples, or take a classifier that compares none, such as LinearSVC"


class CrossValidatedSVC(ClassifierMixin, BaseEstimator):
    r"""Linear SVM with C chosen by cross-validation on its training rows.

    .. math:: \hat C = \arg\max_C \sum_k \sum_{i \in F_k} [\hat y_i(C, F_k) = y_i],

    over stratified folds :math:`F_k`; the first candidate wins ties.

    Parameters
    ----------
    C : sequence of float, default=(0.1, 1.0, 10.0, 100.0)
    cv : int, default=5
    random_state : int, default=0

    Attributes
    ----------
    best_C_ : float
    n_correct_ : ndarray of int of shape (len(C),)
    machine_ : SVC
        Fitted on the linear kernel of all rows with `best_C_`.
    classes_ : ndarray
    n_features_in_ : int

    Notes
    -----
    Cost: folds x candidates + 1 fits, with an (n, n) matrix in memory.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], 10)
    >>> Z = np.random.default_rng(0).normal(size=(20, 2)) + 3 * y[:, None]
    >>> CrossValidatedSVC().fit(Z, y).best_C_
    0.1
    """

    def __init__(self, C=(0.1, 1.0, 10.0, 100.0), cv=5, random_state=0):
        self.C = C
        self.cv = cv
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, Z, y):
        """Choose C and fit on all rows."""
        candidates = check_candidates("C", self.C).tolist()
        if not isinstance(self.cv, Integral) or self.cv < 2:
            raise ValueError(f"cv={self.cv!r}; give a whole number of folds from 2")
        Z, y = validate_data(self, Z, y, accept_sparse="csr")
        check_classification_targets(y)
        check_room(y.size, y.size, "the kernel matrix of the labelled samples", instead=FEWER_ROWS)
        folds = stratified_folds(y, self.cv, self.random_state, "the samples")
        # One kernel matrix for all SVMs: libsvm's own products of long sparse rows are far slower.
        K = linear_kernel(Z, dense_output=True)
        self.n_correct_ = svc_n_correct(K, y, candidates, folds)
        self.best_C_ = candidates[int(self.n_correct_.argmax())]
        self.rows_ = lasting(Z)
        self.machine_ = precomputed_svc(self.best_C_).fit(K, y)
        self.classes_ = self.machine_.classes_
        return self

    def predict(self, Z):
        """Classes of new rows."""
        check_is_fitted(self, "machine_")
        return self.machine_.predict(self._products(Z))

    def decision_function(self, Z):
        """Values of the machine for new rows, as those of :class:`sklearn.svm.SVC`."""
        check_is_fitted(self, "machine_")
        return self.machine_.decision_function(self._products(Z))

    def _products(self, Z):
        Z = validate_data(self, Z, accept_sparse="csr", reset=False)
        return linear_kernel(Z, self.rows_, dense_output=True)
