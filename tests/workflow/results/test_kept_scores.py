"""Scores that runs leave in the reference: exact, of one run, of tasks that are still asked for."""

import dataclasses
import shutil

from tests.workflow.board_example import tuned_view
from tests.workflow.report.test_reference_boards import ALONE, FEW, run_of_hour
from workflow.lib.results.kept_scores import forget_scores, keep_scores, kept_scores

KEPT = ["task", "method", "classifier", "trial", "status", "accuracy", "seconds"]


def test_scores_come_back_exactly_as_they_were(tmp_path):
    view = tuned_view(ALONE, lacking={("tca", None, None): [1]})
    keep_scores([view], tmp_path, "the run of today")
    (kept,) = kept_scores(view.suite, [ALONE, FEW], tmp_path)
    assert kept.run == "the run of today"
    assert kept.view.methods == view.methods
    found = kept.view.records[KEPT].astype(object)
    asked = view.records[KEPT].astype(object)
    assert found.where(found.notna(), None).equals(asked.where(asked.notna(), None))
    forget_scores([ALONE, FEW], tmp_path)
    assert not kept_scores(view.suite, [ALONE, FEW], tmp_path)


def test_of_methods_that_are_gone_nothing_comes_back(tmp_path):
    view = tuned_view(ALONE)
    keep_scores([view], tmp_path, "")
    experiment = dataclasses.replace(view.experiment, methods=("coral", "pca", "jda"))
    suite = dataclasses.replace(view.suite, experiments={ALONE: experiment})
    (kept,) = kept_scores(suite, [ALONE], tmp_path)
    assert kept.view.methods == ("coral", "pca")
    assert {*kept.view.records["method"]} == {"coral", "pca"}


def test_scores_of_tasks_that_the_experiment_no_longer_has_are_not_used(tmp_path):
    view = tuned_view(ALONE)
    keep_scores([view], tmp_path, "")
    experiment = dataclasses.replace(view.experiment, tasks=view.experiment.tasks[1:])
    suite = dataclasses.replace(view.suite, experiments={ALONE: experiment})
    assert kept_scores(suite, [ALONE], tmp_path) == []


def test_a_board_run_again_in_part_is_not_mixed_with_an_older_run(tmp_path):
    out = run_of_hour(tmp_path, 1, FEW)
    shutil.copy(out / f"scores/{FEW}.parquet", out / "scores/tuned_few_labels_gas.parquet")
    run_of_hour(tmp_path, 2, FEW)
    assert [path.stem for path in (out / "scores").iterdir()] == [FEW]
