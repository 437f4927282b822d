"""The one rule by which rows and columns get their verdict."""

import pytest

from workflow.lib.results.equivalence import Error
from workflow.lib.results.verdicts import column_grade, grade, verdict


@pytest.mark.parametrize(
    ("difference", "error", "expected"),
    [
        (0.0, None, "reproduced"),
        (0.9, None, "reproduced"),
        (1.1, None, "close"),
        (-3.0, None, "close"),
        (3.01, None, "not reproduced"),
        # Within 3 points by two one-sided t tests, 19 degrees of freedom: 2 / 1.15 > 1.73.
        (1.0, Error(1.15, 19), "reproduced"),
        (-1.0, Error(1.15, 19), "reproduced"),
        # 2 / 1.16 < 1.73: as near, but too uncertain to be called equivalent.
        (1.0, Error(1.16, 19), "close"),
        (0.0, Error(2.0, 19), "close"),
        (1.01, Error(0.1, 19), "close"),
        (3.01, Error(0.1, 19), "not reproduced"),
    ],
)
def test_the_rule_of_a_row(difference, error, expected):
    assert grade(difference, error) == expected


@pytest.mark.parametrize(
    ("mean", "rows", "expected"),
    [
        ("reproduced", ["reproduced"] * 9 + ["not reproduced"], "reproduced"),
        ("reproduced", ["reproduced"] * 8 + ["close"] * 2, "close"),
        ("close", ["reproduced"] * 10, "close"),
        # What cancels in the mean stands in the rows.
        ("reproduced", ["reproduced"] * 8 + ["not reproduced"] * 2, "rows disagree"),
        ("close", ["reproduced", "close"] + ["not reproduced"] * 6, "rows disagree"),
        ("not reproduced", ["close"] * 10, "not reproduced"),
    ],
)
def test_the_rule_of_a_column(mean, rows, expected):
    assert column_grade(mean, rows) == expected


def test_a_search_is_no_reproduction_and_does_not_hide_a_failure():
    for found in ("reproduced", "close"):
        assert verdict(found, found_by_search=True) == "matched after search"
        assert verdict(found, found_by_search=False) == found
    for found in ("rows disagree", "not reproduced"):
        assert verdict(found, found_by_search=True) == found
