"""Colour and marker of a method: the same in every figure of every report.

The hue is that of its family, which is the folder that its estimator lives in; baselines are grey.
Within a family, methods take shades and markers in the order of ``config/methods.yaml``.
"""

import dataclasses
import functools
from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
from matplotlib.lines import Line2D

from workflow.lib.config.addresses import home
from workflow.lib.report.figures.style import MARKERS, PAPER
from workflow.lib.results.views import ExperimentView

BASELINES, SELECTION, EXTERNAL = "baselines", "model_selection", "external"
# Chosen so that any two stay apart for normal and for deuteranope eyes (see the test), and can be
# seen on white and on black. A family without an entry looks like an external package.
HUES = {
    BASELINES: "#8a8a8a",
    "manifold": "#2c64d2",
    "distribution": "#256c2c",
    "subspace": "#ee7ad7",
    "mapping": "#9e7604",
    "kernel_learning": "#1f637f",
    "max_margin": "#fa8564",
    EXTERNAL: "#9980fe",
}
# Share of black (negative) or white that is mixed into a hue.
_SHADES = (0.0, -0.35, 0.35, -0.6)


@dataclasses.dataclass(frozen=True)
class Look:
    """How the marks of one method look."""

    colour: str
    marker: str

    @property
    def line(self) -> dict:
        return {"color": self.colour, "marker": self.marker}

    def handle(self, **line: object) -> Line2D:
        """An entry of a legend."""
        return Line2D([], [], **self.line, **{"markersize": 5.5, **line})

    def face(self, complete: bool) -> str:
        """Hollow where some trials failed."""
        return self.colour if complete else PAPER


def family(entry: Mapping) -> str:
    """Family of a method's entry: the folder of its estimator, found from the address.

    A search, ``FMACV``, belongs to what it searches; an adapter of another package to no family.
    """
    package, _, name = entry["estimator"].partition(":")
    room = _room(package, name)
    if room == SELECTION:
        return _room(package, name.removesuffix("CV"))
    wrapped = str(entry.get("params", {}).get("estimator", ""))
    return _room(*wrapped.split(":", 1)) if ":" in wrapped else room


@functools.cache
def _room(package: str, name: str) -> str:
    parts = home(f"{package}:{name}").split(".")
    return parts[1] if parts[0] == "domain_alignment" and len(parts) > 2 else EXTERNAL


def looks(methods: Mapping[str, Mapping]) -> dict[str, Look]:
    """Look of every method of ``config/methods.yaml``, by name."""
    members: dict[str, list[str]] = {}
    for name, entry in methods.items():
        members.setdefault(family(entry), []).append(name)
    return {
        name: Look(_shade(HUES.get(of, HUES[EXTERNAL]), place), MARKERS[place % len(MARKERS)])
        for of, names in members.items()
        for place, name in enumerate(names)
    }


def looks_of(view: ExperimentView) -> dict[str, Look]:
    """Look of every method that the configuration of a view knows."""
    return looks(view.suite.methods)


def is_baseline(view: ExperimentView, method: str) -> bool:
    return family(view.suite.methods[method]) == BASELINES


def _shade(hue: str, place: int) -> str:
    share = _SHADES[place % len(_SHADES)]
    ground = np.ones(3) if share > 0 else np.zeros(3)
    mixed = (1 - abs(share)) * np.array(mpl.colors.to_rgb(hue)) + abs(share) * ground
    return mpl.colors.to_hex(mixed)
