"""The loader of Bing and Caltech256 on small made-up files of its form."""

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from workflow.loaders import bing_caltech, check_entry, load_described

rng = np.random.default_rng(0)

COUNTS = rng.integers(0, 9, size=(8, 5)).astype(np.uint8)

CLASSES = np.array([1, 1, 1, 2, 2, 2, 3, 3], dtype=np.uint8)


def saved(tmp_path, X, y, names=("features", "labels")):
    path = tmp_path / "bing.mat"
    savemat(path, dict(zip(names, (X, y), strict=True)))
    return {"bing.mat": path}


@pytest.mark.parametrize("form", [np.asarray, np.transpose, sparse.csc_matrix])
def test_bing_in_either_orientation(tmp_path, form):
    X, y = bing_caltech.load("bing", saved(tmp_path, form(COUNTS.astype(float)), CLASSES))
    np.testing.assert_array_equal(X, COUNTS)
    np.testing.assert_array_equal(y, CLASSES.astype(int) - 1)
    assert X.flags.c_contiguous


def test_bing_keeps_the_first_categories_and_no_clutter(tmp_path):
    classes = np.array([1, 2, 257, 3, 20, 21, 256, 1])
    paths = saved(tmp_path, COUNTS, classes)
    X, y = bing_caltech.load("bing", paths, n_classes=20)
    np.testing.assert_array_equal(y, [0, 1, 2, 19, 0])
    np.testing.assert_array_equal(X, COUNTS[[0, 1, 3, 4, 7]])
    assert bing_caltech.load("bing", paths)[1].max() == 255


def test_bing_by_an_entry_with_names_of_its_own(tmp_path):
    entry = {
        "loader": "bing_caltech:load",
        "files": {"bing.mat": {"sha256": None, "why": "made up"}},
        "domains": {"bing": {"params": {"features": "X", "labels": "c", "n_classes": 3}}},
        "classes": 3,
    }
    check_entry("bing_caltech256", entry)
    paths = saved(tmp_path, COUNTS, CLASSES, ("X", "c"))
    assert load_described("bing_caltech256", entry, "bing", paths)[0].shape == (8, 5)


def test_bing_that_is_something_else(tmp_path):
    with pytest.raises(ValueError, match=r"has shape \(8, 5\), and no axis of length 7"):
        bing_caltech.load("bing", saved(tmp_path, COUNTS, CLASSES[:7]))
    with pytest.raises(ValueError, match=r"classes 1 to 257; 1 of 8 .*first at image 2: 0"):
        bing_caltech.load("bing", saved(tmp_path, COUNTS, [1, 1, 0, 2, 2, 2, 3, 3]))
    with pytest.raises(ValueError, match="no variable 'labels'"):
        bing_caltech.load("bing", saved(tmp_path, COUNTS, CLASSES, ("features", "y")))
