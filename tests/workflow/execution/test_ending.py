import inspect
import os
import signal
import threading

import pytest
from snakemake.scheduling.job_scheduler import JobScheduler

from workflow.lib.execution.ending import end_from_a_thread


class Scheduler:
    """As Snakemake's: a lock that a thread cannot take twice."""

    def __init__(self):
        self.lock, self.ended = threading.Lock(), threading.Event()

    def exit_gracefully(self, *_):
        with self.lock:
            self.ended.set()


@pytest.fixture
def handled():
    before = signal.getsignal(signal.SIGTERM)
    yield lambda handler: signal.signal(signal.SIGTERM, handler)
    signal.signal(signal.SIGTERM, before)


def test_the_end_waits_for_the_lock_of_the_thread_that_was_interrupted(handled):
    scheduler = Scheduler()
    handled(scheduler.exit_gracefully)
    end_from_a_thread(scheduler.exit_gracefully)
    with scheduler.lock:
        os.kill(os.getpid(), signal.SIGTERM)  # handled here, while the lock is held
        assert not scheduler.ended.wait(0.2)
    assert scheduler.ended.wait(10)


def test_another_handler_stays(handled):
    handled(signal.SIG_IGN)
    end_from_a_thread(Scheduler().exit_gracefully)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN


def test_snakemake_still_needs_it():
    """Its handler takes the lock under which it selects jobs."""
    assert "with self._lock" in inspect.getsource(JobScheduler.exit_gracefully)
    assert "with self._lock" in inspect.getsource(JobScheduler.job_selector)
