"""The studies of MMDT: their parts, and the tables and figures of small runs."""

import numpy as np
import pytest
from domain_alignment.max_margin._mmdt import solve_transform

from workflow.studies.mmdt import figure1_time as mmdt_figure1_time
from workflow.studies.mmdt import figure2 as mmdt_figure2
from workflow.studies.mmdt import new_categories as mmdt_new_categories
from workflow.studies.mmdt import new_categories_same as mmdt_new_categories_same
from workflow.studies.mmdt import scale as mmdt_scale
from workflow.studies.mmdt import table1 as mmdt_table1
from workflow.studies.mmdt._data import only, pick
from workflow.studies.mmdt._solvers import Problem


def complete(module, records, arrays):
    """Whether a study has the parts that it announces; draws and returns its tables."""
    tables = module.tables(records, arrays)
    figures = module.figures(records, arrays)
    assert tuple(tables) == tuple(module.TABLES)
    assert set(figures) == set(module.FIGURES)
    for table in tables.values():
        assert all(len(row) == len(table.columns) for row in table.rows)
    for draw in figures.values():
        draw()
    return tables


def clusters(shapes, n_classes, seed=0):
    """Domains of clusters around unrelated centres, features positive like counts."""
    rng = np.random.default_rng(seed)
    found = []
    for n_samples, width in shapes:
        y = np.arange(n_samples) % n_classes
        centres = rng.gamma(1.0, size=(n_classes, width))
        found.append((centres[y] + 0.2 * rng.gamma(1.0, size=(n_samples, width)), y))
    return found


@pytest.fixture
def small():
    V, X, y = mmdt_table1.generated({"m": 3, "D": 6, "n_target": 12, "D_target": 5}, 0)
    return V, X, y, Problem(V, X, y, C=2.0)


def test_the_compared_solvers_solve_the_same_problem(small):
    V, X, y, problem = small
    expected = solve_transform(V, X, y, 2.0, tol=1e-12, random_state=0).to_dense()
    K, sweep = problem.gram(), np.tile(np.arange(36), 400)
    W, dual = np.zeros((6, 5)), np.zeros((3, 12))
    assert problem.explicit(W, dual, sweep) > 36
    np.testing.assert_allclose(W, expected, atol=1e-6)
    scores, dual = np.zeros((3, 12)), np.zeros((3, 12))
    problem.kernelised(scores, K, dual, sweep)
    np.testing.assert_allclose(scores, V @ expected @ X.T, atol=1e-6)
    for gram in (False, True):
        rows = K if gram else X
        dual, carried = np.zeros((3, 12)), np.zeros((3, rows.shape[1]))
        for _ in range(400):
            problem.low_rank_sweep(rows, gram, dual, carried, np.arange(3))
        np.testing.assert_allclose(V.T @ (dual * problem.signs) @ X, expected, atol=1e-6)


def test_the_most_violated_constraint_is_lifted_until_none_is(small):
    V, X, _, problem = small
    W, scores, dual = np.zeros((6, 5)), np.zeros((3, 12)), np.zeros((3, 12))
    n_steps = problem.bregman(W, scores, problem.gram(), dual, 0.01, 10_000)
    assert 0 < n_steps < 10_000
    np.testing.assert_allclose(scores, V @ W @ X.T, atol=1e-12)
    slack = problem.ridge * dual
    assert (problem.signs * scores + slack >= 1 - 0.01).all()
    assert problem.bregman(W, scores, problem.gram(), dual, -1.0, 5) == 5


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


def test_scale_says_what_a_problem_took():
    many = {"D": 8, "D_target": 8, "n_target": 200, "m": 2}
    records, arrays = mmdt_scale.run({}, (8, 16), (3,), 5, many)
    table = complete(mmdt_scale, records, arrays)["scale"]
    assert [row[1].value for row in table.rows] == [15, 15, 200]
    assert all(r["converged"] and r["gap"] <= 1e-4 for r in records)
    assert not table.notes
    stopped = [{**r, "converged": False} for r in records]
    assert "largest number of sweeps" in mmdt_scale.tables(stopped, {})["scale"].notes[0]


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
        domains, [["x.a", "x.b"], ["x.b", "x.a"]], 2, 12, (2, 3), few={"x.a": 5, "x.b": 6}
    )
    table = complete(mmdt_figure2, records, arrays)["accuracy"]
    by_rule = [
        mmdt_figure2.by_trial(records, method="ls_mmdt", rule=rule)
        for rule in ("none", "present", "cover")
    ]
    assert np.mean(by_rule[1]) >= np.mean(by_rule[0])
    assert [row[-1].text for row in table.rows] == ["53.14", "57.53", "none", "59.21"]
    assert any(key.endswith("truth") for key in arrays)


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
    assert len(records) == 2 * (6 + 4) + 2 * (4 + 4)
    assert table.rows[2][2].kind == "absent"


def test_labels_that_are_shown():
    y = np.repeat([0, 1, 2], 5)
    rows = pick(y, [0, 2], 2, np.random.default_rng(0))
    shown = only(y, rows)
    assert np.bincount(shown[shown >= 0], minlength=3).tolist() == [2, 0, 2]


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
