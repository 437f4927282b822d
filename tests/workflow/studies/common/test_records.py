"""Records chosen by their fields, and the band about their means."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from workflow.studies.common._records import curve, values_of

RECORDS = [{"method": m, "trial": t, "error": 10 * t + (m == "b")} for m in "ab" for t in (1, 2)]


def test_values_at_a_place():
    assert values_of(RECORDS, "error", method="b") == [11, 21]
    assert values_of(RECORDS, "error", method="b", trial=2) == [21]
    assert values_of(RECORDS, "error", method="c") == []


@pytest.mark.parametrize(("scale", "lowest"), [("linear", 4 - np.sqrt(32)), ("log", 2)])
def test_a_band_of_one_standard_deviation_about_the_mean(scale, lowest):
    axes = Figure().subplots()
    axes.set_yscale(scale)
    line = curve(axes, 0, [1, 2], [[0, 8], [5]])
    np.testing.assert_array_equal(line.get_ydata(), [4, 5])
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(lowest)
    assert heights.max() == pytest.approx(4 + np.sqrt(32))
