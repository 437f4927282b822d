import numpy as np
import pytest
from domain_alignment.manifold._kernel_operators import FourierFeatures
from scipy import linalg
from scipy.spatial.distance import cdist

from workflow.studies.kema._error_bounds import (
    matrix_bernstein_mean,
    projection_lower_bound,
    proved_random_features_bound,
    random_features_bound,
    random_features_error,
    residual_upper_bound,
)


def ball(rng, n, p=3):
    """Samples in the unit ball."""
    X = rng.normal(size=(n, p))
    return X / np.linalg.norm(X, axis=1, keepdims=True) * rng.uniform(size=(n, 1)) ** (1 / p)


def gaussian(X, Y, sigma):
    return np.exp(-cdist(X, Y, "sqeuclidean") / (2 * sigma**2))


def test_the_bounds_are_their_equations():
    rng = np.random.default_rng(0)
    values, diagonal = np.sort(rng.gamma(0.3, size=40))[::-1], rng.uniform(size=40)
    n, delta, radius, gamma, rank = 40, 0.1, 1.3, 0.05, 7
    theta = values / (1 + gamma * values)  # so that theta / (1 - gamma theta) is the value
    upper, lower = [], []
    for size in range(1, rank + 1):
        spread = (1 + size**0.5) / n**0.5 * np.sqrt(2 / n * sum(k**2 for k in diagonal))
        upper.append(sum(values[size:]) / n + spread)
        lower.append(sum(values[:size]) / n - spread)
    expected_upper = min(upper) + radius**2 * np.sqrt(18 / n * np.log(2 * n / delta))
    expected_lower = max(lower) - radius**2 * np.sqrt(19 / n * np.log(2 * (n + 1) / delta))
    options = {"radius": radius, "delta": delta}
    shuffled = rng.permutation(values)
    for given, ridge in ((shuffled, 0.0), (theta, gamma)):
        found = residual_upper_bound(given, diagonal, rank, ridge=ridge, **options)
        assert found == pytest.approx(expected_upper)
        found = projection_lower_bound(given, diagonal, rank, ridge=ridge, **options)
        assert found == pytest.approx(expected_lower)


@pytest.mark.parametrize("rank", [1, 5, 20])
def test_the_bounds_hold_for_new_samples(rank):
    # 20 draws of 300 samples: what the first eigenvectors miss and capture of new samples.
    rng = np.random.default_rng(0)
    new = ball(rng, 2000)
    for _ in range(20):
        X = ball(rng, 300)
        K = gaussian(X, X, 1.0)
        values, vectors = linalg.eigh(K)
        U = vectors[:, -rank:] / np.sqrt(values[-rank:])
        captured = np.mean(np.sum((gaussian(new, X, 1.0) @ U) ** 2, axis=1))
        diagonal = np.ones(300)
        assert 1 - captured <= residual_upper_bound(values, diagonal, rank, radius=1.0)
        assert captured >= projection_lower_bound(values, diagonal, rank, radius=1.0)


def test_more_samples_and_more_confidence():
    def bound(n, delta=0.05):
        return residual_upper_bound(np.r_[n, np.zeros(n - 1)], np.ones(n), 1, radius=1, delta=delta)

    assert bound(100) > bound(1000) > bound(10000)
    assert bound(100, 0.01) > bound(100, 0.1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rank": 0}, "rank=0 of 3 eigenvalues"),
        ({"rank": 4}, "give 1 to 3"),
        ({"delta": 1.0}, "delta=1.0 is a probability"),
        ({"diagonal": np.ones(4)}, r"diagonal has shape \(4,\) for 3 eigenvalues"),
        ({"ridge": 0.5}, "ridge=0.5 times the largest eigenvalue 2 is not below 1"),
    ],
)
@pytest.mark.parametrize("bound", [residual_upper_bound, projection_lower_bound])
def test_numbers_out_of_range(bound, changes, message):
    given = {"eigenvalues": [2.0, 1.0, 0.5], "diagonal": np.ones(3), "rank": 1, "radius": 1.0}
    with pytest.raises(ValueError, match=message):
        bound(**{**given, **changes})


def test_matrix_bernstein_bounds_mean_norms_of_sums_of_random_matrices():
    # Sums of 50 matrices +-Z with fixed Z of norm 1: sigma^2 is the norm of the sum of squares.
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50, 12, 12))
    Z = Z + Z.transpose(0, 2, 1)
    Z /= np.linalg.norm(Z, 2, axis=(1, 2))[:, None, None]
    variance = np.linalg.norm(sum(matrix @ matrix for matrix in Z), 2)
    signs = rng.choice([-1, 1], (400, 50))
    norms = np.linalg.norm(np.einsum("si,ijk->sjk", signs, Z), 2, axis=(1, 2))
    assert norms.mean() <= matrix_bernstein_mean(variance, 1.0, 12)
    with pytest.raises(ValueError, match="false below n = 4"):
        matrix_bernstein_mean(1.0, 1.0, 3)


def drawn_error(n, m, ridge, seed, norm=2):
    rng, state = np.random.default_rng(seed), np.random.RandomState(seed)
    X = ball(rng, n)
    Zd, Zs = FourierFeatures(3, m, 0.5, state)(X), FourierFeatures(3, m, 1.0, state)(X)
    Kd, Ks = gaussian(X, X, 0.5), gaussian(X, X, 1.0)
    return random_features_error(Kd, Ks, Zd, Zs, ridge, norm)


@pytest.mark.parametrize("ridge", [0.01, 1.0])
def test_measured_errors_are_below_the_bounds(ridge):
    for n, m in ((40, 20), (40, 2000), (160, 200)):
        worst = max(drawn_error(n, m, ridge, seed) for seed in range(5))
        assert worst <= random_features_bound(n, m, ridge)
        assert random_features_bound(n, m, ridge) <= proved_random_features_bound(n, m, ridge)


def test_the_error_falls_with_the_root_of_the_features():
    errors = [np.mean([drawn_error(60, m, 1.0, seed) for seed in range(8)]) for m in (200, 12800)]
    assert 5 < errors[0] / errors[1] < 12  # 8 for 64 times the features
    bounds = [random_features_bound(60, m, 1.0) for m in (10**6, 64 * 10**6)]
    assert bounds[0] / bounds[1] == pytest.approx(8, rel=0.01)


def test_the_error_is_the_difference_of_the_regularised_problems():
    rng = np.random.default_rng(0)
    X, Zd, Zs = ball(rng, 20), rng.normal(size=(20, 5)), rng.normal(size=(20, 5))
    Kd, Ks, one = gaussian(X, X, 0.5), gaussian(X, X, 1.0), 0.1 * np.eye(20)
    difference = linalg.inv(Zd @ Zd.T + one) @ Zs @ Zs.T - linalg.inv(Kd + one) @ Ks
    assert random_features_error(Kd, Ks, Zd, Zs, 0.1) == pytest.approx(linalg.norm(difference, 2))
    assert random_features_error(Kd, Ks, Zd, Zs, 0.1, "fro") == pytest.approx(
        linalg.norm(difference)
    )


@pytest.mark.parametrize("bound", [random_features_bound, proved_random_features_bound])
def test_without_a_ridge_there_is_no_bound(bound):
    with pytest.raises(ValueError, match=r"ridge=0.0: there is no bound"):
        bound(100, 10, 0.0)
    with pytest.raises(ValueError, match="no bound without a ridge"):
        random_features_error(np.eye(3), np.eye(3), np.eye(3), np.eye(3), 0.0)
