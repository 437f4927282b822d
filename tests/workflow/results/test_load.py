"""What a run left is read back, and damage is named."""

import dataclasses

import numpy as np
import pytest

from tests.workflow.report_example import make_experiment, make_suite, study_view
from workflow.lib.results.load import load_view
from workflow.lib.results.records import no_records
from workflow.lib.storage.artifacts import CorruptArtifact, write_arrays, write_records
from workflow.lib.storage.computed_with import UNSAID, computed_here, computed_with
from workflow.lib.trials.protocols import HIDDEN, Trial, write_trials


@pytest.fixture
def written(tmp_path):
    """A study with its result on disk: (suite, name, folder)."""
    view = study_view()
    meta = {"status": "ok", "error": ""}
    write_records(tmp_path / "study.jsonl", list(view.records), meta)
    write_arrays(tmp_path / "study.npz", view.arrays, {})
    suite = dataclasses.replace(view.suite, experiments={view.name: view.experiment})
    return suite, view, tmp_path


def test_a_study_is_read_as_it_was_written(written):
    suite, view, folder = written
    found = load_view(suite, view.name, folder, folder)
    assert found.ok
    assert list(found.records) == list(view.records)
    np.testing.assert_array_equal(found.arrays["signal"], view.arrays["signal"])
    assert "python" in str(found.environment).lower()


def test_a_study_says_what_it_was_computed_with_if_its_file_does(written):
    suite, view, folder = written
    assert load_view(suite, view.name, folder, folder).computed_with == [UNSAID]
    meta = {"status": "ok", "error": "", **computed_here()}
    write_records(folder / "study.jsonl", list(view.records), meta)
    assert load_view(suite, view.name, folder, folder).computed_with == [computed_with()]


def test_a_failed_study_keeps_its_reason(written):
    suite, view, folder = written
    write_records(folder / "study.jsonl", [], {"status": "timeout", "error": "took over 1 s"})
    write_arrays(folder / "study.npz", {}, {})
    assert load_view(suite, view.name, folder, folder).failure == "out of time: took over 1 s"


def test_a_damaged_file_is_named(written):
    suite, view, folder = written
    text = (folder / "study.jsonl").read_text()
    (folder / "study.jsonl").write_text(text.replace("before", "beside", 1))
    with pytest.raises(CorruptArtifact, match=r"study\.jsonl"):
        load_view(suite, view.name, folder, folder)


def test_the_picture_has_the_true_labels_of_its_rows(tmp_path, monkeypatch):
    picture = {"task": "amazon-dslr", "trial": 1, "methods": ["plain"]}
    experiment = make_experiment([("amazon", "dslr")], ("plain",), picture=picture, timing=None)
    suite = make_suite(experiment, 2)
    rows = [np.array([2, 0]), np.array([1])]
    arrays = {}
    for d, (domain, chosen) in enumerate(zip(("amazon", "dslr"), rows, strict=True)):
        place = f"1/0/picture/{d}"
        arrays |= {f"{place}/embedding": np.ones((len(chosen), 2)), f"{place}/rows": chosen}
        (tmp_path / "domains/office").mkdir(parents=True, exist_ok=True)
        y = np.array([10, 11, 12]) + d
        write_arrays(tmp_path / f"domains/office/{domain}.labels.npz", {"y": y}, {})
    (tmp_path / "amazon-dslr").mkdir()
    (block,) = suite.blocks(experiment.name)
    write_arrays(tmp_path / f"amazon-dslr/plain.{block}.predictions.npz", arrays, {})
    trial = Trial(
        rows=tuple(rows), labels=(np.array([12, 10]), np.array([HIDDEN])), scored=np.array([1])
    )
    write_trials(tmp_path / "amazon-dslr/trials.npz", [trial, trial], {})
    monkeypatch.setattr("workflow.lib.results.load.load_results", lambda folder: no_records())
    monkeypatch.setattr("workflow.lib.results.load.load_computed_with", lambda folder: [])
    view = load_view(suite, experiment.name, tmp_path, tmp_path / "domains")
    shown = view.pictured["plain"]
    assert [labels.tolist() for labels in shown["labels"]] == [[12, 10], [12]]
    assert shown["domains"] == ["amazon", "dslr"]
    assert [marks.tolist() for marks in shown["labelled"]] == [[True, True], [False]]
