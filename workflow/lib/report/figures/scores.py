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
from workflow.lib.report.figures.ranked import ranked_figure
from workflow.lib.report.figures.style import (
    DOMAIN_MARKERS,
    INK,
    RULE,
    WIDTH,
    class_colours,
    colour,
    legend,
    logarithmic,
    marker,
    render,
    ruled,
    small_multiples,
    statement,
    step_with_room,
)
from workflow.lib.report.study import study_drawings
from workflow.lib.report.tables.setup import timing_records
from workflow.lib.results import significance
from workflow.lib.results.records import scores_of
from workflow.lib.results.views import MANY_METHODS, STATUS_WORDS, ExperimentView, StudyView
from workflow.lib.storage.artifacts import atomic_write

# Above this number of points an SVG of single marks is larger than a picture of them.
_MAX_VECTOR_POINTS = 2500


def drawings(view: ExperimentView | StudyView) -> dict[str, Callable[[], Figure]]:
    """Functions that draw each figure, by name, in the order of `figure_names`."""
    if isinstance(view, StudyView):
        return study_drawings(view)
    functions: dict[str, Callable[[], Figure]] = {}
    for classifier, suffix in suffixes(view.experiment).items():
        for name, draw in (_CURVES if view.experiment.vary else _SCORES).items():
            functions[name + suffix] = lambda draw=draw, c=classifier: draw(view, c)
    if view.experiment.picture:
        functions["embedding"] = lambda: embedding_figure(view)
    if view.experiment.timing:
        functions["timing"] = lambda: timing_figure(view)
    return {name: functions[name] for name in figure_names(view.experiment)}


def write_all(view: ExperimentView | StudyView, folder: Path | str) -> list[Path]:
    """Write every figure as SVG and PDF; return the paths."""
    paths = []
    for name, draw in drawings(view).items():
        for ending in ("svg", "pdf"):
            path = Path(folder) / f"{name}.{ending}"
            with atomic_write(path) as temporary:
                temporary.write_bytes(render(draw, ending))
            paths.append(path)
    return paths


def accuracy_figure(view: ExperimentView, classifier: str) -> Figure:
    """Mean and standard deviation of each method, task by task from top to bottom."""
    tasks, methods = view.experiment.tasks, view.methods
    if len(methods) > MANY_METHODS:
        return ranked_figure(view, classifier)
    step = 0.72 / max(len(methods), 4)
    offsets = (np.arange(len(methods)) - (len(methods) - 1) / 2) * step
    height = 1.0 + len(tasks) * max(0.42, 0.115 * len(methods))
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots()
    drawn = [
        _score_mark(axes, view, (task.name, method, classifier), row + offsets[column], column)
        for row, task in enumerate(tasks)
        for column, method in enumerate(methods)
    ]
    if not any(drawn):
        return statement("No method has a score on any task: there is no accuracy to draw.")
    _mark_absent_tasks(axes, view, classifier)
    for row in range(1, len(tasks)):
        axes.axhline(row - 0.5, color=RULE, linewidth=0.6)
    axes.set(ylim=(len(tasks) - 0.5, -0.5), xlabel="Accuracy, percent (mean ± standard deviation)")
    if view.n_trials == 1:
        axes.set_xlabel("Accuracy, percent (one trial)")
    axes.set_yticks(range(len(tasks)), [view.task_label(task) for task in tasks])
    axes.tick_params(axis="y", length=0)
    ruled(axes, "x")
    partial = any(mark == "partial" for mark in drawn)
    _method_legend(figure, view, methods, partial)
    return figure


