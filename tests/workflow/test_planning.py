"""What Snakemake finds out about rules and not about jobs, it finds out once."""

import json
import subprocess
import sys

import pytest

from tests.workflow.conftest import ROOT
from tests.workflow.test_whole_runs import environment

pytestmark = pytest.mark.whole_run
TASKS = ("full-scanner", "scanner-full", "full-half", "full+scanner-half", "swiss_roll-s_curve")
# Runs Snakemake's command line and says at its end how often it has asked what.
COUNTING = """
import atexit, inspect, json, sys
from snakemake import cli, script

asked = {"functions": 0, "scripts": 0}

def counted(name, function):
    def ask(*words, **more):
        asked[name] += 1
        return function(*words, **more)
    return ask

inspect.signature = counted("functions", inspect.signature)
script.get_source = counted("scripts", script.get_source)
atexit.register(lambda: print(json.dumps(asked), file=sys.stderr))
cli.main()
"""


def plan(folder, tasks):
    """How many jobs a plan has, and what was asked for it how often."""
    targets = [f"results/quickstart/{task}/records.jsonl" for task in tasks]
    line = [sys.executable, "-c", COUNTING, "--snakefile", str(ROOT / "Snakefile")]
    line += ["--dry-run", "--", *targets]
    done = subprocess.run(line, cwd=folder, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.count("\nrule "), json.loads(done.stderr.splitlines()[-1])


def test_more_jobs_of_a_rule_cost_no_more_looks_at_its_functions_and_its_script(tmp_path):
    plan(tmp_path, TASKS[:1])  # which notes what it finds out about the configuration
    few, asked = plan(tmp_path, TASKS[:1])
    many, asked_by_many = plan(tmp_path, TASKS)
    assert many > few + 20
    assert asked_by_many == asked
    assert asked["scripts"] == 4  # of load, sample, align, evaluate
