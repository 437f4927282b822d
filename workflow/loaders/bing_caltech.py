"""Bing and Caltech256: web images and photographs of the same 256 categories, as classemes.

Bergamo & Torresani, NIPS 2010. The original files are unavailable, so this reads the form that the
release documents: one MATLAB file per domain with a row or a column of features per image and a
class number per image, under names that the entry can set. Images of Caltech256's class 257
("clutter") are left out. MMDT and LS-MMDT use the first 20 categories.
"""

from pathlib import Path

import numpy as np

from workflow.loaders import only_file
from workflow.loaders._matfiles import read_variables

N_CATEGORIES = 256


def load(
    domain: str,
    paths: dict[str, Path],
    features: str = "features",
    labels: str = "labels",
    n_classes: int = N_CATEGORIES,
) -> tuple[np.ndarray, np.ndarray]:
    """Features and classes of the first categories of one domain.

    Parameters
    ----------
    domain : str
        Ignored: each domain is its own file.
    paths : dict
        The domain's one file, a ``.mat`` of v5 or v7.3.
    features, labels : str
        Its variables: a matrix with the images as rows or as columns, whichever match the labels in
        number; and classes 1 to 257.
    n_classes : int
        Images of the first `n_classes` categories are kept, in their order.

    Raises
    ------
    ValueError
        If a variable is missing, their lengths differ, or a label is no class number.
    """
    path = only_file(paths)
    X, y = read_variables(path, [features, labels])
    X, y = _dense(X), np.ravel(y)
    if X.ndim != 2 or len(y) not in X.shape:
        raise ValueError(
            f"{path}: {features!r} has shape {X.shape}, and no axis of length {len(y)}, "
            f"the number of {labels!r}. Name other variables in the entry's params."
        )
    if X.shape[0] != len(y):
        X = X.T
    wrong = ~np.isin(y, np.arange(1, N_CATEGORIES + 2))
    if wrong.any():
        raise ValueError(
            f"{path}: {labels!r} should hold classes 1 to {N_CATEGORIES + 1}; {wrong.sum()} of "
            f"{len(y)} are not (first at image {wrong.argmax()}: {y[wrong][0]:g})."
        )
    kept = y <= n_classes
    return np.ascontiguousarray(X[kept], dtype=np.float64), y[kept].astype(np.int64) - 1


def _dense(X) -> np.ndarray:
    """Classemes are dense, but MATLAB may have stored them as sparse."""
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)