def _score_mark(
    axes: Axes, view: ExperimentView, place: tuple[str, str, str], y: float, position: int
) -> str:
    cell = view.cell(*place)
    if cell.mean is None:
        return ""
    axes.errorbar(
        100 * cell.mean,
        y,
        xerr=None if cell.std is None else 100 * cell.std,
        color=colour(position),
        marker=marker(position),
        markersize=5,
        markerfacecolor=colour(position) if cell.complete else "none",
        elinewidth=1.1,
        capsize=0,
    )
    return "complete" if cell.complete else "partial"


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
    handles = [
        Line2D([], [], color=colour(i), marker=marker(i), linestyle="", markersize=5.5)
        for i in range(len(methods))
    ]
    labels = [view.method_label(method) for method in methods]
    if partial:
        hollow = {"marker": "o", "linestyle": "", "markersize": 5.5, "markerfacecolor": "none"}
        handles.append(Line2D([], [], color=INK, **hollow))
        labels.append("hollow: some trials failed")
    legend(figure, handles, labels, columns=6)


def trials_figure(view: ExperimentView, classifier: str) -> Figure:
    """Every trial as a dot over its median, one panel per task."""
    if view.n_trials == 1:
        return statement("The protocol has one trial: there is no spread over trials to draw.")
    if len(view.methods) > MANY_METHODS:
        words = f"{len(view.methods)} methods are too many to draw trial by trial; see records.csv."
        return statement(words)
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
    figure.supylabel("Accuracy, percent", fontsize=9)
    _method_legend(figure, view, view.methods)
    return figure


def _trial_panel(axes: Axes, view: ExperimentView, task: str, classifier: str) -> None:
    for position, method in enumerate(view.methods):
        scores = 100 * scores_of(view.trials(task, method, classifier), "accuracy")
        if not len(scores):
            continue
        # Spread sideways in the order of the trials, not at random.
        sideways = position + 0.5 * (np.arange(len(scores)) / max(len(scores) - 1, 1) - 0.5)
        axes.scatter(sideways, scores, s=7, color=colour(position), alpha=0.55, linewidths=0)
        median = np.median(scores)
        axes.plot([position - 0.36, position + 0.36], [median] * 2, color=colour(position), lw=2)
        axes.plot(position, median, marker=marker(position), color=colour(position), markersize=5)
    axes.set_title(view.task_label(task), pad=3)
    axes.set_xlim(-0.7, len(view.methods) - 0.3)
    axes.set_xticks([])
    axes.margins(y=0.12)
    ruled(axes, "y")


