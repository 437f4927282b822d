"""Runs in MLflow: what they hold, that writing again changes nothing, that they can be moved."""

import base64
import json
import sqlite3
import zlib

import numpy as np
import pandas as pd
import pytest

from tests.workflow.tracking.toy_runs import (
    METHODS,
    client,
    records,
    run_of,
    write,
)
from workflow.lib.results.records import no_records
from workflow.lib.storage.artifacts import write_arrays
from workflow.lib.tracking import runs
from workflow.lib.tracking.runs import Study, samples_digest
from workflow.lib.tracking.saved_view import VIEW


def test_one_run_per_method_one_per_task_in_it_and_a_summary(folder):
    about = {
        "paper": "Dernbach 2020",
        "artefact": "Table 1",
        "methods": ["none", "fma_i"],
        "protocol": "",
    }
    receipt = write(description="Does it align?", about=about)
    assert list(receipt["runs"]) == [
        "summary",
        "none | knn_1",
        "fma_i | knn_1",
        "a-b | none | knn_1",
        "a-b | fma_i | knn_1",
        "b-a | none | knn_1",
        "b-a | fma_i | knn_1",
    ]
    assert (receipt["created"], receipt["kept"], receipt["deleted"]) == (7, 0, 0)
    experiment = client().get_experiment(receipt["experiment_id"])
    assert experiment.name == "toy"
    assert experiment.artifact_location == "mlflow-artifacts:/toy"
    assert experiment.tags["mlflow.note.content"] == "Does it align?"
    assert (experiment.tags["paper"], experiment.tags["artefact"]) == ("Dernbach 2020", "Table 1")
    assert experiment.tags["methods"] == "none, fma_i"
    assert "protocol" not in experiment.tags
    json.dumps(receipt)


def test_of_the_other_ways_of_choosing_there_is_a_run_per_method(folder):
    both = pd.concat([records(), records().assign(classifier="oracle")])
    receipt = write(both, by_task=["knn_1"])
    all_of = write(both)
    assert {cell for cell in all_of["runs"] if cell not in receipt["runs"]} == {
        f"{task} | {method} | oracle" for task in ("a-b", "b-a") for method in ("none", "fma_i")
    }
    for cell in ("none | oracle", "fma_i | oracle"):
        counts = ("n_asked", "n_ok", "seconds", "accuracy")
        ours, other = (run_of(receipt, name).data.metrics for name in (cell, cell[:-6] + "knn_1"))
        assert [ours[name] for name in counts] == [other[name] for name in counts]
    summaries = [run_of(one, "summary").data.metrics for one in (receipt, all_of)]
    assert summaries[0] == summaries[1]
    again = write(both, by_task=["knn_1"])
    assert (again["created"], again["deleted"]) == (1, 5)  # the summary's, of other parts


def test_a_methods_own_classifier_is_named(folder):
    methods = {**METHODS, "none": {**METHODS["none"], "classifier": "one_nn"}}
    receipt = write(records().assign(classifier="own"), methods)
    named = [run_of(receipt, f"a-b | {name} | own").data.params for name in ("none", "fma_i")]
    assert [params["own_classifier"] for params in named] == ["one_nn", "predict"]


def test_a_metric_that_is_no_share_is_not_in_percent(folder):
    receipt = write(records().assign(log_loss=0.5, calibration_error=0.25))
    metrics = run_of(receipt, "a-b | none | knn_1").data.metrics
    assert (metrics["log_loss"], metrics["calibration_error"]) == (0.5, 25)


