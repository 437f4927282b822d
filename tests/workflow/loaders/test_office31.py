"""The loader of Office-31 on small made-up files of its form."""

import numpy as np
import pytest
from scipy.io import savemat

from tests.workflow.loaders.matlab_files import cells
from workflow.loaders import office31
from workflow.loaders._check import check_domain

rng = np.random.default_rng(0)

COUNTS = rng.integers(0, 9, size=(8, 5)).astype(np.uint8)

CLASSES = np.array([1, 1, 1, 2, 2, 2, 3, 3], dtype=np.uint8)


@pytest.fixture
def surf(tmp_path):
    path = tmp_path / "data.mat"
    savemat(path, {"features": COUNTS, "labels": CLASSES[:, None]})
    return path


@pytest.fixture
def trials(tmp_path):
    path = tmp_path / "trials.mat"
    train = {"source": cells([1, 4], [2, 8]), "target": cells([3], [5])}
    test = {"source": cells([2], [3]), "target": cells([6, 7], [1, 2])}
    savemat(path, {"train": train, "test": test})
    return path


def test_surf_counts_and_classes(surf):
    X, y = office31.load_surf("amazon", {"data.mat": surf})
    np.testing.assert_array_equal(X, COUNTS)
    np.testing.assert_array_equal(y, CLASSES.astype(int) - 1)
    check_domain("office31_surf.amazon", X, y, {"samples": 8, "features": 5}, 3)


@pytest.mark.parametrize(
    ("role", "labelled"), [("source", [[0, 3], [1, 7]]), ("target", [[2], [4]])]
)
def test_trials_become_a_column_each(surf, trials, role, labelled):
    paths = {"data.mat": surf, "trials.mat": trials}
    X, y = office31.load_trials("amazon", paths, "data.mat", "trials.mat", role)
    assert [np.flatnonzero(column).tolist() for column in X.T] == labelled
    assert set(np.unique(X)) == {0.0, 1.0}
    np.testing.assert_array_equal(y, CLASSES.astype(int) - 1)


def test_trials_of_other_data_are_refused(tmp_path, surf, trials):
    short = tmp_path / "short.mat"
    savemat(short, {"features": COUNTS[:4], "labels": CLASSES[:4, None]})
    paths = {"short.mat": short, "trials.mat": trials}
    with pytest.raises(ValueError, match=r"labels image 8 of amazon, short.mat holds 4"):
        office31.load_trials("amazon", paths, "short.mat", "trials.mat", "source")
    with pytest.raises(ValueError, match="expected 'source' or 'target'"):
        office31.load_trials("amazon", paths, "short.mat", "trials.mat", "both")
    with pytest.raises(ValueError, match=r"no file 'data.mat' among short.mat"):
        office31.load_trials("amazon", paths, "data.mat", "trials.mat", "source")
