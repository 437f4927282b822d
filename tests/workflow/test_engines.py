"""Whole runs through Snakemake's plugin for any scheduler; its jobs are processes started here."""

import contextlib
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pandas as pd
import pytest

from tests.cluster.options import options, variables
from tests.workflow.conftest import copy_project
from tests.workflow.test_whole_runs import add_own_data, edit, environment, make_tiny
from workflow.lib.execution import forkserver
from workflow.lib.results.comparison import differences
from workflow.lib.storage.artifacts import sha256

pytestmark = [
    pytest.mark.whole_run,
    pytest.mark.skipif(shutil.which("rsync") is None, reason="the store of files needs rsync"),
]
BOUND = 1200  # seconds


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A project with data of one's own, of a mirror, and damaged ones, and one timing."""
    folder = tmp_path_factory.mktemp("engines")
    project = make_tiny(copy_project(folder / "project"))
    add_own_data(project)
    mirror = folder / "mirror"
    mirror.mkdir()
    (project / "b.csv").rename(mirror / "b.csv")
    (mirror / "damaged.csv").write_text("not what the sum says")

    def change(content):
        files = content["datasets"]["own"]["files"]
        files["a.csv"] = {"path": str(project / "a.csv")}
        files["b.csv"] = files["damaged.csv"] | {"sha256": sha256(mirror / "b.csv")}
        files["b.csv"] |= {"mirror": "b.csv"}

    def add_timing(content):
        content["methods"] = ["fma_i", "raises"]
        content["timing"] = {"tasks": ["a-b"], "methods": ["fma_i"], "repeats": 1}

    edit(project, "datasets", change)
    edit(project, "experiments/own", add_timing)
    return project, mirror


def run(own, folder, *more, target="own", n_failed=0, **env):
    """Run an experiment with its jobs sent away; what it printed, and the logs of all jobs."""
    with started_run(own, folder, *more, target=target, **env) as run:
        printed, _ = run.communicate(timeout=BOUND)
    spool = spool_of(folder)
    logs = {job.name: (job / "log").read_text() for job in spool.iterdir()}
    assert run.returncode == 0, printed + "\n".join(logs.values())
    statuses = [path.read_text() for path in spool.glob("*/status")]
    assert sum(status != "0\n" for status in statuses) == n_failed
    return printed, logs


