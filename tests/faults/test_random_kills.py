"""Fifty runs, in each of which one process is killed with -9, each kind of them in turn, at any
moment; and ten that send their cells to a cluster, several in a job, of which the main process is
killed.
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

ROLES = ("snakemake", "fork server", "guard", "script", "supervisor", "deputy", "worker")
DRAWS = 10  # moments that are drawn until a process of the role is found
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


def kill_one(run, role, rng):
    """Kill a random process of a role as soon as there is one; whether there was one."""
    while run.poll() is None:
        if found := processes_by_role(run).get(role):
            with contextlib.suppress(psutil.NoSuchProcess):
                rng.choice(found).kill()
                return True
        time.sleep(0.01)
    return False


def undisturbed_seconds(project, run):
    """Seconds of a run that has just been started, from the reading of the rules to its end."""
    wait_for_the_rules(project, run)
    since = time.monotonic()
    assert run.wait(BOUND) == 0
    return time.monotonic() - since


@pytest.fixture(scope="module")
def seconds_whole(untouched):
    project = shutil.copytree(untouched, untouched.with_name("timed"))
    return undisturbed_seconds(project, start(project))


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(50))
def test_killed_at_a_random_moment(
    untouched, whole, seconds_whole, seed, tmp_path, record_property
):
    """After `make resume` all records equal those of an undisturbed run; a trial whose own worker
    was killed is the one exception, and its record says so."""
    rng, role = random.Random(seed), ROLES[seed % len(ROLES)]
    for draw in range(DRAWS):  # most roles have no process in some part of a run
        project = shutil.copytree(untouched, tmp_path / f"project{draw}")
        run = start(project)
        wait_for_the_rules(project, run)
        since = time.monotonic()
        time.sleep(rng.uniform(0, seconds_whole))
        if was_killed := kill_one(run, role, rng):
            break
    assert was_killed
    after = time.monotonic() - since
    record_property("case", f"{role} killed after {after:.0f} s, whole {seconds_whole:.0f} s")
    run.wait(BOUND)
    found = resumed(project)
    lost = found["status"] == "killed"
    assert lost.sum() <= (role in ("worker", "deputy", "supervisor"))
    assert found.loc[lost, "error"].astype(str).str.startswith("the process was ended").all()
    # Columns without a value in some row, or without any, are read as another type.
    pd.testing.assert_frame_equal(found[~lost], whole[~lost], check_dtype=False, check_exact=True)


def start_batched(project, spool):
    """The four cells of the tiny experiment as two jobs of a cluster."""
    spool.mkdir()
    env = environment(**variables(spool))
    return start(project, *options(project), *BATCHES, env=env)


@pytest.fixture(scope="module")
def seconds_batched(untouched, whole):
    project = shutil.copytree(untouched, untouched.with_name("batched"))
    spool = untouched.with_name("spool")
    seconds = undisturbed_seconds(project, start_batched(project, spool))
    cells = [log.read_text().count("rule align:") for log in spool.glob("*/log")]
    assert sorted(filter(None, cells)) == [2, 2]
    pd.testing.assert_frame_equal(records(project), whole)
    return seconds


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
