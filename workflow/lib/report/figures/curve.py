"""Figures of an experiment that varies one quantity: accuracy against its setting."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workflow.lib.report.figures.looks import Look, looks_of
from workflow.lib.report.figures.style import (
    ACCURACY,
    INK,
    WIDTH,
    legend,
    ruled,
    setting_axis,
    small_multiples,
    statement,
    titled,
)
from workflow.lib.results.curves import NEW, PART_WORDS, Point, chosen_at, curves, parts, task_cell
from workflow.lib.results.text import number_text, percent
from workflow.lib.results.views import Cell, ExperimentView

_DASHES = (0, (4, 2))


def curve_figure(view: ExperimentView, classifier: str) -> Figure:
    """Mean over the tasks, by trial, against the setting: a line per method with its band."""
    found = curves(view, classifier)
    if all(point.mean is None for point in found.points.values()):
        return statement("No method has a score at any setting: there is no curve to draw.")
    figure = Figure(figsize=(WIDTH, 4.2), layout="constrained")
    axes = figure.subplots()
    _lines(axes, view, found.points, size=5.5)
    _setting_ticks(axes, view, inches=WIDTH - 0.9)
    axes.set_xlabel(view.experiment.vary["label"])
    axes.set_ylabel(ACCURACY)
    ruled(axes, "y")
    _legend(figure, view, found.points.values())
    return figure


def curve_by_task_figure(view: ExperimentView, classifier: str) -> Figure:
    """The same task by task, one panel each."""
    chosen = chosen_at(view, classifier)
    cells = {
        task.name: {
            (method, part, setting): task_cell(
                view, task.name, method, chosen[setting], part, setting
            )
            for method in view.methods
            for part in parts(view)
            for setting in view.settings
        }
        for task in view.experiment.tasks
    }
    every = [cell for by_place in cells.values() for cell in by_place.values()]
    if all(cell.mean is None for cell in every):
        return statement("No method has a score on any task: there is no curve to draw.")
    columns = min(4, len(cells))
    figure, panels = small_multiples(len(cells), height=1.65 if columns > 2 else 2.4)
    for axes, (task, points) in zip(panels, cells.items(), strict=True):
        axes.set_title(view.task_label(task), pad=3)
        _setting_ticks(axes, view, inches=WIDTH / columns - 0.55)
        if any(cell.mean is not None for cell in points.values()):
            _lines(axes, view, points, size=3.5)
            ruled(axes, "y")
        else:
            _say(axes, points)
    figure.supxlabel(view.experiment.vary["label"], fontsize=9)
    figure.supylabel(ACCURACY, fontsize=9)
    _legend(figure, view, every)
    return figure


def _lines(
    axes: Axes, view: ExperimentView, points: Mapping[tuple, Point | Cell], size: float
) -> None:
    """A line per method and part; a point without a mean leaves a gap."""
    known = looks_of(view)
    for method in view.methods:
        shade = known[method].colour
        for part in parts(view):
            line = [points[method, part, setting] for setting in view.settings]
            means = _percents([point.mean for point in line])
            spread = _percents([point.std for point in line])
            low, high = means - spread, means + spread
            dashed = part == NEW
            style = {"color": shade, "linestyle": _DASHES if dashed else "-"}
            axes.plot(view.settings, means, linewidth=1.5, **style)
            axes.fill_between(
                view.settings,
                low,
                high,
                color=shade,
                alpha=0.09 if dashed else 0.17,
                linewidth=0,
            )
            _marks(axes, view, line, method, size)


def _marks(axes: Axes, view: ExperimentView, line: list, method: str, size: float) -> None:
    look: Look = looks_of(view)[method]
    for setting, point in zip(view.settings, line, strict=True):
        if point.mean is not None:
            (mark,) = axes.plot(
                setting,
                100 * point.mean,
                **look.line,
                markersize=size,
                markerfacecolor=look.face(point.complete),
            )
            spread = "" if point.std is None else f" ± {percent(point.std)}"
            where = f"{view.method_label(method)} at {number_text(setting)}"
            titled(mark, f"{where}: {percent(point.mean)} %{spread}")


def _percents(fractions: list[float | None]) -> np.ndarray:
    return np.array([np.nan if number is None else 100 * number for number in fractions])


def _setting_ticks(axes: Axes, view: ExperimentView, inches: float) -> None:
    setting_axis(axes, view.settings, view.experiment.vary.get("scale", "linear"), inches)


def _say(axes: Axes, points: Mapping[tuple, Cell]) -> None:
    """Why a panel is empty."""
    reasons = {cell.absent for cell in points.values()}
    words = reasons.pop() if len(reasons) == 1 else None
    axes.text(
        0.5,
        0.5,
        words or "every trial failed",
        transform=axes.transAxes,
        ha="center",
        va="center",
        style="italic",
        alpha=0.75,
    )
    axes.set_yticks([])


def _legend(figure: Figure, view: ExperimentView, points) -> None:
    known = looks_of(view)
    handles = [known[method].handle(linewidth=1.5) for method in view.methods]
    labels = [view.method_label(method) for method in view.methods]
    if len(parts(view)) > 1:
        for part in parts(view):
            style = _DASHES if part == NEW else "-"
            handles.append(Line2D([], [], color=INK, linestyle=style, linewidth=1.5))
            labels.append(f"{PART_WORDS[part]} samples")
    if any(point.mean is not None and not point.complete for point in points):
        hollow = {"marker": "o", "linestyle": "", "markersize": 5.5, "markerfacecolor": "none"}
        handles.append(Line2D([], [], color=INK, **hollow))
        labels.append("hollow: without its failed trials")
    legend(figure, handles, labels, columns=6)
