"""Tables of an answer on data of one's own."""

from collections.abc import Sequence

import numpy as np

from workflow.lib.report.own_words import accuracy_words
from workflow.lib.report.tables.model import (
    Table,
    TableCell,
    TableColumn,
    columns_told,
    number_cell,
)
from workflow.lib.report.tables.setup import mark_told
from workflow.lib.report.wording import steps_in_words
from workflow.lib.results.own_answer import SOURCE_IN_LABELS, rank
from workflow.lib.results.own_view import Diagnosis, Own
from workflow.lib.results.text import count, p_text, with_mark


def picks_table(own: Own) -> Table:
    """Whose predictions are kept, and the two between which the answer decides."""
    answer = own.answer
    picks = {"That adapts": answer.best, "That does not adapt": answer.baseline}
    rows = tuple(
        (
            TableCell(word, bold=one is answer.used),
            TableCell(own.labels_of[one.method], bold=one is answer.used),
            TableCell(accuracy_words(own, one)),
            TableCell(one.words, kind="text"),
        )
        for word, one in picks.items()
    )
    n_rows, n_features = own.features.shape
    n_shown = int((own.shown >= 0).sum())
    methods = count(len({one.method for one in own.candidates}), "method")
    return Table(
        name="own_picks",
        caption=f"The best of {methods}; bold: whose classes are in predictions.csv. Target: "
        f"{count(n_rows, 'sample')}, {count(n_shown, 'label')} shown, "
        f"{count(n_features, 'feature')}.",
        columns=(
            TableColumn("Best"),
            TableColumn("Method"),
            TableColumn("On the target"),
            TableColumn("Settings"),
        ),
        rows=rows,
    )


def methods_table(own: Own) -> Table:
    """Every method by its best candidate: expected accuracy and what it is made of."""
    chosen_by = (
        "cross-validated accuracy on the labelled samples of both sides, a mean over draws, of "
        f"which the target's weighs half, and more from {SOURCE_IN_LABELS} labels on; "
        "of what learns from the target alone the mean of all stands for the source's"
        if own.answer.n_labels
        else "lower bound, a mean over draws"
    )
    rows = []
    for one in own.candidates:
        found = own.answer.accuracy_of(one)
        first = one.estimates[0]
        shade = "baseline" if one.is_baseline else ""
        judged = None if not first.n_judged else 100 * first.n_right / first.n_judged
        values = [100 * x for x in (found.expected, found.low, found.high)]
        parts = [100 * x for x in (first.bound, first.weighted, first.confident)]
        rows.append(
            (
                TableCell(
                    with_mark(own.labels_of[one.method], one.method in own.searched), kind=shade
                ),
                number_cell(_or_none(100 * rank(one, own.answer.n_labels > 0)[0]), 1),
                *(number_cell(value, 1) for value in values),
                *(number_cell(_or_none(value), 1) for value in parts),
                number_cell(judged, 1),
                TableCell(one.words, kind="text"),
            )
        )
    columns = (
        TableColumn("Method"),
        *(TableColumn(label, True, title=title) for label, title in _COLUMNS.items()),
        TableColumn("Settings"),
    )
    notes = (
        *columns_told(columns),
        *(f"{own.labels_of[m]}: {reason}" for m, reason in own.left_out.items()),
        *(f"{name}: {steps_in_words(steps)}." for name, steps in _named_scalings(own).items()),
    )
    if own.searched & {one.method for one in own.candidates}:
        notes += (mark_told("in config/methods.yaml"),)
    return Table(
        name="own_methods",
        caption=(
            "Every method by its best candidate: expected accuracy on the target in percent. "
            f"Chosen, and in this order, by the {chosen_by}."
        ),
        columns=columns,
        rows=tuple(rows),
        notes=notes,
        methods="rows",
    )


def _named_scalings(own: Own) -> dict[str, Sequence[str]]:
    """Those with which the settings of the table begin."""
    shown = {one.words.partition(";")[0] for one in own.candidates}
    return {name: steps for name, steps in own.scalings.items() if name in shown}


_COLUMNS = {
    "Chosen by": "what the best candidate of a method has most of",
    "Expected": "accuracy on the target",
    "from": "end of its interval",
    "to": "end of its interval",
    "Lower bound": "held-out accuracy on the source less what a critic contradicts more on the "
    "target",
    "Weighted": "held-out accuracy on the source, weighted as if its samples were the target's",
    "As certain": "target samples classified as certainly as source samples that are right; none "
    "of a classifier without probabilities",
    "On shown labels": "held-out labels of the target that are right",
}


def classes_table(own: Own) -> Table:
    """Where adapting changes predictions, class by class: there it may gain or harm."""
    best, baseline = own.answer.best, own.answer.baseline
    found = own.shift.classes
    rows = []
    for code, name in enumerate(own.class_names):
        mine, theirs = best.predicted == code, baseline.predicted == code
        moved = float(np.mean(best.predicted[theirs] != code)) if theirs.any() else None
        estimated = None if found.target is None else 100 * found.target[code]
        rows.append(
            (
                TableCell(str(name)),
                number_cell(100 * float(found.source[code]), 1),
                number_cell(estimated, 1),
                number_cell(100 * float(theirs.mean()), 1),
                number_cell(100 * float(mine.mean()), 1),
                number_cell(None if moved is None else 100 * moved, 1),
            )
        )
    label = own.labels_of[best.method]
    return Table(
        name="own_classes",
        caption=(
            "Shares of the classes in percent. Where adapting gives a class a share far from the "
            "estimated one, it harms; what it moves away from a class stands in the last column."
        ),
        columns=(
            TableColumn("Class"),
            TableColumn("Source", numeric=True),
            TableColumn("Target, estimated", numeric=True),
            TableColumn("No adaptation", numeric=True),
            TableColumn(label, numeric=True),
            TableColumn("Moved away", numeric=True),
        ),
        rows=tuple(rows),
    )


def agreement_table(own: Own) -> Table:
    """Share of the target's samples that two methods give the same class."""
    votes, labels = own.votes, [own.labels_of[one.method] for one in own.candidates]
    shares = (votes[:, None, :] == votes[None, :, :]).mean(axis=-1)
    rows = tuple(
        (TableCell(label), *(number_cell(100 * float(share), 0) for share in row))
        for label, row in zip(labels, shares, strict=True)
    )
    return Table(
        name="own_agreement",
        caption="Target samples, in percent, that two methods give the same class.",
        columns=(TableColumn("Method"), *(TableColumn(label, numeric=True) for label in labels)),
        rows=rows,
    )


def features_table(shift: Diagnosis) -> Table:
    """The features that differ most."""
    rows = tuple(
        (
            TableCell(found.name),
            number_cell(found.distance, 2),
            TableCell(p_text(found.p), value=found.p),
            _raw_number(found.source_median),
            _raw_number(found.target_median),
        )
        for found in shift.features
    )
    return Table(
        name="own_features",
        caption="The features that differ most by the Kolmogorov–Smirnov distance.",
        columns=(
            TableColumn("Feature"),
            TableColumn("Distance", numeric=True),
            TableColumn("p (Holm)", numeric=True),
            TableColumn("Median, source", numeric=True),
            TableColumn("Median, target", numeric=True),
        ),
        rows=rows,
    )


def _raw_number(value: float) -> TableCell:
    """A number of features as they are, whatever their unit: four digits, whole from 10,000 on."""
    text = f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return TableCell(text.replace("-", "−"), value=float(value))


def _or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None
