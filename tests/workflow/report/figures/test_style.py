import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from workflow.lib.report.figures.style import (
    logarithmic,
    render,
    stated,
    statement,
    step_with_room,
    stroke,
)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.9, 11, [1, 2, 5, 10]),
        (0.0015, 1.5, [0.01, 0.1, 1]),
    ],
)
def test_logarithmic_axes_have_fewer_ticks_over_many_decades(low, high, ticks):
    axes = Figure().subplots()
    logarithmic(axes, "x")
    axes.set_xlim(low, high)
    shown = [place for place in axes.get_xticks() if low <= place <= high]
    np.testing.assert_allclose(shown, ticks)


def test_labels_of_ranks_have_equal_steps_and_room():
    assert step_with_room([1, 2, 3, 4, 5], 4.0) == 1
    assert step_with_room(range(1, 44), 4.6) == 3
    assert step_with_room([1], 1.0) == 1


def test_strokes_change_where_the_colours_come_back():
    assert [stroke(position) for position in (0, 7, 8, 15, 16)] == ["-", "-", "--", "--", ":"]


def test_a_picture_that_only_says_why_there_is_none_gives_its_words():
    words = 'There is "no" <figure>: 3 & 4 are too few.'
    assert stated(render(lambda: statement(words), "svg")) == words
    assert stated(render(Figure, "svg")) == ""


def shown_text(draw):
    """Every text of a figure as it is drawn, and whether Matplotlib takes it for a formula."""
    figures = []

    def keep():
        figures.append(draw())
        return figures[-1]

    render(keep, "svg")
    texts = [text for text in figures[0].findobj(Text) if text.get_text() and text.get_visible()]
    return {text.get_text(): text.get_parse_math() for text in texts}


def test_dollar_signs_in_a_label_are_drawn_as_they_are():
    label = r"costs $\frac$ and $1"

    def draw():
        figure = Figure()
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], label=label)
        axes.set_title(label)
        axes.set_yticks([0, 1], [label, "plain"])
        figure.legend()
        figure.text(0.5, 0.5, label)
        return figure

    shown = shown_text(draw)
    assert shown[label] is False


def test_powers_on_a_logarithmic_axis_need_no_formula():
    def draw():
        figure = Figure()
        first = figure.subplots(2, sharex=True)[0]
        first.set(xscale="log", yscale="log", xlim=(1e-3, 1e5), ylim=(2, 9))
        return figure

    shown = shown_text(draw)
    assert {"10⁻³", "10⁵", "3×10⁰"} <= set(shown)
    assert not any("$" in text for text in shown)
