"""The note of a peak of memory: what was written is read, and a damaged one is none."""

import pytest

from workflow.lib.storage.peak_memory import read_peak, write_peak


def test_what_was_noted_is_read(tmp_path):
    file = tmp_path / ".snakemake/peak_memory.json"
    assert read_peak(file) is None
    file.parent.mkdir()
    write_peak(file, 812.54)
    assert read_peak(file) == 812.5


@pytest.mark.parametrize("text", ["", "{}", '{"peak_mb": null}', "[]"])
def test_a_damaged_note_is_none(tmp_path, text):
    (tmp_path / "peak.json").write_text(text)
    assert read_peak(tmp_path / "peak.json") is None
