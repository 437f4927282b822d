"""From the files of a run to what the page shows; hidden labels decide nothing."""

import dataclasses
import json

import numpy as np
import pytest

from tests.workflow.trials.tuned_block import features_of, write_tuned
from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.own_data import Asked, configuration
from workflow.lib.config.own_written import write_configuration
from workflow.lib.config.suite import load_suite
from workflow.lib.results.own_view import hidden_accuracies, view
from workflow.lib.storage.artifacts import write_arrays, write_records
from workflow.lib.storage.features import write_features
from workflow.lib.trials import tuning
from workflow.lib.trials.protocols import sample_trials, write_trials

pytestmark = pytest.mark.whole_run

LABELS = [np.arange(60) % 3, np.arange(48) % 3]
METHODS = ["source_only", "coral"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of a run of two methods, and the configuration that asked for it."""
    folder = tmp_path_factory.mktemp("own")
    Xs = [features_of("real", y, d, width=5) for d, y in enumerate(LABELS)]
    for name, X, y in zip(("old", "new"), Xs, LABELS, strict=True):
        np.savez(folder / f"{name}.npz", X=X, y=y)
    paths = (folder / "old.npz", folder / "new.npz")
    files = configuration(Asked("mine", paths, label="y", features="X"))
    experiment = files["experiments/mine.yaml"]
    experiment["methods"], experiment["tuning"]["candidates"] = METHODS, 3
    files["protocols.yaml"]["protocols"]["mine_draws"]["trials"] = 2
    write_configuration(files, folder / "config")
    suite = load_suite(PROJECT, {"own": str(folder / "config")})
    trials = sample_trials(
        "mine_draws", suite.protocol("mine"), suite.experiments["mine"].tasks[0], LABELS
    )
    for d, X in enumerate(Xs):
        write_features(folder / f"{d}.features.npz", X, {})
    write_trials(folder / "sampled.npz", trials, {})
    for method in METHODS:
        _run(folder, suite, method, Xs, trials)
    return folder


def _run(folder, suite, method, Xs, trials):
    own = folder / method
    own.mkdir()
    spec = write_tuned(own, suite.method("mine", method), Xs, trials, ["real", "real"])
    drawn = suite.candidates("mine", method, suite.experiments["mine"].tasks[0])
    drawn = json.loads(json.dumps([dataclasses.asdict(one) for one in drawn]))
    spec["tuning"] |= {"alignments": drawn, "answer": True}
    block, records, arrays = tuning.setup(spec), [], {}
    for number in range(len(trials)):
        found, left = tuning.run_trial(block, number)
        records += [{"trial": number, **record} for record in found]
        arrays |= {f"{number}/{name}": array for name, array in left.items()}
    write_records(folder / f"{method}.000-001.align.jsonl", records, {})
    write_arrays(folder / f"{method}.000-001.predictions.npz", arrays, {})


def shown(folder, labels, **rows):
    write_arrays(folder / "labels.npz", {"y": labels} | rows, {"class_names": ["a", "b", "c"]})
    return view(
        load_suite(PROJECT, {"own": str(folder / "config")}),
        "mine",
        [folder / f"{d}.features.npz" for d in range(2)],
        folder / "labels.npz",
        folder / "sampled.npz",
        [folder / f"{method}.000-001.align.jsonl" for method in METHODS],
    )


def test_hidden_labels_decide_nothing(folder):
    one = shown(folder, LABELS[1])
    other = shown(folder, np.roll(LABELS[1], 1))
    assert one.answer.verdict == other.answer.verdict
    assert one.answer.expected == other.answer.expected
    assert hidden_accuracies(one) != hidden_accuracies(other)
    unknown = shown(folder, np.full(48, -1))
    assert unknown.answer.expected == one.answer.expected
    assert hidden_accuracies(unknown) is None


def test_rows_of_the_file_are_all_in_order_unless_it_says_others(folder):
    assert shown(folder, LABELS[1]).file_rows.tolist() == list(range(48))
    assert shown(folder, LABELS[1], rows=np.arange(48) + 5).file_rows.tolist()[0] == 5


def test_every_method_stands_once_and_the_diagnosis_is_whole(folder):
    found = shown(folder, LABELS[1])
    assert {candidate.method for candidate in found.candidates} == set(METHODS)
    assert found.class_names == ["a", "b", "c"]
    assert found.shift.classes.source == pytest.approx([1 / 3] * 3)
    assert len(found.shift.features) == 5
    assert (found.shown == -1).all()
    assert found.features.shape == (48, 5)