@contextlib.contextmanager
def started_run(own, folder, *more, target, **env):
    """Such a run at work; it is ended with the test."""
    project, mirror = own
    spool = spool_of(folder)
    spool.mkdir(exist_ok=True)
    folder.mkdir(exist_ok=True)
    line = [sys.executable, "-m", "snakemake", target, "--snakefile", str(project / "Snakefile")]
    line += [*options(project), *more]
    mirrored = {"ALIGNMENT_MIRROR": str(mirror)} if mirror else {}
    process = subprocess.Popen(
        line,
        cwd=folder,
        env=environment(**variables(spool), **mirrored, **env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def spool_of(folder):
    return folder.with_name(f"spool-{folder.name}")


def places(folder):
    """Whether the jobs of each rule share their node, in the words of PBS."""
    asked = [job.read_text() for job in spool_of(folder).glob("*/asked")]
    return dict(re.search(r"-N (\w+) .* place=(\w+)", words).groups() for words in asked)


def asked_for_cells(folder, logs):
    """Megabytes and minutes that the jobs of some logs asked for, of those that align."""
    asked = [(spool_of(folder) / name / "asked").read_text() for name in logs]
    found = [re.search(r"-N align .*:mem=(\d+)mb -l walltime=(\d+):00", words) for words in asked]
    return sorted(tuple(map(int, one.groups())) for one in found if one)


def rules_of(logs):
    """How many jobs of each rule were sent away."""
    rules = [line.split()[1][:-1] for log in logs.values() for line in set(started(log))]
    return {rule: rules.count(rule) for rule in rules}


def started(log):
    return [line for line in log.splitlines() if line.startswith(("rule ", "localrule "))]


@contextlib.contextmanager
def fork_server_of_another_run():
    """Address of what seems to be a fork server, which nobody may ask."""
    address, asked = f"alignment-test-{secrets.token_hex(8)}", []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(f"\0{address}")
        listener.listen()

        def refuse():
            with contextlib.suppress(OSError):  # the end of the test
                while True:
                    line, _ = listener.accept()
                    asked.append(line)
                    line.close()

        threading.Thread(target=refuse, daemon=True).start()
        yield address
        listener.shutdown(socket.SHUT_RDWR)
    assert not asked


def records(folder):
    return pd.read_csv(folder / "results/own/records.csv")


def test_jobs_compute_elsewhere_with_and_without_files_in_common(own, tmp_path):
    """Jobs of the profile for any scheduler; again with all files in a store: the same records."""
    shared = tmp_path / "shared"
    # Passwords stay; a store without a server asks for none.
    secret = dict.fromkeys(("MLFLOW_TRACKING_PASSWORD", "PGPASSWORD"), "not-for-a-scheduler")
    # Run and jobs keep to their own, also where the fork server of another run is at hand.
    with fork_server_of_another_run() as address:
        told = {forkserver.ADDRESS: address, "TEST_FORK_SERVER": address}
        _, logs = run(own, shared, **told, **secret)
    assert not [f for f in spool_of(shared).glob("*/variables") if "not-for-a" in f.read_text()]
    # Downloads, tables, pages and MLflow stay; the target without data has nothing to align.
    sent = {"load": 3, "sample": 2, "align": 2, "evaluate": 2, "time_alone": 1}
    assert rules_of(logs) == sent
    assert places(shared) == dict.fromkeys(sent, "free") | {"time_alone": "excl"}
    table = records(shared)
    statuses = table.groupby(["method", "task"])["status"].agg(set).to_dict()
    assert statuses == {
        ("fma_i", "a-b"): {"ok"},
        ("raises", "a-b"): {"error"},
        ("fma_i", "a-damaged"): {"data_unavailable"},
        ("raises", "a-damaged"): {"data_unavailable"},
    }

    apart, store = tmp_path / "apart", tmp_path / "store"
    unshared = ["--default-storage-provider", "fs", "--default-storage-prefix", str(store)]
    unshared += ["--shared-fs-usage", "sources", "source-cache"]
    printed, logs = run(own, apart, *unshared)
    assert f"own: the results are in {store}" in printed
    assert rules_of(logs) == {"align": 2, "time_alone": 1}
    assert not list(apart.glob("results/own/**/*.jsonl"))
    assert differences(table, records(store)) == []
    assert (store / "results/own/report.html").stat().st_size > 10_000
    assert '"status": "ok"' in (store / "results/own/timing/a-b.fma_i.jsonl").read_text()

    before = set(logs)
    printed, logs = run(own, apart, *unshared)
    assert "Nothing to be done" in printed
    assert set(logs) == before


def test_a_job_asks_for_what_was_measured_and_one_that_outgrows_it_for_all(tmp_path):
    """The same records come of it."""
    project = make_tiny(copy_project(tmp_path / "project"), methods=["fma_i", "grows"])
    folder, target = tmp_path / "sent", "results/tiny/records.csv"
    _, first = run((project, None), folder, target=target)
    # Nothing is measured: the limit of 8,000 MB and room, a trial at its limit and a share.
    assert asked_for_cells(folder, first) == [(9000, 22)] * 2
    before = pd.read_csv(folder / target)
    assert set(before["status"]) == {"ok"}

    (folder / "grows.go").touch()
    again = ("--forcerun", "align")
    printed, logs = run((project, None), folder, *again, target=target, n_failed=1)
    told = "trial 0: takes more than the 500 MB that earlier records made its job ask for"
    assert told in printed
    assert asked_for_cells(folder, logs.keys() - first.keys()) == [
        (1500, 11),
        (1500, 11),
        (10_000, 25),
    ]
    after = pd.read_csv(folder / target)
    assert differences(before, after) == []
    assert after.loc[after["method"] == "grows", "peak_mb"].max() > 900
    assert not list(folder.glob("results/tiny/*/kept/*"))


def cells_sent(folder):
    """Folders of the jobs that align, in the order in which they were sent."""
    begun = [path for path in spool_of(folder).glob("*/process") if path.stat().st_size]
    sent = [path.parent for path in sorted(begun, key=lambda path: path.stat().st_mtime_ns)]
    return [job for job in sent if "-N align " in (job / "asked").read_text()]


def test_a_job_that_its_scheduler_ends_is_sent_again(tmp_path):
    """A job that could not say how it ended is tried again; nothing waits for it for ever."""
    project = make_tiny(copy_project(tmp_path / "project"), methods=["waits"], overrides={})
    folder, target = tmp_path / "sent", "results/tiny/records.csv"
    with started_run((project, None), folder, target=target) as run:
        deadline = time.monotonic() + 300
        while not (cells := cells_sent(folder)):
            assert time.monotonic() < deadline
            assert run.poll() is None
            time.sleep(0.2)
        os.killpg(int((cells[0] / "process").read_text()), signal.SIGKILL)
        (folder / "waits.go").touch()
        printed, _ = run.communicate(timeout=300)
    assert run.returncode == 0, printed
    assert len(cells_sent(folder)) == 2
    assert set(pd.read_csv(folder / target)["status"]) == {"ok"}


@pytest.mark.parametrize("together", [True, False])
def test_cells_that_share_a_job_share_what_they_import(tmp_path, together):
    """Cells of one job fork from one process of imports; a cell of its own starts cold."""
    methods = ["fma_i", "tells_process"]
    project = make_tiny(copy_project(tmp_path / "project"), methods=methods)
    more = ["--groups", "align=cells", "--group-components", "cells=2", "--cores", "1"]
    folder = tmp_path / "sent"
    _, logs = run((project, None), folder, *more * together, target="results/tiny/records.csv")
    cells = [log.count("rule align:") for log in logs.values() if "rule align:" in log]
    assert cells == ([2] if together else [1, 1])
    table = pd.read_csv(folder / "results/tiny/records.csv")
    (told,) = set(table.loc[table["method"] == "tells_process", "error"])
    assert f"workflow.lib.execution.{'forkserver' if together else 'worker'}" in told
