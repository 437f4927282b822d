"""Several checkouts and one store; PostgreSQL where its programs are installed."""

import contextlib
import multiprocessing
import os
import socket
import subprocess
from pathlib import Path

import pytest

from tests.workflow.tracking.toy_runs import DATASETS, METHODS, client, records, write
from workflow.lib.tracking import sharing
from workflow.lib.tracking.runs import track
from workflow.lib.tracking.sharing import CHECKOUT, database_lock, ownership_tags
from workflow.lib.tracking.store import MlflowClient

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


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
def postgresql(tmp_path_factory):
    """Address of a server with an empty database ``runs``, on a loopback port."""
    if not PROGRAMS:
        pytest.skip("needs Debian's package postgresql")
    folder, programs = tmp_path_factory.mktemp("postgresql"), PROGRAMS[-1].parent
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if user:
        for place in (folder, *folder.parents[:3]):
            os.chmod(place, place.stat().st_mode | 0o011)
        folder.chmod(0o777)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def run(program, *words):
        line = [*user, str(programs / program), *map(str, words)]
        subprocess.run(line, check=True, cwd="/", stdout=subprocess.DEVNULL, timeout=120)

    data = folder / "data"
    run("initdb", "--pgdata", data, "--auth=trust", "--username=anna", "--no-sync")
    options = f"-p {port} -h 127.0.0.1 -k {folder} -F"
    run("pg_ctl", "start", "--pgdata", data, "-w", "-o", options, "-l", folder / "log")
    run("createdb", "-h", "127.0.0.1", "-p", port, "-U", "anna", "runs")
    yield f"postgresql://anna@127.0.0.1:{port}/runs"
    run("pg_ctl", "stop", "--pgdata", data, "-m", "immediate")


def write_from(folder, uri, start, answers):
    """What a run of another checkout does."""
    (folder / "results").mkdir(parents=True)
    os.chdir(folder)
    start.wait()
    config = {"mlflow": {"tracking_uri": uri}}
    answers.put(track("toy", records(), METHODS, DATASETS, [], config)["created"])


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
    mlflow = MlflowClient(tracking_uri=postgresql)
    experiment = mlflow.get_experiment_by_name("toy")
    owners = [run.data.tags[CHECKOUT] for run in mlflow.search_runs([experiment.experiment_id])]
    assert sorted(map(owners.count, set(owners))) == [7, 7]


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
