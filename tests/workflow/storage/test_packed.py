"""Archives that hold the same files in another packing."""

import hashlib
import io
import tarfile

import pytest

from workflow.lib.storage import packed
from workflow.lib.storage.artifacts import sha256
from workflow.lib.storage.fetch import (
    Unavailable,
    delivered_path,
    fetch,
    obtain,
    stale_receipts,
    write_receipt,
)
from workflow.lib.storage.packed import content_sum

FILES = {"faces/a/1.pgm": b"one", "faces/b/2.pgm": b"two"}


def pack(path, files, mode="w:gz", top=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{top}{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


@pytest.fixture
def original(tmp_path):
    return pack(tmp_path / "original.tar.gz", FILES)


@pytest.fixture
def repacked(tmp_path):
    """As a code host makes it: under a folder of its own, with more beside the data."""
    more = {"README.md": b"hello", "faces/.DS_Store": b"?", **dict(reversed(FILES.items()))}
    return pack(tmp_path / "mirror/data/faces.tar.gz", more, "w", "repository-0123/")


def entry_of(original):
    return {
        "sha256": sha256(original),
        "mirror": "data/faces.tar.gz",
        "content": {"sha256": content_sum(original, ["faces"]), "folders": ["faces"]},
    }


def test_the_sum_is_that_of_names_and_contents(original):
    lines = [f"{hashlib.sha256(c).hexdigest()}  {name}\n" for name, c in sorted(FILES.items())]
    assert content_sum(original, ["faces"]) == hashlib.sha256("".join(lines).encode()).hexdigest()


def test_the_same_files_in_another_packing_are_taken(original, repacked, tmp_path):
    entry, raw = entry_of(original), tmp_path / "raw"
    assert content_sum(repacked, ["faces"]) == entry["content"]["sha256"]
    receipt = obtain("faces.tar.gz", entry, raw, str(tmp_path / "mirror"))
    assert receipt["sha256"] == sha256(repacked) != entry["sha256"]
    assert delivered_path(receipt, entry, raw).read_bytes() == repacked.read_bytes()
    # From the cache, without the mirror.
    assert fetch("faces.tar.gz", entry, raw) == raw / "faces.tar.gz"


@pytest.mark.parametrize(
    "changed",
    [
        {**FILES, "faces/a/1.pgm": b"One"},
        {**FILES, "faces/c/3.pgm": b"more"},
        {"faces/a/1.pgm": b"one"},
        {"faces/a/1.pgm": b"one", "faces/b/3.pgm": b"two"},
    ],
)
def test_other_files_are_refused(original, tmp_path, changed):
    pack(tmp_path / "mirror/data/faces.tar.gz", changed)
    with pytest.raises(Unavailable, match=r"sha256 is .*, expected"):
        fetch("faces.tar.gz", entry_of(original), tmp_path / "raw", str(tmp_path / "mirror"))


def test_what_is_no_whole_archive_has_no_sum(original, tmp_path, monkeypatch):
    broken = tmp_path / "broken.tar.gz"
    for content in (b"", b"no archive", original.read_bytes()[:-20]):
        broken.write_bytes(content)
        assert content_sum(broken, ["faces"]) is None
    monkeypatch.setattr(packed, "MOST_UNPACKED", 5)
    assert content_sum(original, ["faces"]) is None


def test_a_repacked_archive_in_the_mirror_makes_an_unavailable_file_worth_trying(
    original, repacked, tmp_path
):
    entry, raw, receipts = entry_of(original), tmp_path / "raw", tmp_path / "receipts"
    path = receipts / "faces/faces.tar.gz.json"
    path.parent.mkdir(parents=True)
    write_receipt(path, obtain("faces.tar.gz", entry, raw / "faces"))
    datasets = {"faces": {"files": {"faces.tar.gz": entry}}}
    assert stale_receipts(receipts, datasets, None, raw) == []
    assert stale_receipts(receipts, datasets, str(tmp_path / "mirror"), raw) == [path]
