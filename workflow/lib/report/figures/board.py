"""Figures of a board: gain of every method over the best baseline, and what the oracle has more."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.lib.report.figures.looks import looks
from workflow.lib.report.figures.style import INK, PAPER, RULE, WIDTH, ruled, statement, titled
from workflow.lib.results.board import Board, Row


def gain_figure(board: Board) -> Figure:
    """One row per method: gain as chosen with its interval, and the gain of the oracle, hollow."""
    rows = [row for row in board.rows if row.effect is not None]
    if not rows:
        return statement("No method could be compared with a baseline.")
    found = looks(board.suite.methods)
    base = next(row for row in board.rows if row.method == board.comparison.reference)
    figure = Figure(figsize=(WIDTH, 1.0 + 0.24 * len(rows)), layout="constrained")
    axes = figure.subplots()
    axes.axvline(0, color=RULE, linewidth=1.2)
    for place, row in enumerate(rows):
        _gain_row(axes, place, row, base, found[row.method].colour)
    labels = [board.label(row.method) for row in rows]
    axes.set_yticks(range(len(rows)), labels)
    reference = board.label(base.method)
    axes.set(
        ylim=(len(rows) - 0.5, -0.5),
        xlabel=f"Gain in accuracy over {reference}, tuned alike (percentage points)",
    )
    axes.tick_params(axis="y", length=0)
    ruled(axes, "x")
    return figure


def _gain_row(axes: Axes, place: int, row: Row, base: Row, colour: str) -> None:
    effect = row.effect
    if effect.low is not None:
        axes.plot([100 * effect.low, 100 * effect.high], [place] * 2, color=colour, linewidth=1.6)
    (dot,) = axes.plot(100 * effect.effect, place, "o", color=colour, markersize=5.5)
    titled(dot, f"{100 * effect.effect:+.1f} points as chosen")
    best = row.by_choice.get("oracle")
    if best is not None:
        gain = 100 * (best - base.scores["accuracy"])
        style = {"markerfacecolor": PAPER, "markeredgecolor": INK, "markersize": 4.5}
        (ring,) = axes.plot(gain, place, "D", **style)
        titled(ring, f"{gain:+.1f} points with the best candidate (oracle)")


def selectors_figure(board: Board) -> Figure:
    """One row per way of choosing: its gap to the oracle with the interval."""
    effects = board.selection.comparison.effects
    figure = Figure(figsize=(WIDTH, 1.0 + 0.26 * len(effects)), layout="constrained")
    axes = figure.subplots()
    for place, effect in enumerate(effects):
        colour = "#0072b2" if effect.method in board.selectors else "#7f7f7f"
        if effect.low is not None:
            ends = [-100 * effect.high, -100 * effect.low]
            axes.plot(ends, [place] * 2, color=colour, linewidth=1.6)
        (dot,) = axes.plot(-100 * effect.effect, place, "o", color=colour, markersize=5.5)
        titled(dot, f"{-100 * effect.effect:.1f} points below the oracle")
    labels = [board.suite.label_of_classifier(effect.method) for effect in effects]
    axes.set_yticks(range(len(effects)), labels)
    axes.set(
        ylim=(len(effects) - 0.5, -0.5),
        xlim=(0, None),
        xlabel="Gap to the oracle (percentage points of accuracy)",
    )
    axes.tick_params(axis="y", length=0)
    ruled(axes, "x")
    return figure
