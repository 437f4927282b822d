"""The store: shared by processes, refused by name, silent about passwords."""

import multiprocessing
import os
from types import SimpleNamespace

import pytest

from tests.workflow.tracking.toy_runs import CONFIG, DATASETS, METHODS, client, records, write
from workflow.lib.tracking.runs import track
from workflow.lib.tracking.store import Store, TrackError


@pytest.mark.whole_run
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


class Pages(list):
    token = None


def test_a_run_that_stands_on_two_pages_is_there_once():
    """On a server others add runs while one turns the pages."""
    runs = [SimpleNamespace(info=SimpleNamespace(run_id=name)) for name in "abc"]
    first, second = Pages(runs[:2]), Pages(runs[1:])
    first.token, asked = "second", []

    def search_runs(experiments, page_token, **options):
        asked.append(options["order_by"])
        return second if page_token else first

    store = object.__new__(Store)
    store.client = SimpleNamespace(search_runs=search_runs)
    assert [run.info.run_id for run in store._existing("0")] == ["a", "b", "c"]
    assert asked == [["attribute.start_time ASC"]] * 2, "new ones stand on the last page"


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


@pytest.mark.whole_run
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
    assert sorted(answers.get(timeout=120) for _ in writers) == [0, 7, 7]
    for writer in writers:
        writer.join(timeout=60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]


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


def test_telemetry_is_off():
    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true"
    assert os.environ["DO_NOT_TRACK"] == "true"
