"""Runs in MLflow: what they hold, that writing again changes nothing, that they can be moved."""

import json
import multiprocessing
import os
import shutil
import socket
import sqlite3
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import pandas as pd
import pytest

from workflow.lib.results.records import no_records
from workflow.lib.tracking import ui
from workflow.lib.tracking.runs import track
from workflow.lib.tracking.store import MlflowClient, Store, TrackError

URI = "sqlite:///results/mlflow.db"
CONFIG = {"mlflow": {"tracking_uri": URI}}
METHODS = {
    "none": {"estimator": "domain_alignment:NoAdaptation", "paper": "", "params": {}},
    "fma_i": {
        "estimator": "domain_alignment:FMA",
        "paper": "Dernbach & Towsley 2020, Algorithm 3",
        "params": {"level": "instance", "n_components": 4, "graph": {"metric": "cosine"}},
    },
}
DATASETS = {
    "a-b": {"toys.a": "1" * 64, "toys.b": "2" * 64},
    "b-a": {"toys.b": "2" * 64, "toys.a": "1" * 64},
}


def record(task, method, trial, accuracy, **changes):
    scores = dict.fromkeys(("accuracy", "accuracy_entire_target", "balanced_accuracy"), accuracy)
    source, target = task.split("-")
    fields = {"experiment": "toy", "task": task, "source": source, "target": target}
    fields |= {"protocol": "random_3", "method": method, "classifier": "knn_1"}
    fields |= {"setting": None, "trial": trial}
    return fields | scores | {"status": "ok", "seconds": 0.5, "error": None} | changes


def failure(task, method, trial, status, error=None):
    return record(task, method, trial, None, status=status, error=error)


