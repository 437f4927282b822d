"""The loader of the VLCS features on small made-up files of the documented format."""

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from workflow.loaders import check_entry, load_described, vlcs
from workflow.loaders._check import check_domain

rng = np.random.default_rng(0)
FEATURES = rng.gamma(1.0, size=(12, 7)).astype(np.float32)
CLASSES = np.tile(np.arange(5), 3)[:12]
DATA = np.column_stack([FEATURES, CLASSES + 1.0]).astype(np.float32)


def saved(tmp_path, data, variable="data"):
    path = tmp_path / "VOC2007.mat"
    savemat(path, {variable: data})
    return {"VOC2007.mat": path}


def test_features_and_classes_are_those_stored(tmp_path):
    X, y = vlcs.load("voc", saved(tmp_path, DATA))
    np.testing.assert_array_equal(X, FEATURES)
    np.testing.assert_array_equal(y, CLASSES)
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    check_domain("vlcs.voc", X, y, {"samples": 12, "features": 7}, 5)


def test_version_7_3_is_read_in_the_same_orientation(tmp_path):
    path = tmp_path / "VOC2007.mat"
    with h5py.File(path, "w") as file:  # MATLAB stores columns first
        file.create_dataset("data", data=DATA.T)
    X, y = vlcs.load("voc", {"VOC2007.mat": path})
    np.testing.assert_array_equal(X, FEATURES)
    np.testing.assert_array_equal(y, CLASSES)


def test_an_entry_like_that_of_the_dataset_is_accepted_and_checked(tmp_path):
    entry = {
        "loader": "vlcs:load",
        "files": {"VOC2007.mat": {"sha256": None, "why": "made up"}},
        "domains": {"voc": {"short": "V", "files": ["VOC2007.mat"], "samples": 12, "features": 7}},
        "classes": 5,
        "class_names": ["bird", "car", "chair", "dog", "person"],
    }
    check_entry("caltech_imagenet_voc", entry)
    X, y, _ = load_described("caltech_imagenet_voc", entry, "voc", saved(tmp_path, DATA))
    assert X.shape == (12, 7)
    assert y.max() == 4
    entry["domains"]["voc"]["samples"] = 3376
    with pytest.raises(ValueError, match="3376"):
        load_described("caltech_imagenet_voc", entry, "voc", saved(tmp_path, DATA))


def test_a_missing_variable_is_named_with_what_there_is(tmp_path):
    with pytest.raises(ValueError, match=r"no variable 'data'. It holds: fts \(12 x 8\)"):
        vlcs.load("voc", saved(tmp_path, DATA, "fts"))


@pytest.mark.parametrize("label", [0.0, 6.0, 1.5, np.nan])
def test_a_last_column_that_is_no_label_is_refused(tmp_path, label):
    data = DATA.copy()
    data[3, -1] = label
    with pytest.raises(ValueError, match=r"1 of 12 rows .* row 3: .*generic:load"):
        vlcs.load("voc", saved(tmp_path, data))


def test_what_is_no_matrix_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not a matrix of features"):
        vlcs.load("voc", saved(tmp_path, DATA[:, -1:]))


def test_a_domain_is_one_file(tmp_path):
    with pytest.raises(ValueError, match="expected one file, got 0"):
        vlcs.load("voc", {})
