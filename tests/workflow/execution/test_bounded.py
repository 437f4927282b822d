import os

from workflow.lib.execution.bounded import TEXT, BoundedOutput, bounded, bounded_text


def test_a_short_text_is_left_alone():
    assert bounded_text("Größe → 3") == "Größe → 3"


def test_a_long_text_keeps_its_ends_and_tells_what_is_missing():
    text = bounded_text("a" * 10_000 + "b" * 10_000, most=1000)
    assert text.startswith("a" * 750)
    assert text.endswith("b" * 250)
    assert "[... 19000 characters left out ...]" in text


def test_what_no_encoding_takes_is_escaped():
    assert bounded_text("\ud800") == "\\ud800"


def test_records_are_bounded_at_every_depth_and_numbers_are_kept():
    record = {"trial": 1, "accuracy": 0.1, "x": {"y": ["z" * 50_000, None]}, "names": ["a"] * 900}
    found = bounded(record)
    assert (found["trial"], found["accuracy"], found["names"]) == (1, 0.1, ["a"] * 900)
    assert len(found["x"]["y"][0]) < TEXT + 100
    assert found["x"]["y"][1] is None


def test_a_list_of_texts_is_cut_and_says_so():
    found = bounded(["x" * 1000] * 100)
    assert found == ["x" * 1000] * 40 + ["and 60 more"]


def printed(chunks, **bounds):
    reader, writer = os.pipe()
    output = BoundedOutput(writer, **bounds)
    for chunk in chunks:
        output.write(chunk)
    output.close()
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        return stream.read()


def test_what_is_printed_is_whole_if_it_fits():
    chunks = [b"one\n", b"two\n", b"three\n"]
    assert printed(chunks, head=6, tail=100) == b"".join(chunks)


def test_the_middle_of_what_is_printed_is_left_out():
    chunks = [b"%03d\n" % number for number in range(100)]
    expected = b"000\n001\n\n[... 384 bytes left out ...]\n098\n099\n"
    assert printed(chunks, head=8, tail=8) == expected
