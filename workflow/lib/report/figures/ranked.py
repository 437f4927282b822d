"""The figure of many methods or tasks: a row for each method."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.lib.report.figures.looks import Look, looks_of
from workflow.lib.report.figures.style import ACCURACY, INK, WIDTH, ruled, statement, titled
from workflow.lib.results.standings import standings
from workflow.lib.results.text import count, listed
from workflow.lib.results.views import Cell, ExperimentView


def ranked_figure(view: ExperimentView, classifier: str) -> Figure:
    """One row per method, the best on top: its mean on each task, and the mean of those.

    A mean over some of the trials is hollow and enters nothing; means are over the tasks that are
    complete for all of the methods that have one, as in the table.
    """
    found = standings(view.records, classifier, view.methods)
    averages = {m: standing.mean for m, standing in found.items() if standing.mean is not None}
    cells = {
        method: {
            task.name: cell
            for task in view.experiment.tasks
            if (cell := view.cell(task.name, method, classifier)).mean is not None
        }
        for method in view.methods
    }
    # Methods without a mean stand below the others, in their own order.
    ranked = sorted(filter(cells.get, cells), key=lambda method: -averages.get(method, -1.0))
    if not ranked:
        return statement("No method has a score on any task: there is no accuracy to draw.")
    figure = Figure(figsize=(WIDTH, 0.8 + 0.23 * len(ranked)), layout="constrained")
    axes = figure.subplots()
    for row, method in enumerate(ranked):
        look = looks_of(view)[method]
        _ranked_row(axes, row, look, list(cells[method].values()), averages.get(method))
    labels = [f"{view.method_label(method)}{_named(view, cells[method])}" for method in ranked]
    axes.set_yticks(range(len(ranked)), labels)
    axes.set(ylim=(len(ranked) - 0.5, -0.5), xlabel=ACCURACY)
    axes.tick_params(axis="y", length=0)
    ruled(axes, "x")
    return figure


def _ranked_row(axes: Axes, row: int, look: Look, cells: list[Cell], average: float | None) -> None:
    for complete in (True, False):
        points = [100 * cell.mean for cell in cells if cell.complete is complete]
        dots = {**look.line, "markersize": 4.5, "linestyle": ""}
        style = {"alpha": 0.8, "mew": 0} if complete else {"markerfacecolor": "none", "mew": 0.8}
        if points:
            axes.plot(points, [row] * len(points), **dots, **style)
    if average is not None:
        (bar,) = axes.plot(100 * average, row, "|", color=INK, markersize=12, mew=2.2)
        titled(bar, f"mean {100 * average:.1f} %")


def _named(view: ExperimentView, cells: dict[str, Cell]) -> str:
    """The tasks on which a method is incomplete, by name if they are few."""
    names = [view.task_label(task) for task, cell in cells.items() if not cell.complete]
    if not names:
        return ""
    return f" (incomplete: {listed(names) if len(names) < 3 else count(len(names), 'task')})"
