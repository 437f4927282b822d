"""Readers of a run's output that die: what becomes of the run.

Without `logs.outlive_readers` Snakemake (9.27) hangs on the semaphore of its scheduler: a job that
fails is printed in the thread that waited for it, the pipe is broken, and the thread ends before
it wakes up the scheduler.
"""

import contextlib
import os
import random
import time

import pandas as pd
import psutil
import pytest

from tests.faults.processes import script_of, wait_for
from tests.faults.tiny_runs import BOUND, resumed, start, wait_for_the_rules
from tests.workflow.test_whole_runs import records


def read(project, streams="both"):
    """A run, and the end of the pipe that takes its output: both its streams, or stderr alone."""
    reader, writer = os.pipe()
    streams = {"both": {"stdout": writer}, "stderr": {}}[streams]
    run = start(project, stderr=writer, **streams)
    os.close(writer)
    return run, reader


def script_of_a_job(run):
    """The process of a script that Snakemake waits for, held where it is, once there is one."""
    for process in psutil.Process(run.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error, IndexError):
            if script_of(process):
                process.suspend()
                return process
    return None


@pytest.mark.slow
def test_dies_before_a_job_fails(project, whole):
    """The run ends as failed when its job is killed, and `make resume` gives equal records."""
    run, reader = read(project)
    script = wait_for(lambda: script_of_a_job(run), BOUND)
    time.sleep(0.5)  # Snakemake has said all that it says before the job ends
    os.close(reader)
    script.kill()
    assert run.wait(BOUND) == 1
    pd.testing.assert_frame_equal(resumed(project), whole)


@pytest.mark.slow
@pytest.mark.parametrize("streams", ["both", "stderr"])
@pytest.mark.parametrize("seed", range(3))
def test_dies_at_a_random_moment(project, whole, streams, seed):
    """A run whose output nobody reads any more goes on to its end, with equal records."""
    run, reader = read(project, streams)
    wait_for_the_rules(project, run)
    time.sleep(random.Random(seed).uniform(0, 8))
    os.close(reader)
    assert run.wait(BOUND) == 0
    pd.testing.assert_frame_equal(records(project), whole)
