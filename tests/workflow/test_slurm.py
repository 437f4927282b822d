"""Whole runs on a real SLURM of two nodes; as root, where SLURM is installed and not configured."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest

from tests.workflow.conftest import copy_project
from tests.workflow.test_whole_runs import RECORDS, edit, environment, make_tiny, snakemake
from workflow.lib.results.comparison import differences

HERE = Path(__file__).parents[1] / "slurm"
PROFILE = (
    *("--workflow-profile", "workflow/profiles/slurm", "--slurm-no-account"),
    *("--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "2"),
    *("--default-resources", "slurm_partition=debug", "mem_mb=1000", "runtime=5"),
)
ATTEMPTS = 3  # of a job, before its trials are recorded as lost
BOUND = 900  # seconds
pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(
        shutil.which("slurmctld") is None or os.geteuid() != 0,
        reason="needs root and Debian's packages slurm-wlm and munge",
    ),
]


@pytest.fixture(scope="module")
def _slurm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slurm")
    started = subprocess.run([HERE / "start.sh", folder], check=False, timeout=60)
    if started.returncode == 3:
        pytest.skip("a SLURM is configured on this machine")
    try:
        assert started.returncode == 0
        yield
    finally:
        subprocess.run([HERE / "stop.sh", folder], check=True, timeout=60)


@pytest.fixture
def tiny(project, _slurm):
    """The tiny experiment with jobs that fit the nodes, a method that lasts, and one timing."""
    return prepare(project)


def prepare(project):
    timing = {"tasks": ["full-half"], "methods": ["fma_i"], "repeats": 1}
    make_tiny(project, methods=["fma_i", "raises", "slow"], timing=timing)
    edit(project, "config", lambda content: content["limits"].update(memory_mb=1000))
    return project


def queue(*more):
    """Lines of SLURM's queue: number, cores, whether it shares its node, comment."""
    line = ["squeue", "--noheader", "--format=%i|%C|%h|%k", *more]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout.splitlines()


class Watcher(threading.Thread):
    """Remembers every job that it sees, and cancels those of one rule and method."""

    def __init__(self, victim=None, most=0):
        super().__init__(daemon=True)
        self.victim, self.most = victim, most
        self.seen, self.cancelled = {}, []
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(0.3):
            for line in queue():
                number, cores, shares, comment = line.split("|", 3)
                self.seen[number] = (int(cores), shares, comment)
                wanted = self.victim and re.search(self.victim, comment)
                if wanted and number not in self.cancelled and len(self.cancelled) < self.most:
                    subprocess.run(["scancel", number], check=True)
                    self.cancelled.append(number)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


def statuses(project):
    return pd.read_csv(project / RECORDS).groupby("method")["status"].agg(set).to_dict()


def test_what_fails_and_what_is_cancelled_is_a_record_and_the_rest_is_as_on_one_machine(
    tiny, tmp_path
):
    timing = "results/tiny/timing/full-half.fma_i.jsonl"
    with Watcher("rule_align.*_slow_", ATTEMPTS) as watcher:
        snakemake(tiny, RECORDS, timing, *PROFILE)
    assert len(watcher.cancelled) == ATTEMPTS
    assert statuses(tiny) == {"fma_i": {"ok"}, "raises": {"error"}, "slow": {"lost"}}
    kinds = {comment.split("_wildcards")[0] for _, _, comment in watcher.seen.values()}
    assert kinds == {"rule_load", "rule_sample", "rule_align", "rule_evaluate", "rule_time_alone"}
    # "NO": nothing else may run on the node meanwhile.
    shares = {("time_alone" in comment, shared) for _, shared, comment in watcher.seen.values()}
    assert shares == {(True, "NO"), (False, "OK")}
    assert max(cores for cores, *_ in watcher.seen.values()) <= os.cpu_count()
    assert '"status": "ok"' in (tiny / timing).read_text()

    with Watcher() as watcher:
        snakemake(tiny, RECORDS, *PROFILE)
    again = [seen[2] for seen in watcher.seen.values() if "rule_align" in seen[2]]
    assert len(again) == 1
    assert "_slow_" in again[0]
    local = prepare(copy_project(tmp_path / "local"))
    snakemake(local, RECORDS)
    tables = [pd.read_csv(folder / RECORDS) for folder in (local, tiny)]
    assert differences(*tables) == []


def test_a_killed_run_is_continued_on_the_cluster(tiny):
    line = [sys.executable, "-m", "snakemake", RECORDS, *PROFILE]
    with open(tiny / "log", "w") as log:
        run = subprocess.Popen(line, cwd=tiny, env=environment(), stdout=log, stderr=log)
    deadline = time.monotonic() + BOUND
    while not any("_slow_" in line for line in queue()):
        assert time.monotonic() < deadline, (tiny / "log").read_text()
        assert run.poll() is None, (tiny / "log").read_text()
        time.sleep(0.2)
    run.kill()
    run.wait()
    left = {line.split("|")[0] for line in queue()}
    assert left
    again = [sys.executable, "-m", "workflow.lib.execution.resume"]
    with Watcher() as watcher:
        done = subprocess.run(
            again, cwd=tiny, env=environment(), capture_output=True, text=True, timeout=BOUND
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "that the killed run left in the queue" in done.stdout
    assert set(watcher.seen) - left, "the continued run computes on the cluster too"
    assert statuses(tiny) == {"fma_i": {"ok"}, "raises": {"error"}, "slow": {"ok"}}
    assert queue() == []


def test_cells_that_share_a_job_have_files_of_their_own(tiny, tmp_path):
    together = ("--groups", "align=cells", "--group-components", "cells=3", "--cores", "1")
    with Watcher() as watcher:
        snakemake(tiny, RECORDS, *PROFILE, *together)
    (job,) = [number for number, seen in watcher.seen.items() if "cells_align" in seen[2]]
    line = ["squeue", "--noheader", "--states=all", "--format=%C|%m|%l", f"--jobs={job}"]
    asked = subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()
    # One after the other: the memory of the largest, the time of all.
    assert asked == "1|2000M|1:06:00"
    local = prepare(copy_project(tmp_path / "local"))
    snakemake(local, RECORDS)
    tables = [pd.read_csv(folder / RECORDS) for folder in (local, tiny)]
    assert differences(*tables) == []

    files = {path: path.stat().st_mtime_ns for path in tiny.glob("results/tiny/*/*.align.jsonl")}
    edit(tiny, "methods", lambda content: content["methods"]["fma_i"]["params"].update(alpha=1.0))
    snakemake(tiny, RECORDS, *PROFILE, *together)
    changed = {path.name for path, before in files.items() if path.stat().st_mtime_ns != before}
    assert {name.split(".")[0] for name in changed} == {"fma_i"}
