"""MNIST and USPS digits as 256 pixels (16 x 16), as released with JPDA."""

from pathlib import Path

import numpy as np

from workflow.loaders import known_domain, only_file
from workflow.loaders._matfiles import read_variables

_VARIABLES = {"mnist": ("Xs", "Ys"), "usps": ("Xt", "Yt")}


def load(domain: str, paths: dict[str, Path]) -> tuple[np.ndarray, np.ndarray]:
    """Pixels between 0 and 1; class = digit (label k of the file is the digit k - 1).

    ``MNIST_vs_USPS.mat`` is v7.3 with samples as columns. ``USPS_vs_MNIST.mat`` of the same release
    holds the same data with the roles swapped and is not needed.
    """
    variables = _VARIABLES[known_domain(domain, list(_VARIABLES))]
    X, labels = read_variables(only_file(paths), list(variables))
    return np.ascontiguousarray(X.T, dtype=np.float64), labels.ravel().astype(np.int64) - 1
