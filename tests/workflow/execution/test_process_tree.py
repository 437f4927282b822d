"""Nothing of a process tree outlives its root or its owner."""

import contextlib
import os
import subprocess
import sys
import time

import psutil
import pytest

from workflow.lib.execution.process_tree import descendants, is_alive, kill

SCRIPT = """
import os, subprocess, sys, time
from workflow.lib.execution.process_tree import supervise

def work():
    away = {"start_new_session": True, "stdout": subprocess.DEVNULL}
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], **away)
    print(os.getpid(), child.pid, flush=True)
    if sys.argv[1] == "stay":
        time.sleep(60)
    if sys.argv[1] == "raise":
        raise RuntimeError("of the work")
    if sys.argv[1] == "die":
        os.kill(os.getpid(), 11)
    os._exit(int(sys.argv[1]))

print("code", supervise(work), flush=True)
"""


def started(how):
    """A supervisor, and the processes of its work: one of them in a session of its own."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    supervisor = subprocess.Popen([sys.executable, "-c", SCRIPT, how], text=True, **pipes)
    found = []
    for pid in supervisor.stdout.readline().split():
        with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
            found.append(psutil.Process(int(pid)))
    return supervisor, found


def gone(processes, seconds=20):
    deadline = time.monotonic() + seconds
    while any(map(is_alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(is_alive, processes))


@pytest.mark.parametrize(("how", "code"), [("0", "0"), ("3", "3"), ("raise", "1"), ("die", "-11")])
def test_what_the_root_has_started_ends_with_it(how, code):
    supervisor, processes = started(how)
    assert supervisor.stdout.readline().split() == ["code", code]
    assert gone(processes)
    supervisor.communicate()


def test_the_tree_ends_with_its_owner():
    supervisor, processes = started("stay")
    assert len(processes) == 2
    supervisor.stdin.close()
    assert gone(processes)
    assert supervisor.wait(20) == 0
    supervisor.stdout.close()


# The work's parent and that one's parent: each ends what the other leaves when it is killed alone.
@pytest.mark.parametrize("generation", [0, -1])
def test_what_was_started_a_moment_before_ends_with_whoever_is_killed(generation):
    supervisor, processes = started("stay")
    above = processes[0].parents()
    above = above[: 1 + [parent.pid for parent in above].index(supervisor.pid)]
    above[generation].kill()
    assert gone(processes)
    supervisor.communicate()


def test_killing_what_has_ended_is_no_error():
    child = subprocess.Popen([sys.executable, "-c", ""])
    process = psutil.Process(child.pid)
    child.wait()
    assert not is_alive(process)
    assert kill([process]) == [process]
    assert is_alive(psutil.Process(os.getpid()))


@pytest.mark.parametrize("listed", [True, False])
def test_descendants_are_those_that_psutil_finds(monkeypatch, listed):
    """Also of a child that a thread has started, and where the system does not list them."""
    if not listed:
        monkeypatch.setattr("workflow.lib.execution.process_tree._children", refused)
    script = (
        "import subprocess, sys, threading\n"
        "start = lambda: subprocess.Popen(['sh', '-c', 'sleep 60 & echo; wait'])\n"
        "threads = [threading.Thread(target=start) for _ in range(2)]\n"
        "[thread.start() for thread in threads]\n"
        "sys.stdin.read()\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], **pipes) as started:
        for _ in range(2):
            started.stdout.readline()
        process = psutil.Process(started.pid)
        found = descendants(process)
        expected = process.children(recursive=True)
        kill(expected)
        started.stdin.close()
    assert len(found) == 4
    assert {child.pid for child in found} == {child.pid for child in expected}
    assert descendants(process) == []


def refused(pid):
    raise FileNotFoundError(pid)
