import json
import os

import pytest

from workflow.lib.execution.events import EventReader, EventWriter

DONE = {"event": "done", "trial": 0, "records": [{"status": "ok"}]}


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    yield reader, writer
    os.close(reader)
    os.close(writer)


def test_events_come_back_however_they_are_cut(pipe):
    reader, writer = pipe
    EventWriter(writer).tell(**DONE)
    content = os.read(reader, 4096)
    received = EventReader()
    found = [event for byte in content for event in received.feed(bytes([byte]))]
    assert found == [DONE]


def test_an_event_survives_what_was_written_before_it(pipe):
    reader, writer = pipe
    os.write(writer, b"half a line")
    EventWriter(writer).tell(**DONE)
    received = EventReader()
    assert received.feed(os.read(reader, 4096)) == [DONE]


@pytest.mark.parametrize(
    "line",
    [
        *("junk", "1", "[]", "{}", '{"event": 1}', '{"event": "none"}', '{"event": []}'),
        *('{"event": "start"}', '{"event": "start", "trial": "0"}', "[" * 100_000),
        '{"event": "done", "trial": 0, "records": 1}',
    ],
)
def test_what_is_no_event_is_ignored(line):
    assert EventReader().feed(line.encode() + b"\n") == []


def test_what_is_not_json_is_the_callers_error(pipe):
    events = EventWriter(pipe[1])
    with pytest.raises(ValueError, match="JSON"):
        events.tell("done", trial=0, records=[{"accuracy": float("nan")}])
    with pytest.raises(TypeError, match="JSON"):
        events.tell("done", trial=0, records=[object()])


def test_a_copy_of_the_worker_says_nothing(pipe):
    reader, writer = pipe
    events = EventWriter(writer)
    if not (pid := os.fork()):
        events.tell(**DONE)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    os.set_blocking(reader, False)
    with pytest.raises(BlockingIOError):
        os.read(reader, 1)


def test_a_line_without_end_takes_bounded_memory(monkeypatch):
    monkeypatch.setattr("workflow.lib.execution.events._LONGEST", 1000)
    received = EventReader()
    for _ in range(1000):
        assert received.feed(b"x" * 1000) == []
    assert sum(map(len, received._parts)) <= 2000
    assert received.feed(b"\n" + json.dumps(DONE).encode() + b"\n") == [DONE]
