"""Mean ranks of the methods: a critical-difference diagram of a few, a row each for many."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.lib.report.figures.looks import Look, looks_of
from workflow.lib.report.figures.style import (
    INK,
    RULE,
    WIDTH,
    ruled,
    statement,
    step_with_room,
    titled,
)
from workflow.lib.results import significance
from workflow.lib.results.standings import compared
from workflow.lib.results.views import ExperimentView


def critical_difference_figure(view: ExperimentView, classifier: str) -> Figure:
    """Mean ranks on a line; a bar joins methods that do not differ by Nemenyi's test.

    Many methods have a row each, and no critical difference.
    """
    found = compared(view.records, classifier, view.methods)
    ranks = significance.friedman_nemenyi(found.means)
    if isinstance(ranks, str):
        return statement(ranks)
    names, values = list(ranks.mean_ranks.index), ranks.mean_ranks.to_numpy()
    if not ranks.is_shown:
        return _rank_rows(view, ranks)
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
        _rank_label(axes, view.method_label(name), value, y, left, looks_of(view)[name])
    return figure


def _rank_rows(view: ExperimentView, ranks: significance.Ranks) -> Figure:
    """A row per method, the best on top."""
    names, values = list(ranks.mean_ranks.index), ranks.mean_ranks.to_numpy()
    figure = Figure(figsize=(WIDTH, 0.9 + 0.23 * len(names)), layout="constrained")
    axes = figure.subplots()
    for row, (name, value) in enumerate(zip(names, values, strict=True)):
        axes.plot([values[0], value], [row, row], color=RULE, linewidth=0.8, zorder=1)
        (mark,) = axes.plot(value, row, **looks_of(view)[name].line, markersize=6)
        titled(mark, f"{view.method_label(name)}: mean rank {value:.2f}")
    axes.set_yticks(range(len(names)), [view.method_label(name) for name in names])
    axes.set(ylim=(len(names) - 0.4, -0.6), xlabel="Mean rank (1 is best)")
    axes.tick_params(axis="y", length=0)
    ruled(axes, "x")
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


def _rank_label(axes: Axes, label: str, rank: float, y: float, left: bool, look: Look) -> None:
    low, high = axes.get_xlim()
    margin = 0.03 * (high - low)
    end, side = (low - margin, "right") if left else (high + margin, "left")
    axes.plot([rank, rank, end], [0, y, y], color=INK, linewidth=0.8, clip_on=False)
    (mark,) = axes.plot(rank, 0, **look.line, markersize=6, clip_on=False)
    titled(mark, f"{label}: mean rank {rank:.2f}")
    words = f"{label}  {rank:.2f} " if left else f" {rank:.2f}  {label}"
    axes.text(end, y, words, ha=side, va="center", clip_on=False)
