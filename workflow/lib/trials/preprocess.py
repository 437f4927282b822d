"""The preprocessing steps that a protocol names, each applied to one domain by itself."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

STEPS = {
    # Mean 0 and population standard deviation 1 per feature; constant features are only centred.
    "zscore": StandardScaler,
    "l1_rows": lambda: Normalizer("l1"),
    "l2_rows": lambda: Normalizer("l2"),
}


def make_preprocessing(steps: Sequence[str]) -> Pipeline:
    """Unfitted pipeline of the named steps; the identity for none."""
    return make_pipeline(*([STEPS[step]() for step in steps] or [FunctionTransformer()]))


def preprocessed(spec: Mapping, X, rows: np.ndarray) -> tuple[object, Pipeline]:
    """The given rows of a domain after the protocol's steps, read-only, and the fitted steps."""
    steps = make_preprocessing(spec["preprocess"])
    if spec["preprocess_rows"] == "all":
        return _read_only(steps.fit_transform(X)[rows]), steps
    return _read_only(steps.fit_transform(X[rows])), steps


def _read_only(X):
    """The same features; what several trials share, no method may change."""
    for array in (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,):
        array.flags.writeable = False
    return X
