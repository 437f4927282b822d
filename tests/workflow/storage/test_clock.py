import os
import time

from workflow.lib.storage.clock import from_the_future


def test_files_newer_than_the_clock_are_named(tmp_path):
    for name, ahead in (("old", -3600), ("slack", 20), ("new", 3600)):
        path = tmp_path / "folder" / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
        os.utime(path, (time.time() + ahead,) * 2)
    assert list(from_the_future([tmp_path])) == [tmp_path / "folder/new"]


def test_a_folder_that_is_not_there_has_none(tmp_path):
    assert list(from_the_future([tmp_path / "absent"])) == []


def test_a_file_that_goes_while_it_is_looked_for_is_none(tmp_path, monkeypatch):
    """As in a folder in which a run is at work."""
    monkeypatch.setattr(os, "walk", lambda folder: [(str(folder), [], ["gone"])])
    assert list(from_the_future([tmp_path])) == []
