"""The audit of all papers on one page: what they print, checked by itself and beside our records.

Every number comes from the published tables and from the records of the experiments; the sentences
of judgement stand in the experiment files, under ``audit``.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from workflow.lib.report.tables.audit import (
    COMPARED_COLUMNS,
    compared_cells,
    measure_short,
    remarks,
    verdict_cell,
)
from workflow.lib.report.tables.model import Table, TableCell, TableColumn, number_cell, to_html
from workflow.lib.results.audit import Audit, audit
from workflow.lib.results.columns import Column
from workflow.lib.results.published import order_of, read_printed_means, read_published
from workflow.lib.results.text import fixed, signed
from workflow.lib.results.verdicts import PUBLISHED_ONLY, RULE
from workflow.lib.results.views import ExperimentView

# A printed mean is rounded, and so is each of its rows; a mean of several digits less so.
ROUNDING = 0.1


@dataclasses.dataclass(frozen=True)
class Audited:
    """One experiment with its audit."""

    view: ExperimentView
    audit: Audit

    @property
    def heading(self) -> str:
        answers = self.view.experiment.answers or {}
        return ", ".join(_first_words(answers.get(key, "")) for key in ("paper", "artefact"))

    @property
    def stated(self) -> str:
        """The protocol that the paper's text states."""
        return self.view.experiment.audit["stated"]

    @property
    def said(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """Remarks on the columns that it compares."""
        compared = [column for column in self.audit.columns if column.method_label]
        return [(column.label, found) for column in compared if (found := remarks(column))]


def _first_words(text: str) -> str:
    """``"Dernbach & Towsley 2020, Filtered …"`` as authors and year."""
    return text.partition(",")[0]


def audited(views: Iterable[ExperimentView]) -> list[Audited]:
    """The experiments that have an audit, in the order of the views."""
    return [Audited(view, checked) for view in views if (checked := audit(view))]


def overview_table(entries: Sequence[Audited]) -> Table:
    """One row per published column and experiment that compares it; the others once, at the end."""
    compared, left = [], {}
    for entry in entries:
        for column in entry.audit.columns:
            if column.verdict == PUBLISHED_ONLY:
                left.setdefault((entry.audit.published_file, column.name), (entry, column))
            else:
                compared.append((entry, column))
    known = {(entry.audit.published_file, column.name) for entry, column in compared}
    rows = [*compared, *(place for key, place in left.items() if key not in known)]
    return Table(
        name="overview",
        caption="Every published column beside our records, in percent.",
        columns=(
            TableColumn("Paper and artefact"),
            TableColumn("Column"),
            TableColumn("Our method"),
            TableColumn("Verdict"),
            *COMPARED_COLUMNS,
            TableColumn("Trials", True),
            TableColumn("Scored on"),
            TableColumn("Experiment"),
        ),
        rows=tuple(_overview_row(entry, column) for entry, column in rows),
        notes=(RULE,),
    )


def _overview_row(entry: Audited, column: Column) -> tuple[TableCell, ...]:
    words = measure_short(entry.audit.measure) if column.method_label else "–"
    return (
        TableCell(entry.heading, kind="text"),
        TableCell(column.label),
        TableCell(column.method_label or "–"),
        verdict_cell(column, column.mean),
        *compared_cells(column),
        number_cell(entry.view.n_trials if column.judged else None, 0),
        TableCell(words),
        TableCell(entry.view.name, kind="code"),
    )


def rows_tables(entries: Sequence[Audited]) -> list[tuple[str, Table]]:
    """The rows of every published table with ours beside them, each under a heading."""
    by_file: dict[str, list[Audited]] = {}
    for entry in entries:
        by_file.setdefault(entry.audit.published_file, []).append(entry)
    return [(f"{own[0].heading}: {file}", _rows_table(file, own)) for file, own in by_file.items()]


def _rows_table(file: str, entries: Sequence[Audited]) -> Table:
    """One row per published row; for each column what is printed and, where compared, ours."""
    shown: dict[str, tuple[Audited, Column]] = {}
    for entry in entries:
        for column in entry.audit.columns:
            known = shown.get(column.name)
            if known is None or (column.method_label and not known[1].method_label):
                shown[column.name] = entry, column
    heads, cells = [], []
    for entry, column in shown.values():
        heads.append(TableColumn(column.label, True, title="printed"))
        cells.append(({row.label: row.published for row in column.rows}, column.published_mean))
        if column.method_label:
            where = f"{column.method_label} in {entry.view.name}"
            heads.append(TableColumn("ours", True, title=where))
            ours = {row.label: row.ours for row in column.rows}
            complete = all(row.ours is not None for row in column.rows if row.published is not None)
            cells.append((ours, column.mean.ours if complete else None))
    printed = [r for _, column in shown.values() for r in column.rows if r.published is not None]
    labels = list(dict.fromkeys(row.label for row in printed))
    rows = [
        (TableCell(label), *(number_cell(values.get(label), 1) for values, _ in cells))
        for label in labels
    ]
    means = (TableCell("Mean"), *(number_cell(mean, 1) for _, mean in cells))
    return Table(
        name="audit_rows",
        caption=f"{file}: what is printed, and ours in the first experiment that compares it.",
        columns=(TableColumn("Row"), *heads),
        rows=tuple(rows),
        footer=(means,),
        notes=("A mean of ours stands where all printed rows could be compared.",),
    )


def arithmetic_table(config: Path) -> Table:
    """The mean that a paper prints beside the mean of the rows that it prints.

    Parameters
    ----------
    config : path
        Folder that holds ``printed_means.csv`` and ``published``.
    """
    printed = read_printed_means(config)
    return Table(
        name="arithmetic",
        caption="The papers' own arithmetic: printed means beside the means of the printed rows.",
        columns=(
            TableColumn("Published table"),
            TableColumn("Column"),
            TableColumn("Rows", True),
            TableColumn("Mean of the rows", True),
            TableColumn("Printed mean", True),
            TableColumn("Difference", True, title="printed − mean of the rows, percentage points"),
            TableColumn("Agrees"),
        ),
        rows=tuple(_arithmetic_row(config / "published", *item) for item in printed.items()),
        notes=(f"A difference of up to {ROUNDING:g} point is rounding.",),
    )


def _arithmetic_row(folder: Path, place: tuple[str, str], said: float) -> tuple[TableCell, ...]:
    file, method = place
    rows = [row["mean"] for row in read_published(folder / file) if row["method"] == method]
    mean = float(np.mean(rows))
    agrees = abs(said - mean) <= ROUNDING
    return (
        TableCell(file, kind="code"),
        TableCell(method, kind="code"),
        number_cell(len(rows), 0),
        number_cell(mean, 2),
        TableCell(f"{said:g}" if said % 1 else f"{said:.1f}", value=said),
        TableCell(signed(said - mean), value=said - mean),
        TableCell("yes" if agrees else "no", kind="" if agrees else "failed"),
    )


def order_table(config: Path) -> Table:
    """Correlation of every published column with the mean of the others, over their common rows."""
    paths = sorted((config / "published").glob("*.csv"))
    rows = [row for path in paths for row in _order_rows(path)]
    return Table(
        name="order",
        caption="Which published columns find the same tasks difficult: correlation of a column "
        "with the mean of the other columns of its table.",
        columns=(
            TableColumn("Published table"),
            TableColumn("Column"),
            TableColumn("Rows", True),
            TableColumn("Correlation", True, title="Pearson"),
            TableColumn("As error rates", True, title="mean of 100 − column, percent"),
        ),
        rows=tuple(rows),
        notes=(
            "Accuracies of different methods on the same tasks rise and fall together. A column "
            "that falls where all others rise looks like an error rate. Tables with fewer than "
            "four rows or two columns are left out.",
        ),
    )


def _order_rows(path: Path) -> list[tuple[TableCell, ...]]:
    rows = read_published(path)
    found = []
    for name, correlation in order_of(rows).items():
        own = [row["mean"] for row in rows if row["method"] == name]
        found.append(
            (
                TableCell(path.name, kind="code"),
                TableCell(name, kind="code"),
                number_cell(len(own), 0),
                TableCell(
                    fixed(correlation, 2), correlation, kind="failed" if correlation < 0 else ""
                ),
                number_cell(100 - float(np.mean(own)), 1),
            )
        )
    return found


def page_parts(views: Iterable[ExperimentView], config: Path) -> dict:
    """What the template ``audit.html.j2`` shows.

    Parameters
    ----------
    views : iterable of ExperimentView
        Experiments with an audit.
    config : path
        Folder that holds ``printed_means.csv`` and ``published``.
    """
    entries = audited(views)
    tables = (overview_table(entries), arithmetic_table(config), order_table(config))
    return {
        "entries": entries,
        "tables": {table.name: to_html(table) for table in tables},
        "rows": [(heading, to_html(table)) for heading, table in rows_tables(entries)],
    }
