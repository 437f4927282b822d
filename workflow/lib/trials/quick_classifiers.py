"""Classifiers of scikit-learn with their answers at a fraction of their cost.

Of a tuned experiment's time the classifiers take the greater part. 1-NN and the linear SVM are
therefore fed with products of whole matrices, where scikit-learn's own compute one row at a time;
logistic regression with more features than samples is trained in the span of the samples.
"""

import itertools

import numpy as np
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.utils import gen_batches

# Entries of a matrix of products: 128 MB.
_ENTRIES = 2**24
# Ratio of squares that leaves 10 of 16 digits, and rows by which it is told.
_FAR, _ROWS = 1e6, 64
# Of a sample's square, what is its own: far below what a solver's tolerance shows, and above what
# rounding takes from the sum of all squares.
_OWN = 1e-13


def quickened(model):
    """The same classifier, still to be fitted, in a form that predicts the same classes.

    Of equal distances 1-NN takes the first row, as scikit-learn's does by brute force of dense rows
    that are not compared by cosine; else it takes any. Logistic regression predicts the same as far
    as its solver converges: of the candidates of a trial about one prediction in a thousand is
    another; up to one in twenty of raw features with large values, on which neither form converges
    soon.

    Parameters
    ----------
    model : classifier
        An unfitted classifier of scikit-learn; others than ``KNeighborsClassifier`` with one
        neighbour (euclidean or cosine), ``SVC`` with a linear kernel and ``LogisticRegression``
        by L-BFGS are returned as they are.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> one_nn = quickened(KNeighborsClassifier(n_neighbors=1))
    >>> one_nn.fit(np.array([[0.0], [1.0]]), np.array([3, 5])).predict(np.array([[0.9], [0.2]]))
    array([5, 3])
    """
    params, kind = model.get_params(), type(model).__name__
    if not type(model).__module__.startswith("sklearn."):  # another's, of the same name
        return model
    one_nn = kind == "KNeighborsClassifier" and params["n_neighbors"] == 1
    if one_nn and not params["metric_params"]:
        metric = params["metric"]
        if metric == "cosine" or (metric, params["p"]) == ("minkowski", 2) or metric == "euclidean":
            return NearestRow(cosine=metric == "cosine")
    plain = params.get("probability") is not True and not params.get("break_ties")
    if kind == "SVC" and params["kernel"] == "linear" and plain:
        return LinearKernelSVC(model)
    if kind == "LogisticRegression" and params["solver"] == "lbfgs":
        return SpanLogistic(model)
    return model


def takes_both_kinds(model) -> bool:
    """Whether the quick form of a classifier, fitted to dense rows, predicts sparse ones too."""
    return quickened(model) is not model


