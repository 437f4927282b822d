"""Labels that a method is shown."""

import numpy as np

from workflow.studies.mmdt._data import only, pick


def test_labels_that_are_shown():
    y = np.repeat([0, 1, 2], 5)
    rows = pick(y, [0, 2], 2, np.random.default_rng(0))
    shown = only(y, rows)
    assert np.bincount(shown[shown >= 0], minlength=3).tolist() == [2, 0, 2]
