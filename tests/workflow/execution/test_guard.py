import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from workflow.lib.execution import forkserver
from workflow.lib.execution.guard import BlockFailed, Limits, Outgrown, run_block

JOB = "tests.workflow.guarded_job"


@pytest.fixture(scope="module")
def address():
    """Where a fork server listens that was started for these tests."""
    kept = dict(os.environ)
    process = forkserver.start()
    address = os.environ[forkserver.ADDRESS]
    os.environ.clear()
    os.environ.update(kept)
    yield address
    idle = sum(psutil.Process(process.pid).cpu_times()[:2])
    time.sleep(1)
    assert sum(psutil.Process(process.pid).cpu_times()[:2]) - idle < 0.1
    process.stdin.close()
    process.wait(20)


@pytest.fixture(autouse=True, params=["forked by a fork server", "a process of its own"])
def origin(request, monkeypatch, address):
    """Every test runs with both kinds of child."""
    if request.param == "a process of its own":
        monkeypatch.delenv(forkserver.ADDRESS, raising=False)
    else:
        wait_for(lambda: f"@{address}" in Path("/proc/net/unix").read_text())
        monkeypatch.setenv(forkserver.ADDRESS, address)
    return request.param


def run(tmp_path, kinds, trials=None, seconds=30, memory_mb=2000, lost=3, threads=1, **block):
    limits = Limits(seconds, memory_mb, lost, threads, block.pop("asked_mb", 0))
    answered = block.pop("answered", ())
    block = {"trials": kinds, **block}
    trials = range(len(kinds)) if trials is None else trials
    return list(run_block(JOB, block, trials, limits, tmp_path, answered))


def statuses(outcomes):
    return [outcome.status for outcome in outcomes]


def test_trials_share_one_process_and_leave_their_arrays(tmp_path):
    outcomes = run(tmp_path, ["fine", "chatter", "fine"])
    assert statuses(outcomes) == ["ok"] * 3
    assert len({outcome.records[0]["pid"] for outcome in outcomes}) == 1
    for trial in range(3):
        assert np.load(tmp_path / f"{trial}.npz")["square"] == trial**2


def test_only_the_asked_trials_run(tmp_path):
    outcomes = run(tmp_path, ["raise", "fine", "fine", "raise"], trials=[1, 2])
    assert [(outcome.trial, outcome.status) for outcome in outcomes] == [(1, "ok"), (2, "ok")]


def test_a_trial_that_raises_is_a_record_and_the_process_goes_on(tmp_path):
    outcomes = run(tmp_path, ["fine", "raise", "fine"])
    assert statuses(outcomes) == ["ok", "error", "ok"]
    assert outcomes[1].error == "ValueError: bad trial"
    assert outcomes[0].records[0]["pid"] == outcomes[2].records[0]["pid"]


def test_a_trial_that_hangs_is_stopped_and_the_others_go_on(tmp_path):
    started = time.monotonic()
    outcomes = run(tmp_path, ["fine", "hang", "fine"], seconds=1)
    assert statuses(outcomes) == ["ok", "timeout", "ok"]
    assert "limit of 1 s per trial" in outcomes[1].error
    assert 1 <= outcomes[1].seconds < 3
    assert time.monotonic() - started < 30


@pytest.mark.whole_run
@pytest.mark.parametrize("kind", ["eat", "eat in a child"])
def test_a_trial_that_eats_memory_is_stopped(tmp_path, kind):
    outcomes = run(tmp_path, [kind, "fine"], memory_mb=500)
    assert statuses(outcomes) == ["memory", "ok"]
    assert "limit of 500 MB of resident memory" in outcomes[0].error
    assert outcomes[0].peak_mb > 500


@pytest.mark.whole_run
def test_memory_of_a_trial_is_its_own(tmp_path):
    """Not the most that one of the same process has taken before it."""
    plain, much, after = run(tmp_path, ["fine", "borrow", "fine"])
    assert much.peak_mb > plain.peak_mb + 150
    assert after.peak_mb < plain.peak_mb + 50


@pytest.mark.parametrize("kind", ["eat", "eat in a child"])
def test_what_outgrows_a_guess_has_no_outcome(tmp_path, kind):
    told = "trial 0: takes more than the 400 MB that earlier records made its job ask for"
    with pytest.raises(Outgrown, match=told):
        run(tmp_path, [kind, "fine"], memory_mb=1e6, asked_mb=400)
    assert statuses(run(tmp_path, ["fine"], asked_mb=400)) == ["ok"]


