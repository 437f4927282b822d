"""The start page: its commands and programs run as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "reports/manual/start.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
# The environment is there already, and making it anew takes minutes; CI does it.
MADE = "make setup\n"


def test_the_page_leads_from_nothing_to_predictions():
    commands = [text for kind, text in BLOCKS if kind == "sh"]
    assert commands[0] == MADE
    asked = re.findall(r"domain-alignment (compare|predict) ", "".join(commands))
    assert asked[0] == "compare"
    assert asked[-1] == "predict"


@pytest.mark.whole_run
def test_its_commands_run(tmp_path):
    (tmp_path / ".venv").symlink_to(Path(sys.prefix))
    env = {key: value for key, value in os.environ.items() if key != "ALIGNMENT_MIRROR"}
    for kind, text in BLOCKS:
        if text == MADE or ">>>" in text:  # sessions: test_manual.py
            continue
        if named := re.match(r"# (\w+\.py)\n", text):
            (tmp_path / named[1]).write_text(text)
            continue
        command = ["sh", "-ec", text] if kind == "sh" else [sys.executable, "-c", text]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=env | {"OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=1200,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "results/tumours/answer.html").is_file()
    predicted = pd.read_csv(tmp_path / "later_predictions.csv")
    assert len(predicted) == len(pd.read_csv(tmp_path / "later.csv"))
    assert set(predicted["predicted"]) == {"benign", "malignant"}
