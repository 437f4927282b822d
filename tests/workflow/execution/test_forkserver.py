"""Forked workers: warm, one per request, and an error where there is no server."""

import json
import os
import time

import pytest

from workflow.lib.execution import forkserver


@pytest.fixture(scope="module")
def address():
    kept = os.environ.get(forkserver.ADDRESS)
    server = forkserver.start()
    address = os.environ.pop(forkserver.ADDRESS)
    if kept is not None:
        os.environ[forkserver.ADDRESS] = kept
    yield address
    server.stdin.close()
    assert server.wait(20) == 0


def forked(folder, name):
    """Number of a forked process, and the events of its one trial."""
    spec = {"job": "tests.workflow.guarded_job", "block": {"trials": ["fine"]}, "trials": [0]}
    path = folder / f"{name}.json"
    path.write_text(json.dumps({**spec, "scratch": str(folder)}))
    stdin, alive = os.pipe()
    reader, events = os.pipe()
    pid = forkserver.fork_worker(path, stdin, events)
    os.close(stdin)
    os.close(events)
    with os.fdopen(reader) as lines:
        found = [json.loads(line) for line in lines if line.strip()]
    os.close(alive)
    return pid, found


def test_every_request_has_a_warm_process_of_its_own(tmp_path, monkeypatch, address):
    monkeypatch.setenv(forkserver.ADDRESS, address)
    pids = set()
    for name in ("one", "two"):
        pid, events = forked_when_up(tmp_path, name)
        pids.add(pid)
        (record,) = next(event for event in events if event["event"] == "done")["records"]
        assert record["warm"]  # scikit-learn was there before the trial
    assert len(pids) == 2


def forked_when_up(folder, name, attempts=200):
    """The server listens a moment after it was started."""
    for _ in range(attempts):
        try:
            return forked(folder, name)
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise AssertionError("the fork server did not come up")


def test_without_a_server_there_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv(forkserver.ADDRESS, "alignment-nobody")
    stdin, writer = os.pipe()
    try:
        with pytest.raises(OSError, match="refused"):
            forkserver.fork_worker(tmp_path / "spec.json", stdin, writer)
    finally:
        os.close(stdin)
        os.close(writer)