def test_a_task_holds_parameters_scores_tags_and_datasets_with_their_sources(folder):
    receipt = write(sources={"toys": "Anonymous 2020"})
    run = run_of(receipt, "a-b | fma_i | knn_1")
    assert run.info.run_name == "a→b · fma_i · knn_1"
    assert run.info.status == "FINISHED"
    assert run.data.params == {
        "task": "a-b",
        "method": "fma_i",
        "classifier": "knn_1",
        "estimator": "domain_alignment:FMA",
        "protocol": "random_3",
        "level": "instance",
        "n_components": "4",
        "graph.metric": "cosine",
    }
    metrics = run.data.metrics
    assert metrics["accuracy"] == pytest.approx(85)
    assert metrics["accuracy_std"] == pytest.approx(10 / 2**0.5)
    assert (metrics["seconds"], metrics["seconds_per_trial"]) == (1.0, 0.5)
    assert (metrics["n_ok"], metrics["n_asked"]) == (2, 2)
    points = [client().get_metric_history(run.info.run_id, name) for name in metrics]
    assert {len(history) for history in points} == {1}, "no curve of what is no training"
    assert run.data.tags["paper"] == "Dernbach & Towsley 2020, Algorithm 3"
    assert run.data.tags["status"] == "finished"
    assert len(run.data.tags["result_key"]) == 64
    inputs = [
        (item.dataset.name, item.dataset.digest, item.tags[0].value)
        for item in run.inputs.dataset_inputs
    ]
    assert inputs == [("toys.a", "1" * 16, "source"), ("toys.b", "2" * 16, "target")]
    origins = [json.loads(item.dataset.source) for item in run.inputs.dataset_inputs]
    assert origins == [{"source": "Anonymous 2020"}] * 2


def test_each_value_of_a_varied_quantity_has_its_run(folder):
    frame = pd.concat([records().assign(setting=value) for value in (10.0, 0.5)])
    receipt = write(frame, varied="n_components")
    assert receipt["created"] == 13
    for cell in ("a-b | fma_i | knn_1 | 0.5", "fma_i | knn_1 | 0.5"):
        params = run_of(receipt, cell).data.params
        assert (params["setting"], params["n_components"]) == ("0.5", "0.5")  # not the entry's 4
    run = run_of(receipt, "a-b | fma_i | knn_1 | 0.5")
    assert run.info.run_name == "a→b · fma_i · knn_1 · 0.5"


def test_what_every_trial_chooses_has_no_value(folder):
    search = {"params": {"n_components": [2, 4]}, "scalings": ["raw"]}
    methods = {**METHODS, "fma_i": {**METHODS["fma_i"], "search": search}}
    params = run_of(write(methods=methods, tuned=True), "a-b | fma_i | knn_1").data.params
    assert params["n_components"] == "chosen among [2, 4]"
    assert params["level"] == "instance"
    params = run_of(write(methods=methods), "a-b | fma_i | knn_1").data.params
    assert params["n_components"] == "4"


def test_the_commit_is_said_to_be_that_of_the_logging(folder, monkeypatch):
    monkeypatch.setattr(runs, "git_state", lambda: {"commit": "abc", "dirty": False})
    tags = run_of(write(), "a-b | fma_i | knn_1").data.tags
    assert (tags["logged_at_commit"], tags["logged_at_tree"]) == ("abc", "clean")
    assert "mlflow.source.git.commit" not in tags


def test_an_experiment_without_records_has_its_summary(folder):
    receipt = write(no_records())
    assert list(receipt["runs"]) == ["summary"]


def test_without_data_or_use_a_run_is_not_failed_and_says_why(folder):
    frame = records()
    frame.loc[frame.method.eq("none") & frame.task.eq("b-a"), ["status", "accuracy"]] = [
        "not_applicable",
        None,
    ]
    receipt = write(frame)
    run = run_of(receipt, "b-a | fma_i | knn_1")
    assert run.info.status == "FINISHED"
    assert run.data.tags["status"] == "data not available"
    assert run.data.tags["error"] == "a.mat: nothing delivers it"
    assert run.data.metrics == {"n_ok": 0, "n_asked": 2, "n_failed": 0, "seconds": 1.0}
    assert run_of(receipt, "b-a | none | knn_1").data.tags["status"] == "not applicable"


def test_what_ran_in_vain_is_failed(folder):
    frame = records()
    frame.loc[frame.method.eq("none"), ["status", "accuracy"]] = ["timeout", None]
    receipt = write(frame)
    for cell in ("a-b | none | knn_1", "none | knn_1"):
        run = run_of(receipt, cell)
        assert (run.info.status, run.data.tags["status"]) == ("FAILED", "failed")
    assert run.data.metrics["n_failed"] == 4
    assert "accuracy" not in run.data.metrics