def critical_difference_figure(view: ExperimentView, classifier: str) -> Figure:
    """Mean ranks on a line; methods that Nemenyi's test does not tell apart are joined by a bar."""
    means = significance.complete_means(view.records, classifier, view.methods)
    ranks = significance.friedman_nemenyi(significance.comparable(means).means)
    if isinstance(ranks, str):
        return statement(ranks)
    names, values = list(ranks.mean_ranks.index), ranks.mean_ranks.to_numpy()
    half = -(-len(names) // 2)
    bars = 0.34 * len(ranks.groups)
    height = 1.25 + bars + 0.36 * half
    figure = Figure(figsize=(WIDTH, height))
    axes = figure.add_axes((0.22, 0.02, 0.56, 0.96))
    axes.set(xlim=(1, len(names)), ylim=(-(bars + 0.36 * half + 0.25), 1.0))
    axes.axis("off")
    _rank_line(axes, len(names))
    _critical_bar(axes, ranks.critical_difference, len(names))
    for level, group in enumerate(ranks.groups):
        ends = [ranks.mean_ranks[group[0]], ranks.mean_ranks[group[-1]]]
        y = -0.24 - 0.34 * level
        axes.plot([ends[0], ends[1]], [y, y], color=INK, linewidth=4, solid_capstyle="round")
    for position, (name, value) in enumerate(zip(names, values, strict=True)):
        left = position < half
        level = position if left else len(names) - 1 - position
        y = -(bars + 0.3 + 0.36 * level)
        _rank_label(axes, view.method_label(name), value, y, left, view.methods.index(name))
    return figure


def _rank_line(axes: Axes, n_methods: int) -> None:
    axes.plot([1, n_methods], [0, 0], color=INK, linewidth=0.9, clip_on=False)
    ranks = np.arange(1, n_methods + 1)
    inches = axes.get_position().width * WIDTH
    axes.vlines(ranks, 0, 0.09, color=INK, linewidth=0.9, clip_on=False)
    for rank in ranks[:: step_with_room(ranks, inches)]:
        axes.text(rank, 0.15, str(rank), ha="center", va="bottom")
    low = 1 - 0.03 * (n_methods - 1)
    axes.text(low, 0.05, "mean rank\n(1 is best)", ha="right", va="center", fontsize=8)


def _critical_bar(axes: Axes, difference: float, n_methods: int) -> None:
    """The critical difference to scale, above the right end of the line."""
    right, y = n_methods, 0.58
    left = max(right - difference, 1)
    axes.plot([left, right], [y, y], color=INK, linewidth=1.4, clip_on=False)
    for end in (left, right):
        axes.plot([end, end], [y - 0.06, y + 0.06], color=INK, linewidth=1.4, clip_on=False)
    middle = (left + right) / 2
    axes.text(middle, y + 0.1, f"critical difference {difference:.2f}", ha="center", fontsize=8)


def _rank_label(axes: Axes, label: str, rank: float, y: float, left: bool, position: int) -> None:
    low, high = axes.get_xlim()
    margin = 0.03 * (high - low)
    end, side = (low - margin, "right") if left else (high + margin, "left")
    axes.plot([rank, rank, end], [0, y, y], color=INK, linewidth=0.8, clip_on=False)
    axes.plot(rank, 0, marker=marker(position), color=colour(position), markersize=6, clip_on=False)
    words = f"{label}  {rank:.2f} " if left else f" {rank:.2f}  {label}"
    axes.text(end, y, words, ha=side, va="center", clip_on=False)


def embedding_figure(view: ExperimentView) -> Figure:
    """One trial in two dimensions: colour is the class, the marker is the domain."""
    methods = list(view.experiment.picture["methods"])
    shown = [method for method in methods if view.pictured.get(method)]
    if not shown:
        return statement("No embedding of the pictured trial is available.")
    columns = len(methods) if len(methods) <= 4 else 3
    rows = -(-len(methods) // columns)
    side = WIDTH / max(columns, 2)
    figure = Figure(figsize=(WIDTH, 0.6 + rows * side), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    classes = np.unique(np.concatenate([np.concatenate(view.pictured[m]["labels"]) for m in shown]))
    for axes, method in itertools.zip_longest(panels.flat, methods):
        axes.axis("off") if method is None else _embedding_panel(axes, view, method, classes)
    _embedding_legend(figure, view.pictured[shown[0]]["domains"], classes)
    return figure


def plane(embeddings: list[np.ndarray]) -> list[np.ndarray]:
    """Two coordinates of every domain: as they are, or two joint principal components.

    The sign of a component is fixed by its largest loading, so the picture is the same each time.
    """
    widths = {embedding.shape[1] for embedding in embeddings}
    if len(widths) > 1:
        raise ValueError("the domains' embeddings have different widths: no common space to draw")
    width = widths.pop()
    if width == 1:
        return [
            np.column_stack([e[:, 0], np.full(len(e), float(d))]) for d, e in enumerate(embeddings)
        ]
    if width == 2:
        return list(embeddings)
    joint = np.vstack(embeddings)
    centre = joint.mean(axis=0)
    _, _, directions = np.linalg.svd(joint - centre, full_matrices=False)
    axes = directions[:2]
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    axes = axes * np.where(largest < 0, -1.0, 1.0)
    return [(embedding - centre) @ axes.T for embedding in embeddings]


def _embedding_panel(axes: Axes, view: ExperimentView, method: str, classes: np.ndarray) -> None:
    axes.set_title(view.method_label(method), pad=4)
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color=RULE)
    picture = view.pictured.get(method)
    widths = {e.shape[1] for e in picture["embeddings"]} if picture else set()
    if len(widths) != 1:
        reason = "no common space:\nfeatures differ" if picture else _why_not_pictured(view, method)
        axes.text(0.5, 0.5, reason, ha="center", va="center", transform=axes.transAxes)
        return
    points = plane(picture["embeddings"])
    many = sum(map(len, points)) > _MAX_VECTOR_POINTS
    colours = class_colours(classes)
    for domain, (xy, labels) in enumerate(zip(points, picture["labels"], strict=True)):
        axes.scatter(
            xy[:, 0],
            xy[:, 1],
            s=13 if domain % 2 else 11,
            c=[colours[label] for label in labels],
            marker=DOMAIN_MARKERS[domain % len(DOMAIN_MARKERS)],
            alpha=0.7,
            linewidths=0,
            rasterized=many,
        )
    _robust_limits(axes, np.vstack(points))
    names = {1: ("component 1", "domain"), 2: ("component 1", "component 2")}.get(
        widths.pop(), ("PC 1", "PC 2")
    )
    axes.set_xlabel(names[0], fontsize=8)
    axes.set_ylabel(names[1], fontsize=8)


def _why_not_pictured(view: ExperimentView, method: str) -> str:
    asked = view.experiment.picture
    trial = view.records[
        (view.records["task"] == asked["task"])
        & (view.records["method"] == method)
        & (view.records["trial"] == asked["trial"])
    ]
    bad = [status for status in trial["status"] if status != "ok"]
    return STATUS_WORDS[bad[0]] if bad else "no embedding kept"


def _robust_limits(axes: Axes, points: np.ndarray) -> None:
    """Show the middle 99 % with a margin: one far point must not shrink all others to a spot."""
    low, high = np.percentile(points, [0.5, 99.5], axis=0)
    margin = 0.12 * np.where(high > low, high - low, 1.0)
    axes.set(xlim=(low[0] - margin[0], high[0] + margin[0]))
    axes.set(ylim=(low[1] - margin[1], high[1] + margin[1]))


def _embedding_legend(figure: Figure, domains: list[str], classes: np.ndarray) -> None:
    handles = [
        Line2D([], [], color=INK, marker=DOMAIN_MARKERS[i % 6], linestyle="", markersize=5)
        for i in range(len(domains))
    ]
    labels = list(domains)
    if len(classes) <= 12:
        colours = class_colours(classes)
        handles += [
            Line2D([], [], color=c, marker="o", linestyle="", ms=5.5) for c in colours.values()
        ]
        labels += [f"{label}" for label in colours]
    legend(figure, handles, labels, columns=14, handletextpad=0.15, columnspacing=1.0)


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
        _timing_row(left, right, row, view.methods.index(method), group)
    logarithmic(left, "x")
    left.set_xlabel("Seconds (log scale): repeats and their median")
    right.set_xlabel("Memory beyond the data, MiB")
    right.set_xlim(left=0)
    labels = [
        f"{view.task_label(task)}  {view.method_label(method)}" for (task, method), _ in groups
    ]
    left.set_yticks(range(len(groups)), labels)
    left.set_ylim(len(groups) - 0.5, -0.5)
    for axes in (left, right):
        ruled(axes, "x")
        axes.tick_params(axis="y", length=0)
    return figure


def _timing_row(left: Axes, right: Axes, row: int, position: int, group: list[dict]) -> None:
    good = [record for record in group if record["status"] == "ok"]
    if not good:
        words = STATUS_WORDS.get(group[0]["status"], group[0]["status"])
        style = {"va": "center", "style": "italic", "alpha": 0.75}
        left.text(0.02, row, words, transform=left.get_yaxis_transform(), **style)
        return
    seconds = [record["seconds"] for record in good]
    dots = {"color": colour(position), "linestyle": "", "clip_on": False}
    left.plot(seconds, [row] * len(seconds), marker="o", markersize=4, alpha=0.5, mew=0, **dots)
    left.plot(np.median(seconds), row, marker="|", markersize=13, mew=2.2, **dots)
    added = max(record["added_mb"] for record in good)
    right.barh(row, added, height=0.55, color=colour(position), alpha=0.85)


# Figures of every classifier; without and with a varied quantity.
_SCORES = {
    "accuracy": accuracy_figure,
    "critical_difference": critical_difference_figure,
    "trials": trials_figure,
}
_CURVES = {"curve": curve_figure, "curve_by_task": curve_by_task_figure}
