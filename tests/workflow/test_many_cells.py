"""The script that measures how the workflow grows follows what the workflow has become."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.whole_run
def test_every_phase_is_measured(tmp_path):
    line = [sys.executable, str(ROOT / "tests/bench/many_cells.py"), "--folder", str(tmp_path)]
    done = subprocess.run(
        [*line, "--cells", "60", "--run", "60"],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'methods'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = [text.split()[0] for text in done.stdout.splitlines() if text.startswith("  ")]
    phases = "size first rules downloads dry cluster records collect report mlflow"
    assert told == phases.split()
