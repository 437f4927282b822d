import math

import numpy as np
import pytest
from domain_alignment.model_selection import _criteria
from scipy import sparse
from sklearn.metrics import adjusted_mutual_info_score, balanced_accuracy_score


@pytest.fixture(name="P")
def probabilities():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([0.3, 0.5, 1.0], size=37)
    P[4] = [0, 1, 0]  # a certain prediction has entropy 0
    return P


def entropy_of(row):
    return -sum(p * math.log(p) for p in row if p > 0)


def test_entropies_one_by_one(P):
    entropies = [entropy_of(row) for row in P]
    np.testing.assert_allclose(_criteria.row_entropies(P), entropies, atol=1e-12)
    assert _criteria.row_entropies(P)[4] == 0
    mean_row = [sum(row[c] for row in P) / len(P) for c in range(3)]
    expected = entropy_of(mean_row) - sum(entropies) / len(P)
    assert _criteria.mutual_information(P) == pytest.approx(expected, abs=1e-10)


def test_mutual_information_at_its_limits():
    assert _criteria.mutual_information(np.eye(4)) == pytest.approx(math.log(4))
    assert _criteria.mutual_information(np.full((5, 4), 0.25)) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("temperature", [0.05, 0.5])
@pytest.mark.parametrize("block", [1, 100, 2**18])
def test_neighbourhood_density_pair_by_pair(P, temperature, block, monkeypatch):
    monkeypatch.setattr(_criteria, "_BLOCK", block)
    total = 0.0
    for i, p in enumerate(P):
        similar = [
            -1.0 if i == j else sum(p * q) / math.sqrt(sum(p * p) * sum(q * q))
            for j, q in enumerate(P)
        ]
        scaled = [math.exp(s / temperature) for s in similar]
        total += entropy_of([s / sum(scaled) for s in scaled])
    expected = total / len(P)
    assert _criteria.neighborhood_density(P, temperature) == pytest.approx(expected, abs=1e-10)


def test_neighbourhood_density_of_equal_rows():
    # Each row is as near to all others: the entropy of n - 1 equal shares, but for itself.
    density = _criteria.neighborhood_density(np.full((9, 3), 1 / 3))
    assert density == pytest.approx(math.log(8), abs=1e-10)


def test_nuclear_norm(P):
    root = np.sqrt(np.clip(np.linalg.eigvalsh(P.T @ P), 0, None))
    assert _criteria.mean_nuclear_norm(P) == pytest.approx(root.sum() / 37, abs=1e-10)
    balanced = np.eye(3)[np.arange(12) % 3]
    assert _criteria.mean_nuclear_norm(balanced) == pytest.approx(math.sqrt(3 / 12))
    assert _criteria.mean_nuclear_norm(np.full((12, 3), 1 / 3)) == pytest.approx(1 / math.sqrt(36))


def test_accuracies():
    labels, predicted = np.array([0, 0, 0, 2]), np.array([0, 0, 1, 2])
    assert _criteria.accuracy(labels, predicted) == 0.75
    assert _criteria.balanced_accuracy(labels, predicted) == pytest.approx((2 / 3 + 1) / 2)
    expected = balanced_accuracy_score(labels, predicted)
    assert _criteria.balanced_accuracy(labels, predicted) == pytest.approx(expected)
    none = labels[:0]
    assert np.isnan(_criteria.accuracy(none, none))
    assert np.isnan(_criteria.balanced_accuracy(none, none))
    assert np.isnan(_criteria.weighted_mean(none, none))


def test_weighted_mean_is_free_of_the_weights_scale():
    values, weights = np.array([1, 0, 1]), np.array([0.5, 2.0, 1.5])
    assert _criteria.weighted_mean(values, weights) == pytest.approx(2.0 / 4.0)
    assert _criteria.weighted_mean(values, 7 * weights) == pytest.approx(0.5)


def test_control_variate_term_by_term():
    rng = np.random.default_rng(1)
    losses, weights = (rng.random(20) < 0.3).astype(float), rng.gamma(2.0, 0.5, size=20)
    weighted = [w * loss for w, loss in zip(weights, losses, strict=True)]
    mean_l, mean_w = sum(weighted) / 20, sum(weights) / 20
    covariance = sum((a - mean_l) * (b - mean_w) for a, b in zip(weighted, weights, strict=True))
    eta = -covariance / sum((b - mean_w) ** 2 for b in weights)
    expected = mean_l + eta * mean_w - eta
    assert _criteria.controlled_risk(losses, weights) == pytest.approx(expected, abs=1e-10)


def test_control_variate_at_its_limits():
    weights = np.random.default_rng(2).gamma(2.0, 0.5, size=20)
    # A constant loss is known exactly, however far the weights are from their expectation.
    assert _criteria.controlled_risk(np.ones(20), weights) == pytest.approx(1)
    assert _criteria.controlled_risk(np.array([1, 0]), np.ones(2)) == 0.5
    assert np.isnan(_criteria.controlled_risk(np.ones(1), np.ones(1)))


@pytest.mark.parametrize("n_rows", [3, 10, 1000, 100_000])
@pytest.mark.parametrize("weight", [0.1, 0.7, 1 / 3, 1e-160, 1e150])
def test_rounding_does_not_tell_weights_apart(n_rows, weight):
    """Of equal weights, and of those that a constant ratio gives, the variance is rounding."""
    losses = np.zeros(n_rows)
    losses[0] = 1
    nearly = weight * (1 + np.finfo(float).eps * (np.arange(n_rows) % 2))
    for weights in (np.full(n_rows, weight), nearly):
        risk = _criteria.controlled_risk(losses, weights)
        assert risk == pytest.approx(weight / n_rows, rel=1e-9, abs=0)


