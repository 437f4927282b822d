"""One place: read within bounds, and the reason where it does not deliver."""

import os
import time

import pytest

from workflow.lib.storage.places import Bounds, Place, PlaceError, chunks, within


def read(address, **bounds):
    return b"".join(chunks(Place("mirror", address, "the mirror"), Bounds(**bounds)))


def test_a_file_is_read_whole(tmp_path):
    content = os.urandom(200_000)
    (tmp_path / "a.mat").write_bytes(content)
    assert read(tmp_path / "a.mat") == content


def test_no_more_is_read_than_the_bound(tmp_path):
    (tmp_path / "a.mat").write_bytes(bytes(200_000))
    with pytest.raises(PlaceError, match=r"larger than the bound of 0\.1 MB"):
        read(tmp_path / "a.mat", mb=0.1)


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PlaceError, match="not a regular file"):
        read(tmp_path / "pipe")
    with pytest.raises(PlaceError, match="not there"):
        read(tmp_path / "none.mat")


def test_work_has_its_time_and_no_more():
    assert within(10, lambda: 3) == 3
    with pytest.raises(KeyError, match="of the work"):
        within(10, lambda: {}["of the work"])
    with pytest.raises(PlaceError, match=r"not complete after 0\.05 s"):
        within(0.05, lambda: time.sleep(5))


def test_bounds_are_those_of_the_configuration():
    assert Bounds.of({"downloads": {"max_mb": 3}}) == Bounds(3, Bounds.seconds)
    assert Bounds.of({}) == Bounds()
