"""Evidence of made-up candidates."""

import numpy as np
from domain_alignment.model_selection import Evidence
from scipy import sparse
from sklearn.linear_model import LogisticRegression

N_CLASSES = 4


def candidate(seed=0, sizes=(70, 55), d=6, shift=0.8, sparsely=False, **changes):
    """A logistic regression on two shifted domains; some labels hidden, some rows not held out."""
    rng = np.random.default_rng(seed)
    centres = 2 * rng.normal(size=(N_CLASSES, d))
    parts = {"classes": np.arange(N_CLASSES)}
    truths = [rng.permutation(np.arange(n) % N_CLASSES) for n in sizes]
    domains = [
        centres[y] + rng.normal(size=(y.size, d)) + move
        for y, move in zip(truths, (0, shift), strict=True)
    ]
    domains = [sparse.csr_array(Z) for Z in domains] if sparsely else domains
    classifier = LogisticRegression(C=0.1).fit(domains[0], truths[0])
    for side, Z, y in zip(("source", "target"), domains, truths, strict=True):
        hidden = rng.random(y.size) < {"source": 0.1, "target": 0.7}[side]
        predicted = classifier.predict(Z)
        parts[f"{side}_embedding"], parts[f"{side}_labels"] = Z, np.where(hidden, -1, y)
        parts[f"{side}_predicted"] = predicted
        parts[f"{side}_probabilities"] = classifier.predict_proba(Z)
        held_out = np.where(rng.random(y.size) < 0.2, (predicted + 1) % N_CLASSES, predicted)
        held_out[np.flatnonzero(~hidden)[0]] = -1  # a label that was never hidden
        parts[f"{side}_held_out"] = np.where(hidden, -1, held_out)
    parts["backward"] = lambda pseudo: (
        LogisticRegression(C=0.1).fit(domains[1], pseudo).predict(domains[0])
    )
    return Evidence(**{**parts, **changes})
