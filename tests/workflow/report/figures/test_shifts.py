"""Figures of kinds of shift: a cell per gain, harm framed, curves through the means."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from tests.workflow.shift_example import SEVERITIES, shift_view
from workflow.lib.report.figures.shifts import curves_figure, heat_figure
from workflow.lib.report.figures.style import render
from workflow.lib.report.tables.shifts import gain_text, ranked
from workflow.lib.results.shifts import Shifts, harms


def test_a_cell_for_every_gain_and_a_frame_for_every_harm():
    shifts = Shifts(shift_view())
    (axes,) = heat_figure(shifts).axes
    effects = [kind.effect(method) for method in ranked(shifts) for kind in shifts.kinds]
    assert [text.get_text() for text in axes.texts] == [gain_text(effect) for effect in effects]
    cells = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    framed = [cell.get_edgecolor()[3] > 0 for cell in cells]
    assert framed == [harms(effect) for effect in effects]
    assert 0 < sum(framed) < len(framed)


def test_gains_are_bluer_and_losses_redder():
    shifts = Shifts(shift_view())
    (axes,) = heat_figure(shifts).axes
    effects = [kind.effect(method) for method in ranked(shifts) for kind in shifts.kinds]
    blue = [cell.get_facecolor()[2] - cell.get_facecolor()[0] for cell in axes.patches]
    assert np.argmax(blue) == np.argmax([effect.effect for effect in effects])
    assert np.argmin(blue) == np.argmin([effect.effect for effect in effects])


def test_what_is_missing_is_a_dash():
    (axes,) = heat_figure(Shifts(shift_view(failed=[("sma", "rotation", 2)]))).axes
    assert [text.get_text() for text in axes.texts].count("–") == 1
    assert len(axes.patches) == 5


def test_curves_go_through_the_means():
    shifts = Shifts(shift_view())
    figure = curves_figure(shifts)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:3] == ["rotation", "moved concept", "label shift"]
    curves = shifts.curves("rotation")
    for line, method in zip(figure.axes[0].get_lines(), shifts.view.methods, strict=True):
        assert list(line.get_xdata()) == [0.0, *SEVERITIES]
        assert list(line.get_ydata()) == pytest.approx(100 * curves[method])


def test_nothing_to_draw_is_said():
    failed = [("source_only", kind, t) for kind in ("rotation", "concept", "label", "none")
              for t in range(5)]  # fmt: skip
    shifts = Shifts(shift_view(failed=failed))
    for draw in (heat_figure, curves_figure):
        assert draw(shifts).texts
        assert b"<svg" in render(lambda draw=draw: draw(shifts), "svg")


def test_the_same_bytes_twice():
    first, second = (render(lambda: heat_figure(Shifts(shift_view())), "svg") for _ in range(2))
    assert first == second
