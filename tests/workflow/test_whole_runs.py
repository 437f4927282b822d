"""Whole runs of Snakemake on a tiny experiment, each in a copy of the project."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.io import savemat

from tests.workflow.conftest import copy_project
from workflow.lib.results.records import load_computed_with
from workflow.lib.storage.computed_with import computed_with

pytestmark = pytest.mark.whole_run

HERE = Path(__file__).parent
METHODS = {
    "raises": ("broken_methods:Raises", {}),
    "hangs": ("broken_methods:Hangs", {"seconds_per_trial": 1}),
    "eats_memory": ("broken_methods:EatsMemory", {"memory_mb": 700}),
    "returns_nan": ("broken_methods:ReturnsNaN", {}),
    "slow": ("broken_methods:Slow", {}),
    "tells_threads": ("broken_methods:TellsThreads", {}),
    "tells_process": ("broken_methods:TellsProcess", {}),
    "waits": ("broken_methods:Waits", {}),
    "late": ("broken_methods:Late", {}),
    "outgrows": ("broken_methods:Outgrows", {}),
    "grows": ("broken_methods:Grows", {}),
}
TINY = {
    "schema_version": 1,
    "title": "Tiny",
    "question": "Does everything end as a record?",
    "tasks": [{"source": "digits.full", "target": "digits.half"}],
    "protocol": "tiny",
    "methods": ["fma_i"],
    "classifiers": ["one_nn"],
    "overrides": {"fma_i": {"n_components": 10, "n_neighbors": 5}},
}
PROTOCOL = {
    "kind": "random",
    "description": "For tests.",
    "trials": 2,
    "seed": 0,
    "source_per_class": 3,
    "target_per_class": 2,
    "classifier_rows": "source",
}


def make_tiny(project, protocol=None, **changes):
    """Add the methods that go wrong and the tiny experiment, with some keys changed."""
    shutil.copy(HERE / "broken_methods.py", project)
    edit(project, "methods", add_methods)
    added = {"tiny": PROTOCOL | (protocol or {})}
    edit(project, "protocols", lambda content: content["protocols"].update(added))
    write(project / "config/experiments/tiny.yaml", TINY | changes)
    return project


def edit(project, kind, change):
    path = project / f"config/{kind}.yaml"
    content = yaml.safe_load(path.read_text())
    write(path, change(content) or content)


def write(path, content):
    path.write_text(yaml.safe_dump(content))


@pytest.fixture
def tiny(project):
    """Copy of the project with the tiny experiment; nothing has run."""
    return make_tiny(project)


def add_methods(content):
    for name, (estimator, limits) in METHODS.items():
        content["methods"][name] = {
            "label": name,
            "estimator": estimator,
            "sees_labels": "source+target",
            "paper": "none",
            **({"limits": limits} if limits else {}),
        }


def environment(**more):
    env = {key: value for key, value in os.environ.items() if key != "ALIGNMENT_MIRROR"}
    return env | {"OMP_NUM_THREADS": "1", "MLFLOW_DISABLE_TELEMETRY": "true"} | more


def snakemake(project, *arguments, check=True, **env):
    """Run Snakemake in the project; return what it printed."""
    run = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2", *arguments],
        cwd=project,
        env=environment(**env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1500,
    )
    if check:
        assert run.returncode == 0, run.stdout
    else:
        assert run.returncode != 0, run.stdout
    return run.stdout


RECORDS = "results/tiny/records.csv"


def records(project):
    """Records without what differs from run to run."""
    frame = pd.read_csv(project / RECORDS)
    return frame.drop(columns=[c for c in frame if c.startswith("seconds") or c == "peak_mb"])


FAILING = ["fma_i", "raises", "hangs", "eats_memory", "returns_nan", "source_only"]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A project in which two experiments have run once: what goes wrong, and data of one's own."""
    folder = tmp_path_factory.mktemp("ran")
    project = make_tiny(copy_project(folder / "project"), methods=FAILING)
    mirror = folder / "mirror"
    mirror.mkdir()
    (mirror / "damaged.csv").write_text("not what the sum says")
    add_own_data(project)
    printed = snakemake(project, "tiny", "own", ALIGNMENT_MIRROR=str(mirror))
    return project, mirror, printed


