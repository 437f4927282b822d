"""Small domains that every test of the library can afford."""

import numpy as np
import pytest


def classes_in_space(rng, n_samples, n_features, n_classes, spread=1.0):
    """Samples around one centre per class, and their labels."""
    y = np.arange(n_samples) % n_classes
    rng.shuffle(y)
    # Near enough that the neighbour graph is in one piece, far enough to be told apart.
    centres = rng.normal(size=(n_classes, n_features))
    centres *= 4 / np.linalg.norm(centres, axis=1, keepdims=True)
    return centres[y] + spread * rng.normal(size=(n_samples, n_features)), y


@pytest.fixture
def make_domains():
    """A function giving domains of the asked shapes, a few labels of each visible."""

    def make(shapes=((60, 8), (50, 8)), n_classes=3, n_visible=4, seed=0):
        rng = np.random.default_rng(seed)
        Xs, ys = [], []
        for n_samples, n_features in shapes:
            X, y = classes_in_space(rng, n_samples, n_features, n_classes)
            hidden = np.concatenate(
                [np.flatnonzero(y == label)[n_visible:] for label in range(n_classes)]
            )
            y[hidden] = -1
            Xs.append(X)
            ys.append(y)
        return Xs, ys

    return make
