"""Held-out categories in the same features."""

import numpy as np

from tests.workflow.studies.mmdt.clusters import clusters
from tests.workflow.studies.parts import complete
from workflow.studies.mmdt import new_categories_same as mmdt_new_categories_same


def test_new_categories_with_and_without_a_transform():
    (X, y), _ = clusters([(180, 30), (10, 30)], 6)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(30, 30)))[0]
    domains = {"x.a": (X, y), "x.b": (X, y), "x.c": (X @ turn, y)}
    settings = {"costs": (1e-6, 1.0), "n_trials": 1, "n_new": 2, "target_per_class": 4}
    records, arrays = mmdt_new_categories_same.run(
        domains, [["x.a", "x.b"], ["x.a", "x.c"]], source_per_class=8, **settings
    )
    table = complete(mmdt_new_categories_same, records, arrays)["costs"]
    assert len(table.rows) == 2 + 2 * 2
    found = {(r["method"], r["cost"], r["target"]): r["accuracy"] for r in records}
    assert found["none", None, "x.b"] == 1  # the same domain twice
    assert found["identity", 1e-6, "x.b"] == 1
    assert found["identity", 1e-6, "x.c"] == found["none", None, "x.c"]
