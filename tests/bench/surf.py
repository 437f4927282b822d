"""The counts of Office–Caltech10 that the scripts beside this file measure on, or a stand-in.

Counts come from the folder that ``ALIGNMENT_MIRROR`` names; without it they are generated in the
same shapes, so that every script runs anywhere; accuracies mean nothing then.
"""

import os
from pathlib import Path

import numpy as np
from scipy.io import loadmat

FILES = {"amazon": "amazon", "caltech": "Caltech10", "dslr": "dslr", "webcam": "webcam"}
SAMPLES = {"amazon": 958, "caltech": 1123, "dslr": 157, "webcam": 295}
N_CLASSES, N_WORDS, N_TOPICS = 10, 800, 40


def domains(*names):
    """Counts and labels of some domains by name, and where they come from.

    Returns
    -------
    domains : dict of str to (ndarray of shape (n, 800), ndarray of shape (n,))
    origin : {"SURF", "generated"}
    """
    folder = Path(os.environ.get("ALIGNMENT_MIRROR", "")) / "office_caltech/surf"
    if "ALIGNMENT_MIRROR" in os.environ and folder.is_dir():
        return {name: _read(folder / f"{FILES[name]}_SURF_L10.mat") for name in names}, "SURF"
    rng = np.random.default_rng(0)
    topics = rng.gamma(0.3, size=(N_TOPICS, N_WORDS))
    classes = rng.gamma(0.2, size=(N_CLASSES, N_TOPICS))
    return {name: _generated(SAMPLES[name], classes, topics, rng) for name in names}, "generated"


def few_labels(y, per_class, rng):
    """All labels hidden but those of some samples of each class."""
    seen = np.full(len(y), -1)
    for label in np.unique(y):
        rows = rng.choice(np.flatnonzero(y == label), per_class, replace=False)
        seen[rows] = label
    return seen


def _read(path):
    content = loadmat(path)
    return content["fts"].astype(float), content["labels"].ravel().astype(int) - 1


def _generated(n_samples, classes, topics, rng):
    """Counts of words from topics, of which each class and each sample has its own shares."""
    y = np.arange(n_samples) % N_CLASSES
    shares = classes[y] + rng.gamma(0.2, size=(n_samples, N_TOPICS))
    return rng.poisson(shares @ topics / 4).astype(float), y
