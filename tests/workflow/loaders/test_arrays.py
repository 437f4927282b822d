"""Arrays of own data, and what is done to any of them before they are features."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from workflow.loaders._arrays import (
    as_features,
    as_samples,
    read_array,
    read_svmlight,
    without_gaps,
)


def test_npy(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(2))
    assert np.array_equal(read_array(tmp_path / "x.npy", None), np.eye(2))
    np.save(tmp_path / "o.npy", np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="holds Python objects"):
        read_array(tmp_path / "o.npy", None)
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY cut off")
    with pytest.raises(ValueError, match=r"cannot be read as \.npy"):
        read_array(tmp_path / "x.npy", None)


def test_svmlight_files_agree_on_features_and_on_the_first_index(tmp_path):
    narrow, wide = np.array([[1.0, 2.0]]), np.array([[0.0, 0, 3], [4, 0, 0]])
    dump_svmlight_file(narrow, [1], str(tmp_path / "a.svm"))
    dump_svmlight_file(wide, [2, 1], str(tmp_path / "b.svm"))
    X, y = read_svmlight(tmp_path / "a.svm", [tmp_path / "a.svm", tmp_path / "b.svm"])
    assert X.toarray().tolist() == [[1, 2, 0]]
    assert y.tolist() == [1]
    (tmp_path / "b.svm").write_text("not numbers\n")
    with pytest.raises(ValueError, match="cannot be read as svmlight"):
        read_svmlight(tmp_path / "a.svm", [tmp_path / "b.svm"])


def test_samples_are_rows():
    X = np.arange(24.0).reshape(2, 3, 4)
    assert as_samples("f", X, False, True).shape == (2, 12)
    turned = as_samples("f", X, True, True)
    assert turned.shape == (4, 6)
    assert turned[1].tolist() == X[:, :, 1].ravel().tolist()
    with pytest.raises(ValueError, match=r"3 dimensions \(2 x 3 x 4\)\. Set `flatten: true`"):
        as_samples("f", X, False, False)
    with pytest.raises(ValueError, match="expected a matrix with a sample in each row"):
        as_samples("f", X[0, 0], False, False)
    assert as_samples("f", sparse.csr_array(X[0]), True, False).shape == (4, 3)


def test_features_are_real_numbers():
    assert as_features("f", np.eye(2, dtype=bool)).dtype == np.float64
    assert as_features("f", sparse.csc_array(np.eye(2))).format == "csr"
    for values, message in ((np.eye(2) * 1j, "complex"), (np.array([["a"]]), "not numbers")):
        with pytest.raises(ValueError, match=message):
            as_features("f", values)


def test_gaps_of_a_matrix():
    X = np.array([[1.0, np.nan], [3.0, 4.0], [8.0, 10.0]])
    with pytest.raises(ValueError, match=r"1 of 3 samples .*\(first at row 0, feature 1\)"):
        without_gaps("f", X, "error")
    filled, rows = without_gaps("f", X, "mean")
    assert filled[0].tolist() == [1, 7]
    assert rows.tolist() == [0, 1, 2]
    kept, rows = without_gaps("f", X, "drop")
    assert kept.tolist() == X[1:].tolist()
    assert rows.tolist() == [1, 2]
    with pytest.raises(ValueError, match="NaN or infinity"):
        without_gaps("f", np.where(np.isnan(X), np.inf, X), "mean")
    with pytest.raises(ValueError, match="feature 1 holds no value at all"):
        without_gaps("f", X[:1], "mean")
