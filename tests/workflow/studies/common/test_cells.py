"""Cells that say over how many values they are."""

import numpy as np
import pytest

from workflow.studies.common._cells import spread_cell, word


def test_mean_and_standard_deviation_with_n_minus_1():
    cell = spread_cell([1.0, 2.0, 6.0], 1)
    assert (cell.text, cell.plus_minus, cell.count) == ("3.0", "2.6", "")
    assert cell.value == 3
    assert cell.spread == pytest.approx(np.std([1, 2, 6], ddof=1))


def test_missing_values_are_counted():
    cell = spread_cell([1.0, None, np.nan, 3.0, np.inf], 2)
    assert (cell.value, cell.text, cell.count) == (2, "2.00", "2 of 5")


def test_one_value_has_no_spread_and_none_is_no_number():
    one = spread_cell([4.0], 1)
    assert (one.text, one.spread, one.count) == ("4.0", None, "1")
    for values in ([], [None], [np.nan]):
        cell = spread_cell(values, 1)
        assert (cell.text, cell.kind, cell.value) == ("no value", "absent", None)


def test_words_are_text():
    assert (word("source").text, word("source").kind) == ("source", "text")