def test_a_cell_with_some_scores_says_how_many(folder):
    run = run_of(write(), "b-a | none | knn_1")
    assert run.info.status == "FINISHED"
    assert run.data.tags["status"] == "partial"
    assert run.data.tags["failures"] == "timeout 1"
    assert (run.data.metrics["n_ok"], run.data.metrics["n_asked"]) == (1, 2)
    assert run.data.metrics["accuracy_partial"] == pytest.approx(60)
    assert not {"accuracy", "accuracy_std"} & set(run.data.metrics)


def test_a_method_holds_its_mean_in_percent_its_rank_and_its_tasks(folder):
    receipt = write()
    # b-a has one trial of two for `none` and no data for `fma_i`: a-b alone is complete for both.
    expected = {
        "none | knn_1": {"accuracy": 60, "rank": 2, "n_ok": 3, "n_failed": 1, "seconds": 2},
        "fma_i | knn_1": {"accuracy": 85, "rank": 1, "n_ok": 2, "n_failed": 0, "seconds": 2},
    }
    for cell, metrics in expected.items():
        run = run_of(receipt, cell)
        assert min(run.data.metrics) == "accuracy", "the first column"
        assert run.data.metrics == pytest.approx({**metrics, "n_asked": 4, "n_tasks": 1})
        nested = client().search_runs(
            [receipt["experiment_id"]],
            f"tags.`mlflow.parentRunId` = '{run.info.run_id}'",
        )
        assert {child.data.tags["cell"] for child in nested} == {f"a-b | {cell}", f"b-a | {cell}"}
        assert "mlflow.parentRunId" not in run.data.tags


def test_a_method_without_enough_complete_tasks_has_no_mean(folder):
    frame = records()
    lost = frame.task.eq("a-b") & frame.method.eq("fma_i") & frame.trial.eq(0)
    frame.loc[lost, ["status", "accuracy"]] = ["timeout", None]
    receipt = write(frame)
    assert "accuracy" not in run_of(receipt, "fma_i | knn_1").data.metrics
    metrics = run_of(receipt, "none | knn_1").data.metrics
    assert (metrics["accuracy"], metrics["rank"]) == (pytest.approx(60), 1)


def test_the_experiment_has_a_view_sorted_by_accuracy(folder):
    receipt = write()
    experiment = client().get_experiment(receipt["experiment_id"])
    view = json.loads(experiment.tags[f"mlflow.sharedViewState.{VIEW}"])
    state = json.loads(zlib.decompress(base64.b64decode(view["state"].removeprefix("deflate;"))))
    assert (state["orderByKey"], state["orderByAsc"]) == ("metrics.`accuracy`", False)
    assert state["selectedColumns"][0] == "metrics.`accuracy`"
    shown = client().search_runs(
        [receipt["experiment_id"]], state["searchFilter"], order_by=["metrics.accuracy DESC"]
    )
    names = ["fma_i · knn_1", "none · knn_1", "toy · report, figures and tables"]
    assert [run.info.run_name for run in shown] == names


def test_a_study_has_its_numbers_and_its_time(folder):
    found = [{"toy": "spiral", "error (%)": 3.5, "n": 5, "ok": True}, {"toy": "ring", "n": 7}]
    receipt = write(no_records(), study=Study("ok", None, 12.5, found))
    assert list(receipt["runs"]) == ["summary", "record 0", "record 1"]
    run = run_of(receipt, "record 0")
    assert run.data.metrics == {"error ___": 3.5, "n": 5}
    assert run.data.params == {"toy": "spiral", "ok": "true"}
    assert run.data.tags["mlflow.parentRunId"] == receipt["runs"]["summary"]
    summary = run_of(receipt, "summary")
    assert summary.data.metrics == {"n_asked": 1, "n_ok": 1, "seconds": 12.5}
    assert summary.info.end_time - summary.info.start_time == 12500
    failed = write(no_records(), study=Study("timeout", "exceeded 1 s", 1.0, []))
    run = run_of(failed, "summary")
    assert (run.info.status, run.data.tags["error"]) == ("FAILED", "exceeded 1 s")


