"""Runs that lack data, and what the terminal shows of any run."""

import hashlib
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.workflow.conftest import copy_project
from tests.workflow.test_whole_runs import (
    RECORDS,
    edit,
    environment,
    make_tiny,
    snakemake,
    wait_for,
)

# Each test starts Snakemake, some several times.
pytestmark = pytest.mark.whole_run

TASKS = [{"source": "mine.a", "target": "mine.b"}, {"source": "mine.a", "target": "mine.c"}]


def content(n_features):
    rng = np.random.default_rng(n_features)
    y = np.repeat(["no", "yes"], 20)
    X = rng.normal(size=(40, n_features)) + 4 * (y == "yes")[:, None]
    return pd.DataFrame(X).rename(columns="f{}".format).assign(y=y).to_csv(index=False)


FILES = {name: content(n_features) for name, n_features in (("a", 3), ("b", 4), ("c", 5))}
SUMS = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in FILES.items()}


def entry_of(sums):
    """An entry of tables that are to be downloaded, a domain each."""
    return {
        "description": "For tests.",
        "loader": "generic:load",
        "files": {
            f"{name}.csv": {"sha256": told, "mirror": f"mine/{name}.csv", "urls": []}
            for name, told in sums.items()
        },
        "classes": 2,
        "class_names": ["no", "yes"],
        "domains": {name: {"files": [f"{name}.csv"], "params": {"labels": "y"}} for name in sums},
    }


@pytest.fixture(scope="module")
def lacking(tmp_path_factory):
    """A project whose experiment needs three files that only a mirror has; a run without it."""
    folder = tmp_path_factory.mktemp("lacking")
    overrides = {"fma_i": {"n_components": 4, "n_neighbors": 3}}
    project = make_tiny(copy_project(folder / "project"), tasks=TASKS, overrides=overrides)
    entry = entry_of(SUMS)
    edit(project, "datasets", lambda known: known["datasets"].update(mine=entry))
    return project, snakemake(project, RECORDS, check=False)


def put(project, *names):
    """Put some of the files into a mirror."""
    (project / "mirror/mine").mkdir(parents=True, exist_ok=True)
    for name in names:
        (project / f"mirror/mine/{name}.csv").write_text(FILES[name])


def test_a_run_without_data_aligns_nothing_fails_and_says_what_to_do(lacking):
    project, printed = lacking
    assert not list(project.glob("results/tiny/*/*.align.jsonl"))
    assert set(pd.read_csv(project / RECORDS)["status"]) == {"data_unavailable"}
    assert "tiny: 0 of 4 scored, 4 without data" in printed
    assert "tiny: nothing could be scored" in printed
    remedy = printed[printed.index("Put these files here") :]
    for name in FILES:
        assert f"resources/raw/mine/{name}.csv\n    sha256 {SUMS[name]}\n" in remedy
        assert f"in a mirror: mine/{name}.csv" in remedy
    assert "--config mirror=" in remedy
    assert "Traceback" not in printed


def test_it_fails_again_and_runs_once_the_data_is_there(lacking):
    """First for one task of two, then for both: only what was missing is made."""
    project, _ = lacking
    assert "nothing could be scored" in snakemake(project, RECORDS, check=False)
    put(project, "a", "b")
    printed = snakemake(project, RECORDS, "--config", "mirror=mirror")
    assert "tiny: 2 of 4 scored, 2 without data" in printed
    assert f"sha256 {SUMS['c']}" in printed
    (aligned,) = project.glob("results/tiny/*/*.align.jsonl")
    before = aligned.stat().st_mtime
    put(project, "c")
    printed = snakemake(project, RECORDS, "--config", "mirror=mirror")
    assert "\ntiny: 4 of 4 scored\n" in printed
    assert "sha256" not in printed
    assert aligned.stat().st_mtime == before
    assert "Nothing to be done" in snakemake(project, RECORDS, "--config", "mirror=mirror")


