"""Held-out categories across features: transfer, and the choice of its cost."""

import numpy as np
import pytest

from tests.workflow.studies.mmdt.clusters import clusters
from tests.workflow.studies.parts import complete
from workflow.studies.mmdt import new_categories as mmdt_new_categories
from workflow.studies.mmdt._data import pick


def test_new_categories_are_carried_over_between_features():
    # The target is the source turned into more features, so that a transform can be right.
    n_classes = 20
    rng = np.random.default_rng(0)
    ((X, y),) = clusters([(240, 60)], n_classes)
    turned = rng.permutation(240)
    target, y_target = X[turned] @ rng.normal(size=(60, 80)), y[turned]
    drawn = [
        np.isin(np.arange(240), pick(labels, range(n), count, rng)).astype(float)[:, None]
        for labels, n, count in ((y, n_classes, 6), (y_target, 15, 2))
    ]
    domains = {
        "office31_surf.amazon": (X, y),
        "office31_surf.dslr": (target, y_target),
        "office31_new_categories.amazon": (drawn[0], y),
        "office31_new_categories.dslr": (drawn[1], y_target),
    }
    records, arrays = mmdt_new_categories.run(domains, 1, (2,), (1.0,))
    tables = complete(mmdt_new_categories, records, arrays)
    found = {r["method"]: r["accuracy"] for r in records if r["labels"] == 0}
    assert found["transfer"] > 0.6 > 0.4 > found["untrained"]
    assert {r["n_scored"] for r in records if r["labels"] == 2} == {50}
    first = tables["new_categories"].rows[0]
    assert first[1].value == pytest.approx(100 * found["transfer"])
    assert tables["costs"].rows[0][1].value == 1
    assert mmdt_new_categories.finding(records, arrays).startswith(
        "Without a labelled target image of the new categories, the transform of the others "
        f"reaches {100 * found['transfer']:.1f} % on them, that of shuffled labels "
        f"{100 * found['untrained']:.1f} % (the transform is ahead in 1 of 1 trial; sign test: p = "
        "1.000), chance 20.0 %, always their most frequent category 20.0 %. Above it on "
        "the same images: SVM, target (oracle) "
    )


def test_the_finding_names_the_labels_that_oracles_need():
    reached = {"transfer": (0.3, 0.3, 0.25), "untrained": (0.4, 0.1, 0.1)}
    reached |= {"svm_target": (None, 0.3, 0.31), "mmdt": (None, 0.5, 0.6)}
    reached["ls_mmdt"] = (None, 0.1, 0.2)
    records = [
        {"trial": 0, "method": method, "labels": n, "accuracy": accuracy}
        for method, accuracies in reached.items()
        for n, accuracy in enumerate(accuracies)
        if accuracy is not None
    ]
    head = (
        "Without a labelled target image of the new categories, the transform of the others "
        "reaches 30.0 % on them, that of shuffled labels 40.0 % (the transform is ahead in 0 of 1 "
        "trial; sign test: p = 1.000), chance 6.2 %, always their most frequent category 10.4 %. "
    )
    arrays = {"new": np.arange(16), "most_frequent": np.array(0.104)}
    assert mmdt_new_categories.finding(records, arrays) == (
        f"{head}Above it on the same images: SVM, target (oracle) first with 2 labelled per "
        "category, MMDT (oracle) first with 1 labelled per category and LS-MMDT (oracle) at no "
        "number of labels."
    )
    alone = [r for r in records if r["labels"] == 0]
    assert mmdt_new_categories.finding(alone, arrays) == f"{head}No oracle was run."
    equal = [{**r, "accuracy": 0.3} for r in alone]
    assert "ahead in 0 of 1 trial), chance" in mmdt_new_categories.finding(equal, arrays)


def test_the_cost_is_chosen_on_training_categories_alone(monkeypatch):
    asked = []

    def transfer(data, seen, new, cost, svm_cost):
        asked.append((set(seen), set(new), cost))
        return np.where(cost == 0.1, data[1][1], -1)  # right at one cost

    monkeypatch.setattr(mmdt_new_categories, "transfer", transfer)
    y, rows = np.repeat(np.arange(20), 2), np.arange(30)
    data = (None, y, None), (None, y, rows)
    assert mmdt_new_categories.chosen_cost(data, (1.0, 0.1, 0.01), 0.05) == 0.1
    assert len(asked) == 9
    for seen, new, _ in asked:
        assert len(new) == 5
        assert seen | new == set(range(15))
        assert not seen & new
