import numpy as np
import pytest
from domain_alignment import KEMA
from domain_alignment.kernels import _tiled
from domain_alignment.kernels._tiled import Kernel
from domain_alignment.manifold import _kernel_operators
from domain_alignment.manifold._kernel_operators import (
    CompressedColumns,
    FactoredColumns,
    FourierFeatures,
    KernelColumns,
    LandmarkColumns,
    PlainColumns,
    compressed,
)
from domain_alignment.utils import _rows
from scipy import sparse

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(30, 6)), RNG.normal(size=(9, 6))
CHOSEN = np.array([4, 2, 20, 11, 29])
RBF, LINEAR = Kernel("rbf", 2.0), Kernel("linear")
FEATURES = FourierFeatures(6, 12, 2.0, np.random.RandomState(0))


def factored(A, B):
    return FEATURES(A) @ FEATURES(B).T


# Name: columns of the given samples, and the dense matrix of any samples.
CASES = {
    "plain": (lambda X: PlainColumns(X), lambda A: A),
    "plain chosen": (lambda X: PlainColumns(X, CHOSEN % 6), lambda A: A[:, CHOSEN % 6]),
    "kernel": (lambda X: KernelColumns(RBF, X), lambda A: RBF(A, X)),
    "landmarks": (lambda X: LandmarkColumns(RBF, X, CHOSEN), lambda A: RBF(A, X[CHOSEN])),
    "linear landmarks": (
        lambda X: LandmarkColumns(LINEAR, X, CHOSEN),
        lambda A: A @ X[CHOSEN].T,
    ),
    "linear": (lambda X: FactoredColumns(X), lambda A: A @ X.T),
    "random": (lambda X: FactoredColumns(X, FEATURES), lambda A: factored(A, X)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("tile", "held"), [(7, 0), (1000, 2**20)])
def test_columns_stand_for_their_matrix(case, convert, tile, held, monkeypatch):
    monkeypatch.setattr(_tiled, "TILE", tile)
    monkeypatch.setattr(_kernel_operators, "_MAX_CACHED_ENTRIES", held)
    make, dense = CASES[case]
    columns, matrix = make(convert(X)), dense(X)
    B = np.random.default_rng(1).normal(size=(matrix.shape[1], 3))
    assert columns.n_columns == matrix.shape[1]
    rows = columns.at(CHOSEN)
    assert isinstance(rows, np.ndarray)
    np.testing.assert_allclose(rows, matrix[CHOSEN], atol=1e-13)
    np.testing.assert_allclose(columns.times(B), matrix @ B, atol=1e-12)
    weights = columns.weights(B)
    columns.release()
    np.testing.assert_allclose(columns.project(convert(NEW), weights), dense(NEW) @ B, atol=1e-12)
    V = columns.primal(weights)
    assert (V is None) == (case in ("kernel", "landmarks", "random"))
    if V is not None and case != "plain chosen":
        np.testing.assert_allclose(NEW @ V, dense(NEW) @ B, atol=1e-12)


def test_random_features_are_computed_once_and_then_forgotten():
    calls = []

    def features(X):
        calls.append(len(X))
        return FEATURES(X)

    features.n_features = 12
    columns = FactoredColumns(X, features)
    columns.times(np.ones((30, 2)))
    columns.weights(np.ones((30, 2)))
    assert calls == [30]
    columns.release()
    columns.project(NEW, np.ones((12, 2)))
    assert calls == [30, 9]


@pytest.mark.parametrize("case", CASES)
def test_of_the_samples_only_those_are_kept_that_new_ones_are_compared_with(case):
    columns = CASES[case][0](X + np.pi)
    columns.weights(np.ones((columns.n_columns, 1)))
    columns.release()
    kept = {"kernel": len(X), "landmarks": len(CHOSEN), "linear landmarks": len(CHOSEN)}
    arrays = [part for part in vars(columns).values() if isinstance(part, np.ndarray)]
    rows = sum(len(part) for part in arrays if part.ndim == 2)
    assert rows == kept.get(case, 0)


def test_a_precomputed_kernel_is_not_linear_in_features():
    assert PlainColumns(X, linear=False).primal(np.ones((6, 1))) is None


def test_random_features_have_the_gaussian_kernel_as_their_mean():
    # The mean of 400 maps of 50 features each; entries have a standard deviation below 0.01.
    state = np.random.RandomState(0)
    mean = np.mean(
        [Z @ Z.T for Z in (FourierFeatures(6, 50, 2.0, state)(X) for _ in range(400))], 0
    )
    np.testing.assert_allclose(mean, RBF(X, X), atol=0.05)
    assert np.sqrt(np.mean((mean - RBF(X, X)) ** 2)) < 0.01


@pytest.mark.parametrize("features", [None, FEATURES], ids=["linear", "random"])
def test_compressed_columns_are_those_of_the_kernel_matrix_in_another_basis(features, monkeypatch):
    monkeypatch.setattr(_rows, "BLOCK_VALUES", 7 * X.shape[1])
    whole = FactoredColumns(X, features)
    short = CompressedColumns(whole)
    width = 6 if features is None else 12
    rows = np.array([3, 17, 4])
    K, few = whole.at(np.arange(30)), short.at(np.arange(30))
    assert few.shape == (30, width)
    np.testing.assert_allclose(few @ few.T, K @ K.T, atol=1e-10)  # Z S'S Z' = K K'
    np.testing.assert_allclose(short.at(rows), few[rows], rtol=1e-12)
    v = np.random.default_rng(1).normal(size=(width, 2))
    np.testing.assert_allclose(short.times(v), few @ v)
    np.testing.assert_allclose(K @ short.dual(v), few @ v)
    np.testing.assert_allclose(short.project(X, short.weights(v)), few @ v)
    assert (short.n_columns, short.order) == (width, 30) == (few.shape[1], whole.order)


def test_only_many_samples_of_few_dense_features_are_compressed(monkeypatch):
    assert isinstance(compressed(FactoredColumns(X), 30), FactoredColumns)
    monkeypatch.setattr(_kernel_operators, "MANY_SAMPLES", 20)
    assert isinstance(compressed(FactoredColumns(X), 30), CompressedColumns)
    for others in (FactoredColumns(sparse.csr_array(X)), KernelColumns(RBF, X)):
        assert compressed(others, 30) is others
    wide = FactoredColumns(RNG.normal(size=(30, 8)))
    assert compressed(wide, 30) is wide


@pytest.mark.parametrize(("n_labelled", "changes"), [(2, True), (1, False)])
def test_kernel_rows_of_few_labelled_samples_are_held(n_labelled, changes, monkeypatch):
    monkeypatch.setattr(_kernel_operators, "MANY_SAMPLES", 20)
    columns = FactoredColumns(RNG.normal(size=(80, 12)))
    assert isinstance(compressed(columns, n_labelled), CompressedColumns) == changes


@pytest.mark.parametrize("settings", [{"kernel": "linear"}, {"random_features": 9}])
@pytest.mark.parametrize("deficient", [False, True])
def test_kema_is_the_same_with_compressed_columns(settings, deficient, monkeypatch):
    rng = np.random.default_rng(3)
    y = np.arange(60) % 3
    Xs = [3 * rng.normal(size=(3, 5))[y] + rng.normal(size=(60, 5)) for _ in range(2)]
    if deficient:
        Xs[0][:, 4] = Xs[0][:, 3]
    ys = [np.where(np.arange(60) < 30, y, -1), np.where(np.arange(60) < 12, y, -1)]
    kema = KEMA(n_components=4, random_state=0, **settings)
    expected = kema.fit(Xs, ys)
    scores = np.concatenate(expected.embeddings_)
    new = expected.transform(Xs[1] + 1, domain=1)
    dual = [X @ (X.T @ own) for X, own in zip(Xs, expected.dual_coef_, strict=True)]
    monkeypatch.setattr(_kernel_operators, "MANY_SAMPLES", 20)
    found = KEMA(n_components=4, random_state=0, **settings).fit(Xs, ys)
    assert found.rank_ == expected.rank_
    np.testing.assert_allclose(np.concatenate(found.embeddings_), scores, atol=1e-7)
    np.testing.assert_allclose(found.transform(Xs[1] + 1, domain=1), new, atol=1e-7)
    assert [own.shape for own in found.dual_coef_] == [own.shape for own in expected.dual_coef_]
    if settings == {"kernel": "linear"}:
        for X, own, other in zip(Xs, found.dual_coef_, dual, strict=True):
            np.testing.assert_allclose(X @ (X.T @ own), other, atol=1e-7)
