"""Finished trials of an interrupted block are not computed twice."""

import numpy as np
import pytest

from tests.workflow.trials.small_block import write_block
from workflow.lib.execution import forkserver
from workflow.lib.execution.guard import Limits, Outcome
from workflow.lib.storage.artifacts import write_arrays, write_records
from workflow.lib.storage.computed_with import COMPUTED_WITH
from workflow.lib.trials import kept as keeping
from workflow.lib.trials.blocks import given_up, run_aligned
from workflow.lib.trials.kept import Kept, block_files, clear_kept
from workflow.lib.trials.measured import kept_folder


@pytest.fixture
def at_once(monkeypatch):
    """Every trial is kept when it is done."""
    monkeypatch.setattr(keeping, "SECONDS_BETWEEN", 0.0)


def attempt(folder, tell):
    block = write_block(folder)
    kept = Kept(folder / "results/tiny/kept", block, [*block["features"], block["trials"]])
    return kept, run_aligned(block, [0, 1], Limits(60, 4000, 3), folder, tell, kept)


@pytest.mark.whole_run
def test_a_second_attempt_computes_the_rest_and_gives_the_same(tmp_path, at_once, monkeypatch):
    monkeypatch.delenv(forkserver.ADDRESS, raising=False)

    def leave(outcome):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(tmp_path, leave)
    told = []
    _, (records, arrays, answered) = attempt(tmp_path, lambda outcome: told.append(outcome.trial))
    assert told == [1]
    assert answered == [0, 1]
    assert [(record["trial"], record["status"]) for record in records] == [(0, "ok"), (1, "ok")]
    assert list(arrays) == ["0/0/logistic", "1/0/logistic"]  # trials of equal rows and labels
    np.testing.assert_array_equal(*arrays.values())
    assert list((tmp_path / "results/tiny/kept").iterdir())


@pytest.mark.whole_run
def test_a_block_that_is_given_up_holds_what_was_kept_and_the_rest_as_lost(
    tmp_path, at_once, monkeypatch
):
    monkeypatch.delenv(forkserver.ADDRESS, raising=False)

    def leave(outcome):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(tmp_path, leave)
    block = write_block(tmp_path)
    kept = Kept(tmp_path / "results/tiny/kept", block, [*block["features"], block["trials"]])
    records, arrays, answered = given_up(block, [0, 1], kept)
    assert [(record["trial"], record["status"]) for record in records] == [(0, "ok"), (1, "lost")]
    assert (list(arrays), answered) == (["0/0/logistic"], [0])


@pytest.mark.parametrize(("statuses", "there"), [({"ok", "timeout"}, False), ({"lost"}, True)])
def test_what_was_kept_goes_with_the_evaluation_unless_a_trial_is_lost(tmp_path, statuses, there):
    folder = kept_folder(tmp_path, "pca", "000-019")
    other = kept_folder(tmp_path, "pca_rbf", "000-019")
    for one in (folder, other):
        write_arrays(one / "0-3.npz", {}, {})
    clear_kept(tmp_path / "pca.000-019.align.jsonl", statuses)
    assert folder.exists() == there
    assert other.exists()


@pytest.mark.whole_run
def test_a_block_that_is_to_be_begun_again_keeps_what_is_pending(tmp_path, monkeypatch):
    monkeypatch.delenv(forkserver.ADDRESS, raising=False)
    kept, _ = attempt(tmp_path, lambda outcome: None)
    assert not (tmp_path / "results/tiny/kept").exists()
    kept.write()
    told = []
    kept, (records, _, _) = attempt(tmp_path, lambda outcome: told.append(outcome.trial))
    assert told == []
    assert [record["status"] for record in records] == ["ok", "ok"]
    kept.write()  # nothing


@pytest.fixture
def made(tmp_path):
    """What a block is made from: a description, and a file that it reads."""
    source = tmp_path / "a.npz"
    write_arrays(source, {"X": np.zeros(3)}, {})
    return {"C": 1.0}, source


def kept_of(tmp_path, made):
    settings, source = made
    return Kept(tmp_path / "results/tiny/kept", settings, [str(source)])


TRIALS = [Outcome(n, "ok", [{"classifier": "svm"}], None, 0.5, 90.0) for n in (1, 10)]
ARRAYS = [{f"{n}/0/svm": np.arange(n)} for n in (1, 10)]


