"""Times of an update, and the slope that is read off them."""

import pytest

from tests.workflow.studies.parts import complete
from workflow.studies.mmdt import table1 as mmdt_table1


def test_times_of_an_update():
    middle = {"D": 16, "D_target": 16, "n_target": 20, "m": 4}
    records, arrays = mmdt_table1.run({}, middle, n_updates=10, repeats=1)
    assert len(records) == 4 * 3 * 5
    tables = complete(mmdt_table1, records, arrays)
    assert [len(table.rows) for table in tables.values()] == [5, 5]


def test_the_slope_is_that_of_a_power():
    records = [
        {"axis": "D", "solver": "explicit", "size": n, "update": 3e-6 * n**1.5}
        for n in (10, 20, 80)
    ]
    assert mmdt_table1.slope(records, "D", "explicit", "update") == pytest.approx(1.5)
    assert mmdt_table1.slope(records[:1], "D", "explicit", "update") is None
