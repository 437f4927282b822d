"""Runs in MLflow: what they hold, that writing again changes nothing, that they can be moved."""

import json
import sqlite3

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


def test_one_run_per_cell_and_a_summary(folder):
    receipt = write(description="Does it align?")
    assert list(receipt["runs"]) == [
        "summary",
        "a-b | none | knn_1",
        "a-b | fma_i | knn_1",
        "b-a | none | knn_1",
        "b-a | fma_i | knn_1",
    ]
    assert (receipt["created"], receipt["kept"], receipt["deleted"]) == (5, 0, 0)
    experiment = client().get_experiment(receipt["experiment_id"])
    assert experiment.name == "toy"
    assert experiment.artifact_location == "mlflow-artifacts:/toy"
    assert experiment.tags["mlflow.note.content"] == "Does it align?"
    json.dumps(receipt)


def test_a_methods_own_classifier_is_named(folder):
    methods = {**METHODS, "none": {**METHODS["none"], "classifier": "one_nn"}}
    receipt = write(records().assign(classifier="own"), methods)
    named = [run_of(receipt, f"a-b | {name} | own").data.params for name in ("none", "fma_i")]
    assert [params["own_classifier"] for params in named] == ["one_nn", "predict"]


def test_a_run_holds_parameters_scores_steps_tags_and_datasets(folder):
    receipt = write()
    run = run_of(receipt, "a-b | fma_i | knn_1")
    assert run.info.run_name == "fma_i · a-b · knn_1"
    assert run.info.status == "FINISHED"
    assert run.data.params == {
        "task": "a-b",
        "method": "fma_i",
        "classifier": "knn_1",
        "estimator": "domain_alignment:FMA",
        "protocol": "random_3",
        "trials": "2",
        "level": "instance",
        "n_components": "4",
        "graph.metric": "cosine",
    }
    metrics = run.data.metrics
    assert metrics["accuracy"] == pytest.approx(0.85)
    assert metrics["accuracy_std"] == pytest.approx(0.1 / 2**0.5)
    assert metrics["seconds"] == 0.5
    assert (metrics["n_ok"], metrics["n_asked"]) == (2, 2)
    steps = client().get_metric_history(run.info.run_id, "trial/accuracy")
    assert sorted((point.step, point.value) for point in steps) == [(0, 0.8), (1, 0.9)]
    assert run.data.tags["paper"] == "Dernbach & Towsley 2020, Algorithm 3"
    assert run.data.tags["status"] == "ok"
    assert len(run.data.tags["result_key"]) == 64
    inputs = [
        (item.dataset.name, item.dataset.digest, item.tags[0].value)
        for item in run.inputs.dataset_inputs
    ]
    assert inputs == [("toys.a", "1" * 16, "source"), ("toys.b", "2" * 16, "target")]


def test_each_value_of_a_varied_quantity_has_its_run(folder):
    frame = pd.concat([records().assign(setting=value) for value in (10.0, 0.5)])
    receipt = write(frame)
    assert receipt["created"] == 9
    run = run_of(receipt, "a-b | fma_i | knn_1 | 0.5")
    assert run.data.params["setting"] == "0.5"
    assert run.info.run_name == "fma_i · a-b · knn_1 · 0.5"


def test_an_experiment_without_records_has_its_summary(folder):
    receipt = write(no_records())
    assert list(receipt["runs"]) == ["summary"]


def test_a_cell_without_scores_is_a_failed_run_that_says_why(folder):
    run = run_of(write(), "b-a | fma_i | knn_1")
    assert run.info.status == "FAILED"
    assert run.data.tags["status"] == "data_unavailable"
    assert run.data.tags["error"] == "a.mat: nothing delivers it"
    assert run.data.metrics == {"n_ok": 0, "n_asked": 2}


def test_a_cell_with_some_scores_says_how_many(folder):
    run = run_of(write(), "b-a | none | knn_1")
    assert run.info.status == "FINISHED"
    assert run.data.tags["status"] == "partial"
    assert run.data.tags["failures"] == "timeout 1"
    assert (run.data.metrics["n_ok"], run.data.metrics["n_asked"]) == (1, 2)
    assert run.data.metrics["accuracy"] == 0.6
    assert "accuracy_std" not in run.data.metrics


def test_the_summary_averages_only_what_is_complete(folder):
    metrics = run_of(write(), "summary").data.metrics
    # b-a has one trial of two for `none` and no data for `fma_i`: a-b alone is complete for both.
    assert metrics["mean accuracy/none knn_1"] == pytest.approx((0.5 + 0.7) / 2)
    assert metrics["mean accuracy/fma_i knn_1"] == pytest.approx((0.8 + 0.9) / 2)
    assert metrics["n_tasks_averaged"] == 1


def test_the_summary_has_no_mean_of_a_method_without_a_complete_task(folder):
    frame = records()
    lost = frame.task.eq("a-b") & frame.method.eq("fma_i") & frame.trial.eq(0)
    frame.loc[lost, ["status", "accuracy"]] = ["timeout", None]
    metrics = run_of(write(frame), "summary").data.metrics
    named = [name for name in metrics if name.startswith("mean accuracy/")]
    assert named == ["mean accuracy/none knn_1"]
    assert metrics["mean accuracy/none knn_1"] == pytest.approx((0.5 + 0.7) / 2)


def dump():
    """All rows of the database, except MLflow's note of when an experiment was last touched."""
    with sqlite3.connect("results/mlflow.db") as database:
        return [line for line in database.iterdump() if 'INTO "experiments"' not in line]


def test_writing_twice_changes_nothing(folder):
    first, before = write(), dump()
    second = write()
    assert second["runs"] == first["runs"]
    assert (second["created"], second["kept"], second["deleted"]) == (0, 5, 0)
    assert dump() == before


@pytest.mark.parametrize("change", ["score", "parameter", "code"])
def test_a_changed_result_replaces_its_run_and_the_summary(folder, change):
    frame, methods, code = records(), dict(METHODS), {"fma_i": "old"}
    first = write(frame, methods, code=code)
    expected = {"summary", "a-b | fma_i | knn_1", "b-a | fma_i | knn_1"}
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
    active = {run.info.run_id for run in mlflow.search_runs([first["experiment_id"]])}
    assert active == set(second["runs"].values())
    folders = {path.name for path in (folder / "results/mlflow-artifacts/toy").iterdir()}
    assert folders == {second["runs"]["summary"]}, "the replaced summary's files are gone"


def test_a_cell_that_is_no_longer_asked_for_loses_its_run(folder):
    first = write()
    frame = records()
    second = write(frame[frame.task == "a-b"])
    gone = {"b-a | none | knn_1", "b-a | fma_i | knn_1"}
    assert set(first["runs"]) - set(second["runs"]) == gone
    for cell in gone:
        assert run_of(first, cell).info.lifecycle_stage == "deleted"
