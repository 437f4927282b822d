"""Table cells that hold a score of several trials, or why there is none."""

from workflow.lib.report.tables.model import TableCell, shortened
from workflow.lib.results.views import Cell, percent


def score_cells(cells: list[Cell]) -> list[TableCell]:
    """Cells of a row, the best complete one in bold."""
    complete = [percent(cell.mean) for cell in cells if cell.complete]
    # Printed values that are equal are equally bold: the digits beyond are not shown.
    best = max(complete, key=float) if len(complete) > 1 else None
    return [score_cell(cell, best) for cell in cells]


def score_cell(cell: Cell, best: str | None = None) -> TableCell:
    """Mean ± standard deviation in percent; how many trials if not all; bold if it is `best`."""
    if cell.absent:
        return TableCell(cell.absent, title=cell.error, kind="absent")
    fraction = f"{cell.n_ok}/{cell.n_asked}"
    if cell.mean is None:
        return TableCell("failed", count=fraction, title=_reason(cell), kind="failed")
    text = percent(cell.mean)
    return TableCell(
        text,
        value=100 * cell.mean,
        plus_minus=percent(cell.std),
        spread=None if cell.std is None else 100 * cell.std,
        count="" if cell.complete else fraction,
        bold=cell.complete and text == best,
        title="" if cell.complete else _reason(cell),
        kind="" if cell.complete else "partial",
    )


def _reason(cell: Cell) -> str:
    return f"{cell.n_ok} of {cell.n_asked} trials ok; {cell.failures}: {shortened(cell.error)}"
