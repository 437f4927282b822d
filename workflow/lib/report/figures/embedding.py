"""The picture of one trial: its samples in the space that each method found."""

import itertools

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workflow.lib.report.figures.style import (
    DOMAIN_MARKERS,
    INK,
    RULE,
    WIDTH,
    class_colours,
    legend,
    statement,
)
from workflow.lib.results.views import STATUS_WORDS, ExperimentView

# Above this number of points an SVG of single marks is larger than a picture of them.
_MAX_VECTOR_POINTS = 2500


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
    _embedding_legend(figure, view, view.pictured[shown[0]], classes)
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
    marked = picture.get("labelled") or [np.zeros(len(xy), dtype=bool) for xy in points]
    for domain, (xy, labels) in enumerate(zip(points, picture["labels"], strict=True)):
        shade = np.array([colours[label] for label in labels])
        for shown in (False, True):
            kept = marked[domain] == shown
            axes.scatter(
                *xy[kept].T,
                s=(26 if shown else 13) if domain % 2 else (22 if shown else 11),
                c=shade[kept],
                marker=DOMAIN_MARKERS[domain % len(DOMAIN_MARKERS)],
                alpha=0.95 if shown else 0.55,
                edgecolors=INK if shown else "none",
                linewidths=0.7 if shown else 0,
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


def class_names(view: ExperimentView, classes: np.ndarray) -> list[str]:
    """Names of the classes of the pictured target, or their numbers where it has no names."""
    target = view.experiment.task(view.experiment.picture["task"]).target
    names = view.suite.datasets[target.dataset].get("class_names", [])
    return [
        str(names[label]).replace("_", " ") if label < len(names) else str(label)
        for label in classes
    ]


def _embedding_legend(
    figure: Figure, view: ExperimentView, picture: dict, classes: np.ndarray
) -> None:
    domains = picture["domains"]
    handles = [
        Line2D([], [], color=INK, marker=DOMAIN_MARKERS[i % 6], linestyle="", markersize=5)
        for i in range(len(domains))
    ]
    labels = list(domains)
    if any(marks.any() for marks in picture.get("labelled") or []):
        ringed = {"markeredgecolor": INK, "markerfacecolor": "none", "markersize": 6.5}
        handles.append(Line2D([], [], marker="o", linestyle="", **ringed))
        labels.append("outlined: labelled")
    if len(classes) <= 12:
        colours = class_colours(classes)
        handles += [
            Line2D([], [], color=c, marker="o", linestyle="", ms=5.5) for c in colours.values()
        ]
        labels += class_names(view, classes)
    longest = max(len(label) for label in labels)
    columns = max(1, min(14, int(WIDTH / (0.35 + 0.075 * longest))))
    legend(figure, handles, labels, columns=columns, handletextpad=0.15, columnspacing=1.0)
