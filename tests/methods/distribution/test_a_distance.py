import numpy as np
import pytest
from domain_alignment.distribution._a_distance import DomainSeparator
from scipy.optimize import minimize
from sklearn.svm import LinearSVC


def samples(seed=0, shift=1.0, sizes=(40, 30), q=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(sizes[0], q)), rng.normal(size=(sizes[1], q)) + shift


def objective(w, source, target):
    margins = np.r_[source @ w[:-1] + w[-1], -(target @ w[:-1] + w[-1])]
    short = np.maximum(0, 1 - margins)
    residual = -2 * short * np.r_[np.ones(len(source)), -np.ones(len(target))]
    X = np.column_stack([np.vstack([source, target]), np.ones(len(margins))])
    return w @ w / 2 + short @ short, w + X.T @ residual


@pytest.mark.parametrize("shift", [0.0, 0.5, 5.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_gradient_is_zero_and_liblinear_agrees(shift, scale):
    source, target = (scale * X for X in samples(shift=shift))
    w = DomainSeparator().fit(source, target)
    value, gradient = objective(w, source, target)
    assert np.linalg.norm(gradient) <= 1e-8 * max(scale, 1) * len(source)
    X, y = np.vstack([source, target]), np.repeat([1, -1], [len(source), len(target)])
    svm = LinearSVC(tol=1e-9, max_iter=1_000_000, dual=False).fit(X, y)
    theirs = objective(np.r_[svm.coef_[0], svm.intercept_], source, target)[0]
    assert value <= theirs * (1 + 1e-9)
    free = minimize(objective, w, (source, target), jac=True, method="BFGS").fun
    assert value <= free * (1 + 1e-9)


def test_the_distance_counts_training_errors():
    source, target = samples(shift=0.7)
    separator = DomainSeparator()
    w = separator.fit(source, target)
    wrong = np.sum(source @ w[:-1] + w[-1] < 0) + np.sum(target @ w[:-1] + w[-1] > 0)
    assert wrong > 0
    assert separator.proxy_distance(source, target) == pytest.approx(2 * (1 - 2 * wrong / 70))


def test_a_warm_start_changes_nothing_but_the_steps():
    first, second = samples(0), samples(1, shift=0.2)
    separator = DomainSeparator()
    separator.fit(*first)
    np.testing.assert_allclose(separator.fit(*second), DomainSeparator().fit(*second), atol=1e-10)


def test_known_distances():
    source, target = samples(shift=20)

    def distance(source, target):
        return DomainSeparator().proxy_distance(source, target)

    assert distance(source, target) == 2
    assert distance(source, source) == 0
    assert distance(source, source[:0]) == distance(source[:0], target) == 2
    # With equal but repeated samples the larger domain wins everywhere.
    assert distance(np.ones((6, 2)), np.ones((2, 2))) == pytest.approx(1)
    assert distance(source, target[::-1]) == distance(source[::-1], target)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e11, 1e12])
def test_separable_domains_of_large_values_are_so(scale):
    source, target = np.array([[2.0], [3.0]]) * scale, np.array([[-2.0], [-3.0]]) * scale
    assert DomainSeparator().proxy_distance(source, target) == 2.0
    source, target = samples(shift=0.0, sizes=(20, 20))
    assert DomainSeparator().proxy_distance(scale * source, scale * source) == 0.0
