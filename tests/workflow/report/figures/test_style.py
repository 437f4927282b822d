import numpy as np
import pytest
from matplotlib.figure import Figure

from workflow.lib.report.figures.style import logarithmic, step_with_room, stroke


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
