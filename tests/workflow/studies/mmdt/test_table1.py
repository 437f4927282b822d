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
    assert mmdt_table1.finding(records, arrays).startswith("Measured exponents (stated) in the")


def test_the_finding_is_of_the_exponents():
    def timed(solver, axis, size, seconds):
        at = {"solver": solver, "axis": axis, "size": size}
        return {**at, "update": seconds, "sweep": 1e-3 * size * seconds}

    stated = mmdt_table1.CLAIMED
    records = [
        timed(solver, axis, size, 1e-6 * size**power)
        for solver in mmdt_table1.SOLVERS
        for axis, power in zip(mmdt_table1.AXES, stated[solver], strict=True)
        for size in (10, 20, 40)
    ]
    slower = [
        {**r, "update": r["update"] * r["size"] ** -0.5}
        if (r["solver"], r["axis"]) == ("kernelised", "D")
        else r
        for r in records
    ]
    assert mmdt_table1.finding(slower, {}) == (
        "Measured exponents (stated) in the time of “Low rank, primal form”: for an update, D 0.00 "
        "(0), D̃ 1.00 (1), ñ 0.00 (0) and m 0.00 (0); for a sweep, D 1.00 (0), D̃ 2.00 (1), ñ 1.00 "
        "(1) and m 1.00 (1). Of all solvers, the exponent of an update furthest from the stated "
        "one: −0.50 against 0 for D in “Kernelised”."
    )
    unmeasured = [{**r, "update": 0.0, "sweep": 0.0} for r in records]
    told = mmdt_table1.finding(unmeasured, {})
    assert "for an update, none could be measured; for a sweep, none could be measured." in told


def test_the_slope_is_that_of_a_power():
    records = [
        {"axis": "D", "solver": "explicit", "size": n, "update": 3e-6 * n**1.5}
        for n in (10, 20, 80)
    ]
    assert mmdt_table1.slope(records, "D", "explicit", "update") == pytest.approx(1.5)
    assert mmdt_table1.slope(records[:1], "D", "explicit", "update") is None
