"""The metrics: one entry each, from which records, summaries, tables and MLflow's runs follow.

In `config`, because the names of columns and tables are known before anything has run. No job that
aligns reads it: after a change the predictions are scored again, and nothing is fitted.
"""

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

# What summary.csv says of a metric over the trials of a cell: ``<metric>_<statistic>``.
MEAN = ("mean",)
SPREAD = ("mean", "std")
INTERVAL = ("mean", "std", "standard_error", "low", "high")


# Bins of the calibration error, as in the experiments of Guo et al. 2017.
CALIBRATION_BINS = 15
# Below this a probability counts as this: in float32 it cannot be told from 0, whose logarithm
# would let one row decide the mean. scikit-learn's `log_loss` does the same for float32.
LEAST_PROBABILITY = float(np.finfo(np.float32).eps)


@dataclasses.dataclass(frozen=True)
class Answers:
    """What a method said of some rows beside the truth; counts by class are made once.

    Attributes
    ----------
    predicted, labels : int ndarray of shape (n_rows,)
        Classes from 0; n_rows > 0.
    probabilities : float ndarray of shape (n_rows, n_classes) or None
        Of the same rows in the same order, where the method gives them.
    classes : int ndarray of shape (n_classes,) or None
        Whose columns these are.
    """

    predicted: np.ndarray
    labels: np.ndarray
    probabilities: np.ndarray | None = None
    classes: np.ndarray | None = None

    @functools.cached_property
    def right(self) -> np.ndarray:
        """Whether the prediction is right, by row."""
        return self.predicted == self.labels

    @functools.cached_property
    def counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each class that occurs in `labels`: rows, rows predicted as it, and right ones."""
        n_classes = int(max(self.labels.max(), self.predicted.max())) + 1
        rows, named, right = (
            np.bincount(classes, minlength=n_classes)
            for classes in (self.labels, self.predicted, self.labels[self.right])
        )
        occurs = rows > 0
        return rows[occurs], named[occurs], right[occurs]

    @functools.cached_property
    def recalls(self) -> np.ndarray:
        """Accuracy on the rows of each class that occurs in `labels`."""
        rows, _, right = self.counts
        return right / rows


@dataclasses.dataclass(frozen=True)
class Metric:
    """One number about the answers of one trial.

    Attributes
    ----------
    name : str
        Column of records.csv, metric in MLflow, and name of the table if it has one.
    title : str
        Heading of a column.
    words : str
        What it is, for captions.
    compute : callable
        ``(Answers) -> number``.
    rows : {"scored", "all", "seen", "new"}
        Rows of the target that `compute` is given: those that the trial scores, every row, or
        of the scored rows those that the method saw without their label and those that it did not.
        Where every scored row was seen there is neither ``"seen"`` nor ``"new"``.
    summary : tuple of str
        Statistics over the trials of a cell.
    shown : {"table", "measures", ""}
        In a table of its own (task by task; only of shares of which the highest is the best), as a
        column of the table of other measures where a record has it, or not by itself.
    dtype : str
        Type of the column, as pandas names it.
    reads : {"predictions", "probabilities"}
        What it is computed from. Probabilities are those of the scored rows.
    is_share : bool
        Whether it is shown in percent.
    lower_is_better : bool
        Which end of the scale is the good one.
    """

    name: str
    title: str
    words: str
    compute: Callable[[Answers], float]
    rows: str = "scored"
    summary: tuple[str, ...] = MEAN
    shown: str = ""
    dtype: str = "Float64"
    reads: str = "predictions"
    is_share: bool = True
    lower_is_better: bool = False

    def __post_init__(self) -> None:
        if self.shown == "table" and (self.lower_is_better or not self.is_share):
            raise ValueError(
                f"metric {self.name}: a table of its own has percentages of which the highest is "
                'the best; show it as a column: shown="measures"'
            )

    def applies(self, answers: Answers) -> bool:
        """Whether these answers hold what the metric is computed from."""
        return self.reads == "predictions" or answers.probabilities is not None

    @property
    def scale(self) -> int:
        """Factor from the records to what is shown: 100 for a share."""
        return 100 if self.is_share else 1


def accuracy(answers: Answers) -> float:
    """Share of the rows whose prediction is right."""
    return float(answers.right.mean())


def balanced_accuracy(answers: Answers) -> float:
    """Mean accuracy of the classes that occur in the labels."""
    return float(answers.recalls.mean())


def worst_class_accuracy(answers: Answers) -> float:
    """Accuracy of the class, of those that occur in the labels, on which it is lowest."""
    return float(answers.recalls.min())


def macro_f1(answers: Answers) -> float:
    r"""Mean over the classes that occur in the labels of :math:`F_1 = 2 TP / (2 TP + FP + FN)`.

    A class that is predicted and never occurs has no term of its own; predicting it costs the
    classes whose rows it takes.
    """
    rows, named, right = answers.counts
    # 2 TP + FP + FN counts the rows of both kinds, those in common twice.
    return float((2 * right / (named + rows)).mean())


def log_loss(answers: Answers) -> float:
    """Mean of the negative natural logarithm of the probability given to the true class.

    A class without a column has probability 0; what is below `LEAST_PROBABILITY` counts as it.
    """
    true = answers.classes == answers.labels[:, None]
    given = (answers.probabilities * true).sum(axis=1, dtype=np.float64)
    return float(-np.log(np.maximum(given, LEAST_PROBABILITY)).mean())


def calibration_error(answers: Answers) -> float:
    r"""Expected calibration error of the largest probability (Guo et al. 2017 [1]_, Eq. 3).

    :math:`\sum_b (n_b / n) |acc(b) - conf(b)|` over `CALIBRATION_BINS` bins of equal width, bin b
    from :math:`(b - 1) / B` (excluded) to :math:`b / B`. Right is a row whose most probable class
    is the true one, the first of equals; a classifier's prediction may be another.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger. On Calibration of Modern Neural Networks.
       ICML 2017.
    """
    confidence = answers.probabilities.max(axis=1).astype(np.float64)
    right = answers.classes[answers.probabilities.argmax(axis=1)] == answers.labels
    edges = np.arange(1, CALIBRATION_BINS) / CALIBRATION_BINS
    bins = np.searchsorted(edges, confidence, side="left")
    # Over the rows of a bin, n_b (acc - conf) is the sum of right - confidence.
    gaps = np.bincount(bins, weights=right - confidence)
    return float(np.abs(gaps).sum() / len(confidence))


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
            "log_loss",
            "Log loss",
            "mean negative logarithm (nats) of the probability of the true class on the scored "
            f"target rows, probabilities below {LEAST_PROBABILITY:.1e} counted as that",
            log_loss,
            shown="measures",
            reads="probabilities",
            is_share=False,
            lower_is_better=True,
        ),
        Metric(
            "calibration_error",
            "Calibration error",
            "expected calibration error (ECE) on the scored target rows, over "
            f"{CALIBRATION_BINS} bins of equal width of the largest probability",
            calibration_error,
            shown="measures",
            reads="probabilities",
            lower_is_better=True,
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
            lambda answers: len(answers.labels),
            summary=(),
            dtype="Int64",
            is_share=False,
        ),
    )
}


def shown_as(kind: str) -> list[Metric]:
    """Metrics with a table of their own (``"table"``) or a column of ``"measures"``, in order."""
    return [metric for metric in METRICS.values() if metric.shown == kind]
