"""The figures of an experiment, as reproducible SVG and PDF."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workflow.lib.config.outputs import figure_names, suffixes
from workflow.lib.report.figures.curve import curve_by_task_figure, curve_figure
from workflow.lib.report.figures.embedding import embedding_figure
from workflow.lib.report.figures.looks import Look, looks_of
from workflow.lib.report.figures.published import published_figure
from workflow.lib.report.figures.ranked import ranked_figure
from workflow.lib.report.figures.ranks import critical_difference_figure
from workflow.lib.report.figures.style import (
    ACCURACY,
    INK,
    RULE,
    WIDTH,
    legend,
    logarithmic,
    render_each,
    ruled,
    small_multiples,
    statement,
    titled,
)
from workflow.lib.report.study import study_drawings
from workflow.lib.report.tables.setup import timing_records
from workflow.lib.results.records import scores_of
from workflow.lib.results.text import percent
from workflow.lib.results.views import STATUS_WORDS, Cell, ExperimentView, StudyView
from workflow.lib.storage.artifacts import atomic_write

ENDINGS = ("svg", "pdf")


def drawings(view: ExperimentView | StudyView) -> dict[str, Callable[[], Figure]]:
    """Functions that draw each figure, by name, in the order of `figure_names`."""
    if isinstance(view, StudyView):
        return study_drawings(view)
    functions: dict[str, Callable[[], Figure]] = {}
    for classifier, suffix in suffixes(view.experiment).items():
        for name, draw in (_CURVES if view.experiment.vary else _SCORES).items():
            functions[name + suffix] = lambda draw=draw, c=classifier: draw(view, c)
    if view.experiment.audit:
        functions["published"] = lambda: published_figure(view)
    if view.experiment.picture:
        functions["embedding"] = lambda: embedding_figure(view)
    if view.experiment.timing:
        functions["timing"] = lambda: timing_figure(view)
    return {name: functions[name] for name in figure_names(view.experiment)}


def write_all(view: ExperimentView | StudyView, folder: Path | str) -> dict[str, bytes]:
    """Write every figure as SVG and PDF; return the SVG of each by name, for the page."""
    sources = {}
    for name, draw in drawings(view).items():
        found = dict(zip(ENDINGS, render_each(draw, ENDINGS), strict=True))
        for ending, source in found.items():
            with atomic_write(Path(folder) / f"{name}.{ending}") as temporary:
                temporary.write_bytes(source)
        sources[name] = found["svg"]
    return sources


def accuracy_figure(view: ExperimentView, classifier: str) -> Figure:
    """Mean and standard deviation of each method, task by task from top to bottom."""
    tasks, methods = view.experiment.tasks, view.methods
    if view.too_many:
        return ranked_figure(view, classifier)
    step = 0.72 / max(len(methods), 4)
    offsets = (np.arange(len(methods)) - (len(methods) - 1) / 2) * step
    height = 1.0 + len(tasks) * max(0.42, 0.115 * len(methods))
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots()
    drawn = [
        _score_mark(axes, view, (task.name, method, classifier), row + offsets[column])
        for row, task in enumerate(tasks)
        for column, method in enumerate(methods)
    ]
    if not any(drawn):
        return statement("No method has a score on any task: there is no accuracy to draw.")
    _mark_absent_tasks(axes, view, classifier)
    for row in range(1, len(tasks)):
        axes.axhline(row - 0.5, color=RULE, linewidth=0.6)
    axes.set(ylim=(len(tasks) - 0.5, -0.5), xlabel=ACCURACY)
    axes.set_yticks(range(len(tasks)), [view.task_label(task) for task in tasks])
    axes.tick_params(axis="y", length=0)
    ruled(axes, "x")
    partial = any(mark == "partial" for mark in drawn)
    _method_legend(figure, view, methods, partial)
    return figure


def _score_mark(axes: Axes, view: ExperimentView, place: tuple[str, str, str], y: float) -> str:
    cell, (task, method, _) = view.cell(*place), place
    if cell.mean is None:
        return ""
    look = looks_of(view)[method]
    mark, *_ = axes.errorbar(
        100 * cell.mean,
        y,
        xerr=None if cell.std is None else 100 * cell.std,
        **look.line,
        markersize=5,
        markerfacecolor=look.face(cell.complete),
        elinewidth=1.1,
        capsize=0,
    )
    titled(mark, f"{view.method_label(method)}, {view.task_label(task)}: {cell_text(cell)}")
    return "complete" if cell.complete else "partial"


def cell_text(cell: Cell) -> str:
    """``51.5 % ± 0.4``, with the trials behind it if some failed."""
    spread = "" if cell.std is None else f" ± {percent(cell.std)}"
    return f"{percent(cell.mean)} %{spread}{_trials_of(cell)}"


def _trials_of(cell: Cell) -> str:
    return "" if cell.complete else f" ({cell.n_ok} of {cell.n_asked} trials)"


def _mark_absent_tasks(axes: Axes, view: ExperimentView, classifier: str) -> None:
    for row, task in enumerate(view.experiment.tasks):
        reasons = {view.cell(task.name, m, classifier).absent for m in view.methods}
        if len(reasons) == 1 and None not in reasons:
            axes.text(
                0.5,
                row,
                reasons.pop(),
                transform=axes.get_yaxis_transform(),
                ha="center",
                va="center",
                style="italic",
                alpha=0.75,
            )


def _method_legend(
    figure: Figure, view: ExperimentView, methods: tuple[str, ...], partial: bool = False
) -> None:
    known = looks_of(view)
    handles = [known[method].handle(linestyle="") for method in methods]
    labels = [view.method_label(method) for method in methods]
    if partial:
        hollow = {"marker": "o", "linestyle": "", "markersize": 5.5, "markerfacecolor": "none"}
        handles.append(Line2D([], [], color=INK, **hollow))
        labels.append("hollow: without its failed trials")
    legend(figure, handles, labels, columns=6)


def trials_figure(view: ExperimentView, classifier: str) -> Figure:
    """Every trial as a dot over its median, one panel per task."""
    if view.n_trials == 1:
        return statement("The protocol has one trial: there is no spread over trials to draw.")
    if view.too_many:
        return statement(f"{view.too_many} are too many to draw trial by trial; see records.csv.")
    tasks = [
        task
        for task in view.experiment.tasks
        if any(view.cell(task.name, m, classifier).n_ok for m in view.methods)
    ]
    if not tasks:
        return statement("No trial has a score: there is no spread over trials to draw.")
    figure, panels = small_multiples(len(tasks))
    for axes, task in zip(panels, tasks, strict=True):
        _trial_panel(axes, view, task.name, classifier)
    figure.supylabel(ACCURACY, fontsize=9)
    shown = [view.cell(task.name, m, classifier) for task in tasks for m in view.methods]
    partial = any(cell.mean is not None and not cell.complete for cell in shown)
    _method_legend(figure, view, view.methods, partial)
    return figure


def _trial_panel(axes: Axes, view: ExperimentView, task: str, classifier: str) -> None:
    known = looks_of(view)
    for position, method in enumerate(view.methods):
        look, cell = known[method], view.cell(task, method, classifier)
        scores = 100 * scores_of(view.trials(task, method, classifier), "accuracy")
        if not len(scores):
            continue
        # Spread sideways in the order of the trials, not at random.
        sideways = position + 0.5 * (np.arange(len(scores)) / max(len(scores) - 1, 1) - 0.5)
        axes.scatter(sideways, scores, s=7, color=look.colour, alpha=0.55, linewidths=0)
        median = np.median(scores)
        axes.plot([position - 0.36, position + 0.36], [median] * 2, color=look.colour, lw=2)
        face = look.face(cell.complete)
        (mark,) = axes.plot(position, median, **look.line, markersize=5, markerfacecolor=face)
        titled(mark, f"{view.method_label(method)}: median {median:.1f} %{_trials_of(cell)}")
    axes.set_title(view.task_label(task), pad=3)
    axes.set_xlim(-0.7, len(view.methods) - 0.3)
    axes.set_xticks([])
    axes.margins(y=0.12)
    ruled(axes, "y")


def timing_figure(view: ExperimentView) -> Figure:
    """Seconds of every repeat with their median, and the memory beside it."""
    records = timing_records(view)
    if not any(record["status"] == "ok" for record in records):
        return statement("No timed run succeeded: there is no time to draw.")
    groups = [
        (key, list(group))
        for key, group in itertools.groupby(records, key=lambda r: (r["task"], r["method"]))
    ]
    figure = Figure(figsize=(WIDTH, 0.9 + 0.3 * len(groups)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    for row, ((_, method), group) in enumerate(groups):
        _timing_row(left, right, row, looks_of(view)[method], group)
    logarithmic(left, "x")
    left.set_xlabel("Processor seconds (logarithmic)")
    right.set_xlabel("Memory beyond the data (MiB)")
    right.set_xlim(left=0)
    labels = [
        f"{view.task_label(task)}  {view.method_label(method)}" for (task, method), _ in groups
    ]
    left.set_yticks(range(len(groups)), labels)
    left.set_ylim(len(groups) - 0.5, -0.5)
    for axes in (left, right):
        ruled(axes, "x")
        axes.tick_params(axis="x", labeltop=True)  # of many rows the first screen shows some
        axes.tick_params(axis="y", length=0)
    return figure


def _timing_row(left: Axes, right: Axes, row: int, look: Look, group: list[dict]) -> None:
    good = [record for record in group if record["status"] == "ok"]
    if not good:
        words = STATUS_WORDS.get(group[0]["status"], group[0]["status"])
        style = {"va": "center", "style": "italic", "alpha": 0.75}
        left.text(0.02, row, words, transform=left.get_yaxis_transform(), **style)
        return
    seconds = [record["cpu_seconds"] for record in good]
    dots = {"color": look.colour, "linestyle": "", "clip_on": False}
    left.plot(seconds, [row] * len(seconds), marker="o", markersize=4, alpha=0.5, mew=0, **dots)
    (mark,) = left.plot(np.median(seconds), row, marker="|", markersize=13, mew=2.2, **dots)
    titled(mark, f"median {np.median(seconds):.3g} s")
    added = max(record["added_mb"] for record in good)
    (bar,) = right.barh(row, added, height=0.55, color=look.colour, alpha=0.85)
    titled(bar, f"{added:.0f} MiB")


# Figures of every classifier; without and with a varied quantity.
_SCORES = {
    "accuracy": accuracy_figure,
    "critical_difference": critical_difference_figure,
    "trials": trials_figure,
}
_CURVES = {"curve": curve_figure, "curve_by_task": curve_by_task_figure}
