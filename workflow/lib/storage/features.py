"""Domains on disk: features in one file, labels in another, so that who needs one reads one."""

from pathlib import Path

import numpy as np
from scipy import sparse

from workflow.lib.storage.artifacts import read_arrays, write_arrays


def write_features(path: Path | str, X: np.ndarray | sparse.csr_array, meta: dict) -> None:
    """Write a feature matrix (n, p), dense or CSR."""
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        write_arrays(path, {**parts, "shape": np.array(X.shape)}, meta)
    else:
        write_arrays(path, {"X": X}, meta)


def read_features(path: Path | str) -> np.ndarray | sparse.csr_array:
    """Read what `write_features` wrote."""
    arrays, _ = read_arrays(path)
    if "X" in arrays:
        return arrays["X"]
    parts = (arrays["data"], arrays["indices"], arrays["indptr"])
    return sparse.csr_array(parts, shape=tuple(arrays["shape"]))