def test_a_summary_says_which_records_have_no_run(folder, monkeypatch):
    monkeypatch.setattr(runs, "_MOST_RECORDS", 2)
    found = [{"toy": "spiral", "n": n} for n in range(3)]
    receipt = write(no_records(), study=Study("ok", None, 12.5, found))
    assert list(receipt["runs"]) == ["summary", "record 0", "record 1"]
    assert run_of(receipt, "summary").data.tags["records"] == "3, of which the first 2 have a run"
    whole = write(no_records(), study=Study("ok", None, 12.5, found[:2]))
    assert "records" not in run_of(whole, "summary").data.tags


def dump():
    """All rows of the database, except MLflow's note of when an experiment was last touched."""
    with sqlite3.connect("results/mlflow.db") as database:
        return [line for line in database.iterdump() if 'INTO "experiments"' not in line]


def test_writing_twice_changes_nothing(folder):
    first, before = write(), dump()
    second = write()
    assert second["runs"] == first["runs"]
    assert (second["created"], second["kept"], second["deleted"]) == (0, 7, 0)
    assert dump() == before


@pytest.mark.parametrize("change", ["score", "parameter", "code"])
def test_a_changed_result_replaces_its_run_and_the_summary(folder, change):
    frame, methods, code = records(), dict(METHODS), {"fma_i": "old"}
    first = write(frame, methods, code=code)
    expected = {"summary", "fma_i | knn_1", "a-b | fma_i | knn_1", "b-a | fma_i | knn_1"}
    if change == "score":
        frame.loc[frame.task.eq("a-b") & frame.accuracy.eq(0.8), "accuracy"] = 0.81
        expected.remove("b-a | fma_i | knn_1")
    elif change == "parameter":
        methods["fma_i"] = {**METHODS["fma_i"], "params": {"n_components": 5}}
    else:
        code = {"fma_i": "new"}
    second = write(frame, methods, code=code)
    replaced = {cell for cell in first["runs"] if first["runs"][cell] != second["runs"][cell]}
    assert replaced == expected
    assert second["deleted"] == len(expected)
    mlflow = client()
    for cell, run_id in second["runs"].items():
        parent = mlflow.get_run(run_id).data.tags.get("mlflow.parentRunId")
        assert parent == second["runs"].get(cell.partition(" | ")[2]), "also of those kept"
    active = {run.info.run_id for run in mlflow.search_runs([first["experiment_id"]])}
    assert active == set(second["runs"].values())
    folders = {path.name for path in (folder / "results/mlflow-artifacts/toy").iterdir()}
    assert folders == {second["runs"]["summary"]}, "the replaced summary's files are gone"


def test_a_changed_label_renames_the_run_of_the_method_and_leaves_its_tasks(folder):
    first = write()
    relabelled = {**METHODS, "fma_i": {**METHODS["fma_i"], "label": "Renamed"}}
    second = write(methods=relabelled)
    replaced = {cell for cell in first["runs"] if first["runs"][cell] != second["runs"][cell]}
    assert replaced == {"summary", "fma_i | knn_1"}
    assert run_of(second, "fma_i | knn_1").info.run_name == "Renamed · knn_1"


def test_a_cell_that_is_no_longer_asked_for_loses_its_run(folder):
    first = write()
    frame = records()
    second = write(frame[frame.task == "a-b"])
    gone = {"b-a | none | knn_1", "b-a | fma_i | knn_1"}
    assert set(first["runs"]) - set(second["runs"]) == gone
    for cell in gone:
        assert run_of(first, cell).info.lifecycle_stage == "deleted"


def test_the_digest_of_a_domain_is_of_its_samples_and_of_their_labels(tmp_path):
    def digest(X, y, code="1"):
        write_arrays(tmp_path / "X.npz", {"X": np.array(X)}, {})
        write_arrays(tmp_path / "y.npz", {"y": np.array(y)} if y else {}, {"code": code})
        return samples_digest(tmp_path / "X.npz", tmp_path / "y.npz")

    first = digest([1.0, 2.0], [0, 1])
    assert first == digest([1.0, 2.0], [0, 1], code="2")
    assert len({first, digest([1.0, 3.0], [0, 1]), digest([1.0, 2.0], [0, 0]),
                digest([1.0, 2.0], None)}) == 4  # fmt: skip
