"""Blocks under guard: every trial leaves records, whatever became of it."""

import numpy as np
import pytest

from tests.workflow.trials.small_block import write_block
from workflow.lib.execution import forkserver
from workflow.lib.execution.guard import Limits, Outgrown
from workflow.lib.trials.blocks import (
    given_up,
    note_lost,
    run_aligned,
    run_study,
    run_timed,
    unavailable,
)
from workflow.lib.trials.kept import Kept

pytestmark = pytest.mark.whole_run

LIMITS = Limits(60, 4000, 3)


@pytest.fixture(autouse=True)
def no_fork_server(monkeypatch):
    monkeypatch.delenv(forkserver.ADDRESS, raising=False)


def test_a_block_gives_records_and_predictions_of_every_trial(tmp_path):
    told = []
    records, arrays, _ = run_aligned(write_block(tmp_path), [0, 1], LIMITS, tmp_path, told.append)
    assert [(r["trial"], r["setting"], r["classifier"]) for r in records] == [
        (0, 0, "logistic"),
        (1, 0, "logistic"),
    ]
    assert [record["status"] for record in records] == ["ok", "ok"]
    assert set(arrays) == {"0/0/logistic", "1/0/logistic"}
    np.testing.assert_array_equal(arrays["0/0/logistic"], arrays["1/0/logistic"])
    assert [outcome.trial for outcome in told] == [0, 1]


def test_a_lost_trial_has_a_record_for_every_setting_and_classifier(tmp_path):
    block = write_block(tmp_path, "tests.workflow.broken_methods:Hangs")
    block["method"] |= {"sees_labels": "source+target", "varied_params": [{}, {}]}
    block["classifiers"]["again"] = block["classifiers"]["logistic"]
    limits = Limits(1, 4000, 3)
    records, arrays, answered = run_aligned(block, [1], limits, tmp_path, lambda outcome: None)
    assert (arrays, answered) == ({}, [])
    assert {(r["setting"], r["classifier"]) for r in records} == {
        (setting, name) for setting in (0, 1) for name in ("logistic", "again")
    }
    assert {(r["trial"], r["status"]) for r in records} == {(1, "timeout")}


def test_an_error_has_no_record_where_the_job_may_have_asked_for_too_little(tmp_path):
    block = write_block(tmp_path, "tests.workflow.broken_methods:Raises")
    block["method"]["sees_labels"] = "source+target"

    def run(asked_mb):
        limits = Limits(60, 4000, 3, asked_mb=asked_mb)
        records, _, _ = run_aligned(block, [0, 1], limits, tmp_path, lambda outcome: None)
        return [record["status"] for record in records]

    with pytest.raises(Outgrown, match="trial 0: ArithmeticError: no answer on a Friday"):
        run(asked_mb=3999)
    assert run(asked_mb=4000) == run(asked_mb=0) == ["error", "error"]


def test_unavailable_data_has_the_same_records(tmp_path):
    block = write_block(tmp_path)
    (first, second) = unavailable(block, [0, 1], "a.mat is gone")
    assert (first["status"], first["error"]) == ("data_unavailable", "a.mat is gone")
    assert (first["trial"], second["trial"]) == (0, 1)


def test_a_method_is_timed_again_and_again(tmp_path):
    records = run_timed(write_block(tmp_path), 2, LIMITS, tmp_path)
    assert [(record["repeat"], record["status"]) for record in records] == [(0, "ok"), (1, "ok")]


def test_a_study_is_a_block_of_one_trial(tmp_path):
    params = {"n_nodes": 6, "edge_probabilities": [0.6], "links": [2], "n_seeds": 1}
    block = {"module": "fma.filtering", "domains": {}, "params": params}
    outcome, arrays = run_study(block, LIMITS, tmp_path)
    assert outcome.status == "ok"
    assert len(outcome.records) == 6
    assert arrays["plain/original"].shape == (12, 12)
    refused, arrays = run_study({**block, "params": {"n_seeds": 0}}, LIMITS, tmp_path)
    assert (refused.status, arrays) == ("error", {})
    assert "none of the settings" in refused.error


def test_lost_trials_have_a_record_each_and_a_note_for_the_next_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    block = {"tuning": None, "method": {"varied_params": [{}, {}]}, "classifiers": ["a", "b"]}
    found, arrays, answered = given_up(block, range(3), Kept(tmp_path / "none", block, []))
    assert len(found) == 12
    assert {record["status"] for record in found} == {"lost"}
    assert (arrays, answered) == ({}, [])
    places = {
        "results/e/a-b/m.000-002.align.jsonl": "results/e/lost/a-b.m.000-002.align.jsonl",
        "results/e/timing/a-b.m.jsonl": "results/e/lost/timing.a-b.m.jsonl",
        "results/e/study.jsonl": "results/e/lost/e.study.jsonl",
    }
    for records, note in places.items():
        (tmp_path / records).parent.mkdir(parents=True, exist_ok=True)
        note_lost(records)
        assert (tmp_path / note).read_text() == records
