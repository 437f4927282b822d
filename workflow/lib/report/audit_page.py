"""The audit of all papers on one page: what they print, checked by itself and beside our records.

Every number comes from the published tables and from the records of the experiments; the sentences
of judgement stand in the experiment files, under ``audit``.
"""

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from workflow.lib.config.outputs import rows_table
from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.report.audit_answer import counts, in_one_sentence
from workflow.lib.report.tables.audit import (
    COMPARED_COLUMNS,
    compared_cells,
    measure_short,
    remarks,
    verdict_cell,
)
from workflow.lib.report.tables.model import (
    Table,
    TableCell,
    TableColumn,
    number_cell,
    with_downloads,
    without_column,
    write_tables,
)
from workflow.lib.results.audit import Audit, audit, label_of_column
from workflow.lib.results.columns import Column
from workflow.lib.results.published import (
    ROUNDING,
    mean_of_rows,
    order_of,
    read_printed_means,
    read_published,
)
from workflow.lib.results.text import fixed, signed
from workflow.lib.results.verdicts import PUBLISHED_ONLY, RULE
from workflow.lib.results.views import ExperimentView


@dataclasses.dataclass(frozen=True)
class Audited:
    """One experiment with its audit."""

    view: ExperimentView
    audit: Audit

    @property
    def paper(self) -> str:
        return (self.view.experiment.answers or {}).get("paper", "")

    @property
    def heading(self) -> str:
        """Paper and artefact, ``"Dernbach & Towsley 2020, Table 1"``."""
        return heading(self.view.experiment)

    @property
    def page(self) -> str:
        """Address of the experiment's report, from beside the audit."""
        return f"{self.view.name}/report.html"

    @property
    def stated(self) -> str:
        """The protocol that the paper's text states."""
        return self.view.experiment.audit["stated"]

    @property
    def said(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """Remarks on the columns that it compares."""
        compared = [column for column in self.audit.columns if column.method_label]
        return [(column.label, found) for column in compared if (found := remarks(column))]


def heading(experiment: Experiment) -> str:
    """Authors and year of the paper, and the artefact in full: parts of a table are several."""
    answers = experiment.answers or {"paper": experiment.title, "artefact": ""}
    authors = answers["paper"].partition(",")[0]
    return ", ".join(filter(None, (authors, answers["artefact"])))


@dataclasses.dataclass(frozen=True)
class PublishedNames:
    """What people call the files of ``config/published`` and their columns."""

    suite: Suite

    def table(self, file: str) -> str:
        """Paper and artefact; of several experiments those of the one that answers to most."""
        headings = [heading(experiment) for experiment in self._audited(file)]
        return min(headings, key=len, default=file)

    def column(self, file: str, name: str) -> str:
        columns = [experiment.audit.get("columns", {}) for experiment in self._audited(file)]
        entry = next((own[name] for own in columns if own.get(name)), {})
        return label_of_column(self.suite, name, entry)

    def _audited(self, file: str) -> list[Experiment]:
        known = self.suite.experiments.values()
        return [e for e in known if e.audit and e.audit["published"] == file]


def papers(entries: Sequence[Audited]) -> list[dict]:
    """One for each paper: its name, what holds in a sentence, and its experiments."""
    found: dict[str, list[Audited]] = {}
    for entry in entries:
        found.setdefault(entry.paper or entry.heading, []).append(entry)
    return [
        {
            "paper": paper,
            "sentence": in_one_sentence(
                [
                    (column, own.view.experiment.answers["artefact"])
                    for own in entries
                    for column in own.audit.columns
                ]
            ),
            "entries": entries,
        }
        for paper, entries in found.items()
    ]


def shown_columns(entries: Sequence[Audited]) -> list[tuple[Audited, Column]]:
    """A pair per published column and experiment that compares it; the others once, at the end."""
    compared, left = [], {}
    for entry in entries:
        for column in entry.audit.columns:
            if column.verdict == PUBLISHED_ONLY:
                left.setdefault((entry.audit.published_file, column.name), (entry, column))
            else:
                compared.append((entry, column))
    known = {(entry.audit.published_file, column.name) for entry, column in compared}
    return [*compared, *(pair for key, pair in left.items() if key not in known)]


def audited(views: Iterable[ExperimentView]) -> list[Audited]:
    """The experiments that have an audit, in the order of the views."""
    return [Audited(view, checked) for view in views if (checked := audit(view))]


def overview_table(entries: Sequence[Audited]) -> Table:
    """One row per published column and experiment that compares it."""
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
        ),
        rows=tuple(_overview_row(entry, column) for entry, column in shown_columns(entries)),
        notes=(RULE,),
    )


def _overview_row(entry: Audited, column: Column) -> tuple[TableCell, ...]:
    words = measure_short(entry.audit.measure) if column.method_label else "–"
    return (
        TableCell(entry.heading, kind="text", link=entry.page, title=entry.view.name),
        TableCell(column.label),
        TableCell(column.method_label or "–"),
        verdict_cell(column, column.mean),
        *compared_cells(column),
        number_cell(entry.view.n_trials if column.judged else None, 0),
        TableCell(words),
    )


