"""Each kind of shift changes what it says, and nothing else."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from workflow.loaders.shifts import KINDS, N_CLASSES, _orthogonal, load, posterior

SAME_FEATURES = [kind for kind in KINDS if kind != "heterogeneous"]
MANY = 20000


def made(kind, severity, samples=400):
    """The kind from random numbers that all kinds share, in the order of the draw."""
    return KINDS[kind](severity, samples, np.random.default_rng(7))


def unmixed(X):
    """Rows in the coordinates of the formula."""
    return X @ _orthogonal(1).T


def class_means(X, y):
    return np.array([X[y == c].mean(axis=0) for c in range(N_CLASSES)])


@pytest.mark.parametrize("kind", SAME_FEATURES)
def test_severity_0_is_the_source(kind):
    X, y = made(kind, 0.0)
    expected, labels = made("none", 0.0)
    np.testing.assert_allclose(X, expected, atol=1e-12)
    if kind != "concept":  # whose labels are drawn anew
        np.testing.assert_array_equal(y, labels)
    else:
        assert (y == labels).mean() > 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_a_domain_is_another_sample_that_comes_again(kind):
    X, y = load("a", {}, kind, 0.5)
    again, labels = load("b", {}, kind, 0.5)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, labels)
    assert (np.diff(y) >= 0).all()
    other, _ = load("a", {}, kind, 0.5, seed=1)
    assert not np.isclose(X, other).all(axis=1).any()
    if kind in SAME_FEATURES and kind != "none":
        source, _ = load("a", {}, "none")  # of the same seed, as those of the project
        assert not np.isclose(load("a", {}, kind)[0], source).all(axis=1).any()


def test_the_classes_can_be_told_apart_and_overlap():
    X, y = made("none", 0.0, MANY)
    assert 0.97 < (posterior(unmixed(X)).argmax(axis=1) == y).mean() < 0.99


@pytest.mark.parametrize("kind", ["covariate", "concept"])
def test_labels_given_the_features(kind):
    """Covariate shift keeps the probabilities of the source; a moved concept moves them."""
    X, y = made(kind, 1.0, MANY)
    chances = posterior(unmixed(X))
    unsure = (chances.max(axis=1) < 0.9).nonzero()[0]
    assert len(unsure) > 300
    right = (chances[unsure].argmax(axis=1) == y[unsure]).mean()
    promised = chances[unsure].max(axis=1).mean()
    if kind == "covariate":
        assert right == pytest.approx(promised, abs=4 / np.sqrt(len(unsure)) / 2)
    else:
        assert right < promised - 0.1


def test_covariate_shift_weighs_the_density_of_the_source():
    X, _ = made("none", 0.0, 10 * MANY)
    weights = np.exp(1.5 * 0.4 * unmixed(X)[:, 5])
    moved, _ = made("covariate", 0.4, 10 * MANY)
    expected = weights @ unmixed(X) / weights.sum()
    np.testing.assert_allclose(unmixed(moved).mean(axis=0), expected, atol=0.05)
    assert expected[5] > 0.5


def test_a_moved_concept_leaves_the_features():
    X, y = made("concept", 0.0)
    changed = []
    for severity in (0.25, 0.5, 1.0):
        moved, labels = made("concept", severity)
        np.testing.assert_array_equal(moved, X)
        changed.append((labels != y).mean())
    assert 0 < changed[0] < changed[1] < changed[2]


def test_label_shift_changes_the_shares_alone():
    y = made("label", 0.5, MANY)[1]
    counts = np.bincount(y)
    np.testing.assert_allclose(counts[:-1] / counts[1:], 2**0.5, rtol=0.01)
    X, y = made("label", 1.0, MANY)
    plain = made("none", 0.0, MANY)
    np.testing.assert_allclose(class_means(X, y), class_means(*plain), atol=0.2)


def test_missing_classes_fade_and_are_missing():
    assert np.bincount(made("partial", 0.5, 700)[1]).tolist() == [200, 200, 100, 100, 100]
    assert np.bincount(made("partial", 1.0)[1]).tolist() == [200, 200]


def test_the_subspace_of_the_classes_turns_away():
    def spanned(X, y):
        means = class_means(X, y)
        return np.linalg.svd((means - means.mean(axis=0)).T, full_matrices=False)[0][:, :4]

    X, y = made("none", 0.0, MANY)
    turned, labels = made("subspace", 0.8, MANY)
    angles = np.rad2deg(subspace_angles(spanned(X, y), spanned(turned, labels)))
    np.testing.assert_allclose(angles, 60, atol=5)


def test_a_rotation_turns_every_row_by_one_angle():
    X, y = made("none", 0.0)
    turned, labels = made("rotation", 0.5)
    np.testing.assert_array_equal(labels, y)
    lengths = np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), lengths)
    np.testing.assert_allclose((X * turned).sum(axis=1) / lengths**2, np.cos(np.deg2rad(30)))


def test_half_a_linear_map_twice_is_the_whole():
    X, half, whole = (unmixed(made("linear", s)[0]) for s in (0.0, 0.5, 1.0))
    first, *_ = np.linalg.lstsq(X, half, rcond=None)
    np.testing.assert_allclose(X @ first, half, atol=1e-9)
    np.testing.assert_allclose(X @ first @ first, whole, atol=1e-9)
    assert np.linalg.norm(first - np.eye(len(first)), 2) > 0.3


def test_other_features_hold_the_linear_map_by_an_isometry():
    for severity in (0.0, 0.5):
        X, _ = made("linear", severity)
        elsewhere, _ = made("heterogeneous", severity)
        assert elsewhere.shape == (400, 25)
        np.testing.assert_allclose(elsewhere @ elsewhere.T, X @ X.T, atol=1e-9)


def test_noise_is_in_every_second_feature():
    X, _ = made("none", 0.0, MANY)
    noise = made("noise", 0.5, MANY)[0] - X
    assert not noise[:, 1::2].any()
    np.testing.assert_allclose(noise[:, ::2].std(axis=0), 2, rtol=0.05)


def test_each_class_moves_by_itself():
    X, y = made("none", 0.0)
    moved, _ = made("conditional", 0.5)
    means = class_means(moved - X, y)
    np.testing.assert_allclose(moved - X, means[y], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(means, axis=1), 1.5)
    assert np.linalg.matrix_rank(means) == N_CLASSES


def test_wrong_parameters():
    with pytest.raises(ValueError, match=r"kind: unknown 'drift'\. Known: none, covariate, label"):
        load("a", {}, "drift")
    with pytest.raises(ValueError, match=r"severity is 1\.5, expected a number from 0 to 1"):
        load("a", {}, "rotation", 1.5)