def test_a_trial_that_is_killed_in_an_attempt_that_is_not_the_last_has_no_outcome(tmp_path):
    with pytest.raises(Outgrown, match="trial 1: the process was ended by SIGSEGV"):
        run(tmp_path, ["fine", "die"], memory_mb=2000, asked_mb=2000)


def test_the_limit_decides_what_took_too_much_memory_in_every_attempt(tmp_path):
    outcomes = run(tmp_path, ["eat"], memory_mb=500, asked_mb=500)
    assert statuses(outcomes) == ["memory"]
    assert "limit of 500 MB of resident memory" in outcomes[0].error


@pytest.mark.parametrize(
    ("kind", "death"), [("die", "ended by SIGSEGV"), ("exit", "ended with code 3")]
)
def test_a_trial_that_brings_the_process_down_is_a_record(tmp_path, kind, death):
    outcomes = run(tmp_path, [kind, "fine"])
    assert statuses(outcomes) == ["killed", "ok"]
    assert death in outcomes[0].error


@pytest.mark.whole_run
def test_after_several_losses_in_a_row_the_rest_is_not_run(tmp_path):
    outcomes = run(tmp_path, ["fine", "exit", "exit", "fine", "fine"], lost=2)
    assert statuses(outcomes) == ["ok", "killed", "killed", "killed", "killed"]
    assert outcomes[-1].error.startswith("not run: the 2 trials before it were lost (killed)")
    outcomes = run(tmp_path, ["exit", "fine", "exit", "fine"], lost=2)
    assert statuses(outcomes) == ["killed", "ok", "killed", "ok"]


@pytest.mark.whole_run
def test_losses_around_an_answer_of_an_earlier_attempt_are_not_in_a_row(tmp_path):
    """What a block gives up does not hang on where it was interrupted."""
    kinds = ["exit", "fine", "exit", "fine", "fine"]
    assert statuses(run(tmp_path, kinds, lost=2)) == ["killed", "ok", "killed", "ok", "ok"]
    resumed = run(tmp_path, kinds, trials=[0, 2, 3, 4], lost=2, answered=[1])
    assert statuses(resumed) == ["killed", "killed", "ok", "ok"]


def test_a_block_that_cannot_start_fails_with_the_reason(tmp_path):
    with pytest.raises(BlockFailed, match="RuntimeError: an input is damaged"):
        run(tmp_path, ["fine"], setup="an input is damaged")


def test_a_method_refuses_what_the_job_may_not_take_though_the_machine_has_it(tmp_path):
    (outcome,) = run(tmp_path, ["ask for all pairs"], memory_mb=500)
    assert outcome.status == "error"
    assert "takes 763 MiB, and this job may take 500 MiB" in outcome.error
    (outcome,) = run(tmp_path, ["ask for all pairs"], memory_mb=1000)
    assert outcome.status == "ok"


@pytest.mark.parametrize("threads", [1, 2])
def test_blas_and_numba_use_the_cores_that_the_job_was_given(tmp_path, monkeypatch, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # as the fork server has it, and every node
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    (outcome,) = run(tmp_path, ["count threads"], threads=threads)
    assert outcome.records == [{"blas": [threads], "numba": threads}]


def test_a_fork_servers_children_need_no_import_of_their_own(tmp_path, origin):
    (outcome,) = run(tmp_path, ["fine"])
    assert outcome.records[0]["warm"] == (origin == "forked by a fork server")


def test_the_child_ends_with_its_guard(tmp_path):
    note = tmp_path / "pid"
    script = (
        "import pathlib, sys; from workflow.lib.execution.guard import Limits, run_block\n"
        f"block = {{'trials': ['say who', {str(note)!r}]}}\n"
        f"list(run_block({JOB!r}, block, [0], Limits(60, 2000), pathlib.Path(sys.argv[1])))"
    )
    guard = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    wait_for(lambda: note.exists() and note.read_text())
    child = psutil.Process(int(note.read_text()))
    guard.kill()
    guard.wait()
    assert wait_for(lambda: not is_alive(child))


def is_alive(process):
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return result


@pytest.mark.whole_run
def test_the_parent_does_not_import_heavy_libraries():
    code = (
        "import sys, workflow.lib.execution.guard; print({'sklearn', 'pandas'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "set()\n", result.stderr
