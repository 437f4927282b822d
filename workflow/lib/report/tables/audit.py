"""The tables of an audit: the verdicts on the columns, and every number."""

import math
from collections.abc import Iterable

from workflow.lib.config.metrics import METRICS
from workflow.lib.report.tables.model import Table, TableCell, TableColumn, number_cell
from workflow.lib.results.audit import Audit
from workflow.lib.results.columns import Column, Row
from workflow.lib.results.published import FROM_MEMORY
from workflow.lib.results.text import capitalized, fixed, p_text, signed
from workflow.lib.results.verdicts import (
    CLOSE,
    CLOSE_POINTS,
    GRADES,
    PUBLISHED_ONLY,
    RULE,
    SEARCHED,
)

# Nothing renews the numbers in what was tried: a search is not part of a run.
READINGS = "Readings tried (numbers of the search, not of this run)"
_ERROR = (
    "standard error of the difference, percentage points; of a mean with one trial, from the "
    "spread over its rows: how it would change with other tasks"
)
# Of a whole column, here and on the page of all audits.
COMPARED_COLUMNS = (
    TableColumn("Published", True, title="mean over the compared rows"),
    TableColumn("Ours", True, title="mean over the same rows"),
    TableColumn("Difference", True, title="ours − published, percentage points"),
    TableColumn("SE", True, title=_ERROR),
    TableColumn("TOST p", True, title=f"of equivalence within {CLOSE_POINTS:g} points"),
    TableColumn("RMS", True, title="root mean square of the rows' differences, percentage points"),
    TableColumn("Farthest row", title="and its difference, percentage points"),
    TableColumn("Rows", True, title="rows compared / rows printed"),
    TableColumn("Reproduced / close / not", title="percent of the compared rows, by the rule"),
)


def audit_summary_table(checked: Audit) -> Table:
    """One row per published column: means, verdict, readings tried."""
    second = checked.second_measure
    rows = tuple(_audit_summary_row(column, bool(second)) for column in checked.columns)
    return Table(
        name="audit_summary",
        caption=(
            f"Audit of {checked.published_file}: each published column and its verdict; "
            f"{METRICS[checked.measure].words} (%)."
        ),
        columns=(
            TableColumn("Published column"),
            TableColumn("Our method"),
            TableColumn("Verdict"),
            *COMPARED_COLUMNS,
            *([TableColumn(f"Ours, {measure_short(second)}", True)] if second else []),
            TableColumn("Remarks"),
        ),
        rows=rows,
        notes=(RULE,),
    )


def measure_short(measure: str) -> str:
    return {"accuracy": "scored rows", "accuracy_entire_target": "entire target"}.get(
        measure, measure
    )


def _audit_summary_row(column: Column, second: bool) -> tuple[TableCell, ...]:
    return (
        TableCell(column.label),
        TableCell(column.method_label or "–"),
        verdict_cell(column, column.mean),
        *compared_cells(column),
        *([number_cell(column.mean.second, 1)] if second else []),
        TableCell(_in_one_cell(remarks(column)), kind="text"),
    )


def _in_one_cell(said: Iterable[tuple[str, str]]) -> str:
    """Remarks in a row; what was tried keeps its heading, without which it reads as of this run."""
    told = (f"{heading}: {text}" if heading == READINGS else text for heading, text in said)
    return " ".join(told)


def compared_cells(column: Column) -> tuple[TableCell, ...]:
    """The cells of `COMPARED_COLUMNS`."""
    mean = column.mean
    compared = len(column.judged)
    return (
        number_cell(mean.published if compared else column.published_mean, 1),
        number_cell(mean.ours, 1),
        *_difference_cells(mean),
        number_cell(column.root_mean_square, 1),
        TableCell(_farthest(column)),
        TableCell(f"{compared} / {column.n_printed}", value=compared),
        TableCell(_row_shares(column)),
    )


def _difference_cells(row: Row) -> tuple[TableCell, ...]:
    error = row.error.standard_error if row.error else None
    return (
        TableCell(signed(row.difference), value=row.difference),
        number_cell(error, 2),
        TableCell(p_text(row.p), value=row.p),
    )


