"""Labels of own data: spelling, order, what means unlabelled."""

import numpy as np
import pytest

from workflow.loaders._labels import (
    EMPTY,
    checked_names,
    coded,
    in_order,
    listing,
    meaning_unlabelled,
    spelled,
)


def test_a_class_has_one_spelling():
    assert {spelled(x) for x in (3, 3.0, "3", " 3.0 ", b"3", np.float32(3))} == {"3"}
    assert spelled("03") == "03"
    assert spelled(None) == ""


def test_numbers_are_ordered_by_size():
    assert in_order({"10", "9", "-2"}) == ["-2", "9", "10"]
    assert in_order({"10", "9", "b"}) == ["10", "9", "b"]


def test_minus_one_means_unlabelled_unless_it_is_a_named_class():
    assert meaning_unlabelled([], []) == {"-1"}
    assert meaning_unlabelled(["?"], [-1, 1]) == {"?"}
    assert meaning_unlabelled([""], []) == {"-1", *EMPTY}
    with pytest.raises(ValueError, match="'1' is among class_names too"):
        meaning_unlabelled([1], [1, 2])


def test_unlabelled_rows_are_coded_minus_one():
    assert coded("d", ["b", "-1", "a", "b"], ["a", "b"], {"-1"}).tolist() == [1, -1, 0, 1]
    with pytest.raises(
        ValueError, match=r"label '' \(row 1 of domain 'd'\) is not among .*: \[''\]"
    ):
        coded("d", ["a", ""], ["a"], {"-1"})


@pytest.mark.parametrize("empty", ["", "nan", "NaN", "NAN"])
def test_an_empty_cell_is_unlabelled_however_it_is_written(empty):
    assert empty in meaning_unlabelled([""], [])
    with pytest.raises(ValueError, match="is not a class"):
        checked_names("t.csv", "y", np.array(["a", empty]), {"-1"})


def test_a_label_that_is_no_class_is_refused_with_the_remedy():
    with pytest.raises(
        ValueError, match=r"t.csv: label 'nan' in row 1 of 'y' is not .*: \['nan'\]"
    ):
        checked_names("t.csv", "y", np.array([1.0, np.nan]), {"-1"})
    assert checked_names("t", None, np.array([1.0, np.nan, -1]), {"-1", "nan"})[1:] == ["nan", "-1"]
    with pytest.raises(ValueError, match=r"label '0\.5' in row 0 is not"):
        checked_names("t.npy", None, np.array([0.5]), set())


def test_a_listing_is_cut():
    assert listing(range(30)).endswith("19, … (30 in all)")
    assert listing([]) == "nothing"
