"""Simulated scenes: what they hold, the rules, a small run."""

import numpy as np

from tests.workflow.studies.mmdt.clusters import clusters
from tests.workflow.studies.parts import complete
from workflow.studies.mmdt import figure2 as mmdt_figure2


def test_a_scene_shows_what_it_says():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 10)
    allowed = np.setdiff1d(np.arange(60), [0, 1, 2])
    for _ in range(50):
        boxes = mmdt_figure2.draw_scene(y, allowed, 3, 4, rng)
        assert len(np.unique(y[boxes])) == 3
        assert 3 <= len(boxes) <= 7
        assert len(np.unique(boxes)) == len(boxes)
        assert np.isin(boxes, allowed).all()


def test_rules_of_a_scene():
    scores = np.array([[0.0, 3.0, 9.0], [0.0, 2.0, 9.0]])
    truth = np.array([0, 1])
    assert mmdt_figure2.label(scores, truth, "none").tolist() == [2, 2]
    assert mmdt_figure2.label(scores, truth, "present").tolist() == [1, 1]
    assert sorted(mmdt_figure2.label(scores, truth, "cover")) == [0, 1]


def test_scenes_of_a_small_run():
    a, b = clusters([(120, 30), (110, 30)], 10)
    domains = {"x.a": a, "x.b": b}
    records, arrays = mmdt_figure2.run(
        domains, [["x.a", "x.b"], ["x.b", "x.a"]], 1e-3, 2, 12, (2, 3), few={"x.a": 5, "x.b": 6}
    )
    table = complete(mmdt_figure2, records, arrays)["accuracy"]
    by_rule = [
        mmdt_figure2.by_trial(records, method="ls_mmdt", rule=rule)
        for rule in ("none", "present", "cover")
    ]
    assert np.mean(by_rule[1]) >= np.mean(by_rule[0])
    assert [row[-1].text for row in table.rows] == ["53.14", "57.53", "none", "59.21"]
    assert any(key.endswith("truth") for key in arrays)
    none, present, cover = (np.mean(values) for values in by_rule)
    assert mmdt_figure2.finding(records, arrays).startswith(
        f"LS-MMDT † gets {none:.1f} % of the boxes right among all categories, {present:.1f} % "
        f"among those present and {cover:.1f} % where each of these gets a box. Its lead "
        "among those present, in percentage points: +"
    )
    worst = [{**r, "right": 0 if r["method"] == "ls_mmdt" else r["boxes"]} for r in records]
    behind = "−100.0 over {} (ahead in 0 of 2 trials)"
    assert mmdt_figure2.finding(worst, arrays).endswith(
        f"points: {behind.format('SVM (source)')}, {behind.format('SVM (target)')} and "
        f"{behind.format('SVM (W = I)')}."
    )
