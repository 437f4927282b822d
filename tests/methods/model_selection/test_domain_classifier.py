import numpy as np
import pytest
from domain_alignment.model_selection._criteria import proxy_distance
from domain_alignment.model_selection._domain_classifier import log_density_ratios
from scipy import sparse
from scipy.optimize import minimize


def normal_domains(shift=1.0, sizes=(60, 45), d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(sizes[0], d)), rng.normal(size=(sizes[1], d)) + shift * np.eye(d)[0]


def slow_ratios(source, target):
    """The same by a general minimiser, on the halves as the docstring says."""
    parts, count = [source, target], len(source) + len(target)
    mean = np.vstack(parts).mean(axis=0)
    scale = np.sqrt(sum(np.sum((z - mean) ** 2) for z in np.vstack(parts)) / count)
    parts = [(Z - mean) / scale for Z in parts]
    halves = []
    for Z in parts:
        order = sorted(range(len(Z)), key=lambda i, Z=Z: Z[i] @ np.cos(1 + np.arange(Z.shape[1])))
        halves.append([order[0::2], order[1::2]])
    ratios = [np.empty(len(Z)) for Z in parts]
    for tested in (0, 1):
        kept = [Z[half[1 - tested]] for Z, half in zip(parts, halves, strict=True)]

        def objective(w, kept=kept):
            margins = np.r_[-(kept[0] @ w[:-1] + w[-1]), kept[1] @ w[:-1] + w[-1]]
            return w[:-1] @ w[:-1] / 2 + np.logaddexp(0, -margins).sum()

        w = minimize(objective, np.zeros(source.shape[1] + 1), method="BFGS", tol=1e-9).x
        for Z, half, ratio in zip(parts, halves, ratios, strict=True):
            rows = half[tested]
            ratio[rows] = Z[rows] @ w[:-1] + w[-1] + np.log(len(kept[0]) / len(kept[1]))
    return ratios


def test_against_a_general_minimiser():
    domains = normal_domains()
    for ratio, expected in zip(log_density_ratios(*domains), slow_ratios(*domains), strict=True):
        np.testing.assert_allclose(ratio, expected, atol=1e-4)


def test_the_ratio_of_two_normal_distributions():
    source, target = normal_domains(sizes=(4000, 2000))
    for Z, ratio in zip((source, target), log_density_ratios(source, target), strict=True):
        assert np.abs(ratio - (Z[:, 0] - 0.5)).mean() < 0.15
    weights = np.exp(log_density_ratios(source, target)[0])
    assert weights.mean() == pytest.approx(1, abs=0.05)


def test_equal_domains_have_weight_one():
    Z = np.random.default_rng(0).normal(size=(50, 3))
    for ratio in log_density_ratios(Z, Z):
        np.testing.assert_allclose(ratio, 0, atol=1e-6)
    for ratio in log_density_ratios(np.ones((4, 2)), np.ones((9, 2))):
        np.testing.assert_allclose(ratio, 0, atol=1e-6)


def test_no_row_is_judged_by_a_classifier_that_it_trained():
    # In as many dimensions as rows all training rows can be told apart; others cannot.
    rng = np.random.default_rng(0)
    source, target = rng.normal(size=(40, 200)), rng.normal(size=(40, 200))
    ratios = log_density_ratios(source, target)
    wrong = np.r_[ratios[0] > 0, ratios[1] < 0].mean()
    assert 0.3 < wrong < 0.7


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_scale_and_the_place_of_the_embedding_have_no_effect(factor):
    source, target = normal_domains()
    moved = log_density_ratios(factor * (source + 3), factor * (target + 3))
    for ratio, expected in zip(moved, log_density_ratios(source, target), strict=True):
        np.testing.assert_allclose(ratio, expected, atol=1e-5)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_rows_that_differ_by_rounding_alone_are_of_one_domain(kind):
    source = np.full((20, 3), 0.1)
    ratios = log_density_ratios(kind(source), kind(source * (1 + 2e-16)))
    assert not np.concatenate(ratios).any()


def test_what_is_z_scored_in_each_domain_is_not_told_apart():
    """As the docstring says: the domains differ in their spread, and the classifier is linear."""
    rng = np.random.default_rng(0)
    source, target = rng.normal(size=(200, 4)), rng.normal(size=(200, 4))
    target[:, 1:] += 3 * target[:, :1]
    scored = [(Z - Z.mean(axis=0)) / Z.std(axis=0) for Z in (source, target)]
    assert proxy_distance(*log_density_ratios(*scored)) < 0.2


def test_the_order_of_the_rows_has_no_effect():
    source, target = normal_domains()
    orders = [np.random.default_rng(1).permutation(len(Z)) for Z in (source, target)]
    shuffled = log_density_ratios(source[orders[0]], target[orders[1]])
    plain = log_density_ratios(source, target)
    for ratio, order, expected in zip(shuffled, orders, plain, strict=True):
        np.testing.assert_allclose(ratio, expected[order], atol=1e-6)


def test_sparse_embeddings():
    dense = normal_domains()
    thin = [sparse.csr_array(Z) for Z in dense]
    for given in (thin, (dense[0], thin[1]), (thin[0], dense[1])):
        ratios = log_density_ratios(*given)
        for ratio, expected in zip(ratios, log_density_ratios(*dense), strict=True):
            np.testing.assert_allclose(ratio, expected, atol=1e-5)


def test_a_single_row_has_no_ratio():
    source, target = normal_domains(sizes=(5, 1))
    assert all(np.isnan(ratio).all() for ratio in log_density_ratios(source, target))


def test_two_rows_of_each_domain_have_ratios():
    ratios = log_density_ratios(np.array([[0.0], [1.0]]), np.array([[4.0], [5.0]]))
    assert all(np.isfinite(own).all() for own in ratios)
