"""The metrics: one entry each, from which records, summaries, tables and MLflow's runs follow.

In `config`, because the names of columns and tables are known before anything has run. No job that
aligns reads it: after a change the predictions are scored again, and nothing is fitted.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

# What summary.csv says of a metric over the trials of a cell: ``<metric>_<statistic>``.
MEAN = ("mean",)
SPREAD = ("mean", "std")
INTERVAL = ("mean", "std", "standard_error", "low", "high")


@dataclasses.dataclass(frozen=True)
class Metric:
    """One number about the predictions of one trial.

    Attributes
    ----------
    name : str
        Column of records.csv, metric in MLflow, and name of the table if it has one.
    title : str
        Heading of a column.
    words : str
        What it is, for captions.
    compute : callable
        ``(predicted, labels) -> number`` from two int arrays of shape (n_rows,), n_rows > 0.
    rows : {"scored", "all", "seen", "new"}
        Rows of the target that `compute` is given: those that the trial scores, every row, or
        of the scored rows those that the method saw without their label and those that it did not.
        Where every scored row was seen there is neither ``"seen"`` nor ``"new"``.
    summary : tuple of str
        Statistics over the trials of a cell.
    shown : {"table", "measures", ""}
        In a table of its own (task by task), as a column of the table of other measures, or not by
        itself. Such a metric is a share, shown in percent.
    dtype : str
        Type of the column, as pandas names it.
    """

    name: str
    title: str
    words: str
    compute: Callable[[np.ndarray, np.ndarray], float]
    rows: str = "scored"
    summary: tuple[str, ...] = MEAN
    shown: str = ""
    dtype: str = "Float64"


def accuracy(predicted: np.ndarray, labels: np.ndarray) -> float:
    """Share of the rows whose prediction is right."""
    return float((predicted == labels).mean())


def recalls(predicted: np.ndarray, labels: np.ndarray) -> list[float]:
    """Accuracy on the rows of each class that occurs in `labels`."""
    return [(predicted == labels)[labels == c].mean() for c in np.unique(labels)]


def balanced_accuracy(predicted: np.ndarray, labels: np.ndarray) -> float:
    """Mean accuracy of the classes that occur in `labels`."""
    return float(np.mean(recalls(predicted, labels)))


def worst_class_accuracy(predicted: np.ndarray, labels: np.ndarray) -> float:
    """Accuracy of the class, of those that occur in `labels`, on which it is lowest."""
    return float(np.min(recalls(predicted, labels)))


def macro_f1(predicted: np.ndarray, labels: np.ndarray) -> float:
    r"""Mean over the classes that occur in `labels` of :math:`F_1 = 2 TP / (2 TP + FP + FN)`.

    A class that is predicted and never occurs has no term of its own; predicting it costs the
    classes whose rows it takes.
    """
    scores = []
    for c in np.unique(labels):
        found, true = predicted == c, labels == c
        # 2 TP + FP + FN counts the rows of both kinds, those in common twice.
        scores.append(2 * (found & true).sum() / (found.sum() + true.sum()))
    return float(np.mean(scores))


METRICS = {
    metric.name: metric
    for metric in (
        Metric(
            "accuracy",
            "Accuracy",
            "accuracy on the scored target rows",
            accuracy,
            summary=INTERVAL,
            shown="table",
        ),
        Metric(
            "accuracy_entire_target",
            "Accuracy, entire target",
            "accuracy on the entire target",
            accuracy,
            rows="all",
            summary=INTERVAL,
            shown="table",
        ),
        Metric(
            "balanced_accuracy",
            "Balanced accuracy",
            "mean over the classes of the accuracy on the scored target rows",
            balanced_accuracy,
            shown="measures",
        ),
        Metric(
            "macro_f1",
            "Macro F1",
            "mean over the classes of the F1 score on the scored target rows",
            macro_f1,
            shown="measures",
        ),
        Metric(
            "worst_class_accuracy",
            "Worst class",
            "accuracy on the scored target rows of the class on which it is lowest",
            worst_class_accuracy,
            shown="measures",
        ),
        Metric(
            "accuracy_seen",
            "Accuracy, seen",
            "accuracy on the scored target rows that the method saw without their label",
            accuracy,
            rows="seen",
            summary=SPREAD,
        ),
        Metric(
            "accuracy_new",
            "Accuracy, new",
            "accuracy on the scored target rows that are new to the method",
            accuracy,
            rows="new",
            summary=SPREAD,
        ),
        Metric(
            "n_scored",
            "Scored rows",
            "number of scored target rows",
            lambda predicted, labels: len(labels),
            summary=(),
            dtype="Int64",
        ),
    )
}


def shown_as(kind: str) -> list[Metric]:
    """Metrics with a table of their own (``"table"``) or a column of ``"measures"``, in order."""
    return [metric for metric in METRICS.values() if metric.shown == kind]
