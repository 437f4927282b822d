"""Every bench keeps its bounds: run by `make reproduce`, as they take minutes."""

import os
import subprocess
import sys
from pathlib import Path

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
