"""Colour and marker of a method: the same in every figure of every experiment's report.

Studies, which compare few things that need not be entries, have colours of their own.

The hue is that of its family, which is the folder that its estimator lives in; what only scales or
projects the features (``baselines``) is grey.
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
# Share of white that is mixed into a dark hue, or of black into a light one: every shade has to be
# seen on the ground of both schemes.
_LIGHTER, _DARKER = (0.0, 0.25, 0.45), (0.0, 0.2, 0.38)
_DARK = 0.22


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


def group(entry: Mapping) -> str:
    """Words for the family of a method's entry, by which tables are filtered."""
    of = family(entry)
    return (of if of in HUES else EXTERNAL).replace("_", " ")


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


def _shade(hue: str, place: int) -> str:
    rgb = np.array(mpl.colors.to_rgb(hue))
    dark = luminance(hue) < _DARK
    shades, ground = (_LIGHTER, 1.0) if dark else (_DARKER, 0.0)
    share = shades[place % len(shades)]
    return mpl.colors.to_hex((1 - share) * rgb + share * ground)


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2, from 0 (black) to 1 (white)."""
    rgb = np.array(mpl.colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