def add_own_data(project):
    """Two .csv files of one's own, and one whose download is damaged."""
    rng = np.random.default_rng(0)
    for name, n_features in (("a", 5), ("b", 3)):
        y = np.repeat(["no", "yes"], 20)
        X = rng.normal(size=(40, n_features)) + 4 * (y == "yes")[:, None]
        frame = pd.DataFrame(X).rename(columns="f{}".format).assign(kind=y)
        frame.to_csv(project / f"{name}.csv", index=False)
    damaged = {"sha256": "0" * 64, "mirror": "damaged.csv", "urls": ["http://127.0.0.1:9/d.csv"]}
    files = {"a": {"path": "a.csv"}, "b": {"path": "b.csv"}, "damaged": damaged}
    entry = {
        "description": "Own data.",
        "loader": "generic:load",
        "files": {f"{name}.csv": file for name, file in files.items()},
        "classes": 2,
        "class_names": ["no", "yes"],
        "domains": {
            name: {"files": [f"{name}.csv"], "params": {"labels": "kind"}} for name in files
        },
    }
    edit(project, "datasets", lambda content: content["datasets"].update(own=entry))
    changes = {
        "tasks": [{"source": "own.a", "target": f"own.{target}"} for target in ("b", "damaged")],
        "overrides": {"fma_i": {"n_components": 4, "n_neighbors": 3}},
    }
    write(project / "config/experiments/own.yaml", TINY | changes)


def test_every_failure_becomes_a_record_and_the_report_shows_it(ran):
    project, _, printed = ran
    assert "tiny: 12 of 12 trials done" in printed

    frame = pd.read_csv(project / RECORDS)
    assert len(frame) == 12
    statuses = {m: set(frame.loc[frame["method"] == m, "status"]) for m in FAILING}
    assert statuses == {
        "fma_i": {"ok"},
        "raises": {"error"},
        "hangs": {"timeout"},
        "eats_memory": {"memory"},
        "returns_nan": {"nonfinite"},
        "source_only": {"not_applicable"},
    }
    failed = frame[frame["status"] != "ok"]
    assert failed["accuracy"].isna().all()
    assert failed["error"].notna().all()
    assert "ArithmeticError: no answer on a Friday" in set(failed["error"])
    assert frame.loc[frame["status"] == "ok", "accuracy"].between(0.2, 1).all()

    page = (project / "results/tiny/report.html").read_text()
    assert "no answer on a Friday" in page
    assert load_computed_with(project / "results/tiny") == [computed_with()]
    assert "What the results were computed with" in page
    receipt = json.loads((project / "results/tiny/mlflow.json").read_text())
    assert receipt["created"] == 13  # per method, per task in it, and the summary
    with open(project / "results/tiny/summary.csv") as stream:
        counts = {row["method"]: (row["n_ok"], row["n_asked"]) for row in csv.DictReader(stream)}
    assert counts["fma_i"] == ("2", "2")
    assert counts["hangs"] == ("0", "2")


def test_data_that_cannot_be_had_is_shown_and_stops_nothing(ran):
    """A corrupted download beside good data of one's own."""
    project, mirror, printed = ran
    for expected in ("data not available", "damaged.csv: sha256 is", "0" * 64):
        assert expected in printed
    frame = pd.read_csv(project / "results/own/records.csv")
    by_task = frame.groupby("task")["status"].agg(set).to_dict()
    assert by_task == {"a-b": {"ok"}, "a-damaged": {"data_unavailable"}}
    assert frame.loc[frame["task"] == "a-b", "accuracy"].between(0, 1).all()
    assert "data not available" in (project / "results/own/report.html").read_text()
    assert str(mirror) not in (project / "results/own/report.html").read_text()


def own_trials(path, n_trials=2):
    """A file of official trials: rows 1 to 40 of each domain are labelled, the next ten scored."""
    labelled, scored = np.empty((1, n_trials), object), np.empty((1, n_trials), object)
    for trial in range(n_trials):
        labelled[0, trial], scored[0, trial] = np.arange(1, 41), np.arange(41, 51) + trial
    seen = {"source": labelled, "target": labelled}
    savemat(path, {"train": seen, "test": {"source": scored, "target": scored}})


