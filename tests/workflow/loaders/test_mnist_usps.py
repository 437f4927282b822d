"""MNIST and USPS on a made-up file of the released form."""

import numpy as np

from tests.workflow.loaders.matlab_files import save_v73
from workflow.loaders import mnist_usps

rng = np.random.default_rng(0)


def test_mnist_usps_has_samples_as_columns_in_matlab(tmp_path):
    pixels = {"Xs": rng.random((256, 5)), "Xt": rng.random((256, 3))}
    path = save_v73(tmp_path / "m.mat", **pixels, Ys=np.ones((5, 1)), Yt=np.array([[10.0, 1, 2]]).T)
    X, y = mnist_usps.load("usps", {"m.mat": path})
    assert np.array_equal(X, pixels["Xt"].T)
    assert y.tolist() == [9, 0, 1]
    assert mnist_usps.load("mnist", {"m.mat": path})[0].shape == (5, 256)
