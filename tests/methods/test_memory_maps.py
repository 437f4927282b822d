"""Samples in read-only files are fitted as arrays are, and in blocks as at once."""

import domain_alignment
import numpy as np
import pytest
from domain_alignment.manifold import _kernel_operators
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
    "KEMA, landmarks": {"n_components": 5, "landmarks": 60, "random_state": 0},
    "KEMA, random features": {"n_components": 5, "random_features": 60, "random_state": 0},
    "TKL": {"landmarks": 40, "random_state": 0},
}


def aligner(name):
    return getattr(domain_alignment, name.split(",")[0])(**METHODS[name])


def two_domains(n_samples, n_labelled):
    """Three classes; labels of the first samples, of the target only nine."""
    rng = np.random.default_rng(0)
    y = np.arange(n_samples) % 3
    source = 3 * rng.normal(size=(3, 8))[y] + rng.normal(size=(n_samples, 8))
    turn = np.eye(8) + 0.2 * rng.normal(size=(8, 8))
    target = (source + 0.5 * rng.normal(size=(n_samples, 8))) @ turn
    return [source, target], [np.where(np.arange(n_samples) < n, y, -1) for n in (n_labelled, 9)]


def mapped_files(Xs, folder):
    for d, X in enumerate(Xs):
        np.save(folder / f"{d}.npy", X)
    return [np.load(folder / f"{d}.npy", mmap_mode="r") for d in range(len(Xs))]


@pytest.fixture(scope="module")
def task():
    return two_domains(300, 300)


@pytest.mark.parametrize("name", METHODS)
def test_a_file_open_for_reading_is_fitted_as_an_array(name, task, tmp_path):
    Xs, ys = task
    mapped = mapped_files(Xs, tmp_path)
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


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_five_thousand_samples_of_files_in_blocks_give_what_arrays_give(
    name, tmp_path, monkeypatch
):
    Xs, ys = two_domains(5000, 60)
    expected = aligner(name).fit(Xs, ys)
    # As for a million samples: few rows at a time, no features kept, columns compressed.
    monkeypatch.setattr(_rows, "BLOCK_ROWS", 512)
    monkeypatch.setattr(_kernel_operators, "_MAX_CACHED_ENTRIES", 0)
    monkeypatch.setattr(_kernel_operators, "MANY_SAMPLES", 1000)
    mapped = mapped_files(Xs, tmp_path)
    found = aligner(name).fit(mapped, ys)
    probes = np.random.default_rng(1).normal(size=(10_000, 8))
    Z, other = (np.concatenate(one.embeddings_) for one in (expected, found))
    products = Z @ (Z.T @ probes)  # the matrix of all inner products would take 800 MB
    np.testing.assert_allclose(
        other @ (other.T @ probes), products, rtol=0, atol=1e-8 * np.abs(products).max()
    )
    new, others = (
        one.transform(X[:5], domain=1) @ Y.T
        for one, X, Y in ((expected, Xs[1], Z), (found, mapped[1], other))
    )
    np.testing.assert_allclose(others, new, rtol=0, atol=1e-8 * np.abs(new).max())
