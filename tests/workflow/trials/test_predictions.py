import numpy as np
import pytest

from workflow.lib.trials.predictions import (
    InvalidPredictions,
    NonfinitePredictions,
    as_stored,
    check_predictions,
)

VISIBLE = (np.array([0, 2, -1]), np.array([-1, -1, 1, 3]))


@pytest.mark.parametrize("kind", [list, np.int8, np.uint32, np.int64])
def test_integers_of_any_width_are_labels(kind):
    given = [3, 0, 1] if kind is list else np.array([3, 0, 1], dtype=kind)
    labels = check_predictions(given, 3, VISIBLE)
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels, [3, 0, 1])


@pytest.mark.parametrize(
    ("predicted", "said"),
    [
        (np.zeros((3, 1), int), r"int64 of shape \(3, 1\) for 3 rows; return shape \(3,\)"),
        (np.int64(1), r"int64 of shape \(\) for 3 rows"),
        (None, r"object of shape \(\) for 3 rows"),
        ([0, 1], r"int64 of shape \(2,\) for 3 rows"),
        ([0.0, 1.0, 2.0], r"float64 of shape \(3,\); labels are integers"),
        ([True, False, True], "bool of shape"),
        (["0", "1", "2"], "<U1 of shape"),
        ([0, 1, 4], "the label 4, a class that no visible label has"),
        ([0, -1, 1], "the label -1, a class"),
        (np.ma.masked_equal([0, 1, 2], 2), "masked array"),
    ],
)
def test_anything_else_is_refused_with_what_came(predicted, said):
    with pytest.raises(InvalidPredictions, match=said):
        check_predictions(predicted, 3, VISIBLE)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_told_apart(value):
    with pytest.raises(NonfinitePredictions):
        check_predictions([0.0, value, 1.0], 3, VISIBLE)


@pytest.mark.parametrize(("largest", "kind"), [(32767, np.int16), (32768, np.int64)])
def test_stored_labels_are_as_short_as_they_can_be(largest, kind):
    stored = as_stored(np.array([0, largest]))
    assert stored.dtype == kind
    assert list(stored) == [0, largest]
