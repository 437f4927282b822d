"""The preprocessing steps that a protocol names, each applied to one domain by itself."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

# Most bytes that z-scores of sparse features may take: they are dense, as zeros become others.
DENSE_BYTES = 2**30


def _dense(X):
    n_bytes = 8 * X.shape[0] * X.shape[1]
    if n_bytes > DENSE_BYTES:
        raise ValueError(
            f"zscore makes sparse features dense: {X.shape[0]} x {X.shape[1]} would take "
            f"{n_bytes / 1e9:.1f} GB. Leave it out of the protocol's `preprocess`, or use l2_rows."
        )
    return X.toarray()


STEPS = {
    # Mean 0 and population standard deviation 1 per feature; constant features are only centred.
    "zscore": StandardScaler,
    "l1_rows": lambda: Normalizer("l1"),
    "l2_rows": lambda: Normalizer("l2"),
}


def make_preprocessing(steps: Sequence[str], of_sparse: bool = False) -> Pipeline:
    """Unfitted pipeline of the named steps; the identity for none.

    ``of_sparse`` says that the features are sparse: z-scores are computed of their dense form.
    """
    named = [STEPS[step]() for step in steps] or [FunctionTransformer()]
    dense = [FunctionTransformer(_dense)] if of_sparse and "zscore" in steps else []
    return make_pipeline(*dense, *named)


def preprocessed(spec: Mapping, X, rows: np.ndarray) -> tuple[object, Pipeline]:
    """The given rows of a domain after the protocol's steps, read-only, and the fitted steps.

    Without a step, all rows are `X` itself.
    """
    steps = make_preprocessing(spec["preprocess"], sparse.issparse(X))
    if spec["preprocess_rows"] == "all":
        return _read_only(_rows(steps.fit_transform(X), rows)), steps
    return _read_only(steps.fit_transform(_rows(X, rows))), steps


def _rows(X, rows: np.ndarray):
    """These rows; without a copy where they are all, in their order."""
    return X if np.array_equal(rows, np.arange(X.shape[0])) else X[rows]


def _read_only(X):
    """The same features; what several trials share, no method may change."""
    for array in (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,):
        array.flags.writeable = False
    return X
