"""REKEMA and rKEMA."""

import numpy as np
import pytest
from domain_alignment.manifold._kema import KEMA
from scipy import linalg
from sklearn.base import clone

from tests.methods import published_kema
from tests.methods.published_kema import assert_embedded, assert_same
from tests.methods.signs import assert_equal_up_to_sign


@pytest.fixture
def domains(make_domains):
    return make_domains(((60, 5), (50, 7)))


def test_rekema_is_equation_10(domains):
    Xs, ys = domains
    rng = np.random.default_rng(1)
    landmarks = [rng.permutation(len(X))[:12] for X in Xs]
    kernels = [lambda X, Y: published_kema.kernel("rbf", X, Y, 4.0)] * 2
    values, parts, scores = published_kema.kema(Xs, ys, kernels, 10, landmarks, n_neighbors=6)
    kema = KEMA(5, sigma=4.0, n_neighbors=6, rank=10, landmarks=landmarks).fit(Xs, ys)
    np.testing.assert_allclose(kema.eigenvalues_, values[:5], rtol=1e-8)
    assert [alpha.shape for alpha in kema.dual_coef_] == [(12, 5)] * 2
    exact = np.vstack([alpha[:, :5] for alpha in parts])
    assert_equal_up_to_sign(kema.dual_coef_, exact, atol=1e-5 * np.abs(exact).max())
    assert_embedded(kema, published_kema.coordinates([F[:, :5] for F in scores], ys), atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "histogram_intersection", "rbf"])
def test_rekema_with_all_samples_is_kema(domains, kernel):
    Xs, ys = domains
    order = [np.random.default_rng(a).permutation(len(X)) for a, X in enumerate(Xs)]
    full = KEMA(6, kernel, n_neighbors=6, sigma=2.0).fit(Xs, ys)
    for landmarks in (110, order):
        kema = KEMA(6, kernel, n_neighbors=6, sigma=2.0, landmarks=landmarks).fit(Xs, ys)
        assert kema.rank_ == full.rank_
        assert_same(kema, full, atol=1e-6)


def test_landmarks_are_drawn_for_all_domains_together(domains):
    Xs, ys = domains
    kema = KEMA(3, n_neighbors=6, landmarks=11, random_state=3).fit(Xs, ys)
    assert [rows.size for rows in kema.landmarks_] == [6, 5]
    again = clone(kema).fit(Xs, ys)
    assert_embedded(again, kema.embeddings_, rtol=0)
    other = clone(kema).set_params(random_state=4).fit(Xs, ys)
    assert not np.array_equal(other.landmarks_[0], kema.landmarks_[0])


def test_rekema_maps_between_domains(domains):
    Xs, ys = domains
    landmarks = [np.arange(20), np.arange(15)]
    kema = KEMA(4, ["linear", "rbf"], n_neighbors=6, landmarks=landmarks, standardize=False)
    kema.fit(Xs, ys)
    V = Xs[0][:20].T @ kema.dual_coef_[0]
    expected = kema.embeddings_[1] @ linalg.pinv(V)
    np.testing.assert_allclose(kema.map_to(Xs[1], 1, 0), expected, rtol=1e-6, atol=1e-9)


def test_rkema_is_kema_on_the_kernel_of_its_features(domains):
    Xs, ys = domains
    kema = KEMA(4, sigma=3.0, n_neighbors=6, rank=10, random_features=40, random_state=0)
    kema.fit(Xs, ys)
    state = np.random.RandomState(0)
    maps = []
    for X in Xs:
        frequencies = state.normal(scale=1 / 3.0, size=(X.shape[1], 40))
        maps.append((frequencies, state.uniform(0, 2 * np.pi, 40)))
    Zs = [np.sqrt(2 / 40) * np.cos(X @ W + b) for X, (W, b) in zip(Xs, maps, strict=True)]
    A, B = published_kema.sides(Xs, ys, 6)
    values, vectors = published_kema.solve(linalg.block_diag(*(Z @ Z.T for Z in Zs)), A, B, 10)
    np.testing.assert_allclose(kema.eigenvalues_, values[:4], rtol=1e-7)
    alphas = np.split(vectors[:, :4], [60])
    scores = [Z @ (Z.T @ alpha) for Z, alpha in zip(Zs, alphas, strict=True)]
    assert_embedded(kema, published_kema.coordinates(scores, ys), atol=1e-6)
    np.testing.assert_allclose(kema.transform(Xs[1], 1), kema.embeddings_[1], atol=1e-7)


def test_rkema_approaches_kema(domains):
    Xs, ys = domains
    exact = KEMA(3, sigma=6.0, n_neighbors=6, rank=6).fit(Xs, ys)

    def error(m):
        found = [
            clone(exact).set_params(random_features=m, random_state=seed).fit(Xs, ys).eigenvalues_
            for seed in range(5)
        ]
        return np.mean(np.abs(np.array(found) / exact.eigenvalues_ - 1))

    coarse, middle, fine = error(100), error(1600), error(25600)
    # The error falls with the root of m: by 4 for 16 times the features.
    assert fine < middle / 2 < coarse / 4
    assert fine < 0.02
    close = clone(exact).set_params(random_features=25600, random_state=0).fit(Xs, ys)
    for Z, expected in zip(close.embeddings_, exact.embeddings_, strict=True):
        for column in range(2):
            assert abs(np.corrcoef(Z[:, column], expected[:, column])[0, 1]) > 0.99


def test_random_features_need_a_gaussian_kernel(domains):
    with pytest.raises(ValueError, match=r'domain 1: random_features=9 .* use kernel="rbf"'):
        KEMA(3, ["rbf", "linear"], n_neighbors=6, random_features=9).fit(*domains)
    with pytest.raises(ValueError, match="are alternatives; give one"):
        KEMA(3, n_neighbors=6, random_features=9, landmarks=20).fit(*domains)
