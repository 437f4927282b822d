"""Class probabilities of the scored rows: left by `align` where asked for, read by `evaluate`.

Off unless the experiment says ``probabilities: true``: they take n_scored x n_classes x 4 bytes for
every trial, setting and classifier, against 8 bytes a row of the predictions.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

# Stored in half the size of the usual float64: 7 digits.
_DTYPE = np.float32
# How far the probabilities of a row may be from summing to 1; rounding of float32 is far below.
_ROUNDING = 1e-4


class Probabilities(NamedTuple):
    """Of some rows: ``values`` of shape (n_rows, n_classes), columns by ``classes``."""

    values: np.ndarray
    classes: np.ndarray


class Predictor:
    """A model that is fitted when it is first asked, and the rows that it predicts.

    Parameters
    ----------
    fit : callable
        Returns the fitted model.
    features : array-like of shape (n, p)
        Every row of the target domain, as the model takes them.
    **place
        Further arguments of the model's ``predict`` and ``predict_proba``.
    """

    def __init__(self, fit: Callable, features, **place):
        self.fit, self.features, self.place = fit, features, place
        self.model = None

    def predict(self):
        self.model = self.fit()
        return self.model.predict(self.features, **self.place)

    def probabilities(self, rows: np.ndarray) -> Probabilities | None:
        """Of some rows, by the model that predicted; None if it gives none.

        Raises
        ------
        ValueError
            If they are not one distribution over the classes for each row.
        """
        return class_probabilities(self.model, self.features[rows], **self.place)


def class_probabilities(model, X, **place) -> Probabilities | None:
    """Of the rows of X by a fitted model; None if it gives none.

    Raises
    ------
    ValueError
        If they are not one distribution over the classes for each row.
    """
    if not hasattr(model, "predict_proba"):
        return None
    values = np.asarray(model.predict_proba(X, **place))
    classes = np.asarray(model.classes_)
    _check(values, (X.shape[0], len(classes)))
    return Probabilities(values.astype(_DTYPE), classes.astype(np.int64))


def _check(values: np.ndarray, shape: tuple[int, int]) -> None:
    if values.shape != shape or values.dtype.kind != "f":
        raise ValueError(
            f"predict_proba returned {values.dtype} of shape {values.shape}; return floats of "
            f"shape {shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError("predict_proba returned NaN or infinity")
    if (values < 0).any() or (np.abs(values.sum(axis=1) - 1) > _ROUNDING).any():
        raise ValueError("predict_proba returned rows that are no distributions over the classes")


def left_probabilities(
    name: str, predictor: Predictor, rows: np.ndarray, record: dict
) -> dict[str, np.ndarray]:
    """Arrays that a classifier leaves beside its predictions.

    Parameters
    ----------
    name : str
        The classifier.
    predictor : object
        Has ``probabilities``, as a `Predictor` after ``predict``.
    rows : int ndarray of shape (n_scored,)
        Rows of the target that the trial scores.
    record : dict
        The classifier's record. Where it has probabilities and they are of no use, a warning is
        added to it; its predictions stand.

    Returns
    -------
    dict
        ``<name>/probabilities``, float32 of shape (n_scored, n_classes), and ``<name>/classes``,
        int64 of shape (n_classes,); empty if the classifier has no ``predict_proba``.
    """
    try:
        found = predictor.probabilities(rows)
    except Exception as error:  # the predictions are as good as before
        told = f"no probabilities: {type(error).__name__}: {error}"
        record["warnings"] = [*record.get("warnings", ()), told]
        return {}
    if found is None:
        return {}
    return {f"{name}/probabilities": found.values, f"{name}/classes": found.classes}


def read_probabilities(arrays: Mapping[str, np.ndarray], name: str) -> Probabilities | None:
    """What `left_probabilities` left below a name; None if it left nothing."""
    if f"{name}/probabilities" not in arrays:
        return None
    return Probabilities(arrays[f"{name}/probabilities"], arrays[f"{name}/classes"])
