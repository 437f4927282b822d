"""The server: what it serves after a move, and what it says when it cannot."""

import json
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from tests.workflow.ports import free_port
from tests.workflow.tracking.toy_runs import DATASETS, METHODS, URI, records, write
from workflow.lib.tracking import ui
from workflow.lib.tracking.runs import track
from workflow.lib.tracking.store import TrackError


def fetch(port, page, **query):
    url = f"http://{ui.HOST}:{port}/{page}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode()


@pytest.mark.whole_run
def test_a_moved_folder_still_serves_its_artifacts(folder, tmp_path_factory):
    receipt = write()
    moved = tmp_path_factory.mktemp("elsewhere") / "archive"
    shutil.move(folder / "results", moved / "results")
    assert str(folder) not in (moved / "results/mlflow.db").read_bytes().decode("latin-1")

    port = free_port()
    server = subprocess.Popen(
        [*ui.SUPERVISED, *ui.server_command(URI, port)],
        cwd=moved,
        env=ui.server_environment() | {"PYTHONPATH": str(Path(__file__).parents[3])},
        stdin=subprocess.PIPE,
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


@pytest.mark.whole_run
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


@pytest.mark.parametrize("content", [None, "", "mlflow: 1", "mlflow: [", "\udcff"])
def test_ui_names_a_configuration_that_it_cannot_read(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("config").mkdir()
        Path("config/config.yaml").write_text(content, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(TrackError, match=r"config/config\.yaml: mlflow\.tracking_uri"):
        ui._configured()