def test_official_trials_of_ones_own_are_read_where_they_lie(tiny):
    """And another file in their place is read anew, however old its time stamp is."""
    path = tiny / "elsewhere/mine.mat"
    path.parent.mkdir()
    own_trials(path)
    file = {"path": "elsewhere/mine.mat", "source": "full", "target": "half"}
    loader = "office_caltech:load_splits"
    entry = {"kind": "splits", "description": "Own.", "loader": loader, "files": {"m.mat": file}}
    edit(tiny, "datasets", lambda content: content["datasets"].update(mine=entry))
    kept = {key: PROTOCOL[key] for key in ("description", "trials", "classifier_rows")}
    official = {"kind": "official", "splits": "mine", **kept}
    edit(tiny, "protocols", lambda content: content["protocols"].update(tiny=official))
    made = "results/tiny/full-half/trials.npz"
    snakemake(tiny, made, "--show-failed-logs")
    assert "Nothing to be done" in snakemake(tiny, made, "--dry-run")
    own_trials(path, n_trials=3)
    os.utime(path, (0, 0))
    assert job_count(snakemake(tiny, made, "--dry-run"), "sample") == 1


def test_a_run_killed_in_the_middle_and_resumed_equals_an_uninterrupted_one(project, tmp_path):
    make_tiny(project, methods=["slow", "fma_i"], protocol={"trials": 4})
    whole = tmp_path / "whole"
    shutil.copytree(project, whole)
    blocks = "trials_per_job=2"
    snakemake(whole, RECORDS, "--config", blocks)

    run = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "2", RECORDS, "--config", blocks],
        cwd=project,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    results = project / "results/tiny/full-half"

    def at_work():
        logs = project.glob("logs/align/tiny/full-half/slow.*.log")
        files = [results / f"{log.stem}.align.jsonl" for log in logs]
        return [file for file in files if not file.exists()]

    wait_for(at_work)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert not (project / RECORDS).exists()
    # What a job that was cut off while writing would leave.
    at_work()[0].write_text('{"half')

    resumed = subprocess.run(
        [sys.executable, "-m", "workflow.lib.execution.resume"],
        cwd=project,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    pd.testing.assert_frame_equal(records(project), records(whole))


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)


@pytest.fixture
def again(ran, tmp_path):
    """A copy of the project that has run, to be changed."""
    shutil.copytree(ran[0], tmp_path / "again", symlinks=True)
    return tmp_path / "again"


def test_reruns_do_only_what_changed(again, ran):
    nothing = "Nothing to be done"
    assert nothing in snakemake(again, "tiny", "own", ALIGNMENT_MIRROR=str(ran[1]))
    # Another mirror, another limit, another label: no result depends on them.
    edit(again, "methods", lambda content: content["methods"]["fma_i"].update(label="Another"))
    edit(again, "config", lambda content: content["limits"].update(seconds_per_trial=5))
    shutil.copytree(ran[1], again / "elsewhere")
    assert nothing in snakemake(again, RECORDS, "--config", "mirror=elsewhere")

    # Editing one stage reruns that stage and what follows from it.
    scoring = again / "workflow/lib/trials/evaluate.py"
    before = scoring.read_text()
    scoring.write_text(before + "\n# edited\n")
    plan = snakemake(again, RECORDS, "--dry-run")
    assert [job_count(plan, rule) for rule in ("align", "evaluate", "collect")] == [0, 1, 1]
    scoring.write_text(before)

    # Editing one method reruns that method alone.
    source = again / "methods/domain_alignment/manifold/_fma.py"
    source.write_text(source.read_text() + "\n# edited\n")
    plan = snakemake(again, RECORDS, "--dry-run")
    assert [job_count(plan, rule) for rule in ("align", "evaluate", "collect")] == [1, 1, 1]
    assert [job_count(plan, rule) for rule in ("load", "sample")] == [0, 0]
    # The labels of the target are no input of the job that aligns.
    align = plan[plan.index("rule align:") : plan.index("rule evaluate:")]
    assert "features.npz" in align
    assert "labels.npz" not in align


def job_count(plan, rule):
    """Jobs of a rule in the table that Snakemake prints before it starts."""
    lines = [line.split() for line in plan.splitlines()]
    counts = [int(words[1]) for words in lines if len(words) == 2 and words[0] == rule]
    return counts[0] if counts else 0


