"""Records of a study, chosen by their fields, and the drawing of their means."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def values_of(records: list[dict], field: str, **place) -> list[float]:
    """Field of the records at a place."""
    return [r[field] for r in records if all(r[key] == value for key, value in place.items())]


def curve(
    axes: "Axes", position: int, xs: Sequence[float], values: Sequence[Sequence[float]], **look
) -> object:
    """Mean line with a band of one standard deviation; returns the line for a legend."""
    from workflow.lib.report.figures.style import colour, marker

    mean = np.array([np.mean(sample) for sample in values])
    spread = np.array([np.std(sample, ddof=len(sample) > 1) for sample in values])
    style = {"color": colour(position), "marker": marker(position), "markersize": 5, **look}
    (line,) = axes.plot(xs, mean, **style)
    low = mean - spread
    if axes.get_yscale() == "log":
        low = np.maximum(low, mean / 2)
    axes.fill_between(xs, low, mean + spread, color=colour(position), alpha=0.15, linewidth=0)
    return line
