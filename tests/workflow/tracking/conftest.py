"""An empty store in an empty folder."""

import shutil

import pytest

from workflow.lib.tracking.store import Store


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
