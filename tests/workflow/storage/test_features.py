"""Features come back as they were written, dense and sparse."""

import numpy as np
import pytest
from scipy import sparse

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


def test_a_matrix_without_entries_keeps_its_shape(tmp_path):
    write_features(tmp_path / "x.npz", sparse.csr_array((4, 7)), {})
    assert read_features(tmp_path / "x.npz").shape == (4, 7)


def test_the_features_that_were_given_are_left_as_they_are(tmp_path):
    given = sparse.csr_array((np.ones(2), ([0, 0], [1, 1])), shape=(1, 2))
    data = given.data.copy()
    write_features(tmp_path / "x.npz", given, {})
    np.testing.assert_array_equal(given.data, data)
    assert read_features(tmp_path / "x.npz").toarray().tolist() == [[0.0, 2.0]]
