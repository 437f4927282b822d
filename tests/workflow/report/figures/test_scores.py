import dataclasses
import itertools
import re
import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
import numpy as np
import pytest

from tests.workflow.report_example import (
    make_experiment,
    rich_curves,
    rich_view,
    shared_curves,
    study_view,
    view_of,
)
from workflow.lib.config.outputs import figure_names
from workflow.lib.report.figures import embedding, ranks, style
from workflow.lib.report.figures import scores as score_figures


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    return rich_view(tmp_path_factory.mktemp("root"), trials=4)


def words_of(figure):
    return " ".join(text.get_text() for text in figure.findobj(mpl.text.Text))


def test_names_are_known_from_the_configuration_alone(view, tmp_path):
    written = score_figures.write_all(view, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"{name}.{ending}" for name in figure_names(view.experiment) for ending in ("svg", "pdf")
    )
    assert sorted(tmp_path.iterdir()) == sorted(written)
    for path in written:
        content = path.read_bytes()
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


def test_too_few_methods_give_a_figure_that_says_so():
    experiment = make_experiment([("amazon", "dslr")], ("plain", "sma"))
    scores = {("amazon-dslr", "plain"): [0.5], ("amazon-dslr", "sma"): [0.6]}
    view = view_of(experiment, scores, 1)
    drawn = score_figures.critical_difference_figure(view, "logistic")
    assert "2 methods complete on 1 common task" in words_of(drawn)
    assert "one trial" in words_of(score_figures.trials_figure(view, "logistic"))
    for draw in score_figures.drawings(view).values():
        assert style.render(draw, "svg")


def test_more_than_twelve_methods_have_a_row_each(view, monkeypatch):
    monkeypatch.setattr(ranks, "MOST_ON_A_LINE", 2)
    figure = score_figures.critical_difference_figure(view, "logistic")
    (axes,) = figure.axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[0] == "FMA-F" if "FMA-F" in labels else "FMA-I"
    assert axes.get_xlabel() == "Mean rank (1 is best)"
    drawn = [line.get_xdata()[0] for line in axes.lines if line.get_marker() in style.MARKERS]
    assert drawn == sorted(drawn)
    assert len(drawn) == len(labels)


def test_marks_have_titles(view):
    svg = style.render(lambda: score_figures.accuracy_figure(view, "logistic"), "svg").decode()
    cell = view.cell("dslr-amazon", "sma", "logistic")
    words = f"{100 * cell.mean:.1f} % ± {100 * cell.std:.1f} (2 of 4 trials)"
    assert f"<g><title>SMA, D→A: {words}</title>" in svg
    assert "<title>CORAL &amp; co_x, " in svg
    assert 'id="mark' not in svg


def test_an_embedding_names_its_classes_and_outlines_labelled_samples(view):
    names = ["back_pack", "bike", *(f"class {number}" for number in range(2, 10))]
    view.suite.datasets["office"]["class_names"] = names
    labelled = [np.arange(290) % 29 == 0, np.arange(150) % 15 == 0]
    pictured = {
        method: {**picture, "labelled": labelled} for method, picture in view.pictured.items()
    }
    figure = score_figures.embedding_figure(dataclasses.replace(view, pictured=pictured))
    del view.suite.datasets["office"]["class_names"]
    words = [text.get_text() for text in figure.findobj(mpl.text.Text)]
    assert {"back pack", "bike", "outlined: labelled"} <= set(words)
    outlined = [c for c in figure.axes[0].collections if c.get_linewidths()[0] > 0]
    assert sum(len(marks.get_offsets()) for marks in outlined) == 20


def test_nothing_to_draw_is_said(view):
    empty = dataclasses.replace(view, pictured={}, timing=[])
    assert "No embedding" in words_of(score_figures.embedding_figure(empty))
    assert "No timed run" in words_of(score_figures.timing_figure(empty))
    gone = {"status": "data_unavailable", "error": "gone"}
    experiment = make_experiment([("amazon", "dslr")], ("plain",))
    view = view_of(experiment, {("amazon-dslr", "plain"): [gone] * 2}, 2)
    assert "No method has a score" in words_of(score_figures.accuracy_figure(view, "logistic"))


def test_the_plane_is_the_joint_principal_plane():
    rng = np.random.default_rng(0)
    one, other = rng.standard_normal((40, 5)) * [3, 2, 1, 0.1, 0.1], rng.standard_normal((30, 5))
    points = np.vstack(embedding.plane([one, other]))
    joint = np.vstack([one, other])
    values = np.linalg.eigvalsh(np.cov(joint.T))[::-1]
    np.testing.assert_allclose(np.cov(points.T), np.diag(values[:2]), atol=1e-10)
    flipped = np.vstack(embedding.plane([one[::-1], other]))
    np.testing.assert_allclose(flipped[:40][::-1], points[:40], atol=1e-10)
    np.testing.assert_array_equal(embedding.plane([one[:, :2]])[0], one[:, :2])
    assert embedding.plane([one[:, :1], other[:, :1]])[1][0, 1] == 1


def test_the_plane_needs_one_space():
    with pytest.raises(ValueError, match="different widths"):
        embedding.plane([np.zeros((3, 4)), np.zeros((3, 5))])


def test_many_classes_have_their_own_colours():
    for number in (2, 10, 26):
        colours = style.class_colours(np.arange(number))
        assert len(set(colours.values())) == number


def test_a_large_picture_stays_small(view):
    rng = np.random.default_rng(0)
    big = {
        "embeddings": [rng.standard_normal((4000, 3)), rng.standard_normal((3000, 3))],
        "labels": [rng.integers(10, size=4000), rng.integers(10, size=3000)],
        "domains": ["webcam", "dslr"],
    }
    crowded = dataclasses.replace(view, pictured={"plain": big, "fma_i": big})
    svg = style.render(lambda: score_figures.embedding_figure(crowded), "svg")
    assert len(svg) < 1_000_000
    assert re.search(rb"<image[^>]*data:image/png", svg)


def test_ticks_that_would_touch_are_left_out():
    axes = mpl.figure.Figure().subplots()
    style.setting_axis(axes, [1, 2, 3, 4, 1000], "linear", inches=3)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "1000"]
    style.setting_axis(axes, [1, 10, 100, 1000], "log", inches=3)
    assert len(axes.get_xticklabels()) == 4
