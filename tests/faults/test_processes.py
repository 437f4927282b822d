"""Processes that are killed: the guard, the fork server, the run; at chosen and random moments."""

import os
import random
import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest

from tests.faults.processes import is_alive, noted, wait_for
from workflow.lib.execution import forkserver
from workflow.lib.execution.guard import Limits, run_block

pytestmark = pytest.mark.whole_run

JOB = "tests.faults.hostile"
GUARD = """
import pathlib, sys
from workflow.lib.execution.guard import Limits, run_block

kind, notes, scratch = sys.argv[1:]
block = {"kinds": [kind, "fine"], "notes": notes}
list(run_block("tests.faults.hostile", block, [0, 1], Limits(300, 2000), pathlib.Path(scratch)))
"""


def start_guard(kind, notes, scratch):
    line = [sys.executable, "-c", GUARD, kind, str(notes), str(scratch)]
    return subprocess.Popen(line, start_new_session=True)


def served(scratch, notes):
    block = {"kinds": ["fine"], "notes": str(notes)}
    return [o.status for o in run_block(JOB, block, [0], Limits(30, 2000), scratch)]


@pytest.mark.parametrize("kind", ["works in c", "hangs with a child in its own session"])
def test_the_guard_is_killed(origin, notes, scratch, kind):
    """With the guard its worker ends, also in C code, and whatever the worker started."""
    guard = start_guard(kind, notes, scratch)
    note = notes / ("worker" if kind == "works in c" else "child")
    pid = noted(note)
    guard.send_signal(signal.SIGKILL)
    guard.wait()
    assert wait_for(lambda: not is_alive(pid))


@pytest.fixture
def own_server(monkeypatch):
    """A fork server of the test's own."""
    monkeypatch.setenv(forkserver.ADDRESS, "")
    process = forkserver.start()
    yield process
    process.kill()
    process.wait()
    process.stdin.close()


def test_the_fork_server_is_killed_before_a_block(own_server, notes, scratch):
    """The guard starts a process of its own."""
    assert served(scratch, notes) == ["ok"]
    own_server.kill()
    own_server.wait()
    assert served(scratch, notes) == ["ok"]


def test_the_fork_server_is_killed_during_a_block(own_server, notes, scratch):
    """No process of the block lives on once the guard has ended."""
    assert served(scratch, notes) == ["ok"]
    guard = start_guard("hangs with a child in its own session", notes, scratch)
    pid = noted(notes / "child")
    own_server.kill()
    guard.kill()
    guard.wait()
    assert wait_for(lambda: not is_alive(pid))


def test_the_fork_server_leaves_nothing(monkeypatch, tmp_path):
    """A fork server killed with -9 leaves no file."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv(forkserver.ADDRESS, "")
    process = forkserver.start()
    time.sleep(1)
    process.kill()
    process.wait()
    process.stdin.close()
    assert list(tmp_path.iterdir()) == []


def connect():
    """A client of the fork server that says nothing."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    address = os.environ[forkserver.ADDRESS]
    for name in (address, f"\0{address}"):
        try:
            client.connect(name)
        except OSError:
            continue
        return client
    raise ConnectionError(address)


def test_a_silent_client(own_server, notes, scratch):
    """A client that connects and says nothing delays no job."""
    assert served(scratch, notes) == ["ok"]
    started = time.monotonic()
    with connect(), connect():
        assert served(scratch, notes) == ["ok"]
    assert time.monotonic() - started < 60
    assert served(scratch, notes) == ["ok"]


def test_a_client_that_talks_junk(own_server, notes, scratch):
    """A client that sends anything but a request is dropped; the server goes on."""
    assert served(scratch, notes) == ["ok"]
    with connect() as client:
        client.sendall(b"junk" * 100)
        assert served(scratch, notes) == ["ok"]
    assert own_server.poll() is None


def test_the_run_ends(own_server, notes, scratch):
    """The fork server ends with the run that started it."""
    assert served(scratch, notes) == ["ok"]
    own_server.stdin.close()
    assert own_server.wait(10) == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("victim", ["guard", "worker", "deputy", "supervisor"])
def test_killed_at_a_random_moment(origin, notes, scratch, victim, seed):
    """Whoever is killed, and whenever: nothing of the block lives on when its guard has ended."""
    guard = start_guard("hangs with a child in its own session", notes, scratch)
    process = psutil.Process(guard.pid)
    time.sleep(random.Random(seed).uniform(0, 3))
    family = process.children(recursive=True)
    if victim != "guard" and (notes / "child").exists():
        child = psutil.Process(noted(notes / "child"))
        family = [child, *child.parents()[:3]]
        family[["worker", "deputy", "supervisor"].index(victim) + 1].kill()
        time.sleep(0.5)
    guard.kill()
    guard.wait()
    assert wait_for(lambda: not any(is_alive(p.pid) for p in family))
    time.sleep(0.2)
    if (notes / "child").exists() and (notes / "child").read_text():
        assert wait_for(lambda: not is_alive(noted(notes / "child")))
