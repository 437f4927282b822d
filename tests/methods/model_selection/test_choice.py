import numpy as np
import pytest
from domain_alignment.model_selection import chosen


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([0.2, 0.5, 0.5], 1),
        ([np.nan, -3.0, -4.0], 1),
        ([np.nan, np.nan], None),
        ([], None),
        (np.array([-np.inf, np.nan]), 0),
    ],
)
def test_the_first_of_the_best_is_chosen(given, expected):
    assert chosen(given) == expected