def rows_tables(entries: Sequence[Audited]) -> list[tuple[str, Table]]:
    """The rows of every published table with ours beside them, each under a heading."""
    by_file: dict[str, list[Audited]] = {}
    for entry in entries:
        by_file.setdefault(entry.audit.published_file, []).append(entry)
    names = PublishedNames(entries[0].view.suite)
    headings = {file: names.table(file) for file in by_file}
    return [(headings[file], _rows_table(file, headings[file], by_file[file])) for file in by_file]


def _rows_table(file: str, heading: str, entries: Sequence[Audited]) -> Table:
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
            where = f"{column.method_label} in {entry.view.experiment.title}"
            heads.append(TableColumn("ours", True, title=where))
            ours = {row.label: row.ours for row in column.judged}
            complete = len(column.judged) == column.n_printed
            cells.append((ours, column.mean.ours if complete else None))
    printed = [r for _, column in shown.values() for r in column.rows if r.published is not None]
    labels = list(dict.fromkeys(row.label for row in printed))
    rows = [
        (TableCell(label), *(number_cell(values.get(label), 1) for values, _ in cells))
        for label in labels
    ]
    means = (TableCell("Mean"), *(number_cell(mean, 1) for _, mean in cells))
    return Table(
        name=rows_table(file),
        caption=f"{heading}: what is printed, and ours in the first experiment that compares it.",
        columns=(TableColumn("Row"), *heads),
        rows=tuple(rows),
        footer=(means,),
        notes=(
            "Ours stands where no trial failed, its mean where all printed rows could be compared.",
        ),
    )


def arithmetic_table(config: Path, names: PublishedNames) -> Table:
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
        rows=tuple(_arithmetic_row(config / "published", *item, names) for item in printed.items()),
        notes=(f"A difference of up to {ROUNDING:g} point is rounding.",),
    )


def _arithmetic_row(
    folder: Path, place: tuple[str, str], said: float, names: PublishedNames
) -> tuple[TableCell, ...]:
    file, method = place
    mean = mean_of_rows(folder / file, method)
    n_rows = sum(row["method"] == method for row in read_published(folder / file))
    agrees = abs(said - mean) <= ROUNDING
    return (
        *_named_cells(file, method, names),
        number_cell(n_rows, 0),
        number_cell(mean, 2),
        TableCell(f"{said:g}" if said % 1 else f"{said:.1f}", value=said),
        TableCell(signed(said - mean), value=said - mean),
        TableCell("yes" if agrees else "no", kind="" if agrees else "failed"),
    )


def _named_cells(file: str, column: str, names: PublishedNames) -> tuple[TableCell, TableCell]:
    return (
        TableCell(names.table(file), kind="text", title=file),
        TableCell(names.column(file, column)),
    )


def order_table(config: Path, names: PublishedNames) -> Table:
    """Correlation of every published column with the mean of the others, over their common rows."""
    paths = sorted((config / "published").glob("*.csv"))
    rows = [row for path in paths for row in _order_rows(path, names)]
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


def _order_rows(path: Path, names: PublishedNames) -> list[tuple[TableCell, ...]]:
    rows = read_published(path)
    found = []
    for name, correlation in order_of(rows).items():
        own = [row["mean"] for row in rows if row["method"] == name]
        found.append(
            (
                *_named_cells(path.name, name, names),
                number_cell(len(own), 0),
                TableCell(
                    fixed(correlation, 2), correlation, kind="failed" if correlation < 0 else ""
                ),
                number_cell(100 - float(np.mean(own)), 1),
            )
        )
    return found


def _for_page(table: Table) -> Table:
    """Without the columns that leave no room for the others; the files have them."""
    if table.name != "overview":
        return table
    narrow = functools.reduce(without_column, ("SE", "TOST p"), table)
    told = "Standard errors and the p of the tests are in the files below."
    return dataclasses.replace(narrow, notes=(*narrow.notes, told))


def page_parts(views: Iterable[ExperimentView], config: Path, folder: Path) -> dict:
    """What the template ``audit.html.j2`` shows; its tables are written into a folder.

    Parameters
    ----------
    views : iterable of ExperimentView
        Experiments with an audit.
    config : path
        Folder that holds ``printed_means.csv`` and ``published``.
    folder : path
        Beside the page.
    """
    entries = audited(views)
    names = PublishedNames(entries[0].view.suite)
    tables = (
        overview_table(entries),
        arithmetic_table(config, names),
        order_table(config, names),
    )
    rows = rows_tables(entries)
    write_tables([*tables, *(table for _, table in rows)], folder)
    return {
        "entries": entries,
        "papers": papers(entries),
        "counts": counts(column for _, column in shown_columns(entries)),
        "tables": {t.name: with_downloads(_for_page(t), folder.name) for t in tables},
        "rows": [(heading, with_downloads(table, folder.name)) for heading, table in rows],
    }