def _farthest(column: Column) -> str:
    """The row that a mean could hide: none where there is one, or where all are as printed."""
    row = column.farthest if len(column.judged) > 1 else None
    return f"{row.label} {signed(row.difference)}" if row and round(row.difference, 1) else ""


def _row_shares(column: Column) -> str:
    if not column.judged:
        return ""
    return f"{' / '.join(f'{100 * column.share(grade):.0f}' for grade in GRADES)} %"


def verdict_cell(column: Column, row: Row) -> TableCell:
    """The verdict; beside it what it alone would hide: distance, search, test, rows, memory."""
    words = []
    if row.verdict == SEARCHED and row.grade == CLOSE:
        words.append(CLOSE)
    if row.grade and row.verdict != SEARCHED and column.found_by_search:
        words.append("searched")
    if untested := (column if row is column.mean else row).untested:
        words.append(untested)
    if row is column.mean and 0 < len(column.judged) < column.n_printed:
        words.append(f"{len(column.judged)} of {column.n_printed} rows")
    if row is column.mean and column.from_memory:
        words.append(f"published {FROM_MEMORY}")
    return TableCell(row.verdict, kind="verdict", count="; ".join(words))


def remarks(column: Column) -> list[tuple[str, str]]:
    """What the experiment file says about a column: (heading, text)."""
    parts = (
        ("Published only", column.reason),
        ("Note", column.note),
        (READINGS, column.readings_tried),
    )
    return [(heading, " ".join(text.split())) for heading, text in parts if text.strip()]


def audit_table(checked: Audit) -> Table:
    """Every published number beside ours: one row per column and task."""
    rows = [
        _audit_row(column, row) for column in checked.columns for row in (*column.rows, column.mean)
    ]
    return Table(
        name="audit",
        caption=f"Every number of {checked.published_file} beside ours (%).",
        columns=(TableColumn("Published column"), *_AUDIT_COLUMNS),
        rows=tuple(rows),
        notes=(RULE,),
    )


_AUDIT_COLUMNS = (
    TableColumn("Task"),
    TableColumn("Published", numeric=True, scores=True),
    TableColumn("Ours", numeric=True, scores=True),
    TableColumn("Difference", True, title="ours − published, percentage points"),
    TableColumn("SE", True, title=_ERROR),
    TableColumn("TOST p", True, title=f"of equivalence within {CLOSE_POINTS:g} points"),
    TableColumn("Verdict"),
)


def audit_column_table(column: Column) -> Table:
    """One published column task by task, for the report."""
    return Table(
        name=f"audit_{column.name}",
        caption=f"{column.label} (published) and {column.method_label} (ours), task by task.",
        columns=_AUDIT_COLUMNS,
        rows=tuple(_audit_row(column, row)[1:] for row in column.rows),
        footer=(_audit_row(column, column.mean)[1:],),
    )


def _audit_row(column: Column, row: Row) -> tuple[TableCell, ...]:
    incomplete = row.ours is not None and row.n_ok < row.n_asked and row is not column.mean
    ours = TableCell(
        fixed(row.ours, 1),
        value=row.ours,
        plus_minus=fixed(row.std, 1),
        spread=row.std,
        error=None if row.std is None or row.n_ok < 2 else row.std / math.sqrt(row.n_ok),
        count=f"{row.n_ok}/{row.n_asked}" if incomplete else "",
        kind="partial" if incomplete else "",
    )
    published = TableCell(
        fixed(row.published, 1),
        value=row.published,
        plus_minus=fixed(row.published_std, 1),
        spread=row.published_std,
    )
    label = capitalized(row.label) if row is column.mean else row.label
    return (
        TableCell(column.label),
        TableCell(label),
        published,
        ours,
        *_difference_cells(row),
        verdict_cell(column, row),
    )


def compared_columns(checked: Audit) -> list[Column]:
    """Columns that a method of the experiment answers to."""
    return [column for column in checked.columns if column.verdict != PUBLISHED_ONLY]
