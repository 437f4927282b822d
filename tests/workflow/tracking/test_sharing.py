"""Several checkouts and one store; PostgreSQL where its programs are installed."""

import contextlib
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workflow.ports import free_port
from tests.workflow.test_whole_runs import environment, make_tiny
from tests.workflow.tracking.postgresql import PASSWORD, PROGRAMS, Postgresql
from tests.workflow.tracking.test_ui import fetch
from tests.workflow.tracking.toy_runs import (
    DATASETS,
    METHODS,
    client,
    records,
    stopped_after_three_runs,
    write,
)
from workflow.lib.tracking import sharing, ui
from workflow.lib.tracking.runs import track
from workflow.lib.tracking.sharing import CHECKOUT, database_lock, ownership_tags
from workflow.lib.tracking.store import MlflowClient, TrackError

ROOT = Path(__file__).parents[3]


def test_a_checkout_keeps_its_name_when_it_moves_and_others_have_another(tmp_path):
    (tmp_path / "a/results").mkdir(parents=True)
    (tmp_path / "c/results").mkdir(parents=True)
    first = ownership_tags(tmp_path / "a")
    assert ownership_tags(tmp_path / "c")[CHECKOUT] != first[CHECKOUT]
    (tmp_path / "a").rename(tmp_path / "b")
    assert ownership_tags(tmp_path / "b") == first
    (tmp_path / "b/results/.checkout").unlink()
    (tmp_path / "b").rename(tmp_path / "a")
    assert ownership_tags(tmp_path / "a") == first


