import numpy as np

from workflow.loaders.mixtures import load


def test_domains_share_their_classes_and_nothing_else():
    X, y = load("a", {}, samples=203, features=30, seed=0)
    again, _ = load("b", {}, samples=203, features=30, seed=0)
    other, other_y = load("a", {}, samples=203, features=30, seed=1)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, other_y)
    assert not np.isclose(X, other).any()
    assert set(np.bincount(y)) == {40, 41}


def test_samples_lie_near_few_dimensions_and_have_full_rank():
    X, _ = load("a", {}, samples=500, features=60, seed=0, latent=4)
    values = np.linalg.svd(X, compute_uv=False)
    assert values[3] > 3 * values[4]
    assert values[-1] > 1
