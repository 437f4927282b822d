"""A comparison from files to the answer, its model, and predictions of new samples."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.workflow.test_whole_runs import environment
from workflow import compare

PROJECT = Path(__file__).resolve().parents[2]


def tables(folder, n=60, seed=3):
    """A source and a target of mixed columns, of which some cells are empty."""
    rng = np.random.default_rng(seed)
    for name, moved in (("lab_a", 0.0), ("lab_b", 0.7)):
        y = np.arange(n) % 3
        X = 2.5 * np.eye(3)[y] + rng.normal(size=(n, 3)) + moved
        table = pd.DataFrame(X, columns=["size", "weight", "ph"])
        table["colour"] = np.where(rng.random(n) < 0.7, np.array(["red", "blue", "grey"])[y], "red")
        table["open"] = rng.random(n) < 0.5
        table.loc[rng.random(n) < 0.1, ["ph", "colour"]] = None
        if name == "lab_a":
            table["kind"] = np.array(["ash", "elm", "oak"])[y]
        table.to_csv(folder / f"{name}.csv", index=False)


def command(folder, module, *words):
    paths = [str(PROJECT), str(PROJECT / "methods")]
    env = environment(PYTHONPATH=os.pathsep.join(paths))
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, done.stderr


def predicted(folder, *words):
    """What the command of the library writes, which imports nothing of the benchmark."""
    code = "from domain_alignment.cli import main; raise SystemExit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "predict", *words],
        cwd=folder,
        env=environment(PYTHONPATH=str(PROJECT / "methods")),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return pd.read_csv(folder / "predictions.csv")


@pytest.mark.whole_run
def test_files_become_an_answer_and_a_model_that_predicts_as_the_page_does(tmp_path):
    tables(tmp_path)
    words = ("lab_a.csv", "lab_b.csv", "--label", "kind", "--name", "labs", "--cores", "2")
    said, beside = command(tmp_path, "workflow.compare", *words)
    own = tmp_path / "results/labs"
    answer = json.loads((own / "answer.json").read_text())
    assert said.count(answer["sentence"]) == 1
    assert answer["sentence"] not in beside
    assert "predicted: answer results/labs/answer.html" in beside
    assert answer["saved"]["method"] == answer["used"]["method"]
    assert "domain-alignment predict results/labs/model" in (own / "answer.html").read_text()
    found = predicted(tmp_path, "results/labs/model", "lab_b.csv")
    page = pd.read_csv(own / "predictions.csv")
    assert found["row"].tolist() == page["row"].tolist()
    assert found["predicted"].tolist() == page["predicted"].tolist()
    shuffled = pd.read_csv(tmp_path / "lab_b.csv").iloc[::-1, ::-1].assign(note="new")
    shuffled.to_csv(tmp_path / "new.csv", index=False)
    again = predicted(tmp_path, "results/labs/model", "new.csv")
    assert again["predicted"].tolist() == page["predicted"].tolist()[::-1]
    receipt = json.loads((own / "mlflow_model.json").read_text())
    assert receipt["model_uri"]
    times = {path: path.stat().st_mtime_ns for path in own.rglob("*") if path.is_file()}
    command(tmp_path, "workflow.compare", *words)
    assert times == {path: path.stat().st_mtime_ns for path in times}


def test_a_run_that_failed_tells_an_answer_only_if_it_gave_one(tmp_path, monkeypatch, capsys):
    tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    answer = tmp_path / "results/labs/answer.json"
    given = ["lab_a.csv", "lab_b.csv", "--label", "kind", "--name", "labs"]

    def run(command, env):
        answer.write_text(json.dumps({"sentence": "Use CORAL."}))
        return 1

    monkeypatch.setattr(subprocess, "call", run)
    assert compare.main(given) == 1
    assert "Use CORAL." in capsys.readouterr().out
    os.utime(answer, (0, 0))
    monkeypatch.setattr(subprocess, "call", lambda command, env: 1)
    assert compare.main(given) == 1
    assert "Use CORAL." not in capsys.readouterr().out
