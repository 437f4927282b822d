"""Texts and output of any length stay within their bounds."""

import os

from workflow.lib.execution.bounded import TEXT, TEXTS, BoundedOutput, bounded, bounded_text


def test_a_long_text_keeps_its_beginning_and_its_end():
    text = "a" * 3000 + "b" * 3000
    short = bounded_text(text, 400)
    assert short.startswith("a" * 300 + " [... 5600 characters left out ...] ")
    assert short.endswith("b" * 100)
    assert bounded_text("short") == "short"


def test_any_text_can_be_written():
    assert bounded_text("one \udc80 two").encode("utf-8") == b"one \\udc80 two"


def test_every_text_of_a_record_is_bounded():
    record = bounded({"error": "x" * 10_000, "n": 3, "deep": [{"text": "y" * 10_000}]})
    assert TEXT < len(record["error"]) < TEXT + 100
    assert len(record["deep"][0]["text"]) < TEXT + 100
    assert record["n"] == 3


def test_a_long_list_of_texts_says_how_many_are_missing():
    texts = bounded(["w" * 1000] * 100)
    assert len(texts) == TEXTS // 1000 + 1
    assert texts[-1] == "and 60 more"


def test_output_passes_on_its_beginning_and_its_end(tmp_path):
    path = tmp_path / "log"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    output = BoundedOutput(descriptor, head=10, tail=6)
    for chunk in (b"beginning.", b"middle", b"middle", b"ending"):
        output.write(chunk)
    assert path.read_bytes() == b"beginning."
    output.close()
    os.close(descriptor)
    assert path.read_bytes() == b"beginning.\n[... 12 bytes left out ...]\nending"


def test_output_survives_a_place_that_takes_no_more(tmp_path):
    reader, writer = os.pipe()
    output = BoundedOutput(writer)
    os.close(reader)
    output.write(b"lost")
    output.close()
    os.close(writer)
