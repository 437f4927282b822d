"""Ctrl-C."""

import os
import signal
import time

import pandas as pd
import pytest

from tests.faults.processes import wait_for
from tests.faults.tiny_runs import BOUND, resumed, start


def hears_interrupts():
    """What a shell starts in the background ignores them, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(project, first):
    """A run to which Ctrl-C is sent while it aligns: by `first`, which may tell all or some."""
    run = start(project, start_new_session=True, preexec_fn=hears_interrupts)
    wait_for(lambda: list(project.glob("logs/align/tiny/*/slow.*.log")), BOUND)
    time.sleep(1)
    first(run.pid, signal.SIGINT)
    return run


@pytest.mark.slow
def test_everybody_hears_it(project, whole):
    """The run ends at once, and `make resume` gives equal records."""
    run = interrupted(project, os.killpg)
    assert run.wait(BOUND) != 0
    pd.testing.assert_frame_equal(resumed(project), whole)


@pytest.mark.slow
def test_snakemake_alone_hears_it_and_waits_until_a_second_one(project, whole):
    """The run waits for the job, or ends it at a second Ctrl-C; then `make resume` gives equal
    records."""
    run = interrupted(project, os.kill)
    time.sleep(1)
    os.killpg(run.pid, signal.SIGINT)
    assert run.wait(BOUND) != 0
    pd.testing.assert_frame_equal(resumed(project), whole)
