"""Cross-validation on labelled rows."""

from numbers import Integral

import numpy as np
from sklearn import config_context
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils import assert_all_finite, check_random_state

from domain_alignment.utils.validation import UNLABELLED


def predicted_right(predict, y, folds):
    """Whether each row is predicted correctly when held out.

    Parameters
    ----------
    predict : callable
        ``predict(kept, left_out)``, both arrays of row indices, returns the classes of the held-out
        rows, of shape (n_left_out,), or (n_models, n_left_out) for several models.
    y : ndarray of int of shape (n,)
    folds : ndarray of int of shape (n,)
        The fold in which each row is held out, from 0.

    Returns
    -------
    correct : ndarray of bool of shape (n,) or (n_models, n)

    Examples
    --------
    >>> y, folds = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> predicted_right(lambda kept, left_out: y[kept[:1]].repeat(len(left_out)), y, folds)
    array([ True,  True, False, False])
    """
    parts = {}
    for fold in range(folds.max() + 1):
        kept, left_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        parts[fold] = np.asarray(predict(kept, left_out)) == y[left_out]
    correct = np.empty((*parts[0].shape[:-1], y.size), dtype=bool)
    for fold, part in parts.items():
        correct[..., folds == fold] = part
    return correct


def stratified_folds(y, cv, random_state, samples):
    """The fold of each row, by scikit-learn's shuffled ``StratifiedKFold``.

    Folds depend on the labels and the seed only, so that different searches share them.

    Parameters
    ----------
    y : ndarray of int of shape (n,)
    cv : int
        Number of folds; at most the number of rows of the rarest class.
    random_state : int
    samples : str
        Name of the rows in messages.

    Returns
    -------
    folds : ndarray of int of shape (n,)

    Raises
    ------
    ValueError
        If there are fewer than two classes, or a class has fewer than two rows.
    """
    classes, counts = np.unique(y, return_counts=True)
    if classes.size < 2 or counts.min() < 2:
        raise ValueError(
            f"{samples} hold {classes.size} class(es), the rarest with {counts.min(initial=y.size)}"
            " sample(s); cross-validation needs 2 classes with 2 samples each, so label more or "
            "fix the parameters"
        )
    splits = StratifiedKFold(min(cv, counts.min()), shuffle=True, random_state=random_state)
    folds = np.empty(y.size, dtype=np.intp)
    for fold, (_, left_out) in enumerate(splits.split(y, y)):
        folds[left_out] = fold
    return folds


def check_candidates(name, values):
    """Numbers to choose from as an array; ``ValueError`` unless there is one, and all are positive.

    Infinity is none of them.
    """
    found = np.asarray(values)
    numbers = found.ndim == 1 and found.size and found.dtype.kind in "iuf"
    if not numbers or not ((found > 0) & (found < np.inf)).all():
        raise ValueError(f"{name}={values!r}; give a list of at least one candidate, all positive")
    return found


def folds_of_classes(ys, cv, random_state):
    """The fold in which each label is hidden, stratified by domain and class.

    Unlike :func:`stratified_folds` it takes any labels: a class keeps at least one label of each
    domain in every fold, and where it has only one, that one is never hidden.

    Parameters
    ----------
    ys : list of ndarray of int of shape (n_a,)
        Labels of each domain; -1 is unlabelled.
    cv : int
        Number of folds, at least 2.
    random_state : int, RandomState or None

    Returns
    -------
    folds : list of ndarray of int of shape (n_a,)
        -1 for rows that are unlabelled or never hidden.

    Raises
    ------
    ValueError
        If there are fewer than two folds.

    Examples
    --------
    >>> folds_of_classes([np.array([0, 0, 1, -1])], 2, 0)
    [array([ 1,  0, -1, -1])]
    """
    if not isinstance(cv, Integral) or cv < 2:
        raise ValueError(f"cv={cv}: labels are held out in at least 2 folds, a whole number")
    rng = check_random_state(random_state)
    folds, n_dealt = [], 0
    for y in ys:
        dealt = np.full(y.size, -1)
        for label in np.unique(y[y != UNLABELLED]):
            rows = rng.permutation(np.flatnonzero(y == label))
            if rows.size > 1:
                # Going on where the last class ended keeps the folds equal in size.
                dealt[rows] = (n_dealt + np.arange(rows.size)) % cv
                n_dealt += rows.size
        folds.append(dealt)
    return folds


def precomputed_svc(C, **options):
    """An SVM on kernel matrices, with a seed that changes nothing.

    Without one its fit draws from NumPy's global generator, for probabilities that are not asked.
    """
    return SVC(C=C, kernel="precomputed", random_state=0, **options)


def svc_n_correct(K, y, costs, folds, max_iter=-1):
    """Number of held-out rows that SVMs predict correctly, for each cost.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel of the rows, shared by all folds and costs.
    y, folds
        As for :func:`predicted_right`.
    costs : sequence of float
        Values of C, positive.
    max_iter : int, default=-1
        Iteration limit of each SVM; none by default.

    Returns
    -------
    n_correct : ndarray of int of shape (n_costs,)

    Raises
    ------
    ValueError
        If `K` holds NaN or infinity.
    """

    def predict(kept, left_out):
        known, asked = K[np.ix_(kept, kept)], K[np.ix_(left_out, kept)]
        machines = (precomputed_svc(C, max_iter=max_iter) for C in costs)
        return [machine.fit(known, y[kept]).predict(asked) for machine in machines]

    assert_all_finite(K, input_name="X")
    # Once for all: on few rows scikit-learn's checks of each machine take longer than libsvm.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return predicted_right(predict, y, folds).sum(axis=1)
