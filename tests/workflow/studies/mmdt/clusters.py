"""Domains with classes that are easy to tell apart."""

import numpy as np


def clusters(shapes, n_classes, seed=0):
    """Domains of clusters around unrelated centres, features positive like counts."""
    rng = np.random.default_rng(seed)
    found = []
    for n_samples, width in shapes:
        y = np.arange(n_samples) % n_classes
        centres = rng.gamma(1.0, size=(n_classes, width))
        found.append((centres[y] + 0.2 * rng.gamma(1.0, size=(n_samples, width)), y))
    return found