def test_trials_come_back_as_they_were(tmp_path, made, at_once):
    kept = kept_of(tmp_path, made)
    for outcome, arrays in zip(TRIALS, ARRAYS, strict=True):
        kept.put(outcome, arrays)
    found = kept_of(tmp_path, made).found()
    assert [outcome for outcome, _ in found.values()] == TRIALS
    for (_, arrays), expected in zip(found.values(), ARRAYS, strict=True):
        assert list(arrays) == list(expected)
        np.testing.assert_array_equal(*arrays.values(), *expected.values())


@pytest.mark.parametrize("changed", ["settings", "inputs", "damaged"])
def test_what_was_made_from_anything_else_does_not(tmp_path, made, at_once, changed):
    kept_of(tmp_path, made).put(TRIALS[0], ARRAYS[0])
    settings, source = made
    if changed == "settings":
        settings["C"] = 2.0
    elif changed == "inputs":
        write_arrays(source, {"X": np.ones(3)}, {})
    else:
        (file,) = tmp_path.glob("results/tiny/kept/*.npz")
        file.write_bytes(file.read_bytes()[:-30])
    assert kept_of(tmp_path, made).found() == {}


def test_a_short_block_keeps_nothing(tmp_path, made):
    kept_of(tmp_path, made).put(TRIALS[0], ARRAYS[0])
    assert not (tmp_path / "results").exists()


def as_block(tmp_path, made):
    """Outputs of a block of trials 1 and 10, of which 10 failed."""
    folder = tmp_path / "results/tiny"
    records = [{"trial": 1, "classifier": "svm"}, {"trial": 10, "status": "timeout"}]
    header = kept_of(tmp_path, made).header([1], [1, 10])
    write_records(folder / "pca.001-010.align.jsonl", records, header)
    write_arrays(folder / "pca.001-010.predictions.npz", ARRAYS[0], {})
    return block_files(folder, "pca", range(3))


def test_answers_of_a_block_of_another_size_are_taken_up(tmp_path, made):
    settings, source = made
    found = Kept(tmp_path / "none", settings, [str(source)], as_block(tmp_path, made)).found()
    ((trial, (outcome, arrays)),) = found.items()
    assert (trial, outcome.status, outcome.records) == (1, "ok", [{"classifier": "svm"}])
    np.testing.assert_array_equal(arrays["1/0/svm"], ARRAYS[0]["1/0/svm"])


@pytest.mark.parametrize("changed", ["settings", "records", "predictions"])
def test_another_block_that_is_not_the_same_is_not(tmp_path, made, changed):
    settings, source = made
    ((records, predictions),) = others = as_block(tmp_path, made)
    if changed == "settings":
        settings["C"] = 2.0
    else:
        file = {"records": records, "predictions": predictions}[changed]
        file.write_bytes(file.read_bytes()[:-30])
    assert Kept(tmp_path / "none", settings, [str(source)], others).found() == {}


def test_blocks_of_a_method_are_not_those_of_one_whose_name_begins_alike(tmp_path, made):
    others = as_block(tmp_path, made)
    write_records(tmp_path / "results/tiny/pca_rbf.000-001.align.jsonl", [], {})
    assert block_files(tmp_path / "results/tiny", "pca", range(3)) == others


def test_blocks_of_other_trials_are_not_read(tmp_path, made):
    others = as_block(tmp_path, made)
    folder = tmp_path / "results/tiny"
    assert block_files(folder, "pca", range(10, 12)) == others
    assert block_files(folder, "pca", range(11, 20)) == []


def test_the_header_says_with_what_the_answers_were_computed_wherever_they_come_from(
    tmp_path, made, monkeypatch
):
    settings, source = made
    monkeypatch.setattr(keeping, "computed_here", lambda: {COMPUTED_WITH: ["there"]})
    others = as_block(tmp_path, made)
    monkeypatch.setattr(keeping, "computed_here", lambda: {COMPUTED_WITH: ["here"]})
    kept = Kept(tmp_path / "none", settings, [str(source)], others)
    kept.found()
    assert kept.header([1], [1])[COMPUTED_WITH] == ["there"], "nothing was computed here"
    assert kept.header([1], [1, 2])[COMPUTED_WITH] == ["there", "here"], "one failed here"
    assert kept.header([], [])[COMPUTED_WITH] == [], "without data"