def test_weights_that_differ_a_little_still_control():
    """Their risk may leave the range of the losses: so the estimator is published."""
    losses, bumps = np.array([1.0, 1, 0, 0]), np.array([1.0, 2, -1, 0])
    weights = 0.5 * (1 + 1e-9 * bumps)
    # Up to 1e-9, eta is minus the slope of the losses over the bumps, which are 1e-9 high.
    slope = np.cov(losses, bumps)[0, 1] / np.var(bumps, ddof=1) / 1e-9
    expected = 0.25 + slope / 2
    assert _criteria.controlled_risk(losses, weights) == pytest.approx(expected, rel=1e-6)


@pytest.fixture
def clusters():
    rng = np.random.default_rng(3)
    y = np.arange(60) % 3
    return 8 * np.eye(3, 4)[y] + rng.normal(size=(60, 4)), y


def lloyd(Z, centres):
    """k-means from given centres, row by row."""
    for _ in range(50):
        nearest = np.array([np.argmin([np.sum((z - c) ** 2) for c in centres]) for z in Z])
        centres = np.array([Z[nearest == k].mean(axis=0) for k in range(len(centres))])
    return nearest


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_cluster_agreement_by_lloyds_steps(clusters, as_given):
    Z, y = clusters
    predicted = np.where(np.arange(60) % 4 == 0, (y + 1) % 3, y)
    centres = np.array([Z[predicted == c].mean(axis=0) for c in range(3)])
    expected = adjusted_mutual_info_score(predicted, lloyd(Z, centres))
    agreement = _criteria.cluster_agreement(as_given(Z), predicted, 3)
    assert agreement == pytest.approx(expected, abs=1e-10)
    assert 0.2 < agreement < 0.9
    assert _criteria.cluster_agreement(as_given(Z), y, 3) == pytest.approx(1)


def test_a_class_that_is_never_predicted_still_has_its_cluster(clusters):
    Z, y = clusters
    two = np.where(y == 2, 1, y)
    centres = np.array([Z[two == 0].mean(axis=0), Z[two == 1].mean(axis=0)])
    distances = np.array([min(np.sum((z - c) ** 2) for c in centres) for z in Z])
    expected = adjusted_mutual_info_score(
        two, lloyd(Z, np.vstack([centres, Z[distances.argmax()]]))
    )
    assert _criteria.cluster_agreement(Z, two, 3) == pytest.approx(expected, abs=1e-10)
    # One class for all rows agrees with no clusters: a collapsed candidate is not the best.
    assert _criteria.cluster_agreement(Z, np.zeros(60, dtype=int), 3) == pytest.approx(0, abs=1e-12)


def test_equal_rows_have_no_clusters_whatever_is_predicted():
    assert np.isnan(_criteria.cluster_agreement(np.ones((20, 3)), np.arange(20) % 2, 2))


def test_equal_rows_have_no_clusters():
    assert np.isnan(_criteria.cluster_agreement(np.ones((6, 2)), np.zeros(6, dtype=int), 3))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_equal_rows_are_equal_whatever_rounding_their_distances_have(form):
    row = np.random.default_rng(3).normal(size=37) * 10
    Z = form(np.tile(row, (30, 1)))
    assert np.isnan(_criteria.cluster_agreement(Z, np.arange(30) % 3, 3))


def test_proxy_distance_counts_wrong_rows():
    # One of four source rows seems to be of the target, one of two target rows is undecided.
    ratios = np.array([-1.0, -2.0, 3.0, -0.5]), np.array([4.0, 0.0])
    assert _criteria.proxy_distance(*ratios) == pytest.approx(2 * (1 - 2 * (1 / 4 + 1 / 4) / 2))
    assert _criteria.proxy_distance(-ratios[1] - 1, ratios[1] + 1) == 2
    assert _criteria.proxy_distance(ratios[1] + 1, -ratios[1] - 1) == 0
    assert np.isnan(_criteria.proxy_distance(np.array([np.nan]), ratios[1]))


@pytest.mark.parametrize("offset", [1e6, 1.7e9, 1e12])
def test_clusters_do_not_hang_on_a_common_offset(offset):
    """As of times in seconds; a class that is never predicted begins where rows are farthest."""
    rng = np.random.default_rng(0)
    truth = np.arange(80) % 4
    Z = 8 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[truth] + rng.normal(size=(80, 2))
    Z = np.round(Z * 64) / 64  # which the offset takes exactly, or nearly
    predicted = np.minimum(truth, 2)
    expected = _criteria.cluster_agreement(Z, predicted, 4)
    assert expected == pytest.approx(_criteria.cluster_agreement(Z + offset, predicted, 4))


def test_two_classes_that_are_never_predicted():
    """The second new centre is the row farthest from all centres, the first new one too."""
    Z = np.array([[-1.0], [0.0], [1.0], [10.0], [16.0], [4.0]])
    predicted = np.array([0, 0, 0, 1, 1, 1])
    centres = _criteria._first_centres(Z, predicted, 4)
    means = [Z[predicted == c].mean() for c in (0, 1)]
    expected = list(means)
    for _ in range(2):
        far = np.min(np.abs(Z - np.array(expected)), axis=1)
        expected.append(Z[far.argmax(), 0])
    np.testing.assert_allclose(centres[:, 0], expected)
