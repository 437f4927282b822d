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
    plain = np.mean([found["none", None, name] for name in ("x.b", "x.c")])
    assert mmdt_new_categories_same.finding(records, arrays).startswith(
        f"Unmapped, the source’s classifiers reach {100 * plain:.1f} % on the new categories "
        "(chance 50 %). Mapped, at the best of 2 costs by these very scores: "
    )


def test_the_finding_is_of_the_best_cost():
    reached = {
        ("none", None): (0.5, 0.75),
        ("identity", 0.001): (0.5, 0.875),
        ("identity", 1.0): (0.25, 0.25),
        ("zero", 0.001): (0.125, 0.125),
        ("zero", 1.0): (0.25, 0.5),
    }
    records = [
        {"trial": trial, "method": method, "cost": cost, "accuracy": accuracy}
        for (method, cost), accuracies in reached.items()
        for trial, accuracy in enumerate(accuracies)
    ]
    arrays = {"chance": np.array(0.2)}
    head = "Unmapped, the source’s classifiers reach 62.5 % on the new categories (chance 20 %). "
    assert mmdt_new_categories_same.finding(records, arrays) == (
        f"{head}Mapped, at the best of 2 costs by these very scores: 68.8 % by “Transform, towards "
        "identity” at a cost of 0.001 (+6.2 percentage points, better in 1 of 2 trials); 37.5 % by "
        "“Transform, towards zero” at a cost of 1 (−25.0 percentage points, better in 0 of 2 "
        "trials)."
    )
    told = mmdt_new_categories_same.finding(records[:2], arrays)
    assert told == f"{head}No transform was learned."
