"""Curves: a line and a band per method, gaps, dashes and words where there is nothing."""

import matplotlib as mpl
import numpy as np
import pytest

from tests.workflow.report.figure_words import words_of
from tests.workflow.report_example import rich_curves, shared_curves, varied_view
from workflow.lib.config.outputs import figure_names
from workflow.lib.report.figures import scores as score_figures
from workflow.lib.report.figures import style
from workflow.lib.report.figures.curve import curve_by_task_figure, curve_figure
from workflow.lib.report.figures.looks import looks_of
from workflow.lib.results.curves import curves


@pytest.fixture(scope="module")
def varied():
    return rich_curves(trials=4)


def lines_of(axes):
    """Long lines, as (colour, dashed, points drawn)."""
    return [
        (line.get_color(), line.is_dashed(), np.isfinite(line.get_ydata()).sum())
        for line in axes.lines
        if len(line.get_xdata()) > 1
    ]


def test_a_curve_has_a_line_and_a_band_per_method(varied):
    figure = curve_figure(varied, "logistic")
    (axes,) = figure.axes
    # The setting that one method cannot have leaves a gap.
    shades = [looks_of(varied)[method].colour for method in varied.methods]
    assert lines_of(axes) == [(shades[0], False, 8), (shades[1], False, 7)]
    assert len(axes.collections) == 2
    points = curves(varied, "logistic").points
    np.testing.assert_allclose(
        axes.lines[0].get_ydata(),
        [100 * points["fma_i", "accuracy", setting].mean for setting in varied.settings],
    )
    assert axes.get_xlabel() == "Embedding dimension"
    assert axes.get_ylabel() == "Accuracy (%)"
    assert "hollow: without its failed trials" in words_of(figure)
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == style.PAPER]
    assert [line.get_xdata()[0] for line in hollow] == [20]


def test_curves_by_task_have_a_panel_each(varied):
    figure = curve_by_task_figure(varied, "logistic")
    titles = [axes.get_title() for axes in figure.axes if axes.axison]
    assert titles == [varied.task_label(task) for task in varied.experiment.tasks]
    assert "data not available" in words_of(figure)
    assert figure.get_supxlabel() == "Embedding dimension"
    assert figure.get_supylabel() == "Accuracy (%)"


def test_seen_and_new_rows_differ_in_their_dashes():
    figure = curve_figure(shared_curves(3), "logistic")
    dashes = [(dashed, number) for _, dashed, number in lines_of(figure.axes[0])]
    # Where the whole target is seen there is nothing new.
    assert dashes == [(False, 6), (True, 5)] * 3
    assert {"seen samples", "new samples"} <= {
        text.get_text() for text in figure.findobj(mpl.text.Text)
    }


def test_one_task_has_no_figure_by_task_and_one_trial_no_band():
    vary = {"parameter": "ridge", "of": "methods", "values": [0.01, 1, 100], "label": "Ridge"}
    scores = {("amazon-dslr", "plain", value): [0.5] for value in vary["values"]}
    view = varied_view(scores, 1, {**vary, "scale": "log"}, [("amazon", "dslr")])
    assert figure_names(view.experiment) == ["curve"]
    figure = curve_figure(view, "logistic")
    assert figure.axes[0].get_xscale() == "log"
    assert figure.axes[0].get_ylabel() == "Accuracy (%)"
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["0.01", "1", "100"]
    assert style.render(lambda: curve_figure(view, "logistic"), "pdf").startswith(b"%PDF")


def test_curves_without_a_score_say_so():
    gone = [{"status": "data_unavailable", "error": "gone"}] * 2
    vary = {"parameter": "ridge", "of": "methods", "values": [1, 2], "label": "Ridge"}
    pairs = [("amazon", "dslr"), ("dslr", "amazon")]
    scores = {(f"{a}-{b}", "plain", value): gone for a, b in pairs for value in (1, 2)}
    view = varied_view(scores, 2, vary, pairs)
    for draw in score_figures.drawings(view).values():
        assert "there is no curve to draw" in words_of(draw())
