"""The six toy experiments of the KEMA paper: two spirals with three classes, by formula.

The authors' program and their text differ, so there are two ways. ``toolbox`` follows the routine
behind the published demonstration, with a formula fitted to its stored samples. ``text`` follows
Table 2 and the section on the setup; numbers that they leave open are ours.

A realisation comes in parts, because some distortions run along the samples of each. In the way of
the toolbox both domains share the parameter t, so row i of one domain's test part belongs to row i
of the other's; all else is sampled per domain.
"""

import dataclasses
from pathlib import Path

import numpy as np

from workflow.loaders import known_domain

TOYS = (1, 2, 3, 4, 5, 6)
ROLES = ("source", "target")
N_POINTS = 2000
N_CLASSES = 3
WAYS = {
    "toolbox": {"labelled_per_class": 20, "unlabelled": 470, "noise_sd": 0.05},
    "text": {"labelled_per_class": 60, "unlabelled": 1000, "noise_sd": 1.0},
}
# Fitted to the authors' samples: radius per radian, standard deviation, turn in degrees, offset.
SPIRALS = {
    "source": {"scale": 0.040, "sd": 0.0355, "turn": 4.0, "offset": (-0.0045, -0.0092)},
    "target": {"scale": 0.0640, "sd": 0.030, "turn": 0.0, "offset": (0.0, 0.0)},
}


@dataclasses.dataclass(frozen=True)
class Part:
    """Samples of one domain: features, classes 0 to 2, and the parameter t along the spiral."""

    X: np.ndarray
    y: np.ndarray
    t: np.ndarray


@dataclasses.dataclass(frozen=True)
class Domain:
    """The three parts of one domain in one realisation."""

    labelled: Part
    unlabelled: Part
    test: Part


