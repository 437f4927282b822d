"""Samples in read-only files are fitted as arrays are, and in blocks as at once."""

import domain_alignment
import numpy as np
import pytest
from domain_alignment.utils import _rows
from sklearn.base import clone

METHODS = {
    "NoAdaptation": {},
    "CORAL": {},
    "SubspaceAlignment": {"n_components": 5},
    "GFK": {"n_components": 5},
    "TCA": {"n_components": 5},
    "JDA": {"n_components": 5},
    "LSMMDT": {"random_state": 0},
    "FMA": {"n_components": 10},
    "FMA, features": {"n_components": 10, "level": "feature"},
    "SSMA": {"n_components": 5},
    "KEMA": {"n_components": 5},
    "KEMA, linear": {"n_components": 5, "kernel": "linear"},
    "TKL": {"landmarks": 40, "random_state": 0},
}


def aligner(name):
    return getattr(domain_alignment, name.split(",")[0])(**METHODS[name])


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    source = 3 * rng.normal(size=(3, 8))[y] + rng.normal(size=(300, 8))
    turn = np.eye(8) + 0.2 * rng.normal(size=(8, 8))
    target = (source + 0.5 * rng.normal(size=(300, 8))) @ turn
    return [source, target], [y, np.where(np.arange(300) < 9, y, -1)]


@pytest.mark.parametrize("name", METHODS)
def test_a_file_open_for_reading_is_fitted_as_an_array(name, task, tmp_path):
    Xs, ys = task
    for d, X in enumerate(Xs):
        np.save(tmp_path / f"{d}.npy", X)
    mapped = [np.load(tmp_path / f"{d}.npy", mmap_mode="r") for d in range(2)]
    expected, found = aligner(name).fit(Xs, ys), aligner(name).fit(mapped, ys)
    for Z, other in zip(expected.embeddings_, found.embeddings_, strict=True):
        np.testing.assert_array_equal(Z, other)
    np.testing.assert_array_equal(
        expected.transform(Xs[1][:5], domain=1), found.transform(mapped[1][:5], domain=1)
    )


@pytest.mark.parametrize("name", METHODS)
def test_blocks_of_rows_give_what_all_rows_give(name, task, monkeypatch):
    Xs, ys = task
    expected = aligner(name).fit(Xs, ys)
    monkeypatch.setattr(_rows, "BLOCK_VALUES", 64 * Xs[0].shape[1])
    found = clone(expected).fit(Xs, ys)
    # Inner products, as signs of components may differ.
    Z, other = (np.concatenate(one.embeddings_) for one in (expected, found))
    scale = np.square(Z).sum(axis=1).max()
    np.testing.assert_allclose(other @ other.T, Z @ Z.T, rtol=0, atol=1e-8 * scale)
