"""Labels of any type as class numbers, with -1 where a row is unlabelled."""

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from domain_alignment.utils.validation import UNLABELLED


def known_labels(y, n_samples):
    """Labels as an array, and which rows are labelled.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Classes as integers, strings or booleans. Unlabelled is -1; in lists and in arrays of
        objects or floats also None and NaN.
    n_samples : int

    Returns
    -------
    y : ndarray of shape (n_samples,)
    known : ndarray of bool of shape (n_samples,)

    Raises
    ------
    ValueError
        If `y` is missing or masked, has another length, holds a string ``"-1"`` (in NumPy's arrays
        of strings also ``"nan"``), an infinity or numbers that are no class, as those below -1.

    Examples
    --------
    >>> y, known = known_labels(np.array(["cat", None, "dog"], dtype=object), 3)
    >>> y[known].tolist()
    ['cat', 'dog']
    """
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None; give one label per row of X, -1 "
            "where it is unknown"
        )
    if np.ma.isMaskedArray(y) and np.ma.is_masked(y):  # pandas' arrays have a mask too, for NA
        raise ValueError(
            f"y: {np.ma.count_masked(y)} of its labels are masked; give -1 where they are unknown "
            "(y.filled(-1))"
        )
    y = column_or_1d(_without_conversion(y), warn=True)
    y = y.astype(object) if y.dtype.kind == "T" else y  # scikit-learn knows no StringDType
    if y.shape != (n_samples,):
        raise ValueError(
            f"y: labels have shape {y.shape} for {n_samples} samples; give one label per sample, "
            "-1 where it is unknown"
        )
    known = _labelled(y)
    _check_strings(y)
    if known.any():
        labels = _of_one_type(y[known])
        check_classification_targets(labels)
        _check_not_negative(labels, np.flatnonzero(known))
    return y, known


def _check_not_negative(labels, rows):
    """Raise ``ValueError`` for numbers below 0 among the labels of these rows."""
    if labels.dtype.kind in "if" and labels.min() < 0:
        least = labels.argmin()
        raise ValueError(
            f"y: label {labels[least]} at row {rows[least]}; labels count from 0, -1 is unlabelled"
        )


def _without_conversion(y):
    """A list that holds strings as an array of objects: NumPy makes strings of -1 and NaN there.

    So too what has a data type of pandas: of its whole numbers with NA, NumPy makes floats.
    """
    if not isinstance(getattr(y, "dtype", np.dtype(object)), np.dtype):
        return np.asarray(y, dtype=object)
    if not isinstance(y, list | tuple):
        return y
    labels = np.array(y, dtype=object)
    return labels if any(isinstance(label, str) for label in labels.flat) else y


def _check_strings(y):
    """Raise ``ValueError`` for a string that stands for an unlabelled row, and would be a class."""
    for marker in {"U": ("-1", "nan"), "O": ("-1",)}.get(y.dtype.kind, ()):
        rows = [row for row, label in enumerate(y) if isinstance(label, str) and label == marker]
        if rows:
            raise ValueError(
                f"y: row {rows[0]} holds the string {marker!r}; NumPy and tables make strings of "
                "mixed labels: give np.array(labels, dtype=object) with -1 or None where a row is "
                "unlabelled"
            )


def _labelled(y):
    if y.dtype.kind == "f":
        if np.isinf(y).any():
            raise ValueError(
                f"Input y contains infinity (first at row {np.argmax(np.isinf(y))}); give -1 "
                "where a label is unknown"
            )
        return ~np.isnan(y) & (y != UNLABELLED)
    if y.dtype.kind == "O":
        # pandas' NA is neither equal nor unequal to anything.
        return np.array([not (_missing(label) or label == UNLABELLED) for label in y], dtype=bool)
    return y != UNLABELLED if y.dtype.kind in "iu" else np.ones(len(y), dtype=bool)


def _missing(label):
    return label is None or type(label).__name__ == "NAType" or label != label  # NaN


def _of_one_type(labels):
    """Labels of an array of objects as strings or numbers, whichever they are."""
    if labels.dtype.kind != "O":
        return labels
    kinds = {isinstance(label, str) for label in labels}
    if len(kinds) > 1:
        other = next(label for label in labels if not isinstance(label, str))
        raise ValueError(
            f"y: holds strings and others, such as {other!r}; give labels of one type, -1 or None "
            "where a row is unlabelled"
        )
    return np.array(labels.tolist())


def check_comparable(labels, classes):
    """Raise ``ValueError`` unless labels are strings where the classes of fit are, and only there.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Of labelled rows.
    classes : ndarray of shape (n_classes,)

    Examples
    --------
    >>> check_comparable(np.array(["1", "0"]), np.array([0, 1]))
    Traceback (most recent call last):
        ...
    ValueError: y: holds labels of type str, such as '1', and fit had int, such as 0; none can ...
    """
    given, fitted = _of_one_type(labels).tolist()[0], _of_one_type(classes).tolist()[0]
    if isinstance(given, str) != isinstance(fitted, str):
        raise ValueError(
            f"y: holds labels of type {type(given).__name__}, such as {given!r}, and fit had "
            f"{type(fitted).__name__}, such as {fitted!r}; none can be right, give labels as in fit"
        )


def class_numbers(y, known):
    """Sorted classes of the labelled rows, and every row's position among them (-1: unlabelled).

    Examples
    --------
    >>> y, known = known_labels(np.array(["cat", -1, "ant"], dtype=object), 3)
    >>> classes, codes = class_numbers(y, known)
    >>> classes.tolist(), codes.tolist()
    (['ant', 'cat'], [1, -1, 0])
    """
    classes, positions = np.unique(_of_one_type(y[known]), return_inverse=True)
    codes = np.full(len(y), UNLABELLED)
    codes[known] = positions
    return classes, codes
