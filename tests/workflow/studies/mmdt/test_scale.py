"""What a problem took."""

from tests.workflow.studies.parts import complete
from workflow.studies.mmdt import scale as mmdt_scale


def test_scale_says_what_a_problem_took():
    many = {"D": 8, "D_target": 8, "n_target": 200, "m": 2}
    records, arrays = mmdt_scale.run({}, (8, 16), (3,), 5, many)
    table = complete(mmdt_scale, records, arrays)["scale"]
    assert [row[1].value for row in table.rows] == [15, 15, 200]
    assert all(r["converged"] and r["gap"] <= 1e-4 for r in records)
    assert not table.notes
    cost = {"seconds": 1.5, "memory": 2000.0}
    assert mmdt_scale.finding([{**r, **cost} for r in records], arrays) == (
        "One transform takes, with 3 categories, 15 points and 16 × 16 features: 1.50 s of "
        "CPU time and 2,000.0 MiB (a dense W: 0.0 MiB); with 2 categories, 200 points and 8 × 8 "
        "features: 1.50 s of CPU time and 2,000.0 MiB (a dense W: 0.0 MiB). All "
        "problems were solved to the tolerance."
    )
    assert "200 points" not in mmdt_scale.finding(records[:2], arrays)
    stopped = [{**r, "converged": False} for r in records]
    assert "largest number of sweeps" in mmdt_scale.tables(stopped, {})["scale"].notes[0]
    told = mmdt_scale.finding([*records[1:], stopped[0]], {})
    assert told.endswith("1 of 3 problems stopped short of the tolerance.")
