"""Whole runs on a real SLURM of two nodes; as root, where SLURM is installed and not configured.

Each job of a cluster starts Snakemake twice, so the tests share their runs: a project whose
records were made on one machine, which then loses nodes, and one whose records the cluster makes.
"""

import os
import shutil
import subprocess

import pandas as pd
import pytest

from tests.slurm.cluster import HERE, PROFILE, Run, ask, asked_alone, end_jobs, jobs, set_node
from tests.workflow.conftest import copy_project
from tests.workflow.test_whole_runs import (
    RECORDS,
    TINY,
    edit,
    job_count,
    make_tiny,
    snakemake,
    write,
)
from workflow.lib.results.comparison import differences

QUICKSTART = "results/quickstart/records.csv"
NODES = "results/nodes/records.csv"
TIMING = "results/tiny/timing/full-half.fma_i.jsonl"
ATTEMPTS = 3  # of a job, before its trials are recorded as lost
# Data and trials of a task in one job, its six cells in two.
TOGETHER = ("--groups", "load=data", "sample=data", "align=cells")
TOGETHER += ("--group-components", "cells=3", "--cores", "1")
# Of one method the guard lets pass more than its job asks for, so that SLURM is the first to look.
MORE = "9000 if wildcards.method == 'outgrows' else 700"
UNGUARDED = ("--set-resources", f"align:memory_mb_per_trial={MORE}", "align:asked_mb=0")
pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(
        # .ci/run has seen to both, and must not take a missing program for a success.
        "CI" not in os.environ and (shutil.which("slurmctld") is None or os.geteuid() != 0),
        reason="needs root and Debian's packages slurm-wlm and munge",
    ),
]


@pytest.fixture(scope="module", autouse=True)
def cluster(tmp_path_factory):
    """Folder of a cluster that is at work."""
    folder = tmp_path_factory.mktemp("slurm")
    line = [HERE / "start.sh", folder]
    # Not through a pipe: the daemons would hold it open.
    with open(folder / "started", "w") as log:
        started = subprocess.run(line, stdout=log, stderr=log, timeout=300)
    if started.returncode == 3:
        pytest.skip("a SLURM is configured on this machine")
    try:
        assert started.returncode == 0, (folder / "started").read_text()
        with asked_alone(folder):
            yield folder
    finally:
        subprocess.run([HERE / "stop.sh", folder], check=True, timeout=300)


def prepare(project):
    """The quickstart, what goes wrong and a timing, what waits; with jobs that fit the nodes."""
    timing = {"tasks": ["full-half"], "methods": ["fma_i"], "repeats": 1}
    methods = ["fma_i", "raises", "eats_memory", "outgrows", "waits", "late"]
    make_tiny(project, methods=methods, timing=timing)
    nodes = TINY | {"title": "Nodes", "methods": ["fma_i", "waits"]}
    write(project / "config/experiments/nodes.yaml", nodes)
    # Of the quickstart one task of five: each of its cells costs the start of Snakemake on a node.
    edit(
        project,
        "experiments/quickstart",
        lambda content: {**content, "tasks": content["tasks"][:1]},
    )
    edit(project, "config", lambda content: content["limits"].update(memory_mb=1000))
    return project


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """A run on this machine alone, which has begun."""
    project = prepare(copy_project(tmp_path_factory.mktemp("local") / "project"))
    (project / "waits.go").touch()
    (project / "late.go").touch()
    with Run(project, RECORDS, QUICKSTART, "--cores", "2", *UNGUARDED) as run:
        yield run
    end_jobs(project)


@pytest.fixture(scope="module")
def sent(tmp_path_factory):
    """A project whose jobs are sent to the cluster; nothing has run."""
    return prepare(copy_project(tmp_path_factory.mktemp("sent") / "project"))


def align_jobs(folder, method, state=""):
    found = [job for job in jobs(folder, f"_{method}_") if job.comment.startswith("rule_align")]
    return [job for job in found if state in job.state]


def statuses(project, records=RECORDS):
    return pd.read_csv(project / records).groupby("method")["status"].agg(set).to_dict()


def written(project):
    """When each file of trials, records and tables was written last."""
    endings = (".npz", ".jsonl", ".csv")
    files = [path for path in project.glob("results/**/*") if path.suffix in endings]
    return {path: path.stat().st_mtime_ns for path in files}


def make_it_go_wrong(run, cluster):
    """One job over its time, another cancelled whenever it is at work."""
    folder = run.folder
    (late,) = run.until("`late` at work", lambda: align_jobs(folder, "late", "RUNNING"))
    # The scratch of a job is on its node.
    scratch = cluster / "scratch" / late.node / late.number
    run.until("scratch in use", lambda: list(scratch.rglob("spec.json")))
    ask("scontrol", "update", f"jobid={late.number}", "timelimit=1")
    cancelled = []

    def waiting():
        found = align_jobs(folder, "waits", "RUNNING")
        return [job for job in found if job.number not in cancelled]

    for attempt in range(ATTEMPTS):
        (job,) = run.until(f"attempt {attempt + 1} of `waits` at work", waiting)
        cancelled.append(job.number)
        ask("scancel", job.number)
    run.until("`late` over its time", lambda: align_jobs(folder, "late", "TIMEOUT"))
    (folder / "late.go").touch()


