"""Files damaged behind the workflow's back: a fuzzer with fixed seeds over each kind of file."""

import hashlib
import random

import numpy as np
import pytest

from workflow.lib.execution import resume
from workflow.lib.storage import artifacts
from workflow.lib.storage.artifacts import CorruptArtifact

ARRAYS = {"X": np.arange(60.0).reshape(12, 5), "0/rows": np.array([2, 0, 1])}
RECORDS = [{"trial": trial, "accuracy": trial / 7, "error": "Größe"} for trial in range(20)]
NAMES = ("records.csv", "records.parquet")


def damaged(content, seed):
    """Content with one fault: bytes changed, inserted, left out, swapped, cut, doubled."""
    rng = random.Random(seed)
    kind = rng.choice(["flip", "flip many", "cut", "drop", "insert", "zero", "double", "bytes"])
    at = rng.randrange(len(content))
    more = rng.randrange(1, 40)
    data = bytearray(content)
    if kind == "flip":
        data[at] ^= 1 << rng.randrange(8)
    elif kind == "flip many":
        for _ in range(more):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif kind == "cut":
        del data[at:]
    elif kind == "drop":
        del data[at : at + more]
    elif kind == "insert":
        data[at:at] = rng.randbytes(more)
    elif kind == "zero":
        data[at : at + more] = bytes(len(data[at : at + more]))
    elif kind == "double":
        data += data[:at]
    else:
        data = bytearray(rng.randbytes(at))
    return bytes(data)


def write_arrays(path):
    artifacts.write_arrays(path, ARRAYS, {"kind": "test"})


def same_arrays(found):
    arrays, meta = found
    return meta == {"kind": "test"} and all(
        np.array_equal(arrays[name], ARRAYS[name]) for name in ARRAYS
    )


def write_records(path):
    artifacts.write_records(path, RECORDS, {"n_trials": 20})


KINDS = {
    "arrays": (write_arrays, artifacts.read_arrays, same_arrays),
    "records": (write_records, artifacts.read_records, lambda found: found[0] == RECORDS),
}


def outcome_of(read, same, path):
    try:
        return "whole" if same(read(path)) else "false"
    except CorruptArtifact as error:
        told = str(path) in str(error) and f"--forcerun {path} -- EXPERIMENT" in str(error)
        return "named" if told else "not told"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [range(400)], ids=["400 faults"])
def test_damaged(tmp_path, kind, seeds):
    """A damaged file is named, with what to do; it is never read as something else."""
    write, read, same = KINDS[kind]
    path = tmp_path / f"file.{'npz' if kind == 'arrays' else 'jsonl'}"
    write(path)
    content = path.read_bytes()
    for seed in seeds:
        path.write_bytes(damaged(content, seed))
        assert outcome_of(read, same, path) in ("whole", "named"), seed


@pytest.mark.parametrize(
    "head", ["[]", "{}", "1", "null", '{"meta": 1}', "[" * 100_000, '{"meta": {}, "sha256": 1}']
)
def test_a_header_that_is_no_header(tmp_path, head):
    """A file with the header of something else is named."""
    path = tmp_path / "file.jsonl"
    path.write_text(head + "\n")
    with pytest.raises(CorruptArtifact, match=r"file\.jsonl"):
        artifacts.read_records(path)


@pytest.mark.parametrize("manifest", ["[]", "{}", "1", '{"sums": 1, "meta": 1}', '{"sums": []}'])
def test_a_manifest_that_is_no_manifest(tmp_path, manifest):
    """A file with the manifest of something else is named, although its checksum fits."""
    path = tmp_path / "file.npz"
    checksum = hashlib.sha256(manifest.encode()).hexdigest()
    np.savez(path, manifest=np.array([checksum, manifest]))
    with pytest.raises(CorruptArtifact, match=r"file\.npz"):
        artifacts.read_arrays(path)


def test_a_folder_in_the_place_of_a_file(tmp_path):
    """What cannot be opened is not called damaged, so that nobody deletes it for that."""
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        artifacts.read_arrays(tmp_path)
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        artifacts.read_records(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk(tmp_path, monkeypatch, kind):
    """The file that does not fit is named, and nothing half-written is left under any name."""
    path = tmp_path / "file"
    (write, _, _) = KINDS[kind]

    def full(old, new):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(artifacts.os, "replace", full)
    with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
        write(path)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def results(tmp_path):
    for name in NAMES:
        (tmp_path / name).write_text(name)
    artifacts.write_sums(tmp_path, list(NAMES))
    artifacts.verify_sums(tmp_path, NAMES)
    return tmp_path


@pytest.mark.parametrize("how", ["emptied", "shortened", "of another file", "longer", "no text"])
def test_the_list_of_sums_is(results, how):
    """Exactly the files of the results are verified: a list with other names is damaged."""
    path = results / "SHA256SUMS"
    lines = path.read_text().splitlines(keepends=True)
    (results / "records.parquet").write_text("altered")
    if how == "of another file":
        (results / "other").write_text("altered")
        lines[1] = f"{artifacts.sha256(results / 'other')}  other\n"
    content = {
        "emptied": b"",
        "shortened": lines[0].encode(),
        "of another file": "".join(lines).encode(),
        "longer": "".join([*lines[:1], lines[0], lines[0]]).encode(),
        "no text": b"\xff\xfe\x00" * 20,
    }
    path.write_bytes(content[how])
    with pytest.raises(CorruptArtifact, match="SHA256SUMS"):
        artifacts.verify_sums(results, NAMES)


@pytest.mark.parametrize(
    "note",
    [
        *(b"", b"{half", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"snakefile": 7}'),
        *(b'{"targets": 5}', b'{"targets": [1]}', b'{"config": 1}', b'{"cores": {}}'),
    ],
    ids=range(10),
)
def test_the_note_of_the_last_run(tmp_path, note):
    """`make resume` names a note that it cannot read, and starts no other target instead."""
    (tmp_path / ".snakemake").mkdir()
    (tmp_path / resume.LAST_RUN).write_bytes(note)
    with pytest.raises(resume.ResumeError, match=r"last_run\.json.*start.*again"):
        resume.last_run(tmp_path)
