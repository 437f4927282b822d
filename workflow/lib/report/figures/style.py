"""What every figure shares: the style, the palette, rendering to the same bytes, axes.

Methods have looks of their own (`looks`). Other things take colours by order. Every line also has a
marker of its own, so that nothing hangs on telling two colours apart.
"""

import html
import io
import re
from collections.abc import Callable, Sequence

import matplotlib as mpl
import numpy as np
from fontTools import subset
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import (
    Formatter,
    FuncFormatter,
    LogFormatter,
    LogLocator,
    NullFormatter,
    NullLocator,
)

from workflow.lib.results.text import number_text

# Three colours that the report replaces by those of its light or dark scheme.
INK = "#21262d"
RULE = "#c9ced6"
PAPER = "#fefefe"

# Okabe and Ito's palette without its black and its yellow, which is lost on white.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "<", ">", "h", "d", "*", "8")
DOMAIN_MARKERS = ("o", "^", "s", "D", "v", "P")

STYLE = {
    "svg.hashsalt": "domain_alignment",
    "svg.fonttype": "path",
    # A label may hold dollar signs; nothing here is a formula (see `_PlainPowers`).
    "text.parse_math": False,
    "pdf.fonttype": 42,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9,
}
# The one wording of the axis of scores.
ACCURACY = "Accuracy (%)"
# Width of every figure, in inches.
WIDTH = 8.2
# Room that a character of a tick label takes, and the gap between two labels, in inches.
_CHARACTER, _GAP = 0.085, 0.1
# Decades of a panel's axis in which labels at 1, 2 and 5 of each have room.
_DECADES_WITH_ROOM = 2.5


# Rules for joining and shifting glyphs, which no reader of a PDF looks for: to cut them down to the
# glyphs of a figure takes a third of its time.
subset.Options._drop_tables_default = [
    *subset.Options._drop_tables_default,
    *("GDEF", "GPOS", "GSUB"),
]


def render(draw: Callable[[], Figure], ending: str) -> bytes:
    """Draw under the fixed style and save without a date, on a white ground."""
    (source,) = render_each(draw, [ending])
    return source


def render_each(draw: Callable[[], Figure], endings: Sequence[str]) -> list[bytes]:
    """The same in several forms, drawn once: drawing takes as long as saving."""
    with mpl.rc_context({**mpl.rcParamsDefault, **STYLE, "backend": "Agg"}):
        figure = draw()
        _write_powers_plainly(figure)
        saved = []
        for ending in endings:
            saved.append(_saved(figure, ending))
            figure.set_layout_engine("none")  # laid out once, too
        return saved


def _saved(figure: Figure, ending: str) -> bytes:
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    stream = io.BytesIO()
    figure.savefig(
        stream,
        format=ending,
        metadata=dates[ending],
        bbox_inches="tight",
        pad_inches=0.06,
        dpi=160,
        facecolor="white",
    )
    return _MARKS.sub(rb"<g><title>\1</title>", stream.getvalue())


def titled(artist: Artist, text: str) -> None:
    """Give a mark the words that a browser shows when the pointer rests on it."""
    artist.set_gid(_MARK + " ".join(text.split()))


_MARK = "mark: "
_MARKS = re.compile(rf'<g id="{_MARK}([^"]*)">'.encode())


class _PlainPowers(Formatter):
    """Labels of a logarithmic axis as text, 10⁻³, in place of Matplotlib's formulas."""

    _FORMULA = re.compile(r"\$\\mathdefault\{(.*)\}\$")
    _POWER = re.compile(r"\^\{(-?\d+)\}")
    _RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

    def __init__(self, formatter: LogFormatter):
        self._formatter = formatter

    def set_locs(self, locs: Sequence[float]) -> None:
        self._formatter.set_locs(locs)

    def __call__(self, value: float, position: int | None = None) -> str:
        text = self._FORMULA.sub(r"\1", self._formatter(value, position))
        raised = self._POWER.sub(lambda power: power[1].translate(self._RAISED), text)
        return raised.replace(r"\times", "×")


def _write_powers_plainly(figure: Figure) -> None:
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        for ticker in (axis.major, axis.minor):
            if isinstance(ticker.formatter, LogFormatter):
                ticker.formatter = _PlainPowers(ticker.formatter)


def colour(position: int) -> str:
    return PALETTE[position % len(PALETTE)]


def marker(position: int) -> str:
    # The markers have another period than the colours, so a pair comes back only after 88 methods.
    return MARKERS[position % len(MARKERS)]


