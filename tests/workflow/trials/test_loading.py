"""Domains are loaded in a child: refusals and crashes are errors that name the files."""

import numpy as np
import pytest

from workflow.lib.execution import forkserver
from workflow.lib.execution.guard import Limits
from workflow.lib.storage.artifacts import read_arrays
from workflow.lib.storage.features import read_features
from workflow.lib.trials.loading import LoadFailed, load_guarded, refusals

ENTRY = {
    "loader": "generic:load",
    "files": {"a.npz": {}},
    "domains": {"one": {"params": {"features": "X", "labels": "y"}, "samples": 3}},
    "classes": 2,
}
X = np.arange(6.0).reshape(3, 2)


@pytest.fixture(autouse=True)
def no_fork_server(monkeypatch):
    monkeypatch.delenv(forkserver.ADDRESS, raising=False)


def load(folder, entry=ENTRY):
    outputs = {name: str(folder / f"{name}.out.npz") for name in ("features", "labels")}
    paths = {"a.npz": folder / "a.npz"}
    load_guarded("mine", entry, "one", paths, outputs, Limits(60, 4000, 3), folder)
    return read_features(outputs["features"]), read_arrays(outputs["labels"])[0]["y"]


@pytest.mark.whole_run
def test_a_loaded_domain_is_written(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=["b", "a", "b"])
    features, labels = load(tmp_path)
    np.testing.assert_array_equal(features, X)
    assert labels.tolist() == [1, 0, 1]


@pytest.mark.whole_run
def test_rows_of_the_file_stand_with_the_labels(tmp_path):
    np.savez(tmp_path / "a.npz", X=[[0, 1], [np.nan, 3], [4, 5]], y=["b", "a", "a"])
    domain = {"params": {"features": "X", "labels": "y", "missing": "drop"}}
    load(tmp_path, ENTRY | {"domains": {"one": domain}})
    arrays, about = read_arrays(tmp_path / "labels.out.npz")
    assert arrays["rows"].tolist() == [0, 2]
    assert "rows" not in about


def test_a_refusal_is_an_error_and_writes_nothing(tmp_path):
    np.savez(tmp_path / "a.npz", X=X[:2], y=["b", "a"])
    with pytest.raises(LoadFailed, match=r"'mine', domain 'one': expected 3 samples, got 2"):
        load(tmp_path)
    assert not list(tmp_path.glob("*.out.npz"))


@pytest.mark.whole_run
def test_everything_that_is_wrong_is_said_at_once_and_once(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=["b", "a", "b"])
    np.savez(tmp_path / "b.npz", X=X * np.nan, y=["b", "a", "b"])
    np.savez(tmp_path / "c.npz", X=X, y=["b", "a"])
    named = {"class_names": ["a", "b"], "files": {f"{name}.npz": {} for name in "abc"}}
    params = {"features": "X", "labels": "y"}
    domains = {name: {"files": [f"{name}.npz"], "params": params} for name in "abc"}
    entry = ENTRY | named | {"domains": domains}
    asked = [("mine", entry, name, {f"{name}.npz": tmp_path / f"{name}.npz"}) for name in "abc"]
    first, second = refusals([*asked, asked[1]], Limits(60, 4000, 3), tmp_path)
    assert first.startswith("dataset 'mine', domain 'b': ")
    assert "b.npz: 3 of 3 samples hold(s) NaN" in first
    assert "2 labels, features 3 x 2. Set `transpose: true`" in second
    assert refusals(asked[:1], Limits(60, 4000, 3), tmp_path) == []
