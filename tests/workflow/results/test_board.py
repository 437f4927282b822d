"""Boards: the numbers of slow loops, the same in any order, nothing dropped in silence."""

import dataclasses

import numpy as np
import pytest

from tests.workflow.board_example import GAINS, made_board, tuned_view
from workflow.lib.report.board_page import board_of
from workflow.lib.results.board import SHOWN, complete_means
from workflow.lib.results.effects import UncomparableError, compare

ALL = range(99)


def slow_mean(board, method, choice, measure="accuracy"):
    """Mean over data sets of the mean over tasks of the mean over trials, loop in loop."""
    view, by_dataset = board.views[0], {}
    columns = [view.records[name].tolist() for name in ("task", "method", "classifier", measure)]
    for task in view.experiment.tasks:
        place = (task.name, method, choice)
        scores = [value for *mine, value in zip(*columns, strict=True) if tuple(mine) == place]
        by_dataset.setdefault(task.target.dataset, []).append(np.mean(scores))
    return np.mean([np.mean(means) for means in by_dataset.values()])


def row_of(board, method):
    return next(row for row in board.rows if row.method == method)


def test_rows_are_those_of_slow_loops():
    board = made_board()
    assert board.comparison.reference == "source_only"
    for row in board.rows:
        for measure in SHOWN:
            expected = slow_mean(board, row.method, "circular", measure)
            assert row.scores[measure] == pytest.approx(expected)
        for choice in ("oracle", "default", "average", "entropy"):
            assert row.by_choice[choice] == pytest.approx(slow_mean(board, row.method, choice))
        assert row.gap == pytest.approx(row.by_choice["oracle"] - row.scores["accuracy"])
        base = slow_mean(board, "source_only", "circular")
        if row.effect:
            assert row.effect.effect == pytest.approx(row.scores["accuracy"] - base)
        assert np.mean(list(row.by_dataset.values())) == pytest.approx(row.scores["accuracy"])
    mine = board.records[board.records["method"] == "tca"]
    assert row_of(board, "tca").seconds == pytest.approx(mine["seconds"].mean())


def test_memory_is_the_most_of_any_trial_and_of_what_is_shown():
    board = made_board()
    mine = (board.records["method"] == "tca") & (board.records["classifier"] == "circular")
    board.records["peak_mb"] = 50.0
    board.records.loc[mine, "peak_mb"] = 100.0 + np.arange(mine.sum())
    assert row_of(board, "tca").peak_mb == 100 + mine.sum() - 1
    assert row_of(board, "coral").peak_mb == 50


def test_ranks_are_means_over_data_sets_of_means_over_tasks():
    """Of methods that are so near to each other that each task has another order."""
    board = made_board(gains={name: gain / 20 for name, gain in GAINS.items()}, noise=0.02)
    means = complete_means(board.scores("circular"))
    by_dataset = {}
    for (dataset, _), scores in means.iterrows():
        order = sorted(scores.index, key=lambda method: -scores[method])
        by_dataset.setdefault(dataset, []).append([order.index(m) + 1 for m in scores.index])
    expected = np.mean([np.mean(ranks, axis=0) for ranks in by_dataset.values()], axis=0)
    over_tasks = np.mean([rank for ranks in by_dataset.values() for rank in ranks], axis=0)
    assert abs(expected - over_tasks).max() > 0.01, "data sets do not weigh by their tasks"
    for method, rank in zip(means.columns, expected, strict=True):
        assert row_of(board, method).rank == pytest.approx(rank)


def test_rows_stand_by_accuracy():
    board = made_board()
    assert [row.method for row in board.rows] == ["coral", "source_only", "pca", "tca"]
    assert [row.tier for row in board.rows] == sorted(row.tier for row in board.rows)


def test_the_order_of_methods_tasks_and_records_changes_nothing():
    view = tuned_view()
    expected = board_of("quick", [view])
    experiment = view.experiment
    turned = dataclasses.replace(
        experiment, methods=experiment.methods[::-1], tasks=experiment.tasks[::-1]
    )
    known = dataclasses.replace(
        view.suite, experiments={**view.suite.experiments, experiment.name: turned}
    )
    records = view.records.sample(frac=1, random_state=1).reset_index(drop=True)
    found = board_of("quick", [dataclasses.replace(view, experiment=turned, suite=known,
                                                   records=records)])  # fmt: skip
    assert [row.method for row in found.rows] == [row.method for row in expected.rows]
    for mine, other in zip(found.rows, expected.rows, strict=True):
        assert (mine.tier, mine.effect) == (other.tier, other.effect)
        assert mine.scores == pytest.approx(other.scores)
        assert mine.favourite == other.favourite
    assert found.selection.comparison.effects == expected.selection.comparison.effects


