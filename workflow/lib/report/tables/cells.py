"""The cell of a score: the mean, its spread, and what lies behind it."""

from workflow.lib.config.outputs import log_address, run_address
from workflow.lib.report.tables.model import TableCell
from workflow.lib.results.text import count, percent, shortened
from workflow.lib.results.views import Cell, ExperimentView


def score_cell(cell: Cell) -> TableCell:
    """Mean ± standard deviation in percent, and how many trials if not all."""
    if cell.absent:
        return TableCell(cell.absent, title=cell.error, kind="absent")
    fraction = f"{cell.n_ok}/{cell.n_asked}"
    if cell.mean is None:
        return TableCell("failed", count=fraction, title=_facts(cell), kind="failed")
    return TableCell(
        percent(cell.mean),
        value=100 * cell.mean,
        plus_minus=percent(cell.std),
        spread=None if cell.std is None else 100 * cell.std,
        error=None if cell.standard_error is None else 100 * cell.standard_error,
        count="" if cell.complete else fraction,
        title=_facts(cell),
        kind="" if cell.complete else "partial",
    )


def _facts(cell: Cell) -> str:
    """Trials, spread and seconds, and what went wrong."""
    told = [f"{cell.n_ok} of {count(cell.n_asked, 'trial')}"]
    if cell.std is not None:
        told.append(f"standard deviation {percent(cell.std, 2)}")
        told.append(f"standard error {percent(cell.standard_error, 2)}")
    if cell.seconds is not None:
        told.append(f"{cell.seconds:.3g} s per trial")
    return "; ".join(told if cell.complete else [*told, _reason(cell)])


def _reason(cell: Cell) -> str:
    return f"{cell.failures}: {shortened(cell.error)}"


def behind(view: ExperimentView, task: str, method: str, classifier: str) -> tuple:
    """Where the log of a cell is, and its run."""
    return (
        ("log", log_address(view.suite, view.name, task, method)),
        ("MLflow run", run_address(task, method, classifier)),
    )
