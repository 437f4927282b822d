"""The page of peers, and a point of a package that lives in an environment without the project."""

import csv
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import peers
import pytest


def row(by, seconds, task="2000x800", name="CORAL", **more):
    found = {"name": name, "by": by, "task": task, "status": "ok", "seconds": seconds}
    return {**found, "megabytes": 1, "accuracy": 0.5, **more}


def test_without_an_environment_the_page_says_how_to_measure_adapt():
    mine = [row("ours", 1.0), row("skada", 2.0)]
    assert "adapt was not measured" in peers.page(mine)
    assert "ADAPT_PYTHON=" in peers.page(mine)
    measured = peers.page([*mine, row("adapt", 4.0, version="0.4.5", when="2026-01-01 00:00")])
    assert "was not measured" not in measured
    assert "| CORAL | 2000x800 | adapt 0.4.5 | 4.00 | 0.25 |" in measured
    assert "1 were measured from 2026-01-01 00:00" in measured
    assert "2 are of earlier runs" in measured


def test_the_page_names_the_machines_that_measured():
    rows = [row("ours", 1.0, machine="A"), row("skada", 2.0, when="2026-01-01 00:00")]
    told = "Measured on A (1 points) and a machine that was not noted (1 points)."
    assert told in peers.page(rows)


def test_pairs_of_one_routine_are_counted_and_left_out_of_a_second_median():
    exact, classes = "optimal transport (exact)", "optimal transport (classes)"
    rows = [
        *(row("ours", 1.0, name=exact), row("POT", 1.0, name=exact), row("skada", 4.0, name=exact)),
        *(row("ours", 1.0, name=classes), row("POT", 10.0, name=classes)),
    ]
    told = peers.verdict(rows)
    assert "In 3 pairs ours takes 0.25 of" in told
    assert "Beside the fastest of them on each task (2) it is 0.55 in the median. The goal" in told
    assert "is missed." in told
    assert "In 2 of them both call the same routine" in told
    assert "Without them it is 0.10" in told


def test_another_problem_is_told_apart():
    name = "TCA (linear kernel)"
    rows = [row("ours", 1.0), row("adapt", 2.0)]
    told = peers.verdict([*rows, row("ours", 1.0, name=name), row("skada", 100.0, name=name)])
    assert "In 1 pairs ours takes 0.50 of" in told
    assert "Where the other solves another problem, in 1 pairs ours takes 0.01 of" in told


def test_a_fit_of_ours_that_was_ended_is_no_pair_the_less():
    rows = [row("ours", 60.0, status="over 60 s"), row("adapt", 20.0), row("skada", 61.0)]
    rows[2]["status"] = "over 60 s"
    others = [row("ours", 1.0, task="10000x800"), row("adapt", 2.0, task="10000x800")]
    told = peers.verdict([*rows, *others])
    assert "In 2 pairs ours takes 1.75 of" in told
    assert "slower in 1: CORAL on 2000x800 (3.00 of adapt)" in told
    assert "| > 3.00 |" in peers.page([*rows, *others])


def test_only_the_fit_is_under_the_limit():
    """Scoring and repeats that follow it are no part of what is measured."""
    lines = (
        "import time; from measure import end_after, go_on\n"
        "def spend(s):\n    end = time.process_time() + s\n"
        "    while time.process_time() < end: pass\n"
        "end_after(1); spend(0.2); go_on(); spend(2.5); print('there')"
    )
    bench = str(Path(peers.__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, env={"PYTHONPATH": bench}
    )
    assert done.stdout == "there\n", done.stderr


def test_adapt_s_subspace_alignment_counts_as_an_approximation():
    rows = [row(by, 1.0, name="subspace alignment") for by in ("ours", "adapt")]
    assert peers.verdict(rows).startswith("Against approximations, in 1 pairs")


def test_what_is_measured_replaces_the_method_on_its_task_and_the_others_stand(tmp_path):
    """Else ours of today would be divided by another's of another day."""
    old = [row("ours", 1.0), row("skada", 2.0), row("ours", 5.0, "10000x800")]
    new = [row("ours", 1.1, when="2026-01-01 00:00"), row("adapt", 4.0, version="0.4.5")]
    peers.write(peers.merged(old, new), tmp_path)
    found = peers.read(tmp_path / "peers.csv")
    assert [(one["by"], one["task"], one["seconds"]) for one in found] == [
        ("ours", "2000x800", 1.1),
        ("adapt", "2000x800", 4.0),
        ("ours", "10000x800", 5.0),
    ]
    assert found[0]["when"] == "2026-01-01 00:00"
    assert "when" not in found[1]


@pytest.fixture
def foreign(tmp_path):
    """An interpreter that has adapt, but neither the library nor the workflow."""
    folder = tmp_path / "packages"
    (folder / "adapt").mkdir(parents=True)
    (folder / "adapt/__init__.py").touch()
    (folder / "adapt/feature_based.py").write_text(
        "class CORAL:\n"
        "    def __init__(self, lambda_, verbose): pass\n"
        "    def fit_transform(self, Xs, Xt): return Xs + 1\n"
        "    def transform(self, X, domain): return X\n"
    )
    (folder / "adapt-9.9.dist-info").mkdir()
    (folder / "adapt-9.9.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: adapt\nVersion: 9.9\n"
    )
    for name in ("domain_alignment", "workflow"):
        (folder / f"{name}.py").write_text("raise ImportError('not here')")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {sys.executable} "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return python


@pytest.mark.whole_run
def test_a_package_is_measured_by_an_interpreter_without_the_project(tmp_path, foreign):
    peers.write_data("60x5", tmp_path / "data.npz")
    asked = peers.parsed(["--adapt-python", str(foreign), "--seconds", "30"])
    found = peers.point("CORAL", "adapt", "60x5", tmp_path, asked)
    assert found["status"] == "ok"
    assert found["version"] == "9.9"
    (source, target), _ = peers.data("60x5")
    np.testing.assert_array_equal(np.load(tmp_path / "adapt.npy"), np.vstack([source + 1, target]))
    ours = peers.point("CORAL", "ours", "60x5", tmp_path, peers.parsed([]))
    assert ours["status"] == "ok"


def test_an_interpreter_that_is_not_there_is_refused(capsys):
    with pytest.raises(SystemExit):
        peers.parsed(["--adapt-python", os.devnull])
    assert "--adapt-python: /dev/null is no program" in capsys.readouterr().err


def test_the_reference_names_only_what_is_compared():
    with (peers.ROOT / "reports/reference/peers.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for one in rows:
        assert one["by"] in ("ours", *peers.PEERS[one["name"]].others)
