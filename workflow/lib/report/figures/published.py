"""Published numbers and ours, joined by a line, inside the bands of the audit's rule."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from workflow.lib.report.figures.looks import Look, looks_of
from workflow.lib.report.figures.style import (
    ACCURACY,
    INK,
    PAPER,
    RULE,
    WIDTH,
    legend,
    ruled,
    statement,
    titled,
)
from workflow.lib.results.audit import audit
from workflow.lib.results.columns import Column, Row
from workflow.lib.results.text import SEARCH_MARK, signed, with_mark
from workflow.lib.results.verdicts import (
    CLOSE,
    CLOSE_POINTS,
    OFF,
    REPRODUCED,
    REPRODUCED_POINTS,
    SEARCHED,
)
from workflow.lib.results.views import ExperimentView

# With more columns or rows than these, one panel shows the columns' means.
_MOST_COLUMNS, _MOST_ROWS = 4, 16


def published_figure(view: ExperimentView) -> Figure:
    """A panel per compared column with its rows, or one panel with the means of many columns."""
    compared = [column for column in audit(view).columns if column.judged]
    if not compared:
        return statement("No published column could be compared with complete results.")
    rows = {row.label: None for column in compared for row in column.judged}
    if len(compared) > _MOST_COLUMNS or len(rows) > _MOST_ROWS or len(rows) == 1:
        return _means_figure(view, compared)
    figure = Figure(figsize=(WIDTH, 1.3 + 0.27 * (len(rows) + 1)), layout="constrained")
    panels = figure.subplots(1, len(compared), sharex=True, sharey=True, squeeze=False)[0]
    labels = [*rows, "Mean"]
    for axes, column in zip(panels, compared, strict=True):
        judged = {row.label: row for row in column.judged} | {"Mean": column.mean}
        look = _look(view, column)
        for place, label in enumerate(labels):
            if label in judged:
                _dumbbell(axes, place, judged[label], look, f"{_title(column)}, {label}")
        axes.axhline(len(rows) - 0.5, color=RULE, linewidth=0.8, zorder=1)
        axes.set_title(_title(column), pad=4)
        _finish(axes, labels)
    left, right = axes.get_xlim()
    axes.set_xlim(left - 0.02 * (right - left), right)  # room for a mark at the end, in all panels
    figure.supxlabel(ACCURACY, fontsize=9)
    _legend(figure, compared)
    return figure


def _means_figure(view: ExperimentView, compared: list[Column]) -> Figure:
    figure = Figure(figsize=(WIDTH, 1.3 + 0.3 * len(compared)), layout="constrained")
    axes = figure.subplots()
    for place, column in enumerate(compared):
        _dumbbell(axes, place, column.mean, _look(view, column), _title(column))
    _finish(axes, [_title(column) for column in compared])
    alone = all(len(column.judged) < 2 for column in compared)
    axes.set_xlabel(ACCURACY if alone else f"{ACCURACY}, mean over the rows that are compared")
    _legend(figure, compared)
    return figure


def _look(view: ExperimentView, column: Column) -> Look:
    return looks_of(view)[view.experiment.audit["columns"][column.name]["method"]]


def _title(column: Column) -> str:
    return with_mark(column.label, column.found_by_search)


def _dumbbell(axes: Axes, place: int, row: Row, look: Look, label: str) -> None:
    """Published hollow, ours filled, over the bands within which a row is close or reproduced."""
    for points, alpha in ((CLOSE_POINTS, 0.4), (REPRODUCED_POINTS, 0.85)):
        axes.barh(
            place,
            2 * points,
            left=row.published - points,
            height=0.72,
            color=RULE,
            alpha=alpha,
            linewidth=0,
            zorder=0,
        )
    axes.plot([row.published, row.ours], [place, place], color=INK, linewidth=1, zorder=2)
    axes.plot(row.published, place, "o", color=INK, markerfacecolor=PAPER, markersize=5.5, zorder=3)
    (mark,) = axes.plot(row.ours, place, **look.line, markersize=5.5, zorder=4)
    difference = f"published {row.published:.1f}, ours {row.ours:.1f} ({signed(row.difference)})"
    titled(mark, f"{label}: {difference}; {row.verdict}")


def _finish(axes: Axes, labels: list[str]) -> None:
    axes.use_sticky_edges = False  # or the ends of the bands would be the ends of the axis
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    ruled(axes, "x")


def _legend(figure: Figure, compared: list[Column]) -> None:
    handles = [
        Line2D([], [], marker="o", linestyle="", color=INK, markerfacecolor=PAPER, markersize=5.5),
        Line2D([], [], marker="o", linestyle="", color=INK, markersize=5.5),
        Patch(color=RULE, alpha=0.85),
        Patch(color=RULE, alpha=0.4),
    ]
    untested = (
        ", untested with one trial"
        if any(row.untested for column in compared for row in column.judged)
        else ""
    )
    reproduced = _agreement(f"{REPRODUCED} if TOST agrees{untested}", compared)
    labels = [
        "published",
        "ours (marker of the method)",
        f"{OFF[REPRODUCED]} ({reproduced})",
        f"{OFF[CLOSE]} ({_agreement(CLOSE, compared)})",
    ]
    legend(figure, handles, labels, columns=2)


def _agreement(word: str, compared: list[Column]) -> str:
    """What agreement is called: of columns that were searched for, nothing better than that."""
    searched = {column.found_by_search for column in compared}
    words = {False: word, True: f"{SEARCH_MARK}: {SEARCHED}"}
    return "; ".join(words[found] for found in sorted(searched))
