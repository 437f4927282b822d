import tracemalloc

import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils import _rows, neighbors
from domain_alignment.utils.neighbors import METRICS, nearest_neighbors
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms

FORMATS = [np.asarray, sparse.csr_array, sparse.csr_matrix]


def features(n_samples=70, n_features=9, seed=0):
    return np.random.default_rng(seed).normal(size=(n_samples, n_features))


def by_definition(X, k, metric, queries=None):
    """Similarity of every pair in float64, one by one, and a stable sort."""
    others = X if queries is None else queries
    similarity = np.empty((len(others), len(X)))
    for i, x in enumerate(others):
        if metric == "cosine":
            cosine = np.vecdot(X, x) / (row_norms(x[None]) * row_norms(X))
            similarity[i] = np.clip(cosine, -1, 1)
        else:
            similarity[i] = -np.vecdot(X - x, X - x)
    if queries is None:
        np.fill_diagonal(similarity, -np.inf)
    found = np.argsort(-similarity, axis=1, kind="stable")[:, :k]
    return found, np.take_along_axis(similarity, found, axis=1)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("convert", FORMATS)
@pytest.mark.parametrize("entries", [1, 200, 2**22])
def test_neighbors_equal_scikit_learns(metric, convert, entries, monkeypatch):
    monkeypatch.setattr(neighbors, "_BLOCK_ENTRIES", entries)
    X = features()
    distance, expected = (
        NearestNeighbors(n_neighbors=6, metric=metric, algorithm="brute").fit(X).kneighbors()
    )
    found, similarity = nearest_neighbors(convert(X), 6, metric=metric)
    np.testing.assert_array_equal(found, expected)
    of_distance = 1 - distance if metric == "cosine" else -(distance**2)
    np.testing.assert_allclose(similarity, of_distance, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("convert", FORMATS)
@pytest.mark.parametrize("convert_queries", [np.asarray, sparse.csr_array])
def test_neighbors_of_other_samples(metric, convert, convert_queries):
    X, queries = features(), features(9, seed=1)
    search = NearestNeighbors(n_neighbors=6, metric=metric, algorithm="brute").fit(X)
    found, _ = nearest_neighbors(convert(X), 6, queries=convert_queries(queries), metric=metric)
    np.testing.assert_array_equal(found, search.kneighbors(queries)[1])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("block_rows", [1, 7, 1024])
def test_the_block_decides_nothing(metric, block_rows, monkeypatch):
    X = np.random.default_rng(0).integers(1, 4, size=(150, 6)).astype(float)  # ties everywhere
    expected = nearest_neighbors(X, 8, metric=metric)
    monkeypatch.setattr(neighbors, "_BLOCK_ROWS", block_rows)
    monkeypatch.setattr(neighbors, "_PAIR_ENTRIES", 1)
    for found, exact in zip(nearest_neighbors(X, 8, metric=metric), expected, strict=True):
        np.testing.assert_array_equal(found, exact)


def nearer_than_float32_can_tell(rng):
    return 1 + 1e-9 * rng.normal(size=(60, 5))


def half_of_them_equal(rng):
    return np.vstack([np.tile(rng.normal(size=(1, 5)), (40, 1)), rng.normal(size=(40, 5))])


def one_far_away(rng):
    return np.vstack([rng.normal(size=(60, 5)), [[1e12, 0, 0, 0, 0]]])


def a_lattice(rng):
    return np.stack(np.meshgrid(*[np.arange(1.0, 5)] * 3), axis=-1).reshape(-1, 3)


def tiny(rng):
    return 1e-60 * rng.normal(size=(60, 5))


def huge(rng):
    return 1e60 * rng.normal(size=(60, 5))


def norms_from_tiny_to_huge(rng):
    return rng.normal(size=(80, 5)) * 10.0 ** rng.integers(-25, 25, size=(80, 1))


HARD = [nearer_than_float32_can_tell, half_of_them_equal, one_far_away, a_lattice]
HARD += [tiny, huge, norms_from_tiny_to_huge]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("make", HARD)
@pytest.mark.parametrize("with_queries", [False, True])
def test_hard_cases_are_those_of_float64(metric, make, with_queries):
    X = make(np.random.default_rng(0))
    queries = X[::-3] if with_queries else None
    found, similarity = nearest_neighbors(X, 6, queries=queries, metric=metric)
    expected, exact = by_definition(X, 6, metric, queries)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(similarity, exact)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("make", HARD)
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bounds_hold(metric, make, convert, dtype):
    X = make(np.random.default_rng(0))
    search = neighbors.Search(convert(X), None, metric, "X")
    bounds = neighbors._Bounds(search, dtype)
    rows, columns = np.divmod(np.arange(len(X) ** 2), len(X))
    similarity = search._similarity(rows, columns).reshape(len(X), -1)
    if metric == "euclidean":  # s = (|x|^2 - d^2) / 2 in the units of the search
        scale = search.samples.divisors[0]
        similarity = (search.samples.lengths[:, None] ** 2 + similarity / scale / scale) / 2
    upper = bounds.upper(slice(None), slice(None)).astype(float)
    widths = np.broadcast_to(bounds.widths(np.arange(len(X)), np.arange(len(X))[None]), upper.shape)
    # Up to half a width, the term of the query that upper bounds leave out.
    away = ~np.eye(len(X), dtype=bool)
    assert (similarity <= upper + widths / 2)[away].all()
    assert (similarity >= upper - widths * 1.5)[away].all()


def test_float64_is_for_the_undecided(monkeypatch):
    redone = []
    search = neighbors._search_in_float64

    def counted(block, rows, k):
        redone.append(rows.tolist())
        return search(block, rows, k)

    monkeypatch.setattr(neighbors, "_search_in_float64", counted)
    X = features(300, 50)
    nearest_neighbors(X, 5)
    assert redone == []
    X[10:50] = X[10]  # more equal samples than are kept beside the nearest
    found, _ = nearest_neighbors(X, 5)
    # They themselves, and those among whose nearest they are.
    assert redone == [np.flatnonzero(np.isin(found, range(10, 50)).any(axis=1)).tolist()]


def test_ties_go_to_the_lower_row():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 4.0]])
    found, _ = nearest_neighbors(X, 2)
    assert found.tolist() == [[1, 2], [2, 3], [1, 3], [1, 2], [1, 2]]


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_equal_samples_are_at_distance_zero(convert):
    X = np.repeat(features(5), 3, axis=0) + 1e6
    found, similarity = nearest_neighbors(convert(X), 2, metric="euclidean")
    np.testing.assert_array_equal(similarity, 0)
    np.testing.assert_array_equal(found // 3, np.repeat(np.arange(15)[:, None] // 3, 2, axis=1))


@pytest.mark.parametrize("n_neighbors", [5, 6])
def test_more_neighbors_than_others(n_neighbors):
    with pytest.raises(ValueError, match=rf"domain 2: n_neighbors={n_neighbors} for 5 .* most 4"):
        nearest_neighbors(features(5), n_neighbors, name="domain 2")


def test_all_others_may_be_neighbors():
    X = features(20)
    for metric in METRICS:
        found, _ = nearest_neighbors(X, 19, metric=metric)
        np.testing.assert_array_equal(found, by_definition(X, 19, metric)[0])


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_many_equal_cosines(convert):
    """Rows of three words of many: most pairs share none, and every block is full of ties."""
    rng = np.random.default_rng(0)
    X = np.zeros((300, 400))
    X[np.arange(300)[:, None], rng.integers(0, 400, (300, 3))] = 1
    found, cosines = nearest_neighbors(convert(X), 5)
    expected, similarity = by_definition(X, 5, "cosine")
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(cosines, similarity, atol=1e-14)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_a_zero_row_has_no_cosine(convert):
    X = features(6)
    X[3] = 0
    with pytest.raises(AlignmentError, match=r"1 of 6 samples are all zeros, .*first at row 3"):
        nearest_neighbors(convert(X), 2)
    nearest_neighbors(convert(X), 2, metric="euclidean")


def peak_megabytes(function, *arguments, **options):
    tracemalloc.start()
    try:
        function(*arguments, **options)
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("metric", METRICS)
def test_memory_is_a_block_not_a_square(metric, monkeypatch):
    monkeypatch.setattr(neighbors, "_BLOCK_ENTRIES", 2**15)
    # A square of float32 would take 34 MB.
    assert peak_megabytes(nearest_neighbors, features(3000, 4), 5, metric=metric) < 12


@pytest.mark.parametrize("metric", METRICS)
def test_sparse_rows_are_not_densified(metric):
    X = sparse.random_array((300, 300_000), density=1e-4, format="csr", rng=0)
    # Dense it would take 687 MB.
    assert peak_megabytes(nearest_neighbors, X, 5, metric=metric) < 40


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("block", [2**24, 400])
def test_sparse_samples_of_many_values_have_the_neighbors_of_dense_ones(metric, block, monkeypatch):
    monkeypatch.setattr(_rows, "BLOCK_VALUES", block)
    monkeypatch.setattr(neighbors, "_BLOCK_ROWS", 16)
    rng = np.random.default_rng(0)
    X = rng.random((60, 30)) * (rng.random((60, 30)) < 0.4)
    found = nearest_neighbors(sparse.csr_array(X), 5, metric=metric)
    for ours, expected in zip(found, nearest_neighbors(X, 5, metric=metric), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-12)
