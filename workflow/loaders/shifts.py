r"""Generated kinds of shift between a source and a target, each with a severity from 0 to 1.

The source is a mixture of Gaussian clusters of unit covariance in p = 20 dimensions: 5 classes of
two clusters each, equally frequent. With a = 3.5 and b = 1.5 the clusters of class c are

.. math:: \mu_{c\pm} = a\,e_c \pm \tfrac{b}{\sqrt 2}\,(e_5 + v_c),

where :math:`v_c` is a fixed unit vector among the dimensions 6 to 9. The other dimensions are
noise. In the end a fixed rotation of all dimensions mixes them. A target of severity s is a new
sample of the same mixture, changed in one way; one sample serves all severities of a kind:

- ``covariate``: the density times :math:`\exp(1.5\,s\,x_5)`, labels as likely given x as in the
  source. The + cluster of every class takes over and moves along :math:`e_5`.
- ``label``: class c has the share :math:`\propto 16^{-s c/4}`.
- ``concept``: the density of the source; the labels are as likely at x as in the source at
  :math:`x - 3 s w`, :math:`w = (e_0 + e_1 - e_2 - e_3)/2`: the boundaries have moved by 3 s.
- ``subspace``: :math:`e_0 \ldots e_4` turn by 75° s towards the noise dimensions 10 to 14.
- ``rotation``: every vector turns by 60° s, in ten planes of a random basis.
- ``linear``: :math:`x \mapsto x \exp(s L)`, the entries of L normal with variance 1/p.
- ``noise``: every second feature gets additional normal noise of standard deviation 4 s.
- ``conditional``: class c moves by 3 s in a direction of its own.
- ``partial``: classes 2 to 4 have 1 - s of their share; at 1 they are missing.
- ``heterogeneous``: as ``linear``, then embedded by an isometry in 25 dimensions, so that a
  severity of 0 has other features than the source too.
- ``none``: nothing is changed.

skada's ``make_shifted_datasets`` has covariate, target and concept shift and subspaces too, each of
a mixture of its own in two dimensions. Here one mixture serves all, so that losses compare.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.linalg import expm
from scipy.special import logsumexp

N_CLASSES = 5
N_FEATURES = 20
N_FEATURES_ELSEWHERE = 25
CLASS_DISTANCE, CLUSTER_DISTANCE = 3.5, 1.5


def load(
    domain: str,
    paths: dict[str, Path],
    kind: str,
    severity: float = 0.0,
    samples: int = 400,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """One domain; see the module for its formula.

    Parameters
    ----------
    domain : str
        Ignored.
    paths : dict
        Empty.
    kind : str
        One of `KINDS`.
    severity : float, default=0.0
        From 0 (the distribution of the source) to 1.
    samples : int, default=400
    seed : int, default=0
        Number of the sample. Clusters, directions and maps do not depend on it.

    Returns
    -------
    X : ndarray of shape (samples, 20), or (samples, 25) for ``heterogeneous``
    y : ndarray of shape (samples,)
        Sorted by class.

    Raises
    ------
    ValueError
        If the kind is unknown or the severity outside [0, 1].
    """
    if kind not in KINDS:
        raise ValueError(f"kind: unknown {kind!r}. Known: {', '.join(KINDS)}")
    if not 0 <= severity <= 1:
        raise ValueError(f"severity is {severity}, expected a number from 0 to 1")
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    X, y = KINDS[kind](severity, samples, rng)
    order = np.argsort(y, kind="stable")
    return X[order], y[order].astype(np.int64)


def centres() -> np.ndarray:
    """Centres of the clusters before the last rotation, of shape (2, 5, 20); + comes first."""
    fixed = np.random.default_rng(0)
    own = np.zeros((N_CLASSES, N_FEATURES))
    own[:, 6:10] = fixed.normal(size=(N_CLASSES, 4))
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    own[:, 5] = 1
    middle = CLASS_DISTANCE * np.eye(N_CLASSES, N_FEATURES)
    return middle + np.multiply.outer([1, -1], CLUSTER_DISTANCE / np.sqrt(2) * own)


def posterior(X: np.ndarray) -> np.ndarray:
    """Probability of each class at rows of X under the source's mixture, before the rotation."""
    squares = ((X[:, None, None] - centres()) ** 2).sum(axis=-1)
    scores = logsumexp(-squares / 2, axis=1)
    return np.exp(scores - logsumexp(scores, axis=1, keepdims=True))


def _shares(weights: np.ndarray, samples: int) -> np.ndarray:
    """Whole numbers in proportion to the weights; the largest remainders are rounded up."""
    exact = samples * weights / weights.sum()
    counts = np.floor(exact).astype(int)
    rest = samples - counts.sum()
    counts[np.argsort(counts - exact, kind="stable")[:rest]] += 1
    return counts


