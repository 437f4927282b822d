"""Domains on disk: features in one file, labels in another, so that who needs one reads one."""

import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from workflow.lib.storage.artifacts import read_arrays, write_arrays

_INT32_MAX = np.iinfo(np.int32).max


def write_features(path: Path | str, X: np.ndarray | sparse.csr_array, meta: dict) -> None:
    """Write a feature matrix (n, p), dense or CSR.

    Sparse features are stored in canonical form: sorted columns, no entry twice, and 32-bit
    indices, which several solvers of SciPy and scikit-learn ask for. Where the shape or the number
    of entries does not fit into 32 bits, 64-bit indices are kept, with a warning.

    Raises
    ------
    ValueError
        If the features are masked or not real numbers: a file would hold something else.
    """
    if X.dtype.kind not in "biuf" or isinstance(X, np.ma.MaskedArray):
        kind = "a masked array" if isinstance(X, np.ma.MaskedArray) else X.dtype
        raise ValueError(f"{path}: features must be real numbers; {kind} came")
    if sparse.issparse(X):
        X = _canonical(path, X)
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        write_arrays(path, {**parts, "shape": np.array(X.shape)}, meta)
    else:
        write_arrays(path, {"X": np.ascontiguousarray(X)}, meta)


def _canonical(path: Path | str, X: sparse.csr_array) -> sparse.csr_array:
    X = sparse.csr_array(X, copy=True)
    X.sum_duplicates()
    if max(*X.shape, X.nnz) <= _INT32_MAX:
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    else:
        warnings.warn(
            f"{path}: {X.shape[0]} x {X.shape[1]} features with {X.nnz} entries need 64-bit "
            "indices; methods whose solvers take 32 bits alone will fail on them",
            stacklevel=3,
        )
    return X


def read_features(path: Path | str) -> np.ndarray | sparse.csr_array:
    """Read what `write_features` wrote; large arrays stay in the file, open for reading."""
    arrays, _ = read_arrays(path, mapped=True)
    if "X" in arrays:
        return arrays["X"]
    parts = (arrays["data"], arrays["indices"], arrays["indptr"])
    return sparse.csr_array(parts, shape=tuple(arrays["shape"]))
