"""The tables of an audit: the verdicts on the columns, and every number."""

from workflow.lib.config.metrics import METRICS
from workflow.lib.report.tables.model import Table, TableCell, TableColumn, fixed, number_cell
from workflow.lib.results.audit import (
    CLOSE,
    NOT_REPRODUCED,
    PUBLISHED_ONLY,
    REPRODUCED,
    RULE,
    SEARCHED,
    Audit,
    Column,
    Row,
)
from workflow.lib.results.views import signed


def audit_summary_table(checked: Audit) -> Table:
    """One row per published column: means, verdict, readings tried."""
    second = checked.second_measure
    rows = tuple(_audit_summary_row(column, bool(second)) for column in checked.columns)
    return Table(
        name="audit_summary",
        caption=(
            f"Audit of {checked.published_file}: each published column and its verdict on the "
            f"mean; {METRICS[checked.measure].words}, percent."
        ),
        columns=(
            TableColumn("Published column"),
            TableColumn("Our method"),
            TableColumn("Verdict"),
            TableColumn("Published", True, title="mean over the compared rows"),
            TableColumn("Ours", True, title="mean over the same rows"),
            TableColumn("Difference", True, title="ours − published, percentage points"),
            TableColumn("SE", True, title="standard error of our mean, percentage points"),
            *([TableColumn(f"Ours, {measure_short(second)}", True)] if second else []),
            TableColumn("Rows", True, title="rows compared / rows printed"),
            TableColumn("Rows by verdict", title="number of rows by the rule"),
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
    mean = column.mean
    compared = mean.n_ok if mean.ours is not None else 0
    printed = sum(row.published is not None for row in column.rows)
    return (
        TableCell(column.label),
        TableCell(column.method_label or "–"),
        verdict_cell(mean),
        number_cell(mean.published if compared else column.published_mean, 1),
        number_cell(mean.ours, 1),
        TableCell(signed(mean.difference), value=mean.difference),
        number_cell(mean.standard_error, 2),
        *([number_cell(mean.second, 1)] if second else []),
        TableCell(f"{compared} / {printed}", value=compared),
        TableCell(_row_counts(column)),
        TableCell(" ".join(text for _, text in remarks(column)), kind="text"),
    )


def _row_counts(column: Column) -> str:
    grades = [(grade, column.n_rows(grade)) for grade in (REPRODUCED, CLOSE, NOT_REPRODUCED)]
    if not any(number for _, number in grades):
        return ""
    words = {REPRODUCED: "within 1 point", CLOSE: "close"} if column.found_by_search else {}
    short = {NOT_REPRODUCED: "not", **words}
    return ", ".join(f"{number} {short.get(grade, grade)}" for grade, number in grades)


def verdict_cell(row: Row) -> TableCell:
    """The verdict; agreement after a search says if it is a distant one."""
    distant = row.verdict == SEARCHED and row.grade == CLOSE
    return TableCell(row.verdict, kind="verdict", count=CLOSE if distant else "")


def remarks(column: Column) -> list[tuple[str, str]]:
    """What the experiment file says about a column: (heading, text)."""
    parts = (
        ("Published only", column.reason),
        ("Note", column.note),
        ("Readings tried", column.readings_tried),
    )
    return [(heading, " ".join(text.split())) for heading, text in parts if text.strip()]


def audit_table(checked: Audit) -> Table:
    """Every published number beside ours: one row per column and task."""
    rows = [
        _audit_row(column, row) for column in checked.columns for row in (*column.rows, column.mean)
    ]
    return Table(
        name="audit",
        caption=f"Every number of {checked.published_file} beside ours, in percent.",
        columns=(TableColumn("Published column"), *_AUDIT_COLUMNS),
        rows=tuple(rows),
        notes=(RULE,),
    )


_AUDIT_COLUMNS = (
    TableColumn("Task"),
    TableColumn("Published", numeric=True, scores=True),
    TableColumn("Ours", numeric=True, scores=True),
    TableColumn("Difference", True, title="ours − published, percentage points"),
    TableColumn("SE", True, title="standard error of our mean over trials, percentage points"),
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
        count=f"{row.n_ok}/{row.n_asked}" if incomplete else "",
    )
    published = TableCell(
        fixed(row.published, 1),
        value=row.published,
        plus_minus=fixed(row.published_std, 1),
        spread=row.published_std,
    )
    label = row.label[:1].upper() + row.label[1:] if row is column.mean else row.label
    return (
        TableCell(column.label),
        TableCell(label),
        published,
        ours,
        TableCell(signed(row.difference), value=row.difference),
        number_cell(row.standard_error, 2),
        verdict_cell(row),
    )


def compared_columns(checked: Audit) -> list[Column]:
    """Columns that a method of the experiment answers to."""
    return [column for column in checked.columns if column.verdict != PUBLISHED_ONLY]
