"""How Snakemake chooses what to start next, and when it looks."""

import inspect
import subprocess
import sys

import pytest
from snakemake.scheduling.job_scheduler import JobScheduler

from tests.workflow.conftest import ROOT
from tests.workflow.test_whole_runs import environment

# Runs Snakemake's command line and says at its end how many linear programmes were solved.
COUNTING = """
import atexit, sys
from snakemake import cli
from snakemake.scheduling import milp

solved, solve = [], milp.Scheduler._solve_ilp

def count(*words, **more):
    solved.append(1)
    return solve(*words, **more)

milp.Scheduler._solve_ilp = count
atexit.register(lambda: print(len(solved), file=sys.stderr))
cli.main()
"""


def test_without_a_limiter_no_chain_of_looks_begins():
    """The Snakefile sets `job_rate_limiter` to None on one machine."""
    lines = [line.strip() for line in inspect.getsource(JobScheduler.schedule).splitlines()]
    begun = lines.index("self._schedule_reevalutation(self.job_rate_limiter.timespan)")
    asked = [line for line in lines[:begun] if line and not line.startswith("#")][-1]
    assert asked == "if self.job_rate_limiter is not None:"


def programmes(folder, *options):
    """How many linear programmes chose among the jobs that sample two tasks."""
    tasks = "full-scanner", "full-half"
    targets = [f"results/quickstart/{task}/trials.npz" for task in tasks]
    line = [sys.executable, "-c", COUNTING, "--snakefile", str(ROOT / "Snakefile")]
    line += ["--cores", "2", *options, "--", *targets]
    done = subprocess.run(line, cwd=folder, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stderr.splitlines()[-1])


@pytest.mark.whole_run
def test_jobs_are_chosen_greedily_without_a_profile_too(tmp_path):
    assert programmes(tmp_path, "--scheduler-subsample", "200") == 0
    assert programmes(tmp_path, "--forceall", "--scheduler", "ilp") > 0
