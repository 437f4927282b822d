"""KEMA and SSMA against numbers made with the authors' own program.

The files hold third-party data and are not part of the project: ``ALIGNMENT_GOLDEN`` names a folder
with a subfolder ``kema``. Tolerances are those of its README. Every property is tested on generated
data too, in test_kema.py and test_ssma.py.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from domain_alignment.manifold._kema import KEMA
from domain_alignment.manifold._ssma import SSMA

FOLDER = Path(os.environ.get("ALIGNMENT_GOLDEN", "")) / "kema"

pytestmark = pytest.mark.skipif(
    "ALIGNMENT_GOLDEN" not in os.environ,
    reason="ALIGNMENT_GOLDEN is not set to the folder of the authors' numbers",
)

SCORED = {
    "toy2d2d_lin": (KEMA(4, "linear"), 1e-9),
    "toy2d2d_ssma": (SSMA(4), 1e-9),
    "toy2d2d_rbf1_fixedrank": (KEMA(20, "rbf", rank=24), 1e-7),
    "office_aw_int": (KEMA(20, "histogram_intersection", n_neighbors=21), 1e-8),
}
OTHERS = {"toy2d2d_in", "office_aw_in", "rekema_toy2d2d_lin", "inv_toy2d2d_lin"}

HALF = 0.5  # the toolbox's mu; its eigenvalues are those of a convex combination


def inputs(name):
    data = np.load(FOLDER / f"{name}_in.npz")
    Xs = [np.concatenate([data[f"Xl{i}"], data[f"Xu{i}"]]) for i in "12"]
    ys = [np.concatenate([data[f"Yl{i}"], np.zeros(len(data[f"Xu{i}"]))]) for i in "12"]
    return Xs, [y.astype(int) - 1 for y in ys], [data["Xt1"], data["Xt2"]]


def assert_golden(aligner, golden, new, scores):
    first = slice(0, aligner.n_components_)
    np.testing.assert_allclose(
        aligner.eigenvalues_, golden["LAMBDA"][first] / (1 - HALF), rtol=1e-9
    )
    for i in (0, 1):
        train, test = golden[f"train{i + 1}"][:, first], golden[f"test{i + 1}"][:, first]
        np.testing.assert_allclose(aligner.embeddings_[i], train, atol=scores)
        np.testing.assert_allclose(aligner.transform(new[i], i), test, atol=scores)


def test_every_file_of_the_folder_is_read():
    assert {path.stem for path in FOLDER.glob("*.npz")} == OTHERS | set(SCORED)


@pytest.mark.parametrize("file", SCORED)
def test_eigenvalues_and_scores(file):
    aligner, scores = SCORED[file]
    Xs, ys, new = inputs("office_aw" if file.startswith("office") else "toy2d2d")
    golden = np.load(FOLDER / f"{file}.npz")
    assert_golden(aligner.fit(Xs, ys), golden, new, scores)
    if "sigma" in golden:
        np.testing.assert_allclose(aligner.sigma_, golden["sigma"], rtol=1e-12)


@pytest.mark.parametrize(
    ("file", "n_neighbors", "kernel"),
    [("toy2d2d_lin", 10, "linear"), ("office_aw_int", 21, "histogram_intersection")],
)
def test_all_eigenvalues_and_coefficients(file, n_neighbors, kernel):
    Xs, ys, _ = inputs(file.rsplit("_", 1)[0])
    golden = np.load(FOLDER / f"{file}.npz")
    rank = int(golden["rankB"])
    kema = KEMA(rank, kernel, n_neighbors=n_neighbors).fit(Xs, ys)
    assert kema.rank_ == rank
    np.testing.assert_allclose(kema.eigenvalues_, golden["LAMBDA"] / (1 - HALF), rtol=1e-9)
    found, expected = np.concatenate(kema.dual_coef_), golden["ALPHA"]
    found = np.abs(found[:, : expected.shape[1]])
    np.testing.assert_allclose(found, np.abs(expected), atol=1e-8 * np.abs(expected).max())


def test_round_off_decides_the_rank_of_a_smooth_kernel():
    Xs, ys, _ = inputs("toy2d2d")
    assert 24 < KEMA(10, "rbf").fit(Xs, ys).rank_ < 89


@pytest.mark.parametrize(("standardize", "name"), [(False, "raw"), (True, "train")])
def test_rekema_up_to_one_sign_per_domain_and_column(standardize, name):
    Xs, ys, _ = inputs("toy2d2d")
    golden = np.load(FOLDER / "rekema_toy2d2d_lin.npz")
    landmarks = [golden["idx1"], golden["idx2"]]
    kema = KEMA(4, "linear", landmarks=landmarks, standardize=standardize).fit(Xs, ys)
    np.testing.assert_allclose(kema.eigenvalues_, golden["LAMBDA"] / (1 - HALF), rtol=1e-9)
    for i in (0, 1):
        expected = golden[f"{name}{i + 1}"]
        signs = np.sign((kema.embeddings_[i] * expected).sum(axis=0))
        np.testing.assert_allclose(kema.embeddings_[i] * signs, expected, atol=1e-9)


@pytest.mark.parametrize("kept", [1, 2, 3, 4])
def test_inversion(kept):
    Xs, ys, new = inputs("toy2d2d")
    golden = np.load(FOLDER / "inv_toy2d2d_lin.npz")
    all_of_them = KEMA(4, "linear").fit(Xs, ys)
    only = KEMA(kept, "linear").fit(Xs, ys)
    for name, X in (("train", Xs[1]), ("test", new[1])):
        expected = golden[f"inv_{name}_nf{kept}"]
        for found in (all_of_them.map_to(X, 1, 0, kept), only.map_to(X, 1, 0)):
            np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())
