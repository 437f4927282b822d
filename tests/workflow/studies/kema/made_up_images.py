"""Images of three classes that are easy to tell apart."""

import numpy as np


def subject(seed, shape=(8, 8), n=8):
    """Images of three classes, each bright in another place."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], n)
    X = rng.normal(scale=0.1, size=(3 * n, shape[0] * shape[1]))
    X[np.arange(3 * n), 5 * y] += 3
    return X, y
