"""Timings start cold, on preprocessed rows, and say what was timed."""

import domain_alignment
import numpy as np
from threadpoolctl import threadpool_info

from tests.workflow.trials.small_block import write_block
from workflow.lib.trials import timing
from workflow.lib.trials.protocols import HIDDEN


def test_features_are_preprocessed_before_the_clock_starts(tmp_path):
    opened = timing.setup(write_block(tmp_path))
    for features in opened.features:
        np.testing.assert_allclose(features.mean(axis=0), 0, atol=1e-12)


def test_a_record_says_what_was_timed(tmp_path):
    opened = timing.setup(write_block(tmp_path, "domain_alignment:SubspaceAlignment"))
    for repeat in range(2):
        (record,), arrays = timing.run_trial(opened, repeat)
        assert record["status"] == "ok"
        assert (record["n_samples"], record["n_features"]) == ([12, 10], [3, 3])
        assert record["seconds"] > 0
        assert record["peak_mb"] > record["added_mb"] >= 0
        assert arrays == {}


def test_a_method_that_does_not_apply_is_not_timed(tmp_path):
    block = write_block(tmp_path, "domain_alignment:SubspaceAlignment")
    block["features"] = [*block["features"], block["features"][0]]
    opened = timing.read_inputs(block)
    (record,), _ = timing.run_trial(opened, 0)
    assert record["status"] == "not_applicable"
    assert "seconds" not in record


def test_what_is_timed_sees_no_label_that_it_may_not_and_has_one_thread(tmp_path, monkeypatch):
    seen = []

    def fit(self, Xs, ys=None, prepared=None):
        seen.append((ys, threadpool_info()))
        return self

    monkeypatch.setattr(domain_alignment.SubspaceAlignment, "fit", fit)
    timing.run_trial(timing.setup(write_block(tmp_path, "domain_alignment:SubspaceAlignment")), 0)
    assert seen
    for ys, pools in seen:
        assert all((y == HIDDEN).all() for y in ys)
        assert {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"} == {1}
