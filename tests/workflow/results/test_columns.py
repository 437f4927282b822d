import pytest

from workflow.lib.results.columns import Column, Row
from workflow.lib.results.equivalence import Error
from workflow.lib.results.verdicts import CLOSE, NOT_REPRODUCED


def column(*differences, grades):
    rows = tuple(
        Row("A", str(i), published=50.0, ours=50.0 + d, grade=grade)
        for i, (d, grade) in enumerate(zip(differences, grades, strict=True))
    )
    unjudged = Row("B", "C", published=40.0)
    mean = Row("mean", "", published=50.0, ours=50.0, grade=CLOSE, verdict=CLOSE)
    return Column("sma", "SMA", "SMA", "", False, "", "", (*rows, unjudged), mean, 50.0)


def test_differences_that_cancel_stay_in_the_root_mean_square():
    found = column(-16.0, 16.0, grades=[NOT_REPRODUCED] * 2)
    assert found.root_mean_square == 16.0
    assert found.share(NOT_REPRODUCED) == 1.0
    assert (found.n_printed, len(found.judged)) == (3, 2)


def test_a_row_has_a_difference_and_a_test_where_both_numbers_and_an_error_are_there():
    assert Row("A", "B", published=50.0).difference is None
    row = Row("A", "B", published=50.0, ours=50.5, error=Error(0.2, 19))
    assert row.label == "A→B"
    assert row.difference == pytest.approx(0.5)
    assert row.p < 1e-6
    assert Row("A", "", published=50.0, ours=60.0, error=Error(0.2, 19)).p > 0.99
