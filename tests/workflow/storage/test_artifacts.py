import errno
import hashlib
import os
import tracemalloc

import numpy as np
import pytest

from workflow.lib.storage import artifacts
from workflow.lib.storage.artifacts import CorruptArtifact

ARRAYS = {"X": np.arange(12.0).reshape(3, 4), "0/rows": np.array([2, 0, 1]), "empty": np.array([])}
RECORDS = [{"trial": 0, "status": "ok"}, {"trial": 1, "error": "Größe", "accuracy": None}]


@pytest.fixture
def arrays_file(tmp_path):
    artifacts.write_arrays(tmp_path / "a.npz", ARRAYS, {"kind": "test"})
    return tmp_path / "a.npz"


@pytest.fixture
def records_file(tmp_path):
    artifacts.write_records(tmp_path / "r.jsonl", RECORDS, {"n_trials": 2})
    return tmp_path / "r.jsonl"


def test_a_sum_is_taken_of_the_bytes_where_they_are():
    """The memory of a job is one copy of what it reads, not two."""
    array = np.zeros(10_000_000, dtype=np.uint8)
    tracemalloc.start()
    try:
        artifacts._array_sum(array)
        assert tracemalloc.get_traced_memory()[1] < array.nbytes / 10
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3).T,
        np.array(["a", "bc"]),
        np.array(3),
        np.array([]),
        np.eye(2) > 0,
    ],
)
def test_a_sum_is_that_of_type_shape_and_bytes(array):
    expected = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode() + array.tobytes())
    assert artifacts._array_sum(array) == expected.hexdigest()


def test_arrays_come_back(arrays_file):
    arrays, meta = artifacts.read_arrays(arrays_file)
    assert meta == {"kind": "test"}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype


def test_meta_is_read_without_the_arrays(arrays_file, monkeypatch):
    monkeypatch.setattr(artifacts, "_array_sum", None)
    assert artifacts.read_meta(arrays_file) == {"kind": "test"}


def test_meta_of_another_file_is_refused(arrays_file, tmp_path):
    (tmp_path / "b.npz").write_bytes(arrays_file.read_bytes())
    with pytest.raises(CorruptArtifact, match=r"written as .*a\.npz"):
        artifacts.read_meta(tmp_path / "b.npz")
    content = arrays_file.read_bytes()
    assert content.count(b"t\0\0\0e\0\0\0s\0\0\0t") == 1
    arrays_file.write_bytes(content.replace(b"t\0\0\0e\0\0\0s\0\0\0t", b"T\0\0\0e\0\0\0s\0\0\0t"))
    with pytest.raises(CorruptArtifact):
        artifacts.read_meta(arrays_file)


def test_records_come_back(records_file):
    assert artifacts.read_records(records_file) == (RECORDS, {"n_trials": 2})


def damage(path, how):
    content = path.read_bytes()
    stamp = path.stat()
    middle = len(content) // 2
    if how == "emptied":
        content = b""
    elif how == "truncated":
        content = content[:middle]
    elif how == "one byte changed":
        content = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    elif how == "replaced":
        content = b"something else\n"
    path.write_bytes(content)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


@pytest.mark.parametrize("how", ["emptied", "truncated", "one byte changed", "replaced"])
def test_damage_is_named_although_the_time_stamp_is_old(arrays_file, records_file, how):
    for path, read in (
        (arrays_file, artifacts.read_arrays),
        (records_file, artifacts.read_records),
    ):
        damage(path, how)
        with pytest.raises(CorruptArtifact, match=rf"{path.name}: .* --forcerun {path} -- EXP"):
            read(path)


def test_every_byte_of_a_records_file_counts(records_file):
    content = records_file.read_bytes()
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 1
        records_file.write_bytes(changed)
        try:
            records, meta = artifacts.read_records(records_file)
        except CorruptArtifact:
            continue
        # What is left are bytes that carry no meaning, such as the schema version's digit.
        assert (records, meta) == (RECORDS, {"n_trials": 2})


def test_a_line_more_or_less_is_noticed(records_file):
    lines = records_file.read_text().splitlines(keepends=True)
    for content in (lines[:-1], [*lines, lines[-1]]):
        records_file.write_text("".join(content))
        with pytest.raises(CorruptArtifact, match="checksum"):
            artifacts.read_records(records_file)


def test_nan_is_no_record(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        artifacts.write_records(tmp_path / "r.jsonl", [{"accuracy": float("nan")}], {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "error", [MemoryError("229 MiB"), OSError(errno.EMFILE, "Too many open files")]
)
def test_what_the_machine_lacks_is_no_damage_of_the_file(tmp_path, error):
    with pytest.raises(type(error)) as caught, artifacts.read_as_written(tmp_path / "a.npz"):
        raise error
    assert caught.value is error


def test_a_missing_file_is_missing_not_damaged(tmp_path):
    with pytest.raises(FileNotFoundError):
        artifacts.read_arrays(tmp_path / "none.npz")


def test_an_interrupted_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "deep/file.txt"
    with artifacts.atomic_write(path) as temporary:
        temporary.write_text("old")

    def interrupted():
        with artifacts.atomic_write(path) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_sums_name_the_changed_and_the_missing_file(tmp_path):
    (tmp_path / "a.csv").write_text("1")
    (tmp_path / "b.csv").write_text("2")
    artifacts.write_sums(tmp_path, ["b.csv", "a.csv"])
    artifacts.verify_sums(tmp_path, ["a.csv", "b.csv"])
    (tmp_path / "b.csv").write_text("3")
    with pytest.raises(CorruptArtifact, match=r"b\.csv"):
        artifacts.verify_sums(tmp_path, ["a.csv", "b.csv"])
    (tmp_path / "a.csv").unlink()
    with pytest.raises(CorruptArtifact, match=r"a\.csv: it is listed in SHA256SUMS but missing"):
        artifacts.verify_sums(tmp_path, ["a.csv", "b.csv"])