class NearestRow:
    r"""The class of the nearest training row, the first among ties.

    Nearest is where :math:`z^T r - \|r\|^2 / 2` is largest; of cosines, the product of unit rows.
    Where dense rows lie far from zero, whose squares would take the digits that tell them apart, r
    is what they have beyond a middle m, and :math:`m^T r` goes off too.

    Parameters
    ----------
    cosine : bool
        Distances by angle, not by difference. A row of zeros is at right angles to all others.
    """

    def __init__(self, cosine: bool):
        self.cosine = cosine

    def fit(self, Z, y: np.ndarray) -> "NearestRow":
        self.labels, self.classes_ = np.asarray(y), np.unique(y)
        middle = np.zeros(Z.shape[1])
        if not (self.cosine or sparse.issparse(Z)) and (far := _far_middle(Z)) is not None:
            middle = far
            Z = Z - middle
        squares = np.asarray((Z.multiply(Z) if sparse.issparse(Z) else Z * Z).sum(axis=1)).ravel()
        self.rows, self.lengths = Z, np.sqrt(squares)
        self.lengths[self.lengths == 0] = 1.0
        self.halves = squares / 2 + Z @ middle
        return self

    def predict(self, Z) -> np.ndarray:
        step = max(1, _ENTRIES // self.rows.shape[0])
        batches = gen_batches(Z.shape[0], step)
        return np.concatenate([self.labels[self._nearest(Z[rows])] for rows in batches])

    def _nearest(self, Z) -> np.ndarray:
        products = _products(Z, self.rows)
        nearness = products / self.lengths if self.cosine else products - self.halves
        return nearness.argmax(axis=1)


def _far_middle(Z: np.ndarray) -> np.ndarray | None:
    """The median of some rows, if it is that much longer than most are away from it; else None, and
    equal distances, as between counts, stay equal to the last digit.

    Medians, since a single row elsewhere may have all of the variance, and since they are taken off
    whole numbers exactly.
    """
    some = Z[np.linspace(0, len(Z) - 1, min(len(Z), _ROWS)).astype(int)]
    middle = np.median(some, axis=0)
    apart = np.median(((some - middle) ** 2).sum(axis=1))
    return middle if middle @ middle > _FAR * apart else None


class LinearKernelSVC:
    """A linear ``SVC`` that is handed products of rows, where they fit into memory.

    Dense or sparse, whichever it was fitted to, it predicts both.
    """

    def __init__(self, model):
        self.model = model

    def fit(self, Z, y: np.ndarray) -> "LinearKernelSVC":
        self.of_sparse = sparse.issparse(Z)
        self.rows = Z if Z.shape[0] ** 2 <= _ENTRIES else None
        made = clone(self.model)
        if self.rows is not None:
            made.set_params(kernel="precomputed")
        self.fitted = made.fit(self._seen(Z), y)
        self.classes_ = made.classes_
        few = self.rows is not None and len(made.intercept_) < Z.shape[0]
        self.weights = self._weights() if few else None
        return self

    def predict(self, Z) -> np.ndarray:
        if self.weights is None:
            return self.fitted.predict(self._seen(Z))
        values = _products(Z, self.weights) + self.fitted.intercept_
        if len(self.classes_) == 2:
            return self.classes_[(values[:, 0] >= 0).astype(int)]
        votes = np.zeros((Z.shape[0], len(self.classes_)), dtype=int)
        for pair, (first, second) in enumerate(itertools.combinations(range(votes.shape[1]), 2)):
            votes[:, first] += values[:, pair] > 0
            votes[:, second] += values[:, pair] <= 0
        return self.classes_[votes.argmax(axis=1)]

    def _weights(self) -> np.ndarray:
        """Of the machine between every two classes: fewer products than with every row."""
        fitted, n_classes = self.fitted, len(self.classes_)
        of_class = np.split(np.arange(len(fitted.support_)), np.cumsum(fitted.n_support_)[:-1])
        pairs = list(itertools.combinations(range(n_classes), 2))
        parts = np.zeros((len(pairs), len(fitted.support_)))
        for part, (first, second) in zip(parts, pairs, strict=True):
            part[of_class[first]] = fitted.dual_coef_[second - 1, of_class[first]]
            part[of_class[second]] = fitted.dual_coef_[first, of_class[second]]
        return parts @ self.rows[fitted.support_]

    def decision_function(self, Z) -> np.ndarray:
        return self.fitted.decision_function(self._seen(Z))

    def _seen(self, Z):
        if self.rows is not None:
            return _products(Z, self.rows)
        if sparse.issparse(Z) == self.of_sparse:
            return Z
        return sparse.csr_array(Z) if self.of_sparse else Z.toarray()


class SpanLogistic:
    r"""A ``LogisticRegression`` trained in coordinates of its samples' span.

    Gradients of the loss, and of a penalty on :math:`\|w\|^2`, lie in that span, and L-BFGS from
    zero takes the same steps in rotated coordinates: from n samples Z and from :math:`R^T` with
    :math:`R^T R = Z Z^T` come the same weights up to rounding, :math:`w = Z^T R^{-1} v`. A step
    costs O(n^2) in place of O(n p); the products cost O(n^2 p), once.
    """

    def __init__(self, model):
        self.model = model

    def fit(self, Z, y: np.ndarray):
        """The fitted ``LogisticRegression``, with its weights in the features of Z."""
        made = clone(self.model)
        if sparse.issparse(Z) or Z.shape[1] <= Z.shape[0]:
            return made.fit(Z, y)
        products = Z @ Z.T
        # Dependent samples have a root too, as if each had a little of a feature of its own.
        products[np.diag_indices_from(products)] += _OWN * np.trace(products)
        try:
            root = linalg.cholesky(products, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:  # samples of zeros, or so large that rounding is more
            return made.fit(Z, y)
        made.fit(root.T, y)
        made.coef_ = linalg.solve_triangular(root, made.coef_.T).T @ Z
        made.n_features_in_ = Z.shape[1]
        return made


def _products(Z, rows) -> np.ndarray:
    found = Z @ rows.T
    return found.toarray() if sparse.issparse(found) else np.asarray(found)
