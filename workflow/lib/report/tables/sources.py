"""Several sources at once beside the best single one, for experiments that have both."""

from workflow.lib.config.outputs import suffixes
from workflow.lib.config.suite import Task
from workflow.lib.report.tables.cells import score_cell
from workflow.lib.report.tables.model import Table, TableCell, TableColumn
from workflow.lib.results.views import ExperimentView, signed


def sources_table(view: ExperimentView, classifier: str) -> Table:
    """One row per task with several sources and method, beside the same method's best pair."""
    joint = [task for task in view.experiment.tasks if len(task.sources) > 1]
    return Table(
        name=f"sources{suffixes(view.experiment)[classifier]}",
        caption="Several sources at once beside the best single one of the same target; percent.",
        columns=(
            TableColumn("Task"),
            TableColumn("Method"),
            TableColumn("All at once", numeric=True, scores=True),
            TableColumn("Best single", numeric=True, scores=True),
            TableColumn("Its source"),
            TableColumn("Difference", True, title="all at once − best single, percentage points"),
        ),
        rows=tuple(
            _row(view, task, method, classifier) for task in joint for method in view.methods
        ),
        notes=(
            "The best single source is chosen by the scores themselves: nobody knows it "
            "beforehand, so it is an upper bound for choosing one.",
        ),
    )


def _row(view: ExperimentView, task: Task, method: str, classifier: str) -> tuple[TableCell, ...]:
    cell = view.cell(task.name, method, classifier)
    singles = {
        other.source_label(view.suite.datasets): view.cell(other.name, method, classifier)
        for other in view.experiment.tasks
        if len(other.sources) == 1 and other.target == task.target
    }
    scored = {source: single for source, single in singles.items() if single.complete}
    first = (TableCell(view.task_label(task)), TableCell(view.method_label(method)))
    if not (cell.complete and scored):
        return (*first, score_cell(cell), TableCell("–"), TableCell("–"), TableCell("–"))
    source, best = max(scored.items(), key=lambda item: item[1].mean)
    difference = 100 * (cell.mean - best.mean)
    return (
        *first,
        score_cell(cell),
        score_cell(best),
        TableCell(source),
        TableCell(signed(difference), value=difference),
    )
