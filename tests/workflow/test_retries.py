"""A failed job of a cluster is tried again, also where data come while it waits."""

import subprocess
import sys

import pytest

from tests.workflow.conftest import ROOT
from tests.workflow.test_whole_runs import environment

RULES = ROOT / "workflow/rules/retries.smk"  # Python, without a rule
# One job of two is sent at a time: `fails`, then `long`, which is ready meanwhile and goes first.
# So `fails` waits for its second attempt when the data come.
SNAKEFILE = """
{include}

localrules: all, data, gate

def what_data_say(wildcards):
    checkpoints.data.get()
    return "of_data.txt"

rule all:
    input: "fails.txt", "long.txt", what_data_say

checkpoint data:
    output: "data.txt"
    shell: "until [ -e long.begun ]; do sleep 0.1; done; touch {{output}}"

rule of_data:
    output: "of_data.txt"
    shell: "touch {{output}}"

rule fails:
    output: "fails.txt"
    resources: slot=1
    shell:
        "until [ -e gate.txt ]; do sleep 0.1; done; sleep 1; "
        "mkdir tried || touch {{output}}; test -e {{output}}"

rule gate:
    output: "gate.txt"
    shell: "sleep 3; touch {{output}}"

rule long:
    input: "gate.txt"
    output: "long.txt"
    priority: 9
    resources: slot=1
    shell: "touch long.begun; sleep 5; touch {{output}}"
"""
SUBMIT = "#!/bin/sh\nsh $1 >>jobs.log 2>&1 &\necho 1\n"


def run(folder, include=f'include: "{RULES}"'):
    (folder / "Snakefile").write_text(SNAKEFILE.format(include=include))
    script = folder / "submit.sh"
    script.write_text(SUBMIT)
    script.chmod(0o755)
    line = [sys.executable, "-m", "snakemake", "--executor", "cluster-generic", "--jobs", "9"]
    line += ["--cluster-generic-submit-cmd", str(script), "--seconds-between-status-checks", "1"]
    line += ["--local-cores", "3", "--resources", "slot=1", "--retries", "2", "--keep-going"]
    return subprocess.run(
        line, cwd=folder, env=environment(), capture_output=True, text=True, timeout=100
    )


@pytest.mark.whole_run
def test_a_job_that_waits_to_be_tried_again_is_not_forgotten(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    told = ["Trying to restart job", "Updating checkpoint dependencies", "rule fails:"]
    places = [done.stderr.rindex(words) for words in told]
    assert places == sorted(places)
    assert {"fails.txt", "long.txt", "of_data.txt"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.whole_run
def test_snakemake_alone_forgets_it(tmp_path):
    """If this fails, ``retries.smk`` is no longer needed."""
    done = run(tmp_path, include="")
    assert done.returncode == 0
    assert not (tmp_path / "fails.txt").exists()


@pytest.mark.parametrize("name", ["grouping", "retries"])
def test_rules_may_be_read_more_than_once(name):
    """By two runs of one process, or two modules."""
    read = f"exec(open({str(ROOT / f'workflow/rules/{name}.smk')!r}).read(), {{}})"
    ways = "DAG.update_groups, DAG.update_needrun"
    lines = ["import snakemake.cli", "from snakemake.dag import DAG", f"own = {ways}"]
    lines += [read, f"first = {ways}", read, f"assert own != first == ({ways})"]
    # In a process of its own: it changes Snakemake.
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, timeout=100)