def test_what_goes_wrong_is_a_record_or_a_retry_and_the_rest_is_as_on_one_machine(
    cluster, local, sent
):
    """A job over its memory or its time, or cancelled, is tried again and at last recorded as lost.

    What a trial does wrong is a record at once; all records are those of one machine.
    """
    with Run(sent, RECORDS, TIMING, *PROFILE, *UNGUARDED) as run:
        make_it_go_wrong(run, cluster)
        local.wait()
        run.wait()

    assert statuses(sent) == {
        "fma_i": {"ok"},
        "raises": {"error"},
        "eats_memory": {"memory"},
        "outgrows": {"ok"},
        "waits": {"lost"},
        "late": {"ok"},
    }
    assert '"status": "ok"' in (sent / TIMING).read_text()
    check_what_was_asked(sent)
    check_memory(cluster, sent)

    before = written(sent)
    (sent / "waits.go").touch()
    snakemake(sent, RECORDS)
    made_again = {path.name for path, when in written(sent).items() if before.get(path) != when}
    aligned = {name for name in made_again if name.endswith(".align.jsonl")}
    assert aligned == {"waits.000-001.align.jsonl"}
    tables = [pd.read_csv(folder / RECORDS) for folder in (local.folder, sent)]
    assert differences(*tables) == []


def check_what_was_asked(project):
    """Cores, memory and time of the jobs; who shares its node."""
    found = {job.comment.partition("_wildcards")[0]: job for job in jobs(project)}
    assert {name: job.asked for name, job in found.items() if name != "rule_align"} == {
        "rule_load": ("1", "4700M", "30:00"),
        "rule_sample": ("1", "1800M", "10:00"),
        "rule_evaluate": ("1", "2000M", "10:00"),
        "rule_time_alone": ("1", "2000M", "20:00"),
    }
    # Each attempt has more room than the last, and time for more trials at their limit.
    asked = [job.asked for job in align_jobs(project, "waits")]
    more = [("2000M", "22:00"), ("3000M", "25:00"), ("4000M", "30:00"), ("5000M", "30:00")]
    assert asked == [("1", *words) for words in more]
    # "NO": nothing else may run on the node meanwhile.
    shares = {("time_alone" in job.comment, job.shares) for job in jobs(project)}
    assert shares == {(True, "NO"), (False, "OK")}


def check_memory(cluster, project):
    """SLURM has ended the first attempt over its memory; the second had enough."""
    tried = align_jobs(project, "outgrows")
    assert [job.state for job in tried] == ["FAILED", "COMPLETED"]
    assert [job.asked[1] for job in tried] == ["2000M", "3000M"]
    log = (cluster / f"log/slurmd.{tried[0].node}.log").read_text()
    assert f"StepId={tried[0].number}.0 exceeded memory limit" in log


def test_the_quickstart_in_few_jobs_is_as_on_one_machine(local, sent):
    """Cells that share a job give the records of one machine; an edited method runs alone."""
    before = {job.number for job in jobs(sent)}
    with Run(sent, QUICKSTART, *PROFILE, *TOGETHER) as run:
        run.wait()
    tables = [pd.read_csv(folder / QUICKSTART) for folder in (local.folder, sent)]
    assert differences(*tables) == []
    found = [job for job in jobs(sent) if job.number not in before]
    cells = [job.asked for job in found if "cells_align" in job.comment]
    # One after the other: the memory of the largest, the time of all.
    assert cells == 2 * [("1", "2000M", "2:06:00")]

    # Each cell has files of its own: an edited method is computed again alone.
    changed = {"fma_i": {"n_neighbors": 5, "alpha": 0.5, "n_components": 20}}
    edit(sent, "experiments/quickstart", lambda content: content["overrides"].update(changed))
    assert job_count(snakemake(sent, QUICKSTART, "--dry-run"), "align") == 1


def test_nodes_that_go_and_a_killed_run_lose_nothing_and_repeat_nothing(local):
    """A drained node takes no new job; jobs of one that is down, and of a killed run, run again."""
    local.wait()
    project, records = local.folder, pd.read_csv(local.folder / RECORDS)
    (project / "waits.go").unlink()

    def waiting():
        return align_jobs(project, "waits", "RUNNING")

    with Run(project, NODES, *PROFILE) as run:
        (first,) = run.until("`waits` at work", waiting)
        (other,) = {"one", "two"} - {first.node}
        # A node that is drained ends what it is at; new jobs go to the other one.
        set_node(first.node, "drain")
        assert ask("srun", "printenv", "SLURMD_NODENAME").strip() == other
        run.until("`fma_i` done", lambda: align_jobs(project, "fma_i", "COMPLETED"))
        assert waiting() == [first]
        set_node(first.node, "resume")
        # What was at work on a node that is down is begun again by SLURM itself.
        set_node(first.node, "down")
        (again,) = run.until(
            f"`waits` on node {other}", lambda: [job for job in waiting() if job.node == other]
        )
        assert again.number == first.number
        run.kill()
    before = written(project)
    (project / "waits.go").touch()
    with Run(project, module="workflow.lib.execution.resume") as run:
        printed = run.wait()
    assert "Cancelling 1 jobs that the killed run left in the queue" in printed
    assert [job.state for job in align_jobs(project, "waits")] == ["CANCELLED", "COMPLETED"]
    assert len(align_jobs(project, "fma_i")) == 1
    after = written(project)
    assert {path for path in before if after.get(path, before[path]) != before[path]} == set()
    made = records[records["method"].isin(["fma_i", "waits"])].assign(experiment="nodes")
    assert differences(made, pd.read_csv(project / NODES)) == []
