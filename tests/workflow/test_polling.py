"""How often SLURM is asked: the pauses that its plugin would make, and those that it makes here."""

import inspect
from types import SimpleNamespace

import pytest
import yaml
from snakemake_executor_plugin_slurm import Executor
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

from tests.workflow.conftest import ROOT

RULES = ROOT / "workflow/rules/polling.smk"  # Python, without a rule
PAUSE = "next_seconds_between_status_checks"
PROFILE = yaml.safe_load((ROOT / "workflow/profiles/slurm/config.yaml").read_text("utf-8"))


@pytest.fixture
def executor(monkeypatch):
    """Function that gives the plugin's executor with two settings, where the rules are read."""
    monkeypatch.setattr(RemoteExecutor, PAUSE, vars(RemoteExecutor)[PAUSE])  # as it was, afterwards
    exec(compile(RULES.read_text(encoding="utf-8"), RULES, "exec"), {})

    def made(between, first):
        one = Executor.__new__(Executor)
        one._next_seconds_between_status_checks = None
        one.workflow = SimpleNamespace(
            remote_execution_settings=SimpleNamespace(seconds_between_status_checks=between),
            executor_settings=SimpleNamespace(init_seconds_before_status_checks=first),
        )
        return one

    return made


def looks(executor, first, n_looks):
    """Seconds after which the plugin looks, as long as nothing ends."""
    executor.next_seconds_between_status_checks = first
    found = [executor.next_seconds_between_status_checks]
    for _ in range(n_looks - 1):
        longer = min(executor.next_seconds_between_status_checks + 10, 180)
        executor.next_seconds_between_status_checks = longer
        found.append(executor.next_seconds_between_status_checks)
    return found


def test_the_plugin_looks_less_and_less_often():
    """What `looks` repeats: three lines of version 2.8."""
    words = " ".join(inspect.getsource(Executor.check_active_jobs).split())
    assert "if not any_finished: self.next_seconds_between_status_checks = min( " in words
    assert "self.next_seconds_between_status_checks + 10, max_sleep_time, )" in words
    assert "max_sleep_time = 180" in words


@pytest.mark.parametrize(
    ("between", "first", "expected"),
    [(10, 10, [10, 10, 10, 10]), (30, 10, [10, 20, 30, 30]), (10, 40, [40, 40, 40, 40])],
)
def test_it_looks_no_less_often_than_the_settings_say(executor, between, first, expected):
    assert looks(executor(between, first), first, 4) == expected


def test_the_end_of_a_stage_is_seen_within_seconds(executor):
    first = PROFILE["slurm-init-seconds-before-status-checks"]
    asked = executor(PROFILE["seconds-between-status-checks"], first)
    assert max(looks(asked, first, 100)) <= 10
