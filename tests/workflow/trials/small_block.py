"""A block of two trials on two small domains, for the jobs that run in the guarded child."""

import numpy as np

from workflow.lib.storage.features import write_features
from workflow.lib.trials.protocols import HIDDEN, Trial, write_trials

Y = [np.arange(12) % 2, np.arange(10) % 2]
_rng = np.random.default_rng(0)
X = [_rng.normal(size=(len(y), 3)) + 3 * y[:, None] for y in Y]


def write_block(folder, estimator="domain_alignment:NoAdaptation", **changes):
    """Write the inputs; returns the block."""
    for d, features in enumerate(X):
        write_features(folder / f"{d}.npz", features, {})
    shown = [np.arange(len(y)) < n for y, n in zip(Y, (6, 2), strict=True)]
    labels = tuple(np.where(seen, y, HIDDEN) for seen, y in zip(shown, Y, strict=True))
    trial = Trial((np.arange(12), np.arange(10)), labels, np.arange(2, 10))
    write_trials(folder / "trials.npz", [trial, trial], {})
    method = {"estimator": estimator, "sees_labels": "none", "params": {}, "varied_params": [{}]}
    logistic = {"estimator": "sklearn.linear_model:LogisticRegression", "params": {}}
    block = {
        "features": [str(folder / f"{d}.npz") for d in range(2)],
        "trials": str(folder / "trials.npz"),
        "method": method,
        "classifiers": {"logistic": logistic},
        "classifier_rows": "source",
        "preprocess": ["zscore"],
        "preprocess_rows": "seen",
        "pictured_trial": None,
        "probabilities": False,
        "tuning": None,
    }
    return block | changes
