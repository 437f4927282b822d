"""From an answer to the block of its model, and what becomes of one that cannot be fitted."""

import json

import pytest

from tests.workflow.trials.tuned_block import SUITE, features_of, labels_of, sampled
from workflow.lib.execution.guard import Limits
from workflow.lib.storage.artifacts import write_arrays
from workflow.lib.storage.features import write_features
from workflow.lib.trials.protocols import write_trials
from workflow.lib.trials.saving import NotSaved, _reading, described, save_guarded

LIMITS = Limits(60, 2000, 1)


def block(folder, method="coral"):
    """The block of a tuned experiment's first task, as if it had an answer."""
    ys = labels_of()
    for d, y in enumerate(ys):
        write_features(folder / f"{d}.npz", features_of("real", y, d), {})
    write_trials(folder / "trials.npz", sampled(ys, False), {})
    write_arrays(folder / "y.npz", {"y": ys[-1]}, {"class_names": ["a", "b", "c"]})
    accuracy = {"expected": 0.8, "low": 0.7, "high": 0.9}
    saved = {"method": method, "candidate": 2, "settings": "s", "label": "CORAL"}
    found = {"saved": {**saved, "accuracy": accuracy}, "sentence": "Use CORAL."}
    (folder / "answer.json").write_text(json.dumps(found))
    features = [folder / "0.npz", folder / "1.npz"]
    experiment = next(n for n, e in SUITE.experiments.items() if e.tuning and "coral" in e.methods)
    return described(
        SUITE, experiment, folder / "answer.json", features, folder / "y.npz", folder / "trials.npz"
    )


def test_the_child_is_handed_no_file_of_labels(tmp_path):
    asked = block(tmp_path)
    assert "y.npz" not in json.dumps(asked)
    assert asked["class_names"] == ["a", "b", "c"]
    assert asked["saved"]["about"]["interval"] == [0.7, 0.9]


@pytest.mark.whole_run
def test_a_model_is_left_in_the_folder_or_the_reason_is_told(tmp_path):
    asked = block(tmp_path)
    save_guarded(asked, tmp_path / "model", LIMITS, tmp_path)
    assert "Use CORAL." in (tmp_path / "model/MODEL_CARD.md").read_text()
    asked["method"]["estimator"] = "domain_alignment:HFA"
    with pytest.raises(NotSaved, match="other: the model was not saved"):
        save_guarded(asked, tmp_path / "other", LIMITS, tmp_path)
    assert not (tmp_path / "other").exists()


def entry(files, params=(), own=(), loader="generic:load"):
    """Of a dataset whose two domains have a file each."""
    domains = {name: {"files": [name], "params": dict(own)} for name in files}
    paths = {name: {"path": f"/data/{name}"} for name in files}
    return {"loader": loader, "params": dict(params), "files": paths, "domains": domains}


def test_the_marks_of_the_target_s_table_are_kept():
    told = {"separator": " "}, {"decimal": ",", "drop": ["id"]}
    found = _reading(entry(["a.csv", "b.tsv"], *told), "b.tsv")
    assert found == {"reading": {"separator": " ", "decimal": ","}}
    assert _reading(entry(["a.csv", "b.csv"]), "b.csv") == {"reading": {}}
    assert _reading(entry(["a.csv", "b.parquet"], *told), "b.parquet") == {}
    assert _reading(entry(["a.csv", "b.csv"], *told, loader="digits:load"), "b.csv") == {}


def test_of_svmlight_all_files_are_named_that_tell_the_first_feature():
    asked = entry(["b.svm", "a.svmlight", "c.npz"])
    asked["domains"]["both"] = {"files": ["b.svm", "a.svmlight"], "params": {"pooled": ["b.svm"]}}
    assert _reading(asked, "b.svm") == {"counted": ["/data/a.svmlight", "/data/b.svm"]}
    assert _reading(asked, "c.npz") == {}
    asked["files"]["a.svmlight"] = {"url": "https://example.org/a"}
    assert _reading(asked, "b.svm") == {}