def test_downloaded_tables_whose_columns_are_in_another_order_are_not_paired(tmp_path):
    """Each is read without the others, which may not have arrived."""
    overrides = {"fma_i": {"n_components": 2, "n_neighbors": 3}}
    project = make_tiny(copy_project(tmp_path / "project"), tasks=TASKS[:1], overrides=overrides)
    texts = {"a": FILES["a"], "b": FILES["a"].replace("f0,f1,f2", "f1,f0,f2", 1)}
    sums = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    entry = entry_of(sums)
    edit(project, "datasets", lambda known: known["datasets"].update(mine=entry))
    (project / "mirror/mine").mkdir(parents=True)
    for name, text in texts.items():
        (project / f"mirror/mine/{name}.csv").write_text(text)
    printed = snakemake(project, RECORDS, "--config", "mirror=mirror", check=False)
    assert "the same features in another order: the first that differs is 'f1' in one" in printed
    entry["params"] = {"features": ["f0", "f1", "f2"]}
    edit(project, "datasets", lambda known: known["datasets"].update(mine=entry))
    printed = snakemake(project, RECORDS, "--config", "mirror=mirror")
    assert "tiny: 2 of 2 scored" in printed


def test_a_mirror_that_can_serve_nothing_is_refused_before_any_job(lacking, tmp_path):
    project, _ = lacking
    printed = snakemake(project, RECORDS, "--config", "mirror=miror", check=False)
    assert "mirror 'miror': there is no such folder" in printed
    printed = snakemake(project, RECORDS, ALIGNMENT_MIRROR=str(tmp_path), check=False)
    assert "it holds none of the" in printed


def test_nothing_is_shown_about_single_jobs_but_in_the_log(lacking):
    project, printed = lacking
    of_jobs = r"^(local)?(rule|checkpoint) |Finished jobid|steps \(|Job stats"
    assert not re.search(of_jobs, printed, flags=re.MULTILINE)
    logs = [path.read_text() for path in project.glob(".snakemake/log/*.log")]
    assert any("Finished jobid" in text for text in logs)
    assert len(printed.splitlines()) < 40


def test_the_list_names_experiments_with_their_titles_and_no_rules(lacking):
    project, _ = lacking
    printed = snakemake(project, "--list")
    titles = {
        path.stem: yaml.safe_load(path.read_text())["title"]
        for path in project.glob("config/experiments/*.yaml")
    }
    listed = dict(re.findall(r"^(\w+) {2,}(.*)$", printed, flags=re.MULTILINE))
    assert {name: listed[name] for name in titles} == titles
    assert listed.keys() - titles.keys() == {
        "all",
        "papers",
        "leaderboard",
        "leaderboard_quick",
        "recorded",
        "audit",
        "shifts_page",
        "findings",
    }


def test_the_leaderboard_runs_all_that_the_findings_can_be_of(lacking):
    planned = snakemake(lacking[0], "leaderboard", "--dry-run")
    for rule in ("report_labels_per_class", "report_tuned_few_labels_gas", "shifts_page"):
        assert f"rule {rule}:" in planned


def test_a_mistyped_target_is_answered_with_the_nearest(lacking):
    project, _ = lacking
    printed = snakemake(project, "fma_tabel1", "--dry-run", check=False)
    assert "unknown target 'fma_tabel1'. Did you mean 'fma_table1'?" in printed


def test_the_place_where_the_catalogue_looks_has_the_same_workflow(lacking):
    project, _ = lacking
    plans = [
        snakemake(project, "--dry-run", *snakefile, "quickstart")
        for snakefile in ([], ["-s", "workflow/Snakefile"])
    ]
    jobs = [re.search(r"^total +(\d+)", plan, flags=re.MULTILINE)[1] for plan in plans]
    assert jobs[0] == jobs[1]


def test_after_ctrl_c_the_terminal_says_how_to_go_on(project):
    make_tiny(project, methods=["slow", "fma_i"], protocol={"trials": 50})
    run = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "2", RECORDS],
        cwd=project,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    # A job that Snakemake starts at the moment of the signal does not get it, and is waited for.
    wait_for(lambda: list(project.glob("results/tiny/*/fma_i.*.align.jsonl")))
    wait_for(lambda: list(project.glob("logs/align/tiny/*/slow.*.log")))
    time.sleep(1)
    os.killpg(run.pid, signal.SIGINT)
    printed, _ = run.communicate(timeout=60)
    assert run.returncode != 0
    assert "To continue: make resume" in printed
    assert (project / "results/index.html").is_file()
