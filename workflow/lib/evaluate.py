"""Compare predictions with the hidden labels: the only place of the benchmark that sees both."""

from collections.abc import Mapping, Sequence

import numpy as np

SCHEMA_VERSION = 1
SCORES = ("accuracy", "accuracy_entire_target", "balanced_accuracy")
COLUMNS = (
    "schema_version",
    "experiment",
    "task",
    "source",
    "target",
    "protocol",
    "method",
    "classifier",
    "trial",
    "status",
    *SCORES,
    "n_scored",
    "seconds",
    "seconds_prepare",
    "seconds_classify",
    "peak_mb",
    "n_components",
    "warnings",
    "error",
)


def complete(record: Mapping, coordinates: Mapping) -> dict:
    """A record with every column, in order; what it does not say is None."""
    known = {"schema_version": SCHEMA_VERSION, **coordinates, **record}
    return {column: known.get(column) for column in COLUMNS}


def score(predicted: np.ndarray, labels: np.ndarray, scored: np.ndarray) -> dict:
    """Scores of one trial.

    Parameters
    ----------
    predicted, labels : int ndarray of shape (n,)
        Predicted and true label of every row of the target domain.
    scored : int ndarray
        Rows that the protocol scores.

    Returns
    -------
    dict
        ``accuracy`` and ``balanced_accuracy`` (mean recall over the classes that occur) on the
        scored rows, ``accuracy_entire_target`` on all rows, each in [0, 1]; ``n_scored``.
    """
    right = predicted == labels
    recalls = [right[scored][labels[scored] == c].mean() for c in np.unique(labels[scored])]
    return {
        "accuracy": float(right[scored].mean()),
        "accuracy_entire_target": float(right.mean()),
        "balanced_accuracy": float(np.mean(recalls)),
        "n_scored": len(scored),
    }


def evaluate(
    aligned: Sequence[Mapping],
    predictions: Mapping[str, np.ndarray],
    labels: np.ndarray,
    scored: Sequence[np.ndarray],
    coordinates: Mapping,
) -> list[dict]:
    """Turn the records of one method on one task into scored records.

    Parameters
    ----------
    aligned : sequence of mappings
        One per (trial, classifier), as `align` wrote them.
    predictions : mapping
        ``"<trial>/<classifier>"`` to the predicted labels of the whole target.
    labels : int ndarray
        True labels of the target domain.
    scored : sequence of int ndarray
        Scored rows, by trial.
    coordinates : mapping
        Fields that all records share.
    """
    records = []
    for record in aligned:
        scores = {}
        if record["status"] == "ok":
            predicted = predictions[f"{record['trial']}/{record['classifier']}"]
            scores = score(predicted, labels, scored[record["trial"]])
        records.append(complete({**record, **scores}, coordinates))
    return records
