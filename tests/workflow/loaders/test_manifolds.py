"""Swiss roll and S-curve: classes, curve and intrinsic parameter."""

import numpy as np
import pytest

from tests.workflow.loaders.entries import DATASETS
from workflow.loaders import load_described, manifolds


@pytest.mark.parametrize("domain", DATASETS["manifolds"]["domains"])
def test_domains_are_as_stated_and_the_same_each_time(domain):
    X, y, _ = load_described("manifolds", DATASETS["manifolds"], domain, {})
    again, *_ = load_described("manifolds", DATASETS["manifolds"], domain, {})
    assert np.array_equal(X, again)
    assert np.bincount(y).min() >= 50
    assert y.dtype == np.int64


def test_manifold_classes_are_quantiles_of_the_intrinsic_parameter():
    settings = {"noise": 0.3, "seed": 3, "samples": 90}
    _, y = manifolds.load("swiss_roll", {}, bins=7, **settings)
    position = manifolds.intrinsic_parameter("swiss_roll", **settings)
    assert np.ptp(np.bincount(y)) <= 1
    assert (np.diff(y[np.argsort(position)]) >= 0).all()
    assert 0 <= position.min() < 0.1 < 0.9 < position.max() <= 1


def test_manifold_points_lie_on_their_curve_without_noise():
    X, _ = manifolds.load("swiss_roll", {}, noise=0.0, seed=5)
    angle = 1.5 * np.pi * (1 + 2 * manifolds.intrinsic_parameter("swiss_roll", noise=0.0, seed=5))
    assert np.allclose(np.hypot(X[:, 0], X[:, 2]), angle)
    X, _ = manifolds.load("s_curve", {}, noise=0.0, seed=5)
    position = manifolds.intrinsic_parameter("s_curve", noise=0.0, seed=5)
    assert np.allclose(X[:, 0], np.sin(3 * np.pi * (position - 0.5)))