def load(
    domain: str, paths: dict[str, Path], way: str, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """One domain of one realisation: labelled, unlabelled and test rows, in this order.

    Parameters
    ----------
    domain : str
        ``toy1_source`` to ``toy6_target``.
    paths : dict
        Empty.
    way : {"toolbox", "text"}
    seed : int
        Number of the realisation.
    """
    known = [f"toy{toy}_{role}" for toy in TOYS for role in ROLES]
    toy, role = known_domain(domain, known).removeprefix("toy").split("_")
    data = realisation(int(toy), seed, way)[ROLES.index(role)]
    parts = (data.labelled, data.unlabelled, data.test)
    return np.vstack([part.X for part in parts]), np.concatenate([part.y for part in parts])


def realisation(
    toy: int, seed: int, way: str = "toolbox", noise_sd: float | None = None
) -> tuple[Domain, Domain]:
    """Source and target of a toy experiment.

    Parameters
    ----------
    toy : int
        1 scaling; 2 also another dimension (3 and 2); 3 one domain a line; 4 classes in the reverse
        order and a turned or mirrored domain; 5 classes in the reverse order and a scaled domain;
        6 as 1 with 50 columns of Gaussian noise.
    seed : int
        Number of the realisation. The toolbox stores one sample of the spirals and redraws the
        uniform noise and the parts; here the spirals are redrawn as well.
    way : {"toolbox", "text"}
    noise_sd : float, optional
        Standard deviation of the 50 columns of experiment 6; by default that of the way.
    """
    if toy not in TOYS or way not in WAYS:
        raise ValueError(f"toy {toy!r}, way {way!r}: toys are 1 to 6, ways {', '.join(WAYS)}")
    rng = np.random.default_rng([seed, toy, list(WAYS).index(way)])
    t = _parameter(rng, way)
    noise_sd = WAYS[way]["noise_sd"] if noise_sd is None else noise_sd
    return tuple(_domain(toy, role, way, t, rng, noise_sd=noise_sd) for role in ROLES)


def spirals(seed: int, labelled_per_class: int, unlabelled: int) -> tuple[Domain, Domain]:
    """Toy experiment 1 of the toolbox, with other numbers of labelled and unlabelled samples.

    At most 1000 together, the toolbox's pool; 1000 more of each domain are for testing.
    """
    rng = np.random.default_rng([seed, labelled_per_class, unlabelled])
    t = _parameter(rng, "toolbox")
    sizes = {"labelled_per_class": labelled_per_class, "unlabelled": unlabelled}
    return tuple(_domain(1, role, "toolbox", t, rng, sizes) for role in ROLES)


def _parameter(rng: np.random.Generator, way: str) -> np.ndarray:
    """Position along the spirals, ascending."""
    text = WAYS["text"]
    needed = 1000 + N_CLASSES * text["labelled_per_class"] + text["unlabelled"]
    n_points = N_POINTS if way == "toolbox" else needed
    return np.sort(rng.uniform(1.5 * np.pi, 4.5 * np.pi, n_points))


def _domain(
    toy, role, way, t, rng: np.random.Generator, sizes: dict | None = None, noise_sd: float = 0.0
) -> Domain:
    X = _spiral(t, rng=rng, **SPIRALS[role])
    if toy in (3, 4, 5) or (toy, role) == (2, "source"):
        X = np.column_stack([X, np.linspace(0, 1, len(t))])
    if way == "toolbox":
        X = X + rng.uniform(0, 0.15, X.shape)
    if toy == 6:
        noise = rng.normal(scale=noise_sd, size=(len(t), 50))
        X = np.column_stack([X, noise])
    y = (np.arange(len(t)) * N_CLASSES // len(t)).astype(np.int64)
    parts = [
        Part(_distorted(X[rows], toy, role, way, rng), y[rows], t[rows])
        for rows in _split(y, way, rng, sizes or WAYS[way])
    ]
    if toy in (4, 5) and role == "target":
        parts = [dataclasses.replace(part, y=N_CLASSES - 1 - part.y) for part in parts]
    return Domain(*parts)


def _spiral(t, scale, sd, turn, offset, rng) -> np.ndarray:
    angle = np.deg2rad(turn)
    curve = scale * t[:, None] * np.column_stack([np.cos(t + angle), np.sin(t + angle)])
    return curve + offset + rng.normal(scale=sd, size=curve.shape)


def _split(y: np.ndarray, way: str, rng: np.random.Generator, sizes: dict):
    """Rows of the labelled, the unlabelled and the test part."""
    if way == "toolbox":
        test, pool = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    else:
        test = np.sort(rng.choice(len(y), 1000, replace=False))
        pool = np.setdiff1d(np.arange(len(y)), test)
    per_class = sizes["labelled_per_class"]
    # In the order of the draw within a class, as in the toolbox: distortions run along it.
    labelled = np.concatenate(
        [rng.choice(pool[y[pool] == c], per_class, replace=False) for c in range(N_CLASSES)]
    )
    rest = np.setdiff1d(pool, labelled)
    if way == "toolbox" and sizes is WAYS[way]:
        return labelled, rest[::2], test
    return labelled, np.sort(rng.choice(rest, sizes["unlabelled"], replace=False)), test


def _distorted(X, toy, role, way, rng) -> np.ndarray:
    """The first two columns of one part bent; the toolbox bends the source, the text the target."""
    if role != ("source" if way == "toolbox" else "target") or toy not in (3, 4, 5):
        return X
    X, plane = X.copy(), X[:, :2]
    if toy == 3:
        line = np.linspace(plane.min(axis=0), plane.max(axis=0), len(X))
        X[:, :2] = line + rng.uniform(0, 0.1, line.shape)
    elif toy == 4 and way == "toolbox":
        X[:, 0] *= -1
    elif toy == 4:
        X[:, :2] = plane @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    elif way == "toolbox":
        X[:, :2] = plane * np.linspace(1, 5.1, len(X))[:, None]
    else:
        X[:, :2] = 3 * plane
    return X
