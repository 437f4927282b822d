"""Mixtures of Gaussian classes near a space of few dimensions: for timings at any size.

They stand in where features cannot be had or a size is to be varied. Accuracies on them say nothing
about methods; their name or label says that they are generated.
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
    """One domain; those with other seeds have the same classes, other samples, other features.

    Parameters
    ----------
    domain : str
        Any name.
    paths : dict
        Empty.
    samples, features : int
        Shape of the domain; class sizes differ by at most one.
    seed : int
    classes : int, default=5
    latent : int, default=10
        Dimensions that the classes and the samples differ in, whatever the number of features: so
        the neighbour graph is alike for all of them. A little noise in every feature makes the
        features of full rank, as real ones are.
    """
    centres = 2 * np.random.default_rng(classes).normal(size=(classes, latent))
    rng = np.random.default_rng([seed, samples, features])
    y = np.arange(samples) % classes
    X = (centres[y] + rng.normal(size=(samples, latent))) @ rng.normal(size=(latent, features))
    X += rng.normal(size=X.shape)
    return X, y
