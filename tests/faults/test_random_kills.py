"""Fifty runs, in each of which one process is killed with -9: any of them, at any moment; and ten
that send their cells to a cluster, several in a job, of which the main process is killed.
"""

import contextlib
import random
import shutil
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest

from tests.cluster.options import options, variables
from tests.faults.processes import script_of, wait_for
from tests.faults.tiny_runs import BOUND, resumed, start, wait_for_the_rules
from tests.workflow.test_whole_runs import environment, records

LONGEST = 15  # seconds from the reading of the rules to the end of a run, and some more
GUARDS = ("align", "load", "sample")
BATCHES = ("--groups", "align=cells", "--group-components", "cells=2")


def role_of(process, main):
    """What a process of a run is, or None for those that are not the project's."""
    try:
        words = " ".join(process.cmdline())
        if process.pid == main:
            return "snakemake"
        if script := script_of(process):
            return "guard" if script in GUARDS else "script"
        if "execution.forkserver" in words:
            above = [parent.pid for parent in process.parents()]
            depth = above.index(main)
            return ("fork server", "supervisor", "deputy", "worker")[min(depth, 3)]
        if "execution.worker" in words:
            below = len(process.children(recursive=True))
            return ("worker", "deputy", "supervisor")[min(below, 2)]
    except (psutil.Error, ValueError, IndexError):
        return None
    return None


def processes_by_role(run):
    try:
        family = [psutil.Process(run.pid)]
        family += family[0].children(recursive=True)
    except psutil.NoSuchProcess:
        return {}
    found = {}
    for process in family:
        if process.is_running() and (role := role_of(process, run.pid)):
            found.setdefault(role, []).append(process)
    return found


def kill_one(run, rng):
    """Kill a random process of a random role; return the role, or None if the run was over."""
    if run.poll() is not None or not (found := processes_by_role(run)):
        return None
    role = rng.choice(sorted(found))
    try:
        rng.choice(found[role]).kill()
    except psutil.NoSuchProcess:
        return None
    return role


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(50))
def test_killed_at_a_random_moment(project, whole, seed, record_property):
    """After `make resume` all records equal those of an undisturbed run; a trial whose own worker
    was killed is the one exception, and its record says so."""
    rng = random.Random(seed)
    run = start(project)
    wait_for_the_rules(project, run)
    time.sleep(rng.uniform(0, LONGEST))
    victim = kill_one(run, rng)
    record_property("case", f"{victim} killed" if victim else "the run was over")
    run.wait(BOUND)
    found = resumed(project)
    lost = found["status"] == "killed"
    assert lost.sum() <= (victim in ("worker", "deputy", "supervisor"))
    assert found.loc[lost, "error"].astype(str).str.contains("killed|signal").all()
    # As texts, because a column of errors is one of numbers where there are none.
    pd.testing.assert_frame_equal(found[~lost].astype(str), whole[~lost].astype(str))


def start_batched(project, spool):
    """The four cells of the tiny experiment as two jobs of a cluster."""
    spool.mkdir()
    env = environment(**variables(spool))
    return start(project, *options(project), *BATCHES, env=env)


@pytest.fixture(scope="module")
def seconds_batched(untouched, whole):
    """Seconds from the reading of the rules to the end of such a run that nobody disturbs."""
    project = shutil.copytree(untouched, untouched.with_name("batched"))
    spool = untouched.with_name("spool")
    run = start_batched(project, spool)
    wait_for_the_rules(project, run)
    since = time.monotonic()
    assert run.wait(BOUND) == 0
    cells = [log.read_text().count("rule align:") for log in spool.glob("*/log")]
    assert sorted(filter(None, cells)) == [2, 2]
    pd.testing.assert_frame_equal(records(project), whole)
    return time.monotonic() - since


def cancel(project, spool):
    """End the jobs that a killed run has left, as their cluster ends them."""

    def at_work():
        found = [process for process in psutil.process_iter() if is_of(process, project, spool)]
        for process in found:
            with contextlib.suppress(psutil.Error):
                process.kill()
        return found

    wait_for(lambda: not at_work())


def is_of(process, *folders):
    try:
        place = Path(process.cwd())
    except (psutil.Error, OSError):
        return False
    return any(place.is_relative_to(folder) for folder in folders)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(10))
def test_a_batched_run_is_killed(project, whole, seconds_batched, seed, tmp_path, record_property):
    """Once its jobs are cancelled and `make resume` has run, all records equal those of a run on
    one machine."""
    spool, after = tmp_path / "spool", random.Random(seed).uniform(0, seconds_batched)
    run = start_batched(project, spool)
    wait_for_the_rules(project, run)
    time.sleep(after)
    over = run.poll() is not None
    run.kill()
    run.wait()
    record_property("case", "the run was over" if over else f"after {after:.0f} s")
    cancel(project, spool)
    found = resumed(project, "--queue-is-clear", **variables(spool))
    pd.testing.assert_frame_equal(found, whole)
