"""Nothing of a process tree outlives its root or its owner."""

import os
import subprocess
import sys
import time

import psutil
import pytest

from workflow.lib.execution.process_tree import is_alive, kill

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
    os._exit(int(sys.argv[1]))

print("code", supervise(work), flush=True)
"""


def started(how):
    """A supervisor, and the processes of its work: one of them in a session of its own."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    supervisor = subprocess.Popen([sys.executable, "-c", SCRIPT, how], text=True, **pipes)
    pids = supervisor.stdout.readline().split()
    return supervisor, [psutil.Process(int(pid)) for pid in pids if psutil.pid_exists(int(pid))]


def gone(processes, seconds=20):
    deadline = time.monotonic() + seconds
    while any(map(is_alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(is_alive, processes))


@pytest.mark.parametrize(("how", "code"), [("0", "0"), ("3", "3"), ("raise", "1")])
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


def test_killing_what_has_ended_is_no_error():
    child = subprocess.Popen([sys.executable, "-c", ""])
    process = psutil.Process(child.pid)
    child.wait()
    assert not is_alive(process)
    assert kill([process]) == [process]
    assert is_alive(psutil.Process(os.getpid()))
