"""Compare predictions with the hidden labels: the only place of the benchmark that sees both."""

from collections.abc import Mapping, Sequence

import numpy as np

from workflow.lib.trials.protocols import Trial

SCHEMA_VERSION = 1
SCORES = (
    "accuracy",
    "accuracy_entire_target",
    "balanced_accuracy",
    "accuracy_seen",
    "accuracy_new",
)
COLUMNS = (
    "schema_version",
    "experiment",
    "task",
    "source",
    "target",
    "protocol",
    "method",
    "classifier",
    "setting",
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


def score(predicted: np.ndarray, labels: np.ndarray, trial: Trial) -> dict:
    """Scores of one trial.

    Parameters
    ----------
    predicted, labels : int ndarray of shape (n,)
        Predicted and true label of every row of the target domain.
    trial : Trial
        Says which rows are scored, and which of them the method saw.

    Returns
    -------
    dict
        ``accuracy`` and ``balanced_accuracy`` (mean recall over the classes that occur) on the
        scored rows, ``accuracy_entire_target`` on all rows, each in [0, 1]; ``n_scored``. Where
        the method did not see all scored rows also ``accuracy_seen`` and ``accuracy_new``, on
        those that it saw without label and on the others.
    """
    right, scored = predicted == labels, trial.scored
    recalls = [right[scored][labels[scored] == c].mean() for c in np.unique(labels[scored])]
    scores = {
        "accuracy": float(right[scored].mean()),
        "accuracy_entire_target": float(right.mean()),
        "balanced_accuracy": float(np.mean(recalls)),
        "n_scored": len(scored),
    }
    seen = np.isin(scored, trial.rows[-1])
    if seen.all():
        return scores
    scores["accuracy_new"] = float(right[scored[~seen]].mean())
    if seen.any():
        scores["accuracy_seen"] = float(right[scored[seen]].mean())
    return scores


def evaluate(
    aligned: Sequence[Mapping],
    predictions: Mapping[str, np.ndarray],
    labels: np.ndarray,
    trials: Sequence[Trial],
    n_trials: int,
    settings: Sequence,
    coordinates: Mapping,
) -> list[dict]:
    """Turn the records of one method on one task into scored records.

    Parameters
    ----------
    aligned : sequence of mappings
        One per (draw, setting, classifier), as `align` wrote them.
    predictions : mapping
        ``"<draw>/<setting>/<classifier>"`` to the predicted labels of the whole target.
    labels : int ndarray
        True labels of the target domain.
    trials : sequence of Trial
        All draws: where the protocol is varied, the trials of one setting after the other.
    n_trials : int
        Trials of one setting.
    settings : sequence
        Values of the varied quantity; ``(None,)`` where nothing is varied.
    coordinates : mapping
        Fields that all records share.
    """
    records = []
    for record in aligned:
        draw, position = record["trial"], record["setting"]
        scores = {}
        if record["status"] == "ok":
            predicted = predictions[f"{draw}/{position}/{record['classifier']}"]
            scores = score(predicted, labels, trials[draw])
        # Either the draws or the settings of the method run over the values, never both.
        place = {"trial": draw % n_trials, "setting": settings[draw // n_trials + position]}
        records.append(complete({**record, **scores, **place}, coordinates))
    return records
