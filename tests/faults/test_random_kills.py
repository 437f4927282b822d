"""Fifty runs, in each of which one process is killed with -9: any of them, at any moment."""

import random
import time

import pandas as pd
import psutil
import pytest

from tests.faults.processes import script_of
from tests.faults.tiny_runs import BOUND, resumed, start, wait_for_the_rules

LONGEST = 15  # seconds from the reading of the rules to the end of a run, and some more
GUARDS = ("align", "load", "sample")


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
