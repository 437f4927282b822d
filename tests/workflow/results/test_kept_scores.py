"""Scores that runs leave in the reference: exact, of one run, of tasks that are still asked for."""

import dataclasses

import pandas as pd
import pytest

from tests.workflow.board_example import tuned_view
from tests.workflow.report.test_reference_boards import ALONE, FEW
from workflow.lib.results.kept_scores import FOLDER, keep_scores, kept_scores

KEPT = ["task", "method", "classifier", "trial", "status", "accuracy", "macro_f1", "seconds"]


def test_scores_come_back_exactly_as_they_were(tmp_path):
    view = tuned_view(ALONE, lacking={("tca", None, None): [1]})
    keep_scores([view], tmp_path, "the run of today")
    (kept,) = kept_scores(view.suite, [ALONE, FEW], tmp_path)
    assert kept.run == "the run of today"
    assert kept.view.methods == view.methods
    found = kept.view.records[KEPT].astype(object)
    asked = view.records[KEPT].astype(object)
    assert found.where(found.notna(), None).equals(asked.where(asked.notna(), None))
    assert not kept_scores(view.suite, [FEW], tmp_path)


def test_of_methods_that_are_gone_nothing_comes_back(tmp_path):
    view = tuned_view(ALONE)
    keep_scores([view], tmp_path, "")
    experiment = dataclasses.replace(view.experiment, methods=("coral", "pca", "jda"))
    suite = dataclasses.replace(view.suite, experiments={ALONE: experiment})
    (kept,) = kept_scores(suite, [ALONE], tmp_path)
    assert kept.view.methods == ("coral", "pca")
    assert {*kept.view.records["method"]} == {"coral", "pca"}


def test_what_a_run_has_not_stays_of_the_run_that_had_it(tmp_path):
    whole = tuned_view(ALONE)
    again = tuned_view(ALONE, gains={"coral": 0.3, "tca": 0.1}).records
    some = dataclasses.replace(whole, records=again)
    keep_scores([whole], tmp_path, "run of yesterday")
    keep_scores([some], tmp_path, "run of today")
    (kept,) = kept_scores(whole.suite, [ALONE], tmp_path)
    others = [method for method in whole.methods if method not in ("coral", "tca")]
    assert kept.runs == {"run of yesterday": others, "run of today": ["coral", "tca"]}
    assert kept.run == "run of yesterday; CORAL and TCA of the run of today"
    assert kept.view.methods == whole.methods

    def accuracies(view, methods):
        mine = view.records[view.records["method"].isin(methods)]
        return mine.set_index(["method", "task", "classifier", "trial"])["accuracy"].to_dict()

    assert accuracies(kept.view, others) == accuracies(whole, others)
    ours = kept.part("run of today")
    assert accuracies(ours, kept.view.methods) == accuracies(some, ["coral", "tca"])


def test_the_commit_of_each_run_is_told_where_it_is_known(tmp_path):
    whole = tuned_view(ALONE)
    mine = whole.records[whole.records["method"] == "coral"]
    keep_scores([whole], tmp_path, "run of yesterday")
    keep_scores([dataclasses.replace(whole, records=mine)], tmp_path, "run of today", "c57b3673a4")
    (kept,) = kept_scores(whole.suite, [ALONE], tmp_path)
    assert kept.run == "run of yesterday; CORAL of the run of today (commit c57b3673a4)"
    path = tmp_path / FOLDER / f"{ALONE}.parquet"
    pd.read_parquet(path).drop(columns="commit").to_parquet(path, index=False)
    (older,) = kept_scores(whole.suite, [ALONE], tmp_path)
    assert older.run == "run of yesterday; CORAL of the run of today"


def test_of_a_method_with_other_candidates_by_now_nothing_comes_back(tmp_path):
    view = tuned_view(ALONE)
    keep_scores([view], tmp_path, "")
    entry = view.suite.methods["coral"]
    search = {**entry.get("search", {}), "reduce": [None, 7]}
    methods = {**view.suite.methods, "coral": {**entry, "search": search}}
    changed = dataclasses.replace(view.suite, methods=methods)
    (kept,) = kept_scores(changed, [ALONE], tmp_path)
    assert kept.view.methods == tuple(name for name in view.methods if name != "coral")
    words = {name: {**one, "label": "!"} for name, one in view.suite.tuning["classifiers"].items()}
    renamed = dataclasses.replace(view.suite, tuning={**view.suite.tuning, "classifiers": words})
    (kept,) = kept_scores(renamed, [ALONE], tmp_path)
    assert kept.view.methods == view.methods
    fewer = {**view.experiment.tuning, "candidates": 16}
    experiment = dataclasses.replace(view.experiment, tuning=fewer)
    other = dataclasses.replace(view.suite, experiments={ALONE: experiment})
    assert not kept_scores(other, [ALONE], tmp_path)


