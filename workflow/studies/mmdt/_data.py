"""What the studies of MMDT share: features as in the demo, and the drawing of curves."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def standardised(X: np.ndarray) -> np.ndarray:
    """Rows of length 1, then columns of mean 0 and standard deviation 1."""
    from workflow.lib.trials.preprocess import make_preprocessing

    return make_preprocessing(["l2_rows", "zscore"]).fit_transform(X)


def pick(y: np.ndarray, classes: Sequence[int], per_class: int, rng: np.random.Generator):
    """Rows, the same number of each class."""
    return np.concatenate(
        [rng.choice(np.flatnonzero(y == label), per_class, replace=False) for label in classes]
    )


def only(y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Labels of the given rows, -1 for all others."""
    shown = np.full(len(y), -1)
    shown[rows] = y[rows]
    return shown


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


def domain(domains: Mapping, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardised features and labels of a domain."""
    X, y = domains[name]
    return standardised(X), y