def test_a_copy_of_a_checkout_gets_a_name_of_its_own_while_the_other_is_there(tmp_path):
    (tmp_path / "a/results").mkdir(parents=True)
    first = ownership_tags(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    copied = ownership_tags(tmp_path / "copy")
    assert copied[CHECKOUT] != first[CHECKOUT]
    assert ownership_tags(tmp_path / "copy") == copied
    assert ownership_tags(tmp_path / "a") == first


def test_a_checkout_keeps_its_name_by_another_path_and_where_the_noted_place_is_out_of_sight(
    tmp_path, monkeypatch
):
    (tmp_path / "a/results").mkdir(parents=True)
    first = ownership_tags(tmp_path / "a")
    (tmp_path / "other").symlink_to(tmp_path / "a")
    monkeypatch.setattr(Path, "resolve", lambda self: self)  # as of a mount, not a link
    assert ownership_tags(tmp_path / "other") == first
    assert ownership_tags(tmp_path / "a") == first
    monkeypatch.undo()

    def is_refused(path, other):
        raise PermissionError(other)

    (tmp_path / "a").rename(tmp_path / "b")
    monkeypatch.setattr(Path, "samefile", is_refused)
    assert ownership_tags(tmp_path / "b") == first


def test_a_copy_that_another_user_has_brought_to_another_machine_gets_a_name_of_its_own(
    tmp_path, monkeypatch
):
    def at(user, host):
        monkeypatch.setattr(sharing, "_user", lambda: user)
        monkeypatch.setattr(sharing.socket, "gethostname", lambda: host)

    (tmp_path / "a/results").mkdir(parents=True)
    at("anna", "one")
    first = ownership_tags(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    at("bert", "two")
    assert ownership_tags(tmp_path / "a")[CHECKOUT] == first[CHECKOUT], "a folder that they share"
    (tmp_path / "a").rename(tmp_path / "gone")  # out of sight, as on another machine
    copied = ownership_tags(tmp_path / "copy")
    assert copied[CHECKOUT] != first[CHECKOUT]
    assert ownership_tags(tmp_path / "copy") == copied
    at("bert", "three")
    assert ownership_tags(tmp_path / "copy") == copied


@pytest.mark.parametrize("content", [b"", b"\n/some/place\n", b"\xff\xfe"])
def test_a_note_that_says_nothing_is_made_again(tmp_path, content):
    (tmp_path / "a/results").mkdir(parents=True)
    first = ownership_tags(tmp_path / "a")
    (tmp_path / "a/results/.checkout").write_bytes(content)
    assert ownership_tags(tmp_path / "a") == first


def test_runs_of_another_checkout_are_left_alone(folder):
    first = write(code={"none": "1", "fma_i": "1"})
    (folder / sharing._NOTE).write_text("bert-0")
    second = write(code={"none": "2", "fma_i": "2"})
    assert (second["created"], second["deleted"]) == (first["created"], 0)
    runs = client().search_runs([first["experiment_id"]])
    assert {run.data.tags[CHECKOUT] for run in runs} == {"bert-0", first_owner(first)}
    third = write(code={"none": "3", "fma_i": "3"})
    assert third["deleted"] == third["created"] > 0
    assert client().get_run(first["runs"]["summary"]).info.lifecycle_stage == "active"


def first_owner(receipt):
    return client().get_run(receipt["runs"]["summary"]).data.tags[CHECKOUT]


@pytest.fixture(scope="module")
def server():
    if not PROGRAMS:
        pytest.skip("needs Debian's package postgresql")
    server = Postgresql()
    yield server
    server.remove()


@pytest.fixture
def postgresql(server, monkeypatch):
    """Address of the server; the environment holds the password."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    return server.uri


def track_at(uri, experiment, frame=None):
    frame = (records() if frame is None else frame).assign(experiment=experiment)
    return track(experiment, frame, METHODS, DATASETS, [], {"mlflow": {"tracking_uri": uri}})


def runs_at(uri, experiment):
    mlflow = MlflowClient(tracking_uri=uri)
    found = mlflow.get_experiment_by_name(experiment)
    return {run.info.run_id: run for run in mlflow.search_runs([found.experiment_id])}


def write_from(folder, uri, start, answers):
    """What a run of another checkout does."""
    (folder / "results").mkdir(parents=True)
    os.chdir(folder)
    start.wait()
    answers.put(track_at(uri, "toy")["created"])


@pytest.mark.whole_run
def test_two_checkouts_may_begin_a_server_at_once(tmp_path, postgresql):
    """MLflow's migrations of an empty database end one of two that run them at once."""
    context = multiprocessing.get_context("fork")
    start, answers = context.Barrier(2), context.Queue()
    places = [tmp_path / name for name in ("anna", "bert")]
    writers = [
        context.Process(target=write_from, args=(place, postgresql, start, answers))
        for place in places
    ]
    for writer in writers:
        writer.start()
    assert [answers.get(timeout=180) for _ in writers] == [7, 7]
    for writer in writers:
        writer.join(timeout=60)
    owners = [run.data.tags[CHECKOUT] for run in runs_at(postgresql, "toy").values()]
    assert sorted(map(owners.count, set(owners))) == [7, 7]


@pytest.mark.whole_run
def test_checkouts_of_one_database_may_share_its_files(tmp_path, postgresql, monkeypatch):
    shared, runs = tmp_path / "shared", {}
    config = {"mlflow": {"tracking_uri": postgresql, "artifacts": str(shared)}}
    for name in ("anna", "bert"):
        (tmp_path / name / "results").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / name)
        Path("table.md").write_text(f"| {name} |")
        frame = records().assign(experiment="files")
        runs[name] = track("files", frame, METHODS, DATASETS, [Path("table.md")], config)
    port = free_port()
    server = subprocess.Popen(  # of bert, who sees both
        [*ui.SUPERVISED, *ui.server_command(postgresql, port, str(shared))],
        env=ui.server_environment() | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    try:
        ui.wait_until_up(server, port)
        for name, receipt in runs.items():
            run = receipt["runs"]["summary"]
            assert fetch(port, "get-artifact", run_uuid=run, path="table.md") == f"| {name} |"
    finally:
        ui._end(server)
    assert not list(tmp_path.glob("*/results/mlflow-artifacts"))


@pytest.mark.whole_run
def test_a_writer_waits_for_another_and_says_so(postgresql):
    with (
        database_lock(postgresql, 1),
        pytest.raises(TimeoutError, match="another run has been writing"),
        contextlib.ExitStack() as second,
    ):
        second.enter_context(database_lock(postgresql, 0.2))
    with database_lock(postgresql, 0.2):
        pass


@pytest.mark.whole_run
def test_a_second_write_changes_what_differs_and_doubles_nothing(postgresql, folder):
    first = track_at(postgresql, "twice")
    second = track_at(postgresql, "twice")
    assert (second["created"], second["kept"], second["deleted"]) == (0, 7, 0)
    assert second["runs"] == first["runs"]
    frame = records()
    frame.loc[(frame["method"] == "fma_i") & (frame["task"] == "a-b"), "accuracy"] = 0.25
    third = track_at(postgresql, "twice", frame)
    found = runs_at(postgresql, "twice")
    assert sorted(found) == sorted(third["runs"].values())
    assert third["kept"] > 0
    changed = third["runs"]["a-b | fma_i | knn_1"]
    assert changed != first["runs"]["a-b | fma_i | knn_1"]
    assert found[changed].data.metrics["accuracy"] == 25


@pytest.mark.whole_run
@pytest.mark.parametrize("password", ["a-wrong-password", None])
def test_who_is_not_let_in_is_told_where_the_password_belongs(
    postgresql, folder, monkeypatch, password
):
    monkeypatch.setenv("PGPASSFILE", str(folder / "none"))
    if password:
        monkeypatch.setenv("PGPASSWORD", password)
    else:
        monkeypatch.delenv("PGPASSWORD")
    with pytest.raises(TrackError, match=r"Set PGPASSWORD, or write .* to ~/\.pgpass") as caught:
        track_at(postgresql, "closed")
    assert "a-wrong-password" not in str(caught.value)


@pytest.mark.whole_run
def test_a_server_that_goes_away_half_way_gets_the_rest_later(server, postgresql, folder):
    stopped = stopped_after_three_runs(server)
    with stopped, pytest.raises(TrackError, match=rf"{postgresql}: MLflow's store .*Start it"):
        track_at(postgresql, "halfway")
    receipt = track_at(postgresql, "halfway")
    assert (receipt["created"], receipt["kept"], receipt["deleted"]) == (4, 3, 1)
    assert sorted(runs_at(postgresql, "halfway")) == sorted(receipt["runs"].values())


@pytest.mark.whole_run
def test_a_run_without_its_server_ends_says_so_and_is_completed(server, postgresql, project):
    make_tiny(project)
    address = f"mlflow={{tracking_uri: '{postgresql}'}}"
    line = [sys.executable, "-m", "snakemake", "--cores", "1", "tiny", "--config", address]
    again = [sys.executable, "-m", "workflow.lib.execution.resume"]
    told = {"cwd": project, "env": environment(), "capture_output": True, "text": True}
    server.stop()
    try:
        run = subprocess.run(line, check=False, **told)
        assert run.returncode == 1
        assert f"{postgresql}: MLflow's store cannot be used" in run.stderr
        assert "To continue: make resume" in run.stderr
        assert (project / "results/tiny/report.html").is_file()
        assert not (project / "results/tiny/mlflow.json").exists()
    finally:
        server.start()
    done = subprocess.run(again, check=False, **told)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(runs_at(postgresql, "tiny")) == 3
    kept = {path for path in project.rglob("*") if path.is_file()}
    assert {project / ".snakemake/last_run.json", project / "results/tiny/mlflow.json"} <= kept
    assert not [path for path in kept if PASSWORD.encode() in path.read_bytes()]
    assert PASSWORD not in run.stdout + run.stderr + done.stdout + done.stderr
