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
