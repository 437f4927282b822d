"""Figures of the kinds of shift: a heat map of gains, and accuracy over severity."""

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from workflow.lib.report.figures.looks import looks_of
from workflow.lib.report.figures.style import (
    ACCURACY,
    INK,
    WIDTH,
    legend,
    ruled,
    small_multiples,
    statement,
    titled,
)
from workflow.lib.report.tables.shifts import gain_text, points_text, ranked, words
from workflow.lib.results.effects import Effect
from workflow.lib.results.shifts import Shifts, harms
from workflow.lib.results.text import interval

# Light enough for dark text in both schemes of the page; harm orange, gain blue.
_SHADES = mpl.colors.LinearSegmentedColormap.from_list("gain", ["#f0975c", "#f4f4f2", "#6aa9dc"])
_TEXT, _HARM = "#15191e", "#9c2313"
# Lines of the methods that adapt nothing.
_DASHES = ("-", "--", ":")
# Gains in points from which on a shade gets no darker.
_SATURATED = 30.0


def heat_figure(shifts: Shifts, overall: bool = False) -> Figure:
    """Methods x kinds: shade and number say the gain in points; harm is framed."""
    kinds = [kind for kind in shifts.kinds if not kind.why]
    methods = ranked(shifts)
    if not methods:
        return statement("No method could be compared with no adaptation.")
    figure = Figure(figsize=(WIDTH, 1.0 + 0.27 * len(methods)), layout="constrained")
    axes = figure.subplots()
    for row, method in enumerate(methods):
        for column, kind in enumerate(kinds):
            _cell(axes, row, column, kind.effect(method, overall))
    axes.set_yticks(range(len(methods)), [shifts.view.method_label(m) for m in methods])
    names = [words(kind.name).replace(" ", "\n", 1).replace("-c", "-\nc") for kind in kinds]
    axes.set_xticks(range(len(kinds)), names, fontsize=8)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set(xlim=(-0.5, len(kinds) - 0.5), ylim=(len(methods) - 0.5, -0.5))
    axes.spines[:].set_visible(False)
    return figure


def _cell(axes: Axes, row: int, column: int, effect: Effect | None) -> None:
    corner = (column - 0.48, row - 0.46)
    if effect is None:
        axes.text(column, row, "–", ha="center", va="center", color=INK)
        return
    place = np.clip(effect.effect / (2 * _SATURATED / 100) + 0.5, 0, 1)
    frame = {"edgecolor": _HARM, "linewidth": 1.3} if harms(effect) else {"edgecolor": "none"}
    patch = axes.add_patch(Rectangle(corner, 0.96, 0.92, facecolor=_SHADES(place), **frame))
    ends = interval(effect.low, effect.high)
    titled(patch, f"{points_text(effect)} points{f' ({ends})' if ends else ''}")
    weight = "bold" if effect.surely_above else "normal"
    style = {"color": _TEXT, "fontsize": 8.5, "fontweight": weight}
    axes.text(column, row, gain_text(effect), ha="center", va="center", **style)


def curves_figure(shifts: Shifts) -> Figure:
    """A panel for each kind: accuracy of every method over the severity."""
    kinds = [kind for kind in shifts.kinds if not kind.why]
    if not kinds:
        return statement("No method has a score at any severity.")
    known, handles = looks_of(shifts.view), {}
    figure, panels = small_multiples(len(kinds), height=1.8, sharey=True)
    for axes, kind in zip(panels, kinds, strict=True):
        curves = 100 * shifts.curves(kind.name)
        for method in (m for m in shifts.view.methods if m in curves):
            style = {**known[method].line, "markersize": 3.5, "linewidth": 1.1}
            if method in shifts.plain:
                dashes = _DASHES[shifts.plain.index(method) % len(_DASHES)]
                style |= {"color": INK, "linewidth": 2.0, "zorder": 3, "linestyle": dashes}
            (line,) = axes.plot(curves.index, curves[method], **style)
            handles.setdefault(method, line)
        axes.set_title(words(kind.name), pad=3)
        axes.set_xticks(sorted({0.0, *map(float, curves.index)}))
        ruled(axes, "y")
    figure.supxlabel("Severity", fontsize=9)
    figure.supylabel(ACCURACY, fontsize=9)
    labels = [shifts.view.method_label(method) for method in handles]
    legend(figure, list(handles.values()), labels, columns=4)
    return figure
