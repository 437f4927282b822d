"""Every bench keeps its bounds: most are run by `make reproduce`, as they take minutes."""

import os
import subprocess
import sys
from pathlib import Path

import bench_tuning
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "script", sorted((ROOT / "tests/bench").glob("bench_*.py")), ids=lambda path: path.stem
)
def test_a_bench_keeps_its_bounds(script):
    path = os.pathsep.join([str(ROOT / "methods"), str(ROOT)])
    ran = subprocess.run(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]


@pytest.mark.parametrize("method", ["fma_i", "coral_kernel"])
def test_the_tuned_blocks_of_benches_are_those_that_jobs_run(method, tmp_path):
    """A bench that fails is not a slow one: a key that jobs have lately may be missing."""
    ys = [np.arange(60) % 3, np.arange(60) % 3]
    Xs = [np.random.default_rng(d).normal(size=(60, 9)) + 3 * np.eye(3, 9)[ys[d]] for d in (0, 1)]
    protocol = {**bench_tuning.FEW_LABELS, "source_per_class": 8, "trials": 1}
    trials = bench_tuning.sample_trials("bench", protocol, bench_tuning.TASK, ys)
    entry = bench_tuning.SUITE.methods[method]
    described = {key: entry[key] for key in ("estimator", "sees_labels", "params")}
    candidates = bench_tuning.drawn(method, "real", 2)
    spec = bench_tuning.written(tmp_path, Xs, trials, described, candidates)
    for way in (bench_tuning.run, bench_tuning.run_unshared):
        ((records, _),) = way(spec)
        assert {record["status"] for record in records} == {"ok"}
        assert all(record["selectors"] for record in records)
        with bench_tuning.no_selectors():
            ((records, _),) = way(spec)
        assert not any(record["selectors"] for record in records)
