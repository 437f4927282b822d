"""Learning times of a small run."""

from tests.workflow.studies.mmdt.clusters import clusters
from tests.workflow.studies.parts import complete
from workflow.studies.mmdt import figure1_time as mmdt_figure1_time


def test_learning_times():
    (a, b), (c, d) = clusters([(90, 30), (80, 30)], 4), clusters([(90, 12), (80, 9)], 4)
    domains = {"x.a": a, "x.b": b, "x.c": c, "x.d": d}
    pairs = {
        "homogeneous": {"source": "x.a", "target": "x.b", "labels": [2, 4]},
        "heterogeneous": {"source": "x.c", "target": "x.d", "labels": [2, 3]},
    }
    records, arrays = mmdt_figure1_time.run(domains, pairs, 5, 10, 1, 50)
    tables = complete(mmdt_figure1_time, records, arrays)
    table = tables["time"]
    assert len(table.rows) == len(tables["transform"].rows) == 4
    # Methods, of which two need equal features, and two transforms in two ways.
    assert len(records) == 2 * (8 + 4) + 2 * (6 + 4)
    assert {"arct", "hfa"} <= {record["method"] for record in records}
    assert table.rows[2][2].kind == "absent"