def test_where_only_methods_that_do_not_apply_are_of_today_nothing_comes_back(tmp_path):
    """What they left is no score, and an experiment without one has not been run."""
    view = tuned_view(ALONE)
    idle = view.records["method"] == "tca"
    view.records.loc[idle, ["status", "accuracy"]] = "not_applicable", None
    keep_scores([view], tmp_path, "")
    (kept,) = kept_scores(view.suite, [ALONE], tmp_path)
    assert "tca" in kept.view.methods
    others = [name for name in view.methods if name != "tca"]
    methods = dict(view.suite.methods)
    for name in others:
        search = {**methods[name].get("search", {}), "reduce": [None, 7]}
        methods[name] = {**methods[name], "search": search}
    assert not kept_scores(dataclasses.replace(view.suite, methods=methods), [ALONE], tmp_path)


def test_nothing_stays_of_other_cells(tmp_path):
    view = tuned_view(ALONE)
    keep_scores([view], tmp_path, "run of yesterday")
    experiment = dataclasses.replace(view.experiment, tasks=view.experiment.tasks[1:])
    few = view.records["task"].isin([task.name for task in experiment.tasks])
    mine = view.records[few & (view.records["method"] == "coral")]
    keep_scores([dataclasses.replace(view, experiment=experiment, records=mine)], tmp_path, "today")
    suite = dataclasses.replace(view.suite, experiments={ALONE: experiment})
    (kept,) = kept_scores(suite, [ALONE], tmp_path)
    assert kept.runs == {"today": ["coral"]}


def test_other_data_or_another_protocol_under_the_same_names_are_other_cells(tmp_path):
    view = tuned_view(ALONE)
    keep_scores([view], tmp_path, "")
    asked = view.experiment.protocol
    told = {**view.suite.protocols[asked], "description": "In other words."}
    suite = dataclasses.replace(view.suite, protocols={**view.suite.protocols, asked: told})
    assert kept_scores(suite, [ALONE], tmp_path)
    drawn = {**view.suite.protocols[asked], "seed": 7}
    suite = dataclasses.replace(view.suite, protocols={**view.suite.protocols, asked: drawn})
    assert not kept_scores(suite, [ALONE], tmp_path)
    name = view.experiment.tasks[0].target.dataset
    other = {**view.suite.datasets, name: {**view.suite.datasets[name], "loader": "other:load"}}
    suite = dataclasses.replace(view.suite, datasets=other)
    assert not kept_scores(suite, [ALONE], tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        {"tasks": ("other",)},
        {"tuning": {"choices": ("oracle", "a new selector")}},
        {"vary": {"values": [1, 2]}},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_scores_of_other_cells_than_are_asked_for_are_not_used(tmp_path, changed):
    view = tuned_view(ALONE)
    keep_scores([view], tmp_path, "")
    if "tasks" in changed:
        changed = {"tasks": view.experiment.tasks[1:]}
    experiment = dataclasses.replace(view.experiment, **changed)
    suite = dataclasses.replace(view.suite, experiments={ALONE: experiment})
    assert kept_scores(suite, [ALONE], tmp_path) == []


def test_nothing_of_a_board_is_used_where_one_of_its_experiments_asks_for_other_cells(tmp_path):
    views = [tuned_view(name) for name in (ALONE, FEW)]
    keep_scores(views, tmp_path, "")
    changed = dataclasses.replace(views[0].experiment, tasks=views[0].experiment.tasks[1:])
    known = {ALONE: changed, FEW: views[1].experiment}
    suite = dataclasses.replace(views[0].suite, experiments=known)
    assert [one.view.name for one in kept_scores(suite, [FEW], tmp_path)] == [FEW]
    assert kept_scores(suite, [ALONE, FEW], tmp_path) == []