def test_a_damaged_intermediate_is_named_although_its_time_stamp_is_old(again):
    path = again / "results/tiny/full-half/fma_i.000-001.align.jsonl"
    stamp = path.stat()
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    evaluate = ("--forcerun", "evaluate", "--show-failed-logs")
    printed = snakemake(again, RECORDS, *evaluate, check=False)
    assert "fma_i.000-001.align.jsonl: its lines do not fit the checksum" in printed
    assert "Finished jobid" not in printed


@pytest.mark.parametrize("cores", [1, 2])
def test_no_job_takes_more_threads_than_the_cores_of_the_run(project, cores):
    make_tiny(project, methods=["fma_i", "tells_threads"])

    def ask_for_all(content):
        content["methods"]["tells_threads"]["threads"] = 99

    edit(project, "methods", ask_for_all)
    snakemake(project, RECORDS, "--cores", str(cores), NUMBA_NUM_THREADS="64")
    (error,) = set(pd.read_csv(project / RECORDS)["error"].dropna())
    assert error == f"ArithmeticError: BLAS {cores}, numba {cores}"


@pytest.mark.parametrize(
    ("kind", "change", "expected"),
    [
        ("experiments/tiny", {"methods": ["fma"]}, "unknown method 'fma'"),
        ("experiments/tiny", {"protcol": "tiny"}, "unknown key 'protcol'"),
        ("methods", {"methods": {}}, "unknown method"),
        ("config", {"trials_per_job": 0}, "trials_per_job: 0 is less"),
    ],
)
def test_a_wrong_configuration_stops_before_any_job(tiny, kind, change, expected):
    edit(tiny, kind, lambda content: content | change)
    printed = snakemake(tiny, "tiny", check=False)
    assert expected in printed
    assert "Traceback" not in printed
    assert not (tiny / "results").exists()


def test_jobs_of_another_size_compute_nothing_again(tiny):
    """How trials are shared among jobs is part of the files' names, and of no result."""
    edit(tiny, "protocols", lambda content: content["protocols"]["tiny"].update(trials=3))
    snakemake(tiny, RECORDS, "--config", "trials_per_job=2")
    before = pd.read_csv(tiny / RECORDS)
    snakemake(tiny, RECORDS)
    assert len(list(tiny.glob("results/tiny/full-half/fma_i.*.align.jsonl"))) == 3
    # With their seconds: a trial that were computed again would take others.
    pd.testing.assert_frame_equal(pd.read_csv(tiny / RECORDS), before)


def test_what_is_given_up_is_lost_until_a_run_computes_it(project):
    """Tables and report are there meanwhile, and nothing that was finished is computed again."""
    make_tiny(project, methods=["fma_i", "slow"])
    results = project / "results/tiny"
    snakemake(project, "results/tiny/full-half/fma_i.000-001.align.jsonl")
    snakemake(project, "tiny", "--config", "give_up=True")
    before = pd.read_csv(project / RECORDS)
    assert statuses(before) == {"fma_i": {"ok"}, "slow": {"lost"}}
    assert "lost" in (results / "report.html").read_text()
    assert list(results.glob("tables/*.csv"))

    assert "slow.000-001.align.jsonl: lost by an earlier run" in snakemake(project, "tiny")
    after = pd.read_csv(project / RECORDS)
    assert statuses(after) == {"fma_i": {"ok"}, "slow": {"ok"}}
    # With their seconds: a trial that were computed again would take others.
    kept = [frame[frame["method"] == "fma_i"].dropna(axis=1) for frame in (before, after)]
    pd.testing.assert_frame_equal(*kept, check_dtype=False)


def statuses(frame):
    return frame.groupby("method")["status"].agg(set).to_dict()


@pytest.mark.parametrize(
    ("name", "what"), [("align", "the name of a rule"), ("manual", "another folder of results")]
)
def test_an_experiment_may_not_bear_a_name_that_is_taken(tiny, name, what):
    (tiny / "config/experiments/tiny.yaml").rename(tiny / f"config/experiments/{name}.yaml")
    printed = snakemake(tiny, check=False)
    assert f"config/experiments/{name}.yaml: '{name}' is {what}; rename" in printed


def test_an_output_folder_that_cannot_be_written_is_named(tiny):
    (tiny / "results").write_text("a file in the way")
    printed = snakemake(tiny, "tiny", check=False)
    assert f"{tiny / 'results'}: outputs cannot be written here" in printed
    assert "Traceback" not in printed