def test_the_order_of_experiments_changes_nothing():
    views = [tuned_view(f"tuned_no_labels_{name}", trials=2) for name in ("coil", "mnist_usps")]
    one, other = (board_of("no_target_labels", order) for order in (views, views[::-1]))
    assert [row.method for row in one.rows] == [row.method for row in other.rows]
    assert one.comparison.effects == other.comparison.effects
    assert one.selection.comparison.effects == other.selection.comparison.effects
    assert sorted(one.datasets) == sorted(other.datasets) == ["coil20", "mnist_usps"]


def test_a_method_without_scores_is_named_and_does_not_shrink_the_board():
    board = made_board(lacking={("tca", None, None): ALL})
    assert [row.method for row in board.rows][-1] == "tca"
    row = row_of(board, "tca")
    assert (row.tier, row.rank, row.effect) == (None, None, None)
    assert row.scores["accuracy"] is None
    assert row.gap is None
    assert row.left_out == "complete on 0 of 9 tasks"
    assert board.comparison.n_tasks == 9


def test_a_mean_on_a_data_set_is_over_all_of_its_tasks_or_is_none():
    """Easy tasks alone would make an incomplete method look good beside complete ones."""
    tasks = tuned_view().experiment.tasks
    easy = next(task for task in tasks if task.target.dataset == "gas_drift")
    lacking = {("tca", task.name, None): range(3) for task in tasks if task is not easy}
    row = row_of(made_board(lacking=lacking), "tca")
    assert row.left_out == "complete on 1 of 9 tasks"
    assert set(row.by_dataset.values()) == {None}


def test_a_mean_on_a_data_set_counts_tasks_that_are_not_compared():
    view = tuned_view()
    tasks = [task for task in view.experiment.tasks if task.target.dataset == "gas_drift"]
    lacking = {("coral", task.name, None): range(3) for task in tasks}
    board = made_board(lacking=lacking)
    assert len(board.comparison.tasks_left_out) == len(tasks)
    assert row_of(board, "coral").by_dataset["gas_drift"] is None
    whole = board_of("quick", [view])
    for method in ("source_only", "tca"):
        mine, expected = (row_of(b, method).by_dataset["gas_drift"] for b in (board, whole))
        assert mine == pytest.approx(expected)


def test_a_task_that_nobody_completes_empties_no_column():
    task = tuned_view().experiment.tasks[-1]
    board = made_board(lacking={(method, task.name, None): [0] for method in GAINS})
    for row in board.rows:
        assert row.by_dataset[task.target.dataset] is not None
    assert board.best_on(task.target.dataset)


def test_methods_that_apply_nowhere_are_no_rows():
    board = made_board(lacking={("tca", None, None): ALL})
    mine = board.records["method"] == "tca"
    first = mine & (board.records["trial"] == 0)
    board.records.loc[mine, ["status", "error"]] = "not_applicable", "learns from target labels"
    assert board.unsuited == {"tca": {"learns from target labels": 9}}
    assert "tca" not in [row.method for row in board.rows]
    board = made_board(lacking={("tca", None, None): ALL})
    board.records.loc[first, "status"] = "not_applicable"
    assert not board.unsuited, "the other trials failed"
    assert board.rows[-1].method == "tca"


def test_a_task_where_one_method_failed_once_counts_for_none():
    view = tuned_view()
    task = view.experiment.tasks[0]
    board = made_board(lacking={("coral", task.name, "circular"): [1]})
    assert list(board.comparison.tasks_left_out) == [(task.target.dataset, task.name)]
    whole, less = board_of("quick", [view]), row_of(board, "source_only")
    assert less.scores["accuracy"] != pytest.approx(row_of(whole, "source_only").scores["accuracy"])
    assert board.comparison.n_tasks == 8


def test_one_trial_has_effects_and_no_harm():
    board = made_board(trials=1)
    effects = [row.effect for row in board.rows if row.effect]
    assert len(effects) == 3
    assert all(effect.harm is None for effect in effects)
    assert row_of(board, "coral").effect.low is not None, "tasks vary"


def test_a_board_without_a_complete_baseline_says_so():
    lacking = {(method, None, None): ALL for method in ("source_only", "pca")}
    with pytest.raises(UncomparableError, match="none of pca and source_only"):
        _ = made_board(lacking=lacking).rows
    only = {"coral": 0.1, "tca": 0.0}
    with pytest.raises(UncomparableError):
        _ = made_board(gains=only).rows


