"""What the studies of MMDT share: features as in the demo."""

from collections.abc import Mapping, Sequence

import numpy as np


def standardised(X: np.ndarray) -> np.ndarray:
    """Rows of length 1, then columns of mean 0 and standard deviation 1."""
    from workflow.lib.trials.preprocess import make_preprocessing

    return make_preprocessing(["l2_rows", "zscore"]).fit_transform(X)


def pick(y: np.ndarray, classes: Sequence[int], per_class: int, rng: np.random.Generator):
    """Rows, the same number of each class."""
    return np.concatenate(
        [rng.choice(np.flatnonzero(y == label), per_class, replace=False) for label in classes]
    )


def only(y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Labels of the given rows, -1 for all others."""
    shown = np.full(len(y), -1)
    shown[rows] = y[rows]
    return shown


def domain(domains: Mapping, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardised features and labels of a domain."""
    X, y = domains[name]
    return standardised(X), y
