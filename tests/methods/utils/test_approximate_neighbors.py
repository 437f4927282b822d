"""Approximate neighbours: the exact ones among the candidates, and how many of all those are."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from domain_alignment.utils import _approximate_neighbors as approximate
from domain_alignment.utils.neighbors import METRICS, nearest_neighbors
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning


def mixture(n_samples, seed=0):
    """Samples of ten classes on a surface of 8 dimensions among 30."""
    rng = np.random.default_rng(seed)
    centres = 2 * rng.standard_normal((10, 8))
    inner = centres[rng.integers(0, 10, n_samples)] + rng.standard_normal((n_samples, 8))
    return inner @ rng.standard_normal((8, 30)) + 0.1 * rng.standard_normal((n_samples, 30))


@pytest.fixture
def small_is_large(monkeypatch):
    monkeypatch.setattr(approximate, "EXACT_UP_TO", 0)


@pytest.mark.parametrize("metric", METRICS)
def test_small_domains_are_searched_exactly(metric):
    X = mixture(400)
    *found, recall = approximate.approximate_neighbors(X, 5, metric=metric)
    for ours, exact in zip(found, nearest_neighbors(X, 5, metric=metric), strict=True):
        np.testing.assert_array_equal(ours, exact)
    assert recall == 1.0


@pytest.mark.parametrize("metric", METRICS)
def test_candidates_are_ranked_as_the_exact_search_ranks(small_is_large, monkeypatch, metric):
    """Whatever the order in which samples are compared, in blocks."""
    monkeypatch.setattr(approximate, "_BLOCK_ROWS", 150)
    X, order = mixture(400), np.random.default_rng(1).permutation(400)
    near, _ = nearest_neighbors(X, 12, metric=metric)
    itself = np.arange(400)[:, None]
    candidates = np.random.default_rng(0).permuted(np.hstack([itself, near]), axis=1)
    candidates[7, 1:] = -1  # fewer than neighbours: searched exactly
    monkeypatch.setattr(approximate, "_descent", lambda search, n_neighbors: (candidates, order))
    *found, recall = approximate.approximate_neighbors(X, 5, metric=metric)
    for ours, exact in zip(found, nearest_neighbors(X, 5, metric=metric), strict=True):
        np.testing.assert_array_equal(ours, exact)
    assert recall == 1.0


def test_the_recall_is_the_share_found_and_a_poor_one_is_told(small_is_large, monkeypatch):
    X = mixture(2000)
    near, _ = nearest_neighbors(X, 12, metric="euclidean")
    found = near[:, 1:], np.arange(2000)
    monkeypatch.setattr(approximate, "_descent", lambda search, n_neighbors: found)
    with pytest.warns(ConvergenceWarning, match='domain 1: .*only 80%.*neighbors="exact"'):
        *_, recall = approximate.approximate_neighbors(X, 5, metric="euclidean", name="domain 1")
    assert recall == pytest.approx(0.8)  # of five neighbours the nearest was never a candidate


def test_a_sample_is_not_its_own_neighbour_among_copies():
    X = np.repeat(mixture(20), 8, axis=0)
    rows = np.array([0, 9, 159])
    neighbors, similarity = approximate._exact(X, rows, 3, "euclidean", "X")
    assert not (neighbors == rows[:, None]).any()
    np.testing.assert_array_equal(similarity, 0)


def spread(n_samples, n_features, noise, seed=0):
    """Ten classes on a surface of 8 dimensions, far apart, and noise in all features."""
    rng = np.random.default_rng(seed)
    inner = rng.standard_normal((n_samples, 8))
    inner += 9 * rng.standard_normal((10, 8))[rng.integers(0, 10, n_samples)]
    rows = inner @ rng.standard_normal((8, n_features)) / np.sqrt(8)
    return (rows + noise * rng.standard_normal(rows.shape)).astype(np.float32)


def test_candidates_are_looked_for_in_few_directions_where_neighbours_stay_near():
    rows = spread(4000, 200, noise=0.05)
    narrow = approximate._narrowed(rows, 10, 30)
    assert narrow.shape == (4000, 64)
    assert narrow.dtype == np.float32
    few = rows[:500].astype(float), narrow[:500].astype(float)
    near, candidates = (
        nearest_neighbors(X, k, metric="euclidean")[0] for X, k in zip(few, (10, 30), strict=True)
    )
    assert np.mean([np.isin(a, b) for a, b in zip(near, candidates, strict=True)]) > 0.99


def test_rows_stay_as_they_are_where_few_directions_lose_neighbours():
    # Nearly all variance lies between the classes, in few directions; what tells the rows of a
    # class apart lies in all of them.
    rng = np.random.default_rng(0)
    classes = (30 * rng.standard_normal((10, 200)))[rng.integers(0, 10, 4000)]
    rows = (classes + rng.standard_normal((4000, 200))).astype(np.float32)
    assert approximate._narrowed(rows, 10, 30) is rows


def test_few_rows_or_features_and_sparse_rows_stay_as_they_are():
    few_rows, few_features = spread(3999, 200, 0.05), spread(4000, 64, 0.05)
    for rows in (few_rows, few_features, sparse.csr_array(spread(4000, 200, 0.05))):
        assert approximate._narrowed(rows, 10, 30) is rows
    assert approximate._narrowed(np.ones((4000, 200), np.float32), 10, 30).shape[0] == 4000
    rows = spread(4000, 200, 0.05)
    assert approximate._narrowed(rows, 995, 2000) is rows  # more candidates than are looked at


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_the_order_of_the_descent_does_not_show_in_its_candidates(
    small_is_large, monkeypatch, convert
):
    X, k = convert(mixture(500)), 5
    graphs = []

    def exact_descent(rows, n_neighbors, **_):
        rows = rows.astype(np.float64)
        near = nearest_neighbors(rows, n_neighbors, metric="euclidean")[0].astype(np.int32)
        near[near == 0] = -1  # pynndescent marks the candidates that it lacks so
        graphs.append(near)
        return SimpleNamespace(neighbor_graph=(near, None))

    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=exact_descent))
    search = approximate.Search(X, None, "euclidean", "X")
    candidates, order = approximate._descent(search, k)
    np.testing.assert_array_equal(np.sort(order), np.arange(500))
    assert candidates.shape == (500, 2 * k + 10)
    exact, _ = nearest_neighbors(X, candidates.shape[1], metric="euclidean")
    assert (candidates == -1).sum() == (graphs[0] == -1).sum() > 0
    assert ((candidates == exact) | (candidates == -1)).all()


def test_rows_near_each_other_come_near_each_other():
    X = mixture(4000).astype(np.float32)
    order = approximate._by_nearness(X)
    np.testing.assert_array_equal(np.sort(order), np.arange(4000))
    near, _ = nearest_neighbors(X[order].astype(float), 5, metric="euclidean")
    apart = np.abs(near - np.arange(4000)[:, None]).mean()
    assert apart < 4000 / 3 / 4  # of rows in random order they are a third of all rows apart
    copies = np.ones((500, 3), dtype=np.float32)
    np.testing.assert_array_equal(np.sort(approximate._by_nearness(copies)), np.arange(500))


def test_a_missing_package_names_its_extra(small_is_large, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(ImportError, match=r'neighbors="approximate" .*\.\[neighbors\]'):
        approximate.approximate_neighbors(mixture(50), 5)


@pytest.mark.slow  # pynndescent compiles itself: half a minute
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_most_neighbours_are_found(small_is_large, metric, convert):
    X = mixture(3000)
    if convert is sparse.csr_array:
        X[np.abs(X) < 1] = 0
    X = convert(X)
    neighbors, similarity, recall = approximate.approximate_neighbors(X, 10, metric=metric)
    exact, _ = nearest_neighbors(X, 10, metric=metric)
    hits = np.mean([np.isin(ours, true) for ours, true in zip(neighbors, exact, strict=True)])
    assert hits > 0.98
    assert recall == pytest.approx(hits, abs=0.02)
    again, *_ = approximate.approximate_neighbors(X, 10, metric=metric)
    np.testing.assert_array_equal(neighbors, again)
    assert (np.diff(similarity, axis=1) <= 0).all()
