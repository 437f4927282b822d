"""Office-31: SURF histograms of two codebooks, and the trials with categories held out.

As released with SHFA (Li, Duan, Xu & Tsang, TPAMI 2014): amazon as counts of 800 visual words, dslr
as counts of 600 words of a codebook of its own, so the two are heterogeneous. Rows are sorted by
class, in the order that the trials of the MMDT release index; labels 1..31 are the classes in
alphabetical order.
"""

from pathlib import Path

import numpy as np

from workflow.loaders import only_file
from workflow.loaders._matfiles import read_variables
from workflow.loaders.office_caltech import load_splits

# Values of the matrix of `load_trials`.
UNUSED, LABELLED = 0, 1


def load_surf(domain: str, paths: dict[str, Path]) -> tuple[np.ndarray, np.ndarray]:
    """Counts of visual words (variables ``features`` and ``labels``)."""
    X, labels = read_variables(only_file(paths), ["features", "labels"])
    return X.astype(np.float64), labels.ravel().astype(np.int64) - 1


def load_trials(
    domain: str, paths: dict[str, Path], features: str, trials: str, role: str
) -> tuple[np.ndarray, np.ndarray]:
    """Images of one domain that each trial labels, as a matrix with a row per image.

    In the benchmark's protocols a label is either visible or scored. Trials with held-out
    categories do not fit, so a study reads them as a domain.

    Parameters
    ----------
    domain : str
    paths : dict
        The domain's files.
    features, trials : str
        Names of two of them: the domain's images (for their classes) and the trials.
    role : {"source", "target"}
        Role of the domain in the trials.

    Returns
    -------
    X : ndarray of shape (n_images, n_trials)
        1 where the trial labels the image, 0 elsewhere.
    y : ndarray of shape (n_images,)
        Class of each image, from 0.

    Raises
    ------
    ValueError
        If the trials name images that do not exist.
    """
    if role not in ("source", "target"):
        raise ValueError(f"role is {role!r}, expected 'source' or 'target'")
    for name in (features, trials):
        if name not in paths:
            raise ValueError(f"no file {name!r} among {', '.join(paths) or 'none'}")
    _, y = load_surf(domain, {features: paths[features]})
    labelled = [trial[f"{role}_labelled"] for trial in load_splits(paths[trials])]
    last = max(rows.max() for rows in labelled)
    if last >= len(y):
        raise ValueError(
            f"{trials} labels image {last + 1} of {domain}, {features} holds {len(y)}; "
            "the two files do not belong together"
        )
    X = np.full((len(y), len(labelled)), float(UNUSED))
    for number, rows in enumerate(labelled):
        X[rows, number] = LABELLED
    return X, y
