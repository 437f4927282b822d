"""Features come back as they were written, dense and sparse."""

import numpy as np
import pytest
from scipy import sparse

from workflow.lib.storage import artifacts
from workflow.lib.storage.artifacts import read_arrays
from workflow.lib.storage.features import read_features, write_features

X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


def test_dense_features_come_back(tmp_path):
    write_features(tmp_path / "x.npz", X, {"dataset": "d"})
    found = read_features(tmp_path / "x.npz")
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, X)
    assert read_arrays(tmp_path / "x.npz")[1]["dataset"] == "d"


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array])
def test_sparse_features_come_back_as_csr(tmp_path, form):
    write_features(tmp_path / "x.npz", form(X), {})
    found = read_features(tmp_path / "x.npz")
    assert found.format == "csr"
    assert found.shape == X.shape
    np.testing.assert_array_equal(found.toarray(), X)


def is_mapped(array):
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_large_features_stay_in_their_file(tmp_path, form, monkeypatch):
    given = form(np.random.default_rng(0).integers(0, 3, size=(40, 7)).astype(float))
    write_features(tmp_path / "x.npz", given, {})
    monkeypatch.setattr(artifacts, "MAPPED_BYTES", 8)
    found = read_features(tmp_path / "x.npz")
    mapped = found.data if sparse.issparse(found) else found
    assert is_mapped(mapped)
    assert mapped.ctypes.data % 64 == 0
    assert not mapped.flags.writeable
    assert (found != given).sum() == 0
    with np.load(tmp_path / "x.npz") as plain:  # the form of numpy.savez
        parts = {"data", "indices", "indptr", "shape"} if sparse.issparse(given) else {"X"}
        assert {*plain.files} == {*parts, "manifest"}


def test_damage_in_a_mapped_array_is_seen(tmp_path, monkeypatch):
    write_features(tmp_path / "x.npz", np.ones((100, 100)), {})
    content = bytearray((tmp_path / "x.npz").read_bytes())
    content[5000] ^= 1
    (tmp_path / "x.npz").write_bytes(content)
    monkeypatch.setattr(artifacts, "MAPPED_BYTES", 8)
    with pytest.raises(artifacts.CorruptArtifact, match="'X' does not fit its checksum"):
        read_features(tmp_path / "x.npz")


def test_features_by_columns_are_stored_by_rows(tmp_path):
    """The checksum is of rows: of columns in a file it would need a copy."""
    write_features(tmp_path / "x.npz", np.asfortranarray(X), {})
    assert read_features(tmp_path / "x.npz").flags.c_contiguous


@pytest.mark.parametrize("order", ["C", "F"])
def test_objects_are_not_mapped(tmp_path, order, monkeypatch):
    """They would be addresses of another process."""
    monkeypatch.setattr(artifacts, "MAPPED_BYTES", 8)
    odd = np.empty((4, 4), dtype=object, order=order)
    np.savez(tmp_path / "x.npz", X=odd, manifest=np.array(["", "{}"]))
    with pytest.raises(artifacts.CorruptArtifact, match="allow_pickle"):
        artifacts.read_arrays(tmp_path / "x.npz", mapped=True)


def test_what_numpy_wrote_itself_is_read(tmp_path, monkeypatch):
    """Files of before stand where they happen to stand."""
    arrays = {"a": np.arange(3, dtype=np.int8), "X": np.eye(4)}
    artifacts.write_arrays(tmp_path / "x.npz", arrays, {})
    with np.load(tmp_path / "x.npz") as stored:
        np.savez(tmp_path / "x.npz", **stored)
    monkeypatch.setattr(artifacts, "MAPPED_BYTES", 8)
    found, _ = artifacts.read_arrays(tmp_path / "x.npz", mapped=True)
    np.testing.assert_array_equal(found["X"], arrays["X"])
    assert found["X"].flags.aligned


def test_a_matrix_without_entries_keeps_its_shape(tmp_path):
    write_features(tmp_path / "x.npz", sparse.csr_array((4, 7)), {})
    assert read_features(tmp_path / "x.npz").shape == (4, 7)


def test_the_features_that_were_given_are_left_as_they_are(tmp_path):
    given = sparse.csr_array((np.ones(2), ([0, 0], [1, 1])), shape=(1, 2))
    data = given.data.copy()
    write_features(tmp_path / "x.npz", given, {})
    np.testing.assert_array_equal(given.data, data)
    assert read_features(tmp_path / "x.npz").toarray().tolist() == [[0.0, 2.0]]
