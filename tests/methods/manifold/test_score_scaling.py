import numpy as np
import pytest
from domain_alignment.manifold._score_scaling import ScoreScale, identity_scales, standard_scales
from sklearn.exceptions import ConvergenceWarning

from tests.methods import published_kema


def drawn(n_domains, n_columns=6, seed=0):
    rng = np.random.default_rng(seed)
    ys = [np.r_[0, 1, 2, rng.integers(-1, 3, 17)] for _ in range(n_domains)]
    centres = rng.normal(size=(3, n_columns))
    signs = rng.choice([-1, 1], (n_domains, n_columns))
    scores = [
        5 + (a + 1) * (sign * centres[y] + rng.normal(size=(20, n_columns)))
        for a, (y, sign) in enumerate(zip(ys, signs, strict=True))
    ]
    rows = [np.flatnonzero(y >= 0) for y in ys]
    return scores, ys, rows, [y[labelled] for y, labelled in zip(ys, rows, strict=True)]


@pytest.mark.parametrize("n_domains", [2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_scales_follow_the_recipe(n_domains, seed):
    scores, ys, rows, groups = drawn(n_domains, seed=seed)
    scales = standard_scales(scores, rows, groups)
    signs = None
    for scale, Z, expected in zip(
        scales, scores, published_kema.coordinates(scores, ys), strict=True
    ):
        found = scale(Z)
        signs = np.sign((found * expected).sum(axis=0)) if signs is None else signs
        np.testing.assert_allclose(found * signs, expected, atol=1e-12)
        np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(found.std(axis=0, ddof=1), 1)
        np.testing.assert_allclose(scale.undone(found), Z)


def test_a_turned_scale_takes_turned_scores():
    scores, _, rows, groups = drawn(2)
    signs = np.array([1, -1, -1, 1, 1, -1])
    for scale, Z in zip(standard_scales(scores, rows, groups), scores, strict=True):
        np.testing.assert_allclose(scale.flipped(signs)(Z * signs), scale(Z) * signs)


def test_a_domain_is_turned_towards_one_it_shares_a_class_with():
    line = np.array([[0.0], [1.0]])
    scores = [line, -line, -line]
    rows = [np.array([0, 1])] * 3
    # Domain 1 shares classes with domain 2 alone, which is turned first.
    groups = [np.array([0, 1]), np.array([7, 8]), np.array([0, 8])]
    scales = standard_scales(scores, rows, groups)
    assert [float(np.sign(scale.factor[0])) for scale in scales] == [1, -1, -1]


def test_without_a_class_in_common_nothing_is_turned():
    line = np.array([[0.0], [1.0]])
    groups = [np.array([0, 1]), np.array([-1, -1])]
    scales = standard_scales([line, -line], [np.array([0, 1])] * 2, groups)
    assert [float(np.sign(scale.factor[0])) for scale in scales] == [1, 1]


def test_a_constant_column_is_centred_and_reported():
    scores, _, rows, groups = drawn(2)
    scores[1][:, 2] = 4 + 1e-14 * scores[1][:, 2]
    with pytest.warns(ConvergenceWarning, match=r"domain 1: columns \[2\] .* are constant"):
        scales = standard_scales(scores, rows, groups)
    np.testing.assert_allclose(scales[1](scores[1])[:, 2], 0, atol=1e-12)


def test_the_identity_changes_nothing():
    scores = drawn(2)[0]
    for scale, Z in zip(identity_scales(scores), scores, strict=True):
        assert isinstance(scale, ScoreScale)
        np.testing.assert_array_equal(scale(Z), Z)