def records():
    rows = [
        record("a-b", "none", 0, 0.5),
        record("a-b", "none", 1, 0.7),
        record("a-b", "fma_i", 1, 0.9),
        record("a-b", "fma_i", 0, 0.8),
        record("b-a", "none", 0, 0.6),
        failure("b-a", "none", 1, "timeout", "exceeded the limit of 1 s per trial"),
        failure("b-a", "fma_i", 0, "data_unavailable", "a.mat: nothing delivers it"),
        failure("b-a", "fma_i", 1, "data_unavailable", "a.mat: nothing delivers it"),
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory):
    """A database with its tables made, which takes MLflow more than a second."""
    path = tmp_path_factory.mktemp("template") / "mlflow.db"
    with Store(f"sqlite:///{path}"):
        pass
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch, empty_store):
    """A working folder with an empty store and two artifacts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results/toy/figures").mkdir(parents=True)
    (tmp_path / "results/toy/tables").mkdir()
    (tmp_path / "results/toy/figures/pairs.svg").write_text("<svg/>")
    (tmp_path / "results/toy/tables/accuracy.csv").write_text("task,none\n")
    shutil.copy(empty_store, "results/mlflow.db")
    return tmp_path


def write(frame=None, methods=METHODS, **options):
    artifacts = ["results/toy/figures/pairs.svg", "results/toy/tables/accuracy.csv"]
    frame = records() if frame is None else frame
    return track("toy", frame, methods, DATASETS, artifacts, CONFIG, **options)


def client():
    # By its full path, because MLflow keeps the database of an address open across tests.
    return MlflowClient(tracking_uri=f"sqlite:///{Path('results/mlflow.db').resolve()}")


def run_of(receipt, cell):
    return client().get_run(receipt["runs"][cell])


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


def test_a_run_left_half_written_is_written_again_and_a_strangers_run_is_left_alone(folder):
    first = write()
    mlflow = client()
    half = first["runs"]["a-b | none | knn_1"]
    mlflow.update_run(half, status="RUNNING")
    stranger = mlflow.create_run(first["experiment_id"]).info.run_id
    second = write()
    assert second["runs"]["a-b | none | knn_1"] != half
    assert (second["created"], second["deleted"]) == (1, 1)
    assert mlflow.get_run(stranger).info.lifecycle_stage == "active"


def test_an_experiment_deleted_in_the_ui_comes_back(folder):
    first = write()
    client().delete_experiment(first["experiment_id"])
    second = write()
    assert second["experiment_id"] == first["experiment_id"]
    assert client().search_runs([second["experiment_id"]])


def write_experiment(name, start, answers):
    start.wait()
    frame = records().assign(experiment=name)
    answers.put(track(name, frame, METHODS, DATASETS, [], CONFIG)["created"])


def test_three_processes_may_write_to_a_store_that_none_has_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Forked, because importing MLflow three times anew would take most of a minute.
    context = multiprocessing.get_context("fork")
    start, answers = context.Barrier(3), context.Queue()
    # Two of them the same experiment: one creates its runs, the other finds them.
    writers = [
        context.Process(target=write_experiment, args=(name, start, answers))
        for name in ("one", "two", "two")
    ]
    for writer in writers:
        writer.start()
    assert sorted(answers.get(timeout=120) for _ in writers) == [0, 5, 5]
    for writer in writers:
        writer.join(timeout=60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]


def free_port():
    with socket.socket() as probe:
        probe.bind((ui.HOST, 0))
        return probe.getsockname()[1]


def fetch(port, page, **query):
    url = f"http://{ui.HOST}:{port}/{page}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode()


def test_a_moved_folder_still_serves_its_artifacts(folder, tmp_path_factory):
    receipt = write()
    moved = tmp_path_factory.mktemp("elsewhere") / "archive"
    shutil.move(folder / "results", moved / "results")
    assert str(folder) not in (moved / "results/mlflow.db").read_bytes().decode("latin-1")

    port = free_port()
    server = subprocess.Popen(
        ui.server_command(URI, port),
        cwd=moved,
        env=ui.server_environment(),
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    try:
        ui.wait_until_up(server, port)
        ((name, address),) = ui.addresses(port)
        run = receipt["runs"]["summary"]
        listed = json.loads(
            fetch(port, "api/2.0/mlflow/artifacts/list", run_id=run, path="figures")
        )
        assert [file["path"] for file in listed["files"]] == ["figures/pairs.svg"]
        assert fetch(port, "get-artifact", run_uuid=run, path="figures/pairs.svg") == "<svg/>"

        # The same server as a tracking server: the ordinary client writes through it.
        config = {"mlflow": {"tracking_uri": f"http://{ui.HOST}:{port}"}}
        (moved / "table.md").write_text("| a |")
        frame = records().assign(experiment="far")
        far = track("far", frame, METHODS, DATASETS, [moved / "table.md"], config)
        run = far["runs"]["summary"]
        assert fetch(port, "get-artifact", run_uuid=run, path="table.md") == "| a |"
        again = track("far", frame, METHODS, DATASETS, [moved / "table.md"], config)
        assert again["runs"] == far["runs"]
    finally:
        ui._end(server)
    assert name == "toy"
    assert address.endswith(f"/#/experiments/{receipt['experiment_id']}/runs?{ui.QUERY}")
    assert server.poll() is not None


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("results/mlruns", r"mlflow.tracking_uri: 'results/mlruns' is no store. Write sqlite:///"),
        ("http://127.0.0.1:9", r"http://127.0.0.1:9: MLflow's store cannot be used .*Start it, or"),
        (
            "sqlite:////proc/none/mlflow.db",
            r"/proc/none: the folder .* cannot be written",
        ),
    ],
)
def test_a_store_that_cannot_be_used_is_named(folder, monkeypatch, uri, message):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(TrackError, match=message):
        track("toy", records(), METHODS, DATASETS, [], {"mlflow": {"tracking_uri": uri}})


def test_a_password_is_not_told(folder):
    uri = "postgresql://anna:secret@127.0.0.1:9/runs"
    with pytest.raises(TrackError, match=r"postgresql://anna@127\.0\.0\.1:9/runs") as caught:
        track("toy", records(), METHODS, DATASETS, [], {"mlflow": {"tracking_uri": uri}})
    assert "secret" not in str(caught.value)


def test_ui_says_when_there_is_nothing_to_serve_or_no_port(tmp_path, monkeypatch, empty_store):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TrackError, match=r"no recorded runs yet. Run `make benchmark` first"):
        ui.check(URI, 5000)
    Path("results/toy").mkdir(parents=True)
    Path("results/toy/mlflow.json").touch()
    with pytest.raises(TrackError, match=r"store is gone.* Delete them .results/toy/mlflow.json."):
        ui.check(URI, 5000)
    with pytest.raises(TrackError, match=r"kept by the tracking server https://x\.example"):
        ui.check("https://x.example", 5000)
    with socket.socket() as taken:
        taken.bind((ui.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(TrackError, match=rf"make ui PORT={port + 1}"):
            ui.check(f"sqlite:///{empty_store}", port)


def test_telemetry_is_off():
    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true"
    assert os.environ["DO_NOT_TRACK"] == "true"
