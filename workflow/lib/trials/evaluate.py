"""Score predictions against held-out labels: records with every metric of the table."""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from workflow.lib.config.metrics import METRICS, Answers
from workflow.lib.storage.artifacts import SCHEMA_VERSION
from workflow.lib.trials.probabilities import Probabilities, read_probabilities
from workflow.lib.trials.protocols import HIDDEN, Trial

# Columns of a record in order, with their types as pandas names them.
COLUMNS = {
    "schema_version": "Int64",
    "experiment": "string",
    "task": "string",
    "source": "string",
    "target": "string",
    "protocol": "string",
    "method": "string",
    "classifier": "string",
    "setting": "Float64",
    "trial": "Int64",
    "status": "string",
    **{metric.name: metric.dtype for metric in METRICS.values()},
    "seconds": "Float64",
    "seconds_prepare": "Float64",
    "seconds_classify": "Float64",
    "peak_mb": "Float64",
    "n_components": "Int64",
    "candidate": "Int64",
    "warnings": "string",
    "error": "string",
}


def complete(record: Mapping, coordinates: Mapping) -> dict:
    """A record with every column, in order; missing values are None."""
    known = {"schema_version": SCHEMA_VERSION, **coordinates, **record}
    return {column: known.get(column) for column in COLUMNS}


def score(
    predicted: np.ndarray,
    labels: np.ndarray,
    trial: Trial,
    probabilities: Probabilities | None = None,
) -> dict[str, float]:
    """Every metric of one trial by name, except those that have nothing to be computed on.

    Parameters
    ----------
    predicted, labels : int ndarray of shape (n,)
        Predicted and true label of every row of the target domain; -1 where nobody knows the label:
        such rows are predicted and not scored. Without any known label there is no metric.
    trial : Trial
        Says which rows are scored, and which of them the method saw.
    probabilities : Probabilities, optional
        Of the scored rows, where the method gives them.
    """
    known = labels != HIDDEN
    answers = {
        name: Answers(predicted[rows[known[rows]]], labels[rows[known[rows]]])
        for name, rows in _rows(trial, len(labels)).items()
        if known[rows].any()
    }
    if probabilities is not None and "scored" in answers:
        values, classes = probabilities
        answers["scored"] = dataclasses.replace(
            answers["scored"], probabilities=values[known[trial.scored]], classes=classes
        )
    return {
        metric.name: metric.compute(answers[metric.rows])
        for metric in METRICS.values()
        if metric.rows in answers and metric.applies(answers[metric.rows])
    }


def _rows(trial: Trial, n_rows: int) -> dict[str, np.ndarray]:
    """Rows of the target by the names that the metrics use."""
    seen = np.isin(trial.scored, trial.rows[-1])
    return {
        "scored": trial.scored,
        "all": np.arange(n_rows),
        "seen": trial.scored[seen & ~seen.all()],
        "new": trial.scored[~seen],
    }


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
        One per (trial, setting, classifier), as `align` wrote them.
    predictions : mapping
        ``"<trial>/<setting>/<classifier>"`` to the predicted labels of the whole target, and below
        it what `left_probabilities` leaves, if the experiment asks for it.
    labels : int ndarray
        True labels of the target domain.
    trials : sequence of Trial
        All that were sampled: of a varied protocol, those of one setting after the other.
    n_trials : int
        Trials of one setting.
    settings : sequence
        Values of the varied quantity; ``(None,)`` where nothing is varied.
    coordinates : mapping
        Fields that all records share.
    """
    records = []
    for record in aligned:
        number, position = record["trial"], record["setting"]
        scores = {}
        if record["status"] == "ok":
            name = f"{number}/{position}/{record['classifier']}"
            probabilities = read_probabilities(predictions, name)
            scores = score(predictions[name], labels, trials[number], probabilities)
        # Either the protocol or the method is varied: one of the two terms is 0.
        setting = settings[number // n_trials + position]
        place = {"trial": number % n_trials, "setting": setting}
        records.append(complete({**record, **scores, **place}, coordinates))
    return records


def without_data(
    reason: str,
    methods: Sequence[str],
    classifiers: Sequence[str],
    settings: Sequence,
    n_trials: int,
    coordinates: Mapping,
) -> list[dict]:
    """Records of a task whose data is unavailable: nothing was aligned for it."""
    absent = {"status": "data_unavailable", "error": reason}
    cells = itertools.product(methods, classifiers, settings, range(n_trials))
    names = ("method", "classifier", "setting", "trial")
    return [complete(dict(zip(names, cell, strict=True)) | absent, coordinates) for cell in cells]
