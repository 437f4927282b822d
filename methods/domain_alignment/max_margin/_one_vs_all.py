"""One-vs-all support vector machines for any number of classes."""

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from domain_alignment.utils.validation import check_labels, check_matrix

MAX_SWEEPS = 10_000  # liblinear's default of 1000 is too few for hard margins


def one_vs_all(X, y, weights, n_classes, *, tol=0.1, random_state=None):
    r"""One-vs-all hyperplanes, by scikit-learn's liblinear.

    For each class k, with :math:`s_i = 1` if :math:`y_i = k` and -1 otherwise,

    .. math:: \min_\theta\ \tfrac12 \|\theta\|^2
              + \sum_i c_i \max(0, 1 - s_i \theta^T x_i)^2

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        For a bias, add a column of ones; it is regularised like the rest.
    y : ndarray of int of shape (n,)
        Classes 0 to n_classes - 1; classes may be empty.
    weights : ndarray of shape (n,)
        c.
    n_classes : int
    tol : float, default=0.1
        liblinear's tolerance on the projected gradient, 0.1 as in its default.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    coef : ndarray of shape (n_classes, p)

    Raises
    ------
    ValueError
        If a label is not a class, or labels or weights do not match the samples.

    Notes
    -----
    With fewer than three nonempty classes liblinear returns another form. So every missing class
    gets one sample of zeros, which adds only a constant to the objectives since all hyperplanes
    score it 0. The hyperplane of an empty class pushes all samples away.

    Cost: O(n_classes n p) per pass over the samples.
    """
    X, y, weights = check_matrix(X), check_labels(y, X.shape[0]), np.asarray(weights, dtype=float)
    if y.min() < 0 or y.max() >= n_classes:
        raise ValueError(f"y: labels are {y.min()} to {y.max()}; classes are 0 to {n_classes - 1}")
    if weights.shape != y.shape:
        raise ValueError(f"weights have shape {weights.shape}; give one for each of {len(y)} rows")
    missing = np.setdiff1d(np.arange(max(n_classes, 3)), y)
    if missing.size:
        zeros = np.zeros((missing.size, X.shape[1]))
        X = sparse.vstack([X, zeros], format="csr") if sparse.issparse(X) else np.r_[X, zeros]
        y, weights = np.r_[y, missing], np.r_[weights, np.ones(missing.size)]
    svm = LinearSVC(
        tol=tol, fit_intercept=False, dual=True, max_iter=MAX_SWEEPS, random_state=random_state
    )
    return svm.fit(X, y, sample_weight=weights).coef_[:n_classes]
