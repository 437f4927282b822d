"""Weights of the vocabulary that both domains of a task share."""

import numpy as np
from scipy import sparse

WEIGHTINGS = ("counts", "tfidf")


def weigh(X: sparse.csr_array, both: sparse.csr_array, weighting: str) -> sparse.csr_array:
    """Word counts of one domain, plain or as TF-IDF.

    TF-IDF is scikit-learn's with its defaults: a word's factor is ln((1 + n) / (1 + df)) + 1, and
    rows have unit length (empty documents stay zero). df is counted over the n documents of both
    domains of the task, without labels. Loaders fit nothing else: a protocol's steps see one domain
    at a time, and a word must weigh the same in both.

    Raises
    ------
    ValueError
        If the weighting is unknown.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    if weighting not in WEIGHTINGS:
        raise ValueError(f"weighting: unknown {weighting!r}. Known: {', '.join(WEIGHTINGS)}")
    if weighting == "counts":
        return sparse.csr_array(X, dtype=np.float64)
    return sparse.csr_array(TfidfTransformer().fit(both).transform(X), dtype=np.float64)
