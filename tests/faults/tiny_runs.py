"""The tiny experiment as the matrix runs it: to be cut off at some moment, and resumed."""

import subprocess
import sys

from tests.faults.processes import wait_for
from tests.workflow.test_whole_runs import RECORDS, environment, records

BLOCKS = ("--config", "trials_per_job=2")
BOUND = 1500  # seconds; a run takes ten on a quiet machine, and minutes on a busy one


def start(project, *more, **options):
    """A run of the tiny experiment, not waited for; what it prints goes nowhere by default."""
    line = [sys.executable, "-m", "snakemake", "--cores", "2", RECORDS, *BLOCKS, *more]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(line, cwd=project, **({"env": environment()} | silent | options))


def wait_for_the_rules(project, run):
    """Until the rules are being read; what dies before that leaves nothing begun."""
    starting = project / ".snakemake/starting"
    wait_for(lambda: run.poll() is not None or list(starting.glob("*.json")), BOUND)


def resumed(project, *more, **variables):
    """Records after `make resume`."""
    line = [sys.executable, "-m", "workflow.lib.execution.resume", *more]
    env = environment(**variables)
    run = subprocess.run(line, cwd=project, env=env, capture_output=True, timeout=BOUND)
    assert run.returncode == 0, run.stdout.decode() + run.stderr.decode()
    return records(project)