def test_the_settings_chosen_most_often_are_those_of_the_candidates():
    view = tuned_view(trials=2)
    chosen = (view.records["classifier"] == "circular") & (view.records["method"] == "coral")
    numbers = np.arange(chosen.sum())
    view.records.loc[chosen, "candidate"] = np.where(numbers < 3, 0, 5)
    board = board_of("quick", [view])
    told = row_of(board, "coral").favourite
    assert told.endswith("of 18 trials)")
    task = view.experiment.tasks[-1]
    assert told.startswith(board._candidates("tuned_quick", task.name, "coral")[5])


def test_a_task_that_was_not_asked_is_a_reason():
    """Two experiments on a data set, one of which has no such method."""
    board = made_board()
    assert board.absence("tca", board.datasets[0]) == "not asked on every task"


def test_a_data_set_that_nobody_completes_has_no_best():
    whole = made_board()
    dataset = whole.datasets[0]
    tasks = {task for name, task in whole.tasks if name == dataset}
    lacking = {(method, task, None): [0] for method in GAINS for task in tasks}
    board = made_board(lacking=lacking)
    assert board.best_on(dataset) == set()
    assert board.best_on(whole.datasets[1])


def of_dataset(name):
    return [t.name for t in tuned_view().experiment.tasks if t.target.dataset == name]


def test_a_way_of_choosing_without_scores_on_a_data_set_has_no_mean():
    lacking = {("coral", task, "entropy"): range(3) for task in of_dataset("gas_drift")}
    row = row_of(made_board(lacking=lacking), "coral")
    assert row.by_choice["entropy"] is None
    assert row.by_choice["class_ami"] is not None


def test_methods_that_rounding_tells_apart_share_a_rank():
    view = tuned_view(gains=dict.fromkeys(("source_only", "coral"), 0.0), noise=0)
    mine = view.records["method"] == "coral"
    view.records.loc[mine, "accuracy"] += 1e-15
    board = board_of("quick", [view])
    assert [row.rank for row in board.rows] == [1.5, 1.5]


def test_probabilities_are_those_of_the_fixed_classifier():
    view = tuned_view()
    others = view.records["classifier"] == "circular"
    view.records.loc[others, ["log_loss", "calibration_error"]] = 9.0
    board = board_of("quick", [view])
    for name in ("log_loss", "calibration_error"):
        expected = slow_mean(board, "coral", "fixed_logistic", name)
        assert row_of(board, "coral").scores[name] == pytest.approx(expected)


def test_other_warnings_are_no_failed_candidates():
    view = tuned_view()
    view.records["warnings"] = "UserWarning: take care"
    row = row_of(board_of("quick", [view]), "coral")
    assert (row.n_short, row.why_short) == (0, "")


def test_trials_without_a_choice_choose_no_candidate():
    view = tuned_view(trials=2)
    mine = (view.records["classifier"] == "circular") & (view.records["method"] == "coral")
    first = view.records.index[mine][:4]
    view.records.loc[first, "candidate"] = np.nan
    assert row_of(board_of("quick", [view]), "coral").favourite.endswith(" (14 of 14 trials)")


def test_few_degrees_of_freedom_tell_only_equals_alike():
    """Two tasks each way have one degree: by that error no method would differ from the best."""
    board = made_board(gains={"source_only": 0.0, "coral": 0.01}, noise=0.02)
    pair = "mnist_usps"
    scores = board.scores(board.chosen_by)
    found = compare(scores[scores["dataset"] == pair], "source_only").effects[0]
    assert found.freedom < 3
    assert found.not_separated
    means = board._all_dataset_means.loc[pair]
    assert board.best_on(pair) == {means.idxmax()}


def test_the_best_on_a_data_set_need_not_be_the_best_baseline():
    board = made_board(by_dataset={("tca", "gas_drift"): 0.6})
    assert board.best_on("gas_drift") == {"tca"}


def test_a_method_that_lacks_a_task_takes_it_from_no_other():
    whole = {"gains": {"source_only": 0.0, "tca": 0.0}, "noise": 0.05}
    name = "office_caltech_surf"
    assert made_board(**whole).best_on(name) == {"source_only", "tca"}
    view = tuned_view(gains={"source_only": 0.0, "tca": 0.0, "coral": -0.3}, noise=0.05)
    plain = board_of("quick", [view])
    best = plain.best_on(name)
    assert best == {"source_only", "tca"}
    mine = (view.records["method"] == "coral") & (view.records["task"] == of_dataset(name)[-1])
    lacking = view.records.copy()
    lacking.loc[mine, ["accuracy", "status"]] = np.nan, "error"
    assert board_of("quick", [dataclasses.replace(view, records=lacking)]).best_on(name) == best
