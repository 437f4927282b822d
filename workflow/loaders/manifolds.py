"""Noisy Swiss roll and S-curve, generated: the two manifolds of the FMA paper's Fig. 2.

The paper states 400 points of each with noise, but neither its level nor a seed; those here are
ours. One intrinsic parameter, the position along the curve, describes both surfaces; the classes
are its quantile bins: equally many points per class, in the same order on both manifolds.
"""

from pathlib import Path

import numpy as np

from workflow.loaders import known_domain


def load(
    domain: str,
    paths: dict[str, Path],
    noise: float,
    seed: int,
    samples: int = 400,
    bins: int = 8,
) -> tuple[np.ndarray, np.ndarray]:
    """Points in three dimensions and the bin of their intrinsic parameter.

    Parameters
    ----------
    domain : {"swiss_roll", "s_curve"}
    paths : dict
        Empty.
    noise : float
        Standard deviation of the Gaussian noise per coordinate (the roll is 21 wide, the S 2).
    seed : int
        Different for the two domains: with the same seed, row i of both would share its relative
        position, which leaks the correspondence.
    samples, bins : int
        Number of points and of classes.
    """
    X, position = _generate(domain, samples, noise, seed)
    rank = np.argsort(np.argsort(position, kind="stable"), kind="stable")
    return X, (rank * bins // samples).astype(np.int64)


def intrinsic_parameter(domain: str, noise: float, seed: int, samples: int = 400) -> np.ndarray:
    """True position of each point of `load` along its curve, scaled to 0..1 over the curve."""
    _, position = _generate(domain, samples, noise, seed)
    # The generators' ranges: 1.5 pi (1 + 2u) for the roll, 3 pi (u - 0.5) for the S, u in 0..1.
    start = 1.5 * np.pi if domain == "swiss_roll" else -1.5 * np.pi
    return (position - start) / (3 * np.pi)


def _generate(domain: str, samples: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import make_s_curve, make_swiss_roll

    makers = {"swiss_roll": make_swiss_roll, "s_curve": make_s_curve}
    make = makers[known_domain(domain, list(makers))]
    return make(n_samples=samples, noise=noise, random_state=seed)