def stroke(position: int) -> str:
    """Line style: full while the colours are new, then dashed, then dotted."""
    return ("-", "--", ":")[position // len(PALETTE) % 3]


def statement(text: str) -> Figure:
    """A figure that says in words why there is nothing to draw."""
    figure = Figure(figsize=(WIDTH, 1.1))
    style = {"ha": "center", "va": "center", "wrap": True, "fontsize": 10, "style": "italic"}
    figure.text(0.5, 0.5, text, **style, gid=_STATED + " ".join(text.split()))
    return figure


def stated(source: bytes) -> str:
    """The words of an SVG that is a `statement`, which a page prints in its place; else none."""
    found = re.search(rf"""<g id=(["']){_STATED}(.*?)\1>""", source.decode())
    return html.unescape(found[2]) if found else ""


_STATED = "statement: "


def legend(
    figure: Figure, handles: list, labels: list[str], columns: int, **spacing: float
) -> None:
    """A legend above the panels, filled row by row; Matplotlib would fill it by columns."""
    columns = min(columns, len(handles))
    by_column = [i for first in range(columns) for i in range(first, len(handles), columns)]
    figure.legend(
        [handles[i] for i in by_column],
        [labels[i] for i in by_column],
        loc="outside upper center",
        ncols=columns,
        **{"columnspacing": 1.6, **spacing},
    )


def class_colours(classes: np.ndarray) -> dict[int, str]:
    """Ten colours made to be told apart; more classes are spread over one colour map."""
    if len(classes) <= 10:
        names = mpl.color_sequences["petroff10"]
    else:
        shades = mpl.colormaps["turbo"](np.linspace(0.03, 0.97, len(classes)))
        names = [mpl.colors.to_hex(shade) for shade in shades]
    return {int(label): names[position] for position, label in enumerate(classes)}


def small_multiples(
    number: int, columns: int = 4, height: float = 1.65, sharey: bool = False
) -> tuple[Figure, list[Axes]]:
    """A figure with one panel each for ``number`` things; panels of a column share their x axis."""
    columns = min(columns, number)
    rows = -(-number // columns)
    figure = Figure(figsize=(WIDTH, 0.7 + height * rows), layout="constrained")
    figure.get_layout_engine().set(h_pad=0.07)
    panels = figure.subplots(rows, columns, sharex=True, sharey=sharey, squeeze=False)
    for axes in panels.flat[number:]:
        axes.axis("off")
    # A column that ends early has its tick labels at its own last panel.
    for axes in panels.flat[max(number - columns, 0) : number]:
        axes.tick_params(labelbottom=True)
    return figure, list(panels.flat[:number])


def ruled(axes: Axes, axis: str) -> None:
    """Faint lines behind the data, along one axis or both."""
    axes.grid(axis=axis)
    axes.set_axisbelow(True)


def logarithmic(axes: Axes, which: str) -> None:
    """Make the ``"x"`` or ``"y"`` axis logarithmic, with plain numbers at 1, 2 and 5 or at 1."""
    axes.set(**{f"{which}scale": "log"})
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(_PlainLogLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


class _PlainLogLocator(LogLocator):
    """Ticks at 1, 2 and 5 of each decade; at 1 alone where the decades are too many for that."""

    def tick_values(self, vmin: float, vmax: float) -> np.ndarray:
        few = np.log10(vmax / vmin) <= _DECADES_WITH_ROOM
        self.set_params(subs=(1, 2, 5) if few else (1,))
        return super().tick_values(vmin, vmax)


def setting_axis(axes: Axes, values: Sequence[float], scale: str, inches: float) -> None:
    """An x axis with its ticks at given values, as many as have room on ``inches``."""
    axes.set_xscale(scale)
    places = np.log(values) if scale == "log" else np.asarray(values, dtype=float)
    span = float(np.ptp(places)) or 1.0
    ticks = values_with_room(values, (places - places.min()) / span * inches)
    axes.set_xticks(ticks, [number_text(value) for value in ticks])
    axes.xaxis.set_minor_locator(NullLocator())


def step_with_room(values: Sequence[float], inches: float) -> int:
    """Every how many of equally spaced values on ``inches`` a label has room."""
    widest = max(len(number_text(value)) for value in values) * _CHARACTER + _GAP
    return max(1, int(np.ceil(widest * (len(values) - 1) / inches)))


def values_with_room(values: Sequence[float], places: np.ndarray) -> list[float]:
    """Values whose labels do not touch at their places in inches; the two ends come first."""
    half = [(len(number_text(value)) * _CHARACTER + _GAP) / 2 for value in values]
    order = sorted(range(len(values)), key=lambda i: places[i])
    kept: list[int] = []
    for i in dict.fromkeys([order[0], order[-1], *order]):
        if all(abs(places[i] - places[j]) >= half[i] + half[j] for j in kept):
            kept.append(i)
    return [values[i] for i in sorted(kept, key=lambda i: places[i])]
