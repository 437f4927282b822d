"""What findings are made of: which boards say something, and numbers that nobody changes."""

import dataclasses

import numpy as np
import pytest

from tests.workflow.board_example import made_board
from workflow.lib.results.findings import findings
from workflow.lib.results.material import Number, sorted_out


def test_the_quick_form_speaks_only_where_the_whole_was_not_run():
    quick, whole = made_board(), made_board("no_target_labels", "tuned_no_labels_coil")
    assert sorted_out([quick]).boards == (quick,)
    both = sorted_out([quick, whole])
    assert both.boards == (whole,)
    assert both.left_out == {"quick": "the whole board was run"}


def test_a_board_with_nothing_comparable_is_left_out_with_its_reason():
    lacking = {("source_only", None, None): range(9), ("pca", None, None): range(9)}
    found = sorted_out([made_board(lacking=lacking)])
    assert found.boards == ()
    assert "none of pca and source_only" in found.left_out["quick"]


def test_numbers_are_values():
    found = findings(sorted_out([made_board()]))
    numbers = [number for finding in found for number in finding.numbers]
    assert all(np.isfinite(number.value) for number in numbers)
    told = [number for number in numbers if number.low is not None]
    assert all(number.low <= number.value <= number.high for number in told)
    with pytest.raises(dataclasses.FrozenInstanceError):
        numbers[0].value = 1.0


def test_surely_above_needs_a_test_and_a_gain():
    number = Number("quick", ("tca",), 0.1, p=0.01)
    assert number.surely_above
    for changed in ({"p": None}, {"p": 0.2}, {"value": -0.1}):
        assert not dataclasses.replace(number, **changed).surely_above
