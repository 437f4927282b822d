"""A method looks the same everywhere, and families can be told apart without red and green."""

import dataclasses
import itertools

import matplotlib as mpl
import numpy as np
import pytest

from tests.workflow.report_example import make_experiment, rich_curves, view_of
from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.suite import load_suite
from workflow.lib.report.figures.curve import curve_figure
from workflow.lib.report.figures.looks import (
    BASELINES,
    EXTERNAL,
    HUES,
    family,
    looks,
    looks_of,
    luminance,
)
from workflow.lib.report.figures.scores import accuracy_figure
from workflow.lib.report.figures.style import MARKERS

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
DEUTERANOPIA = np.array(
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
)
# Ottosson's OKLab: linear RGB to cone responses, their cube roots to lightness and two hues.
CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
OPPONENTS = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


@pytest.fixture(scope="module")
def methods():
    return load_suite(PROJECT).methods


def linear(colour):
    rgb = np.array(mpl.colors.to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def seen(colour, deuteranope):
    light = linear(colour)
    return OPPONENTS @ np.cbrt(
        CONES @ (np.clip(DEUTERANOPIA @ light, 0, 1) if deuteranope else light)
    )


@pytest.mark.parametrize("deuteranope", [False, True])
def test_families_can_be_told_apart(deuteranope):
    distances = {
        (one, other): np.linalg.norm(seen(HUES[one], deuteranope) - seen(HUES[other], deuteranope))
        for one, other in itertools.combinations(HUES, 2)
    }
    # Neighbours of Okabe and Ito's palette come as near as 0.03 once grey is one of them.
    assert min(distances.values()) > 0.12, min(distances, key=distances.get)


def test_every_method_can_be_seen_on_the_grounds_of_both_schemes(methods):
    for name, look in looks(methods).items():
        light = luminance(look.colour)
        assert 1.05 / (light + 0.05) > 1.8, name
        assert (light + 0.05) / (luminance("#14181d") + 0.05) > 2.2, name


def test_every_family_of_the_configuration_has_a_hue(methods):
    assert {family(entry) for entry in methods.values()} <= set(HUES)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("source_only", BASELINES),
        ("pca", BASELINES),
        ("fma_i", "manifold"),
        ("fma_i_selected", "manifold"),
        ("tkl_cv", "kernel_learning"),
        ("mmdt_selected", "max_margin"),
        ("ot_exact", EXTERNAL),
        ("ot_lab", "mapping"),
        ("meda", "distribution"),
    ],
)
def test_the_family_follows_from_the_address(methods, name, expected):
    assert family(methods[name]) == expected


def test_a_method_of_another_package_needs_no_entry():
    assert family({"estimator": "someone.else:Aligner"}) == EXTERNAL
    assert looks({"new": {"estimator": "someone.else:Aligner"}})["new"].colour == HUES[EXTERNAL]


def test_no_two_methods_look_alike(methods):
    found = [(look.colour, look.marker) for look in looks(methods).values()]
    assert len(set(found)) == len(found)


def drawn(figure):
    """Colours and markers of the marks in a figure's panel."""
    lines = figure.axes[0].lines
    return {(line.get_color(), line.get_marker()) for line in lines if line.get_marker() in MARKERS}


def test_a_method_looks_the_same_whichever_others_are_shown():
    pairs = [("amazon", "dslr")]
    scores = {("amazon-dslr", name): [0.5] for name in ("plain", "sma", "fma_i")}
    alone = view_of(make_experiment(pairs, ("sma",)), scores, 1)
    later = view_of(make_experiment(pairs, ("fma_i", "plain", "sma")), scores, 1)
    look = looks_of(alone)["sma"]
    assert drawn(accuracy_figure(alone, "logistic")) == {(look.colour, look.marker)}
    assert (look.colour, look.marker) in drawn(accuracy_figure(later, "logistic"))


def test_curves_look_like_the_other_figures():
    view = rich_curves(trials=2)
    expected = {
        (look.colour, look.marker) for name, look in looks_of(view).items() if name in view.methods
    }
    assert drawn(curve_figure(view, "logistic")) == expected


def test_the_order_of_an_experiment_changes_no_look():
    view = rich_curves(trials=2)
    turned = dataclasses.replace(view.experiment, methods=view.methods[::-1])
    assert looks_of(view) == looks_of(dataclasses.replace(view, experiment=turned))
