"""A tracking server that asks for passwords: several checkouts, interruptions, secrets."""

import collections
import multiprocessing
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import requests
from mlflow.server.auth.client import AuthServiceClient
from mlflow.server.security_utils import get_default_allowed_hosts, is_allowed_host_header

from tests.workflow.test_whole_runs import environment, make_tiny
from tests.workflow.tracking.mlflow_server import ADMIN, EXPORTS, NAME, PAGE, PASSWORD, Server
from tests.workflow.tracking.toy_runs import DATASETS, METHODS, records, stopped_after_three_runs
from workflow.lib.tracking.runs import track
from workflow.lib.tracking.sharing import CHECKOUT
from workflow.lib.tracking.store import MlflowClient, TrackError

pytestmark = pytest.mark.whole_run
FILES = ["figures/pairs.svg", "tables/accuracy.csv"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("server"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def as_admin(monkeypatch):
    be(monkeypatch, ADMIN)


def be(monkeypatch, name, password=PASSWORD):
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", name)
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", password)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")


@pytest.mark.parametrize("which", [0, 1], ids=["server", "client of the admin"])
def test_nobody_is_told_of_the_server(which):
    """By default MLflow asks a host of its makers what to report."""
    code = "from mlflow.telemetry.utils import is_telemetry_disabled as off; print(off())"
    quiet = {k: v for k, v in os.environ.items() if "TELEMETRY" not in k and k != "CI"}
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=quiet | EXPORTS[which],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "True"


def write(server, experiment, **options):
    files = [Path("results", experiment, file) for file in FILES]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(experiment)
    frame = records().assign(experiment=experiment)
    config = {"mlflow": {"tracking_uri": server.uri}}
    return track(experiment, frame, METHODS, DATASETS, files, config, **options)


def runs_of(server, experiment):
    mlflow = MlflowClient(tracking_uri=server.uri)
    found = mlflow.get_experiment_by_name(experiment)
    return mlflow.search_runs([found.experiment_id])


@pytest.fixture
def asked(monkeypatch):
    """Counter of the requests of this process by method and address."""
    counter, send = collections.Counter(), requests.Session.send

    def counted(session, request, **options):
        counter[request.method, request.path_url.partition("?")[0]] += 1
        return send(session, request, **options)

    monkeypatch.setattr(requests.Session, "send", counted)
    return counter


def test_writing_twice_changes_nothing_and_asks_little(server, folder, asked):
    first = write(server, "twice")
    assert (first["created"], first["kept"]) == (7, 0)
    # A run is created, filled and ended; a task has data sets, the summary has files. The rest:
    # whether the server answers, the experiment, its runs, where the files go.
    assert asked.total() <= 3 * 7 + 4 + len(FILES) + 5
    asked.clear()
    second = write(server, "twice")
    assert (second["created"], second["kept"], second["deleted"]) == (0, 7, 0)
    assert second["runs"] == first["runs"]
    assert asked.total() <= 3
    assert len(runs_of(server, "twice")) == 7


def test_files_travel_through_the_server(server, folder, tmp_path):
    receipt = write(server, "files")
    assert not (folder / "results/mlflow-artifacts").exists()
    mlflow = MlflowClient(tracking_uri=server.uri)
    copy = mlflow.download_artifacts(receipt["runs"]["summary"], "figures/pairs.svg", tmp_path)
    assert Path(copy).read_text() == "files"


def ask_by(monkeypatch, name):
    """Ask the server by another name than its number, as through a proxy."""
    send = requests.Session.send

    def named(session, request, **options):
        request.headers["Host"] = name
        return send(session, request, **options)

    monkeypatch.setattr(requests.Session, "send", named)


def test_the_server_answers_to_the_name_that_it_was_started_for_and_to_no_other(
    server, folder, monkeypatch
):
    assert not is_allowed_host_header(get_default_allowed_hosts(), NAME)
    with monkeypatch.context() as patched:
        ask_by(patched, NAME)
        assert write(server, "named")["created"] == 7
    ask_by(monkeypatch, "dbhost:5000")
    with pytest.raises(TrackError, match=r"Start it with --allowed-hosts 127\."):
        write(server, "named")


def test_a_user_is_made_as_the_page_says_and_let_in_by_a_file(server, tmp_path, monkeypatch):
    line = shlex.split(re.search(r"^python -c .*", PAGE, re.MULTILINE)[0])
    told = line[-1].replace(f"https://{NAME}", server.uri)
    # Without a terminal the password is read from where a pipe leads.
    typed = {"input": f"{PASSWORD}\n", "text": True, "start_new_session": True}
    subprocess.run([sys.executable, "-c", told], check=True, stderr=subprocess.PIPE, **typed)
    for variable in ("MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"):
        monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".mlflow").mkdir()
    words = f"mlflow_tracking_username = anna\nmlflow_tracking_password = {PASSWORD}\n"
    (tmp_path / ".mlflow/credentials").write_text(f"[mlflow]\n{words}")
    assert MlflowClient(tracking_uri=server.uri).search_experiments()


