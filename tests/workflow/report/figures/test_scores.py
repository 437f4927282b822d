import dataclasses
import itertools
import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
import numpy as np
import pytest

from tests.workflow.report.figure_words import words_of
from tests.workflow.report_example import (
    make_experiment,
    rich_curves,
    rich_view,
    shared_curves,
    study_view,
    view_of,
)
from workflow.lib.config.outputs import figure_names
from workflow.lib.report.figures import scores as score_figures
from workflow.lib.report.figures import style

pytestmark = pytest.mark.whole_run


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    return rich_view(tmp_path_factory.mktemp("root"), trials=4)


def test_names_are_known_from_the_configuration_alone(view, tmp_path):
    written = score_figures.write_all(view, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"{name}.{ending}" for name in figure_names(view.experiment) for ending in ("svg", "pdf")
    )
    for path in tmp_path.iterdir():
        content = path.read_bytes()
        assert path.suffix == ".pdf" or content == written[path.stem]
        assert (
            content.startswith(b"%PDF")
            if path.suffix == ".pdf"
            else ElementTree.fromstring(content)
        )
        assert b"CreationDate" not in content
        assert b"dc:date" not in content


def test_the_accuracy_figure_shows_each_mean(view):
    figure = score_figures.accuracy_figure(view, "logistic")
    (axes,) = figure.axes
    drawn = sorted(
        float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() in style.MARKERS
    )
    cells = [view.cell(t.name, m, "logistic") for t in view.experiment.tasks for m in view.methods]
    expected = sorted(100 * cell.mean for cell in cells if cell.mean is not None)
    np.testing.assert_allclose(drawn, expected)
    assert "data not available" in words_of(figure)
    assert axes.get_xlabel() == "Accuracy (%)"
    assert axes.get_yticklabels()[0].get_text() == "A→C"


def drawn_texts(figure):
    """Texts that are printed, with their boxes; ticks beyond the limits of an axis are not."""
    figure.draw_without_rendering()
    renderer = figure._get_renderer()
    hidden = set()
    for panel in figure.axes:
        for axis in (panel.xaxis, panel.yaxis):
            texts = set(axis.findobj(mpl.text.Text))
            printed = {tick.label1 for tick in axis._update_ticks()} | {axis.label}
            hidden |= texts - printed if panel.axison else texts
    for text in figure.findobj(mpl.text.Text):
        if text.get_text().strip() and text.get_visible() and text not in hidden:
            yield text.get_text(), text.get_window_extent(renderer)


@pytest.fixture(scope="module")
def varied():
    return rich_curves(trials=4)


@pytest.mark.parametrize("kind", ["scores", "curves", "shares", "study"])
def test_no_text_overlaps(view, varied, kind):
    shown = {"scores": view, "curves": varied, "shares": shared_curves(3), "study": study_view()}
    for name, draw in score_figures.drawings(shown[kind]).items():
        with mpl.rc_context({**mpl.rcParamsDefault, **style.STYLE, "backend": "Agg"}):
            texts = list(drawn_texts(draw()))
        assert texts
        for (one, box), (other, another) in itertools.combinations(texts, 2):
            # A box holds the room of the tallest letters, so a touch is no overlap.
            apart = not box.shrunk(0.98, 0.85).overlaps(another.shrunk(0.98, 0.85))
            assert apart, f"{name}: {one!r} lies on {other!r}"


def test_marks_have_titles(view):
    svg = style.render(lambda: score_figures.accuracy_figure(view, "logistic"), "svg").decode()
    cell = view.cell("dslr-amazon", "sma", "logistic")
    words = f"{100 * cell.mean:.1f} % ± {100 * cell.std:.1f} (2 of 4 trials)"
    assert f"<g><title>SMA, D→A: {words}</title>" in svg
    assert "<title>CORAL &amp; co_x, " in svg
    assert 'id="mark' not in svg


def test_nothing_to_draw_is_said(view):
    empty = dataclasses.replace(view, pictured={}, timing=[])
    assert "No embedding" in words_of(score_figures.embedding_figure(empty))
    assert "No timed run" in words_of(score_figures.timing_figure(empty))
    gone = {"status": "data_unavailable", "error": "gone"}
    experiment = make_experiment([("amazon", "dslr")], ("plain",))
    view = view_of(experiment, {("amazon-dslr", "plain"): [gone] * 2}, 2)
    assert "No method has a score" in words_of(score_figures.accuracy_figure(view, "logistic"))


def test_many_classes_have_their_own_colours():
    for number in (2, 10, 26):
        colours = style.class_colours(np.arange(number))
        assert len(set(colours.values())) == number


def test_ticks_that_would_touch_are_left_out():
    axes = mpl.figure.Figure().subplots()
    style.setting_axis(axes, [1, 2, 3, 4, 1000], "linear", inches=3)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "1000"]
    style.setting_axis(axes, [1, 10, 100, 1000], "log", inches=3)
    assert len(axes.get_xticklabels()) == 4


def test_a_median_over_some_of_the_trials_is_hollow_and_says_so():
    late = {"status": "timeout", "error": "late"}
    experiment = make_experiment([("amazon", "dslr")], ("plain", "fma_i"))
    scores = {("amazon-dslr", "plain"): [0.5, 0.4], ("amazon-dslr", "fma_i"): [0.9, late]}
    view = view_of(experiment, scores, 2)
    figure = score_figures.trials_figure(view, "logistic")
    marks = [line for line in figure.axes[0].lines if line.get_marker() in style.MARKERS]
    assert [line.get_markerfacecolor() == style.PAPER for line in marks] == [False, True]
    drawn = style.render(lambda: score_figures.trials_figure(view, "logistic"), "svg").decode()
    assert "FMA-I: median 90.0 % (1 of 2 trials)" in drawn
    assert "hollow: without its failed trials" in words_of(figure)