def _clusters(weights: np.ndarray, samples: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the mixture, and their classes; the clusters have weights of shape (2, 5)."""
    counts = _shares(weights.ravel(), samples)
    cluster = np.repeat(np.arange(weights.size), counts)
    X = centres().reshape(-1, N_FEATURES)[cluster] + rng.normal(size=(samples, N_FEATURES))
    return X, cluster % N_CLASSES


def _of_classes(shares: np.ndarray, samples: int, rng) -> tuple[np.ndarray, np.ndarray]:
    return _clusters(np.tile(shares, (2, 1)), samples, rng)


def _plain(samples: int, rng) -> tuple[np.ndarray, np.ndarray]:
    return _of_classes(np.ones(N_CLASSES), samples, rng)


def _orthogonal(seed: int, size: int = N_FEATURES) -> np.ndarray:
    Q, R = np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))
    return Q * np.sign(np.diag(R))


def _mixed(X: np.ndarray) -> np.ndarray:
    """The rotation that every domain ends with, so that no feature belongs to a class."""
    return X @ _orthogonal(1)


def _turned(X: np.ndarray, basis: np.ndarray, pairs: list, degrees: float) -> np.ndarray:
    """Rows turned in the planes of pairs of basis vectors, from the first towards the second."""
    cosine, sine = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    turn = np.eye(len(basis))
    for first, second in pairs:
        turn[first, [first, second]] = cosine, sine
        turn[second, [first, second]] = -sine, cosine
    return X @ basis.T @ turn @ basis


def _none(severity, samples, rng):
    X, y = _plain(samples, rng)
    return _mixed(X), y


def _covariate(severity, samples, rng):
    # exp(t x_5) times a Gaussian of unit covariance is the Gaussian moved by t along e_5, with a
    # weight of exp(t mu_5 + t^2 / 2): the labels given x stay those of the source.
    tilt = 1.5 * severity
    X, y = _clusters(np.exp(tilt * centres()[..., 5]), samples, rng)
    X[:, 5] += tilt
    return _mixed(X), y


def _label(severity, samples, rng):
    X, y = _of_classes(16.0 ** (-severity * np.arange(N_CLASSES) / 4), samples, rng)
    return _mixed(X), y


def _concept(severity, samples, rng):
    X, _ = _plain(samples, rng)
    direction = np.zeros(N_FEATURES)
    direction[:4] = 0.5, 0.5, -0.5, -0.5
    chances = posterior(X - 3 * severity * direction)
    y = (rng.random((samples, 1)) > chances.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return _mixed(X), y


def _subspace(severity, samples, rng):
    X, y = _plain(samples, rng)
    pairs = [(c, 10 + c) for c in range(N_CLASSES)]
    return _mixed(_turned(X, np.eye(N_FEATURES), pairs, 75 * severity)), y


def _rotation(severity, samples, rng):
    X, y = _plain(samples, rng)
    pairs = [(d, d + 1) for d in range(0, N_FEATURES, 2)]
    return _mixed(_turned(X, _orthogonal(2), pairs, 60 * severity)), y


def _mapped(severity, samples, rng):
    X, y = _plain(samples, rng)
    exponent = np.random.default_rng(3).normal(size=(N_FEATURES, N_FEATURES)) / np.sqrt(N_FEATURES)
    return X @ expm(severity * exponent), y


def _linear(severity, samples, rng):
    X, y = _mapped(severity, samples, rng)
    return _mixed(X), y


def _heterogeneous(severity, samples, rng):
    X, y = _mapped(severity, samples, rng)
    return X @ _orthogonal(4, N_FEATURES_ELSEWHERE)[:N_FEATURES], y


def _noise(severity, samples, rng):
    X, y = _plain(samples, rng)
    X = _mixed(X)
    X[:, ::2] += 4 * severity * rng.normal(size=X[:, ::2].shape)
    return X, y


def _conditional(severity, samples, rng):
    X, y = _plain(samples, rng)
    own = np.random.default_rng(5).normal(size=(N_CLASSES, N_FEATURES))
    return _mixed(X + 3 * severity * (own / np.linalg.norm(own, axis=1, keepdims=True))[y]), y


def _partial(severity, samples, rng):
    shares = np.where(np.arange(N_CLASSES) < 2, 1.0, 1 - severity)
    X, y = _of_classes(shares, samples, rng)
    return _mixed(X), y


KINDS: dict[str, Callable] = {
    "none": _none,
    "covariate": _covariate,
    "label": _label,
    "concept": _concept,
    "subspace": _subspace,
    "rotation": _rotation,
    "linear": _linear,
    "noise": _noise,
    "conditional": _conditional,
    "partial": _partial,
    "heterogeneous": _heterogeneous,
}
