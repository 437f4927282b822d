"""Saved models in MLflow: signature, example, the same predictions, and a server's answers."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import mlflow.pyfunc
import numpy as np
import pandas as pd
import pytest
from domain_alignment import CORAL, AlignedClassifier
from domain_alignment.persistence import save_model
from mlflow.exceptions import MlflowException
from sklearn.impute import SimpleImputer

from tests.methods.persistence.test_folder import stacked
from tests.workflow.ports import free_port
from tests.workflow.tracking.toy_runs import CONFIG, client, write
from workflow.lib.tracking.models import log_saved_model, package_model
from workflow.lib.tracking.store import Store, TrackError

NAMES = list("abcdef")
PROJECT = Path(__file__).resolve().parents[3]


@pytest.fixture
def saved(tmp_path):
    """A model with named features, and new samples of which one has a missing cell."""
    return make(tmp_path / "saved")


def make(folder, names=NAMES, **told):
    X, y, domain, new = stacked()
    as_given = (lambda X: pd.DataFrame(X, columns=names)) if names else np.asarray
    model = AlignedClassifier(CORAL(), preprocessing=SimpleImputer())
    model.fit(as_given(X), y, domain)
    new[2, 3] = np.nan
    save_model(folder, model, example=new[:4], **told)
    return folder, as_given(new), model


def test_the_packaged_model_predicts_the_same_from_columns_in_any_order(saved, tmp_path):
    folder, new, model = saved
    loaded = mlflow.pyfunc.load_model(str(package_model(folder, tmp_path / "packaged")))
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    np.testing.assert_array_equal(loaded.predict(new[NAMES[::-1]]), model.predict(new))
    with pytest.raises(MlflowException, match=r"missing inputs \['f'\]"):
        loaded.predict(new[NAMES[:-1]])


def test_it_has_a_signature_an_example_and_no_code(saved, tmp_path):
    folder, new, _ = saved
    packaged = package_model(folder, tmp_path / "packaged")
    told = mlflow.models.Model.load(str(packaged))
    assert told.signature.inputs.input_names() == NAMES
    assert {kind.name for kind in told.signature.inputs.input_types()} == {"double"}
    example = told.load_input_example(str(packaged))
    pd.testing.assert_frame_equal(example, new[:4])
    endings = {file.suffix for file in packaged.rglob("*") if file.is_file()}
    assert not endings & {".pkl", ".pickle", ".py", ".joblib"}


def test_features_without_names_are_a_matrix(tmp_path):
    folder, new, model = make(tmp_path / "saved", names=None)
    loaded = mlflow.pyfunc.load_model(str(package_model(folder, tmp_path / "packaged")))
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    with pytest.raises(MlflowException, match="shape"):
        loaded.predict(new[:, :5])


def models():
    experiment = client().get_experiment_by_name("toy")
    return list(client().search_logged_models([experiment.experiment_id]))


@pytest.mark.whole_run
def test_a_logged_model_is_found_once_and_beside_the_runs(folder, saved):
    source, new, model = saved
    runs = write()
    first = log_saved_model(source, "toy", CONFIG)
    assert first["path"].startswith("results/mlflow-artifacts/toy/models/")
    loaded = mlflow.pyfunc.load_model(first["path"])
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    assert log_saved_model(source, "toy", CONFIG) == first
    (logged,) = models()
    assert (logged.name, logged.status) == ("model", "READY")
    assert write()["kept"] == len(runs["runs"])


def test_a_store_that_fails_halfway_is_named(saved, folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Store, "_create_model", full)
    with pytest.raises(TrackError, match=r"mlflow\.db: MLflow's store cannot .*No space left"):
        log_saved_model(saved[0], "toy", CONFIG)


def test_another_model_takes_its_place(folder, saved):
    first = log_saved_model(saved[0], "toy", CONFIG)
    second = log_saved_model(make(folder / "other", accuracy=0.8)[0], "toy", CONFIG)
    (logged,) = models()
    assert logged.model_id == second["model_id"] != first["model_id"]
    assert logged.tags["expected_accuracy"] == "0.8"
    assert not Path(first["path"]).exists()


def answer(port, body, server, seconds=120):
    """The server's answer, once it is up."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/invocations",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except OSError as error:
            if server.poll() is not None or time.monotonic() > end or hasattr(error, "code"):
                raise
            time.sleep(0.5)


@pytest.mark.slow
def test_mlflow_serves_it(saved, tmp_path):
    source, new, model = saved
    packaged = package_model(source, tmp_path / "packaged")
    port = free_port()
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "mlflow", "models", "serve", "-m", str(packaged)),
            *("--env-manager", "local", "--port", str(port), "--workers", "1"),
        ],
        env={
            **os.environ,
            "PYTHONPATH": str(PROJECT / "methods"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=(tmp_path / "server.log").open("w"),
        start_new_session=True,
    )
    try:
        split = json.loads(new.to_json(orient="split", index=False))
        found = answer(port, {"dataframe_split": split}, server)
        assert found["predictions"] == model.predict(new).tolist()
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=30)