def write_from(place, server, user, start, answers):
    """What a run of another checkout and user does."""
    os.chdir(place)
    os.environ["MLFLOW_TRACKING_USERNAME"] = user
    start.wait()
    answers.put(write(server, "team")["created"])


def test_two_users_write_the_same_experiment_at_once(server, tmp_path):
    AuthServiceClient(server.uri).create_user("bert", PASSWORD)
    context = multiprocessing.get_context("fork")
    start, answers = context.Barrier(2), context.Queue()
    writers = []
    for user in (ADMIN, "bert"):
        (tmp_path / user).mkdir()
        told = (tmp_path / user, server, user, start, answers)
        writers.append(context.Process(target=write_from, args=told))
    for writer in writers:
        writer.start()
    assert [answers.get(timeout=180) for _ in writers] == [7, 7]
    for writer in writers:
        writer.join(timeout=60)
    owners = [run.data.tags[CHECKOUT] for run in runs_of(server, "team")]
    assert sorted(map(owners.count, set(owners))) == [7, 7]


def test_who_may_not_write_is_told_what_to_ask_for(server, folder, monkeypatch):
    experiment_id = write(server, "guarded")["experiment_id"]
    admin = AuthServiceClient(server.uri)
    admin.create_user("carl", PASSWORD)
    admin.grant_user_permission("carl", "experiment", experiment_id, "DENY")
    be(monkeypatch, "carl")
    with pytest.raises(TrackError, match="give the user MANAGE on it"):
        write(server, "guarded", code={"none": "other"})
    be(monkeypatch, "carl", "a-wrong-password")
    with pytest.raises(TrackError, match="Set MLFLOW_TRACKING_USERNAME") as caught:
        write(server, "guarded")
    assert "a-wrong-password" not in str(caught.value)


def test_a_server_that_goes_away_half_way_gets_the_rest_later(server, folder):
    stopped = stopped_after_three_runs(server)
    with stopped, pytest.raises(TrackError, match=rf"{server.uri}: MLflow's store .*Start it"):
        write(server, "halfway")
    receipt = write(server, "halfway")
    assert (receipt["created"], receipt["kept"], receipt["deleted"]) == (4, 3, 1)
    found = {run.info.run_id: run for run in runs_of(server, "halfway")}
    assert sorted(found) == sorted(receipt["runs"].values())
    tasks = {run.data.tags.get("mlflow.parentRunId") for run in found.values()} - {None}
    assert tasks == {receipt["runs"]["none | knn_1"], receipt["runs"]["fma_i | knn_1"]}


def snakemake(project, server, *targets):
    address = f"mlflow={{tracking_uri: '{server.uri}'}}"
    line = [sys.executable, "-m", "snakemake", "--cores", "1", *targets, "--config", address]
    return subprocess.run(
        line, cwd=project, env=environment(), capture_output=True, text=True, check=False
    )


def test_a_run_without_its_server_ends_says_so_and_is_completed(server, project):
    make_tiny(project)
    server.stop()
    try:
        run = snakemake(project, server, "tiny")
        assert run.returncode == 1
        said = f"{server.uri}: MLflow's store cannot be used"
        assert said in run.stderr
        assert "To continue: make resume" in run.stderr
        assert (project / "results/tiny/report.html").is_file()
        assert not (project / "results/tiny/mlflow.json").exists()
    finally:
        server.start()
    again = [sys.executable, "-m", "workflow.lib.execution.resume"]
    done = subprocess.run(
        again, cwd=project, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(runs_of(server, "tiny")) == 3
    kept = {path for path in project.rglob("*") if path.is_file()}
    assert {project / ".snakemake/last_run.json", project / "results/tiny/mlflow.json"} <= kept
    assert not [path for path in kept if PASSWORD.encode() in path.read_bytes()]
    assert PASSWORD not in run.stdout + run.stderr + done.stdout + done.stderr
