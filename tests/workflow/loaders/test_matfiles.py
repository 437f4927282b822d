"""Variables of MATLAB files: both versions give the same arrays in the same orientation."""

import h5py
import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from tests.workflow.loaders.matlab_files import save_v73
from workflow.loaders._matfiles import read_variables

X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0]])
NAMES = ["cat", "mouse"]


def saved(folder, version, X):
    path = folder / f"{version}.mat"
    if version == "v73":
        return save_v73(path, X=X, names=NAMES)
    savemat(path, {"X": X, "names": np.array(NAMES, dtype=object)})
    return path


@pytest.mark.parametrize("version", ["v5", "v73"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
def test_matrices_have_the_orientation_that_matlab_shows(tmp_path, version, form):
    found, names = read_variables(saved(tmp_path, version, form(X)), ["X", "names"])
    assert sparse.issparse(found) == (form is sparse.csc_array)
    assert not sparse.issparse(found) or found.format == "csr"
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, X)
    assert names.tolist() == NAMES


@pytest.mark.parametrize("version", ["v5", "v73"])
def test_an_empty_cell_is_an_empty_text(tmp_path, version):
    path, names = tmp_path / "empty.mat", ["cat", "", "mouse"]
    if version == "v73":
        save_v73(path, names=names)
    else:
        cells = np.array(names, dtype=object)
        cells[1] = np.zeros((0, 0))  # as MATLAB saves ''
        savemat(path, {"names": cells})
    assert read_variables(path, ["names"])[0].tolist() == names


def test_a_sparse_matrix_without_entries_keeps_its_shape(tmp_path):
    (found,) = read_variables(save_v73(tmp_path / "e.mat", X=sparse.csr_array((2, 3))), ["X"])
    assert found.shape == (2, 3)
    assert not found.nnz


@pytest.mark.parametrize("version", ["v5", "v73"])
def test_a_missing_variable_is_answered_with_what_the_file_holds(tmp_path, version):
    with pytest.raises(ValueError, match=r"no variable 'Y'\. It holds: X \(2 x 3\), names \("):
        read_variables(saved(tmp_path, version, X), ["Y"])


def test_structs_are_refused_by_name(tmp_path):
    savemat(tmp_path / "v5.mat", {"S": {"a": 1.0}})
    with h5py.File(tmp_path / "v73.mat", "w") as file:
        file["S/a"] = 1.0
    for version in ("v5", "v73"):
        with pytest.raises(ValueError, match=r"'S' is a struct\. Name one of the matrices inside"):
            read_variables(tmp_path / f"{version}.mat", ["S"])


def test_a_file_that_is_missing_stays_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_variables(tmp_path / "none.mat", ["X"])
