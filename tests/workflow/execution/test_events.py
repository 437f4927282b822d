"""Events that cross a pipe to which a method can write as well."""

import json
import os

import pytest

from workflow.lib.execution.events import EventReader, EventWriter


def line(**event):
    return json.dumps(event).encode() + b"\n"


START = {"event": "start", "trial": 3}


def test_an_event_arrives_however_it_is_cut():
    reader = EventReader()
    content = line(**START)
    found = [event for byte in content for event in reader.feed(bytes([byte]))]
    assert found == [START]
    assert reader.ignored == 0


@pytest.mark.parametrize(
    "garbage",
    [
        b"printed by a method\n",
        b"[1, 2]\n",
        b"\xff\xfe\n",
        line(event="done", trial="3", records=[]),
        line(event="start"),
        line(event="unheard of"),
        b"[" * 100_000 + b"\n",
    ],
)
def test_what_is_no_event_is_counted_and_ignored(garbage):
    reader = EventReader()
    assert reader.feed(garbage + line(**START)) == [START]
    assert reader.ignored == 1


def test_an_event_has_a_line_of_its_own_whatever_was_written_before():
    reader, writer = os.pipe()
    os.write(writer, b"no line end")
    EventWriter(writer).tell("start", trial=3)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        assert EventReader().feed(stream.read()) == [START]


def test_records_must_be_json():
    reader, writer = os.pipe()
    for records, error in (([float("nan")], ValueError), ([object()], TypeError)):
        with pytest.raises(error):
            EventWriter(writer).tell("done", trial=0, records=records)
    os.close(reader)
    os.close(writer)
