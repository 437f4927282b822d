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
    stopped = [{**r, "converged": False} for r in records]
    assert "largest number of sweeps" in mmdt_scale.tables(stopped, {})["scale"].notes[0]
