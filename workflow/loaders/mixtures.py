"""Mixtures of Gaussian classes near a low-dimensional space: for timings at any size.

They replace features that are unavailable, or vary a size. Accuracies on them say nothing about
methods; their name or label says that they are generated.
"""

from pathlib import Path

import numpy as np


def load(
    domain: str,
    paths: dict[str, Path],
    samples: int,
    features: int,
    seed: int,
    classes: int = 5,
    latent: int = 10,
) -> tuple[np.ndarray, np.ndarray]:
    """One domain; another seed keeps the classes and changes samples and features.

    Parameters
    ----------
    domain : str
        Ignored.
    paths : dict
        Empty.
    samples, features : int
        Shape of the domain; class sizes differ by at most one.
    seed : int
    classes : int, default=5
    latent : int, default=10
        Dimension of the space in which classes and samples vary, whatever the number of features,
        so that neighbour graphs stay comparable. Noise in every feature gives full rank, as in
        real data.
    """
    centres = 2 * np.random.default_rng(classes).normal(size=(classes, latent))
    rng = np.random.default_rng([seed, samples, features])
    y = np.arange(samples) % classes
    X = (centres[y] + rng.normal(size=(samples, latent))) @ rng.normal(size=(latent, features))
    X += rng.normal(size=X.shape)
    return X, y
