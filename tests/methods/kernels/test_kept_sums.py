import gc
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from domain_alignment import KEMA
from domain_alignment.kernels import _kept_sums, _tiled
from domain_alignment.kernels._kept_sums import kept_sums
from domain_alignment.kernels._tiled import Kernel, symmetric_kernel_product
from domain_alignment.manifold._kernel_operators import KernelColumns
from scipy import sparse

X = np.random.default_rng(0).poisson(1.0, (30, 40)) * np.float64(0.1)
INTERSECTION = Kernel("histogram_intersection")
B = np.random.default_rng(1).normal(size=(30, 3))


class Prepared:
    pass


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch):
    monkeypatch.setattr(_kept_sums, "_KEPT", type(_kept_sums._KEPT)())


@pytest.mark.parametrize("kernel", [INTERSECTION, Kernel("chi2", 3.0)], ids=lambda k: k.function)
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_values_of_kept_sums_are_the_kernel_s_to_the_last_digit(
    kernel, compiled, convert, monkeypatch
):
    monkeypatch.setattr(_tiled, "TILE", 7)
    kernel = Kernel(kernel.function, kernel.sigma, compiled=compiled)
    plain = KernelColumns(kernel, convert(X))
    kept = KernelColumns(kernel, convert(X), kept_sums(Prepared(), kernel, convert(X)))
    rows = np.array([4, 29, 0])
    for _ in range(2):  # nothing is overwritten
        np.testing.assert_array_equal(kept.at(rows), plain.at(rows))
        np.testing.assert_array_equal(kept.times(B), plain.times(B))
    kept.release()
    assert kept.sums is None
    np.testing.assert_array_equal(kept.times(B), plain.times(B))


def test_sums_are_computed_once_while_their_model_lives(monkeypatch):
    calls = []
    made = _kept_sums.symmetric_sums
    monkeypatch.setattr(
        _kept_sums, "symmetric_sums", lambda *given: calls.append(1) or made(*given)
    )
    model, other = Prepared(), Prepared()
    asked = [(model, X), (other, X + 1), (model, X), (other, X + 1)]
    for prepared, samples in asked:
        kept_sums(prepared, INTERSECTION, samples)
    assert len(calls) == 2
    del model, prepared, asked
    gc.collect()
    assert list(_kept_sums._KEPT) == [other]


def test_models_of_the_same_samples_share_them():
    first, second = Prepared(), Prepared()
    sums = kept_sums(first, INTERSECTION, X)
    assert kept_sums(second, INTERSECTION, X.copy()) is sums
    del first
    gc.collect()
    assert kept_sums(second, INTERSECTION, X) is sums


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_a_model_given_with_other_samples_has_the_sums_of_those(convert):
    model, other = Prepared(), X[::-1].copy()
    for samples in (X, other, X):
        found = kept_sums(model, INTERSECTION, convert(samples))
        np.testing.assert_array_equal(found, _tiled.symmetric_sums(INTERSECTION, samples))


def test_threads_may_ask_at_once(monkeypatch):
    monkeypatch.setattr(_kept_sums, "_MOST", 3 * 900)
    samples = [X + number for number in range(6)]
    expected = [_tiled.symmetric_sums(INTERSECTION, own) for own in samples]
    models = [Prepared() for _ in samples]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as pool:
            numbers = list(range(6)) * 60
            found = pool.map(lambda n: kept_sums(models[n], INTERSECTION, samples[n]), numbers)
            for number, sums in zip(numbers, found, strict=True):
                np.testing.assert_array_equal(sums, expected[number])
    finally:
        sys.setswitchinterval(interval)
    assert len(_kept_sums._KEPT) <= 3


def test_one_model_has_sums_of_each_kind():
    model = Prepared()
    found = [kept_sums(model, kernel, X) for kernel in (INTERSECTION, Kernel("chi2", 1.0))]
    assert not np.array_equal(*found)
    # The width is no part of the sums.
    assert kept_sums(model, Kernel("chi2", 2.0), X) is found[1]


def test_those_used_last_stay(monkeypatch):
    monkeypatch.setattr(_kept_sums, "_MOST", 2 * 900)
    first, second, third = models = [Prepared() for _ in range(3)]
    for number in (0, 1, 0, 2):
        kept_sums(models[number], INTERSECTION, X + number)
    assert list(_kept_sums._KEPT) == [first, third]
    monkeypatch.setattr(_kept_sums, "_MOST", 100)
    kept_sums(second, INTERSECTION, X + 1)
    assert list(_kept_sums._KEPT) == [second], "the sums in use"


def test_matrix_products_and_large_matrices_are_not_kept(monkeypatch):
    model = Prepared()
    for function in ("linear", "rbf", "polynomial", np.dot):
        assert kept_sums(model, Kernel(function, 1.0), X) is None
    monkeypatch.setattr(_kept_sums, "_LARGEST", 899)
    assert kept_sums(model, INTERSECTION, X) is None
    assert not _kept_sums._KEPT


@pytest.mark.parametrize("kernel", ["histogram_intersection", "chi2"])
def test_kema_with_other_labels_and_settings_takes_the_same_sums(kernel, monkeypatch):
    rng = np.random.default_rng(2)
    sizes = (40, 48)
    Xs = [rng.poisson(1 + 3 * rng.random((4, 12)))[np.arange(n) % 4] for n in sizes]
    Xs = [own + rng.poisson(1.0, own.shape).astype(float) for own in Xs]
    y, other = (np.arange(n) % 4 for n in sizes)
    ys = [y, np.where(np.arange(48) < 16, other, -1)]
    fewer = [y, np.where(np.arange(48) < 12, other, -1)]
    kema = KEMA(3, kernel, n_neighbors=5)
    expected = [kema.fit(Xs, own).embeddings_ for own in (ys, fewer)]
    assert not _kept_sums._KEPT, "without prepared models nothing outlives a fit"
    prepared = [kema.prepare(own) for own in Xs]
    found = [kema.fit(Xs, ys, prepared).embeddings_]
    monkeypatch.setattr(_kept_sums, "symmetric_sums", None)
    monkeypatch.setattr(_tiled, "_SUMS", dict.fromkeys(_tiled._SUMS))
    found.append(kema.fit(Xs, fewer, prepared).embeddings_)
    for one, same in zip(found, expected, strict=True):
        for Z, expected_Z in zip(one, same, strict=True):
            np.testing.assert_array_equal(Z, expected_Z)
    assert kema.set_params(mu=3.0, n_components=2).fit(Xs, ys, prepared).n_components_ == 2
    assert len(pickle.dumps(prepared)) < 8 * 40 * 40, "a pickled model holds no matrix"


def test_a_product_takes_sums_where_they_are_known(monkeypatch):
    monkeypatch.setattr(_tiled, "TILE", 7)
    expected = symmetric_kernel_product(INTERSECTION, X, B)
    sums = _tiled.symmetric_sums(INTERSECTION, X)
    np.testing.assert_array_equal(sums, sums.T)
    monkeypatch.setattr(_tiled, "_SUMS", dict.fromkeys(_tiled._SUMS))
    np.testing.assert_array_equal(symmetric_kernel_product(INTERSECTION, X, B, sums), expected)
