"""The check that predictions pass before they are scored, and the form in which they are stored."""

from collections.abc import Sequence

import numpy as np

from workflow.lib.trials.protocols import HIDDEN

# In place of a classifier's name among a trial's arrays: the embeddings that the report draws.
PICTURE = "picture"
# Predicted labels are stored in this type, where it counts them.
STORED = np.int16


class InvalidPredictions(ValueError):
    """A prediction is not one known label for each row."""


class NonfinitePredictions(InvalidPredictions):
    """Predictions hold NaN or infinity."""


def check_predictions(
    predicted: object, n_rows: int, visible_labels: Sequence[np.ndarray]
) -> np.ndarray:
    """Predictions as an int64 array of shape (n_rows,).

    Nothing is converted, broadcast or filled in: a comparison with the true labels would turn any
    of that into a number that looks like an accuracy.

    Parameters
    ----------
    predicted : object
        What ``predict`` returned.
    n_rows : int
        Rows that were to be predicted.
    visible_labels : sequence of int ndarrays
        Labels of each domain as the trial shows them, hidden ones as `HIDDEN`. A prediction is one
        of the classes among them.

    Raises
    ------
    NonfinitePredictions
        If the predictions are numbers, and NaN or infinity is among them.
    InvalidPredictions
        If they are masked, of another shape or kind, or name a class that no visible label has.
    """
    if np.ma.isMaskedArray(predicted):
        raise InvalidPredictions("predict returned a masked array; return one label for every row")
    labels = np.asarray(predicted)
    if labels.shape != (n_rows,):
        raise InvalidPredictions(
            f"predict returned {_described(labels)} for {n_rows} rows; return shape ({n_rows},)"
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise NonfinitePredictions("predict returned NaN or infinity")
    if labels.dtype.kind not in "iu":
        raise InvalidPredictions(f"predict returned {_described(labels)}; labels are integers")
    known = np.unique(np.concatenate(visible_labels))
    unknown = np.setdiff1d(labels, known[known != HIDDEN])
    if unknown.size:
        raise InvalidPredictions(
            f"predict returned the label {unknown[0]}, a class that no visible label has"
        )
    return labels.astype(np.int64)


def as_stored(labels: np.ndarray) -> np.ndarray:
    """Predicted labels in a quarter of their bytes, where the type counts them: files of whole
    targets hold one per sample, classifier and setting, of a tuned method one per candidate.
    """
    return labels.astype(STORED if labels.max() <= np.iinfo(STORED).max else np.int64)


def _described(array: np.ndarray) -> str:
    return f"{array.dtype} of shape {array.shape}"
