import inspect
import os
import signal
import threading

import pytest
from snakemake.logging import ColorizingTextHandler
from snakemake.scheduling.job_scheduler import JobScheduler

from workflow.lib.execution import forkserver
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
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield lambda handler: signal.signal(signal.SIGTERM, handler)
    for number, handler in before.items():
        signal.signal(number, handler)


def test_the_end_waits_for_the_lock_of_the_thread_that_was_interrupted(handled):
    scheduler = Scheduler()
    handled(scheduler.exit_gracefully)
    end_from_a_thread(scheduler.exit_gracefully)
    with scheduler.lock:
        os.kill(os.getpid(), signal.SIGTERM)  # handled here, while the lock is held
        assert not scheduler.ended.wait(0.2)
    assert scheduler.ended.wait(10)


def test_an_interrupt_that_somebody_swallows_asks_for_the_end_all_the_same(handled, monkeypatch):
    monkeypatch.setattr(forkserver, "_interrupted", False)
    scheduler = Scheduler()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end_from_a_thread(scheduler.exit_gracefully)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert scheduler.ended.wait(10)
    assert forkserver._interrupted


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_another_handler_stays(handled, number):
    signal.signal(number, signal.SIG_IGN)
    end_from_a_thread(Scheduler().exit_gracefully)
    assert signal.getsignal(number) == signal.SIG_IGN


def test_snakemake_still_needs_it():
    """Its handler takes the lock under which it selects jobs; its log swallows interrupts."""
    assert "with self._lock" in inspect.getsource(JobScheduler.exit_gracefully)
    assert "with self._lock" in inspect.getsource(JobScheduler.job_selector)
    lines = inspect.getsource(ColorizingTextHandler.emit).splitlines()
    swallowed = next(i for i, line in enumerate(lines) if "except (KeyboardInterrupt" in line)
    assert lines[swallowed + 1].split()[0] == "pass"
