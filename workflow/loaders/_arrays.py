"""Arrays of own data: .npz, .npy, .mat and .svmlight files."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workflow.loaders._check import check_size
from workflow.loaders._columns import require
from workflow.loaders._labels import listing, spelled

if TYPE_CHECKING:
    from scipy import sparse


def read_array(path: Path, name: str | None) -> "np.ndarray | sparse.csr_array":
    """A named array of an .npz or .mat file, or the one of an .npy file.

    Raises
    ------
    ValueError
        If the file cannot be read, is of another kind or does not hold the array; the message
        lists what it holds.
    """
    if path.suffix == ".npz":
        return _read_npz(path, name)
    if path.suffix == ".npy":
        return _read_npy(path)
    if path.suffix == ".mat":
        from workflow.loaders._matfiles import read_variables

        if name is None:
            raise ValueError(f"{path}: `features` is missing: name the variable with the features.")
        return read_variables(path, [name])[0]
    raise ValueError(
        f"{path}: the generic loader does not read {path.suffix!r} files. Save the data as .csv, "
        ".parquet, .npz or .mat, or write a loader (workflow/loaders)."
    )


def read_svmlight(path: Path, together: Sequence[Path]) -> "tuple[sparse.csr_array, np.ndarray]":
    """Features and labels of an .svmlight file, with as many features as the widest of several.

    Parameters
    ----------
    path : Path
    together : sequence of Path
        Files of the domains that share features with it. The number of features, and whether they
        are counted from 0 or from 1, can only be told from all of them.

    Raises
    ------
    ValueError
        If a file is not of this format.
    """
    from scipy import sparse
    from sklearn.datasets import load_svmlight_files

    files = list(dict.fromkeys([path, *together]))
    for file in files:
        with file.open("rb"):  # a missing file is a missing file
            pass
    try:
        X, y = load_svmlight_files([str(file) for file in files])[:2]
    except ValueError as error:
        raise ValueError(f"{path}: cannot be read as svmlight ({error}). Save it again.") from error
    return sparse.csr_array(X), y


# -- NumPy ------------------------------------------------------------------------------------


def _read_npz(path: Path, name: str | None) -> "np.ndarray | sparse.csr_array":
    """A named array; a CSR matrix stored as {name}_data, _indices, _indptr, _shape or alone."""
    with _opened(path) as stored:
        prefix = "" if name is None else f"{name}_"
        parts = [prefix + part for part in ("data", "indices", "indptr", "shape")]
        if name not in stored and all(part in stored for part in parts):
            return _csr(path, prefix, stored)
        if name is None:
            raise ValueError(
                f"{path}: `features` is missing: name the array with the features. "
                f"It holds: {listing(sorted(stored.files))}."
            )
        require(str(path), [name], sorted(stored.files), "array")
        return _array(path, stored, name)


def _opened(path: Path) -> "np.lib.npyio.NpzFile":
    from zipfile import BadZipFile

    try:
        stored = np.load(path, allow_pickle=False)
    except (BadZipFile, EOFError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read as .npz ({error}). Save it again.") from error
    if isinstance(stored, np.ndarray):
        raise ValueError(
            f"{path}: is one array (.npy), not named arrays. Save it by numpy.savez(file, X=...)."
        )
    return stored


def _array(path: Path, stored: "np.lib.npyio.NpzFile", name: str) -> np.ndarray:
    """An array of an archive, after a look at its header: no objects, no size out of bounds."""
    import zlib
    from zipfile import BadZipFile

    try:
        with stored.zip.open(f"{name}.npy") as stream:
            _check_header(path, name, stream)
        return stored[name]
    except _Refused:
        raise
    except (BadZipFile, EOFError, KeyError, ValueError, zlib.error) as error:
        raise ValueError(f"{path}: cannot be read as .npz ({error}). Save it again.") from error


def _read_npy(path: Path) -> np.ndarray:
    try:
        with path.open("rb") as stream:
            _check_header(path, path.stem, stream)
        return np.load(path, allow_pickle=False)
    except _Refused:
        raise
    except (EOFError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read as .npy ({error}). Save it again.") from error


class _Refused(ValueError):
    """The file can be read, but not what is wanted of it; the message says all."""


def _check_header(path: Path, name: str, stream) -> None:
    from numpy.lib import format as npy

    one = npy.read_magic(stream) == (1, 0)
    shape, _, dtype = (npy.read_array_header_1_0 if one else npy.read_array_header_2_0)(stream)
    if dtype.hasobject:
        raise _Refused(
            f"{path}: array {name!r} holds Python objects, which are not read. "
            "Save labels as `labels.astype(str)`."
        )
    try:
        check_size(name, math.prod(shape) * max(dtype.itemsize, 1))
    except ValueError as error:
        raise _Refused(f"{path}: {error}") from None


def _csr(path: Path, prefix: str, stored: "np.lib.npyio.NpzFile") -> "sparse.csr_array":
    from scipy import sparse

    alone = "format" in stored and not prefix
    kind = spelled(_array(path, stored, "format").item()) if alone else "csr"
    if kind != "csr":
        raise ValueError(f"{path}: the matrix is stored as {kind}. Save it as CSR (`.tocsr()`).")
    data, indices, indptr, shape = (
        _array(path, stored, prefix + part) for part in ("data", "indices", "indptr", "shape")
    )
    X = sparse.csr_array((data, indices, indptr), shape=tuple(shape))
    X.check_format(full_check=True)  # SciPy's C code follows the indices unchecked
    return X


# -- what is done to any of them -----------------------------------------------------------------


def as_samples(where: str, X, transpose: bool, flatten: bool):
    """Samples as rows: the array turned, and what a sample holds laid out in one row.

    Raises
    ------
    ValueError
        If the array has more axes than two and ``flatten`` is not asked for, or is one row.
    """
    if X.ndim < 2:
        raise ValueError(
            f"{where}: the features have {X.ndim} dimension(s) (shape {X.shape}); expected a "
            "matrix with a sample in each row. One feature: save it as a column."
        )
    if X.ndim > 2:
        if not flatten:
            shape = " x ".join(map(str, X.shape))
            raise ValueError(
                f"{where}: the features have {X.ndim} dimensions ({shape}). Set `flatten: true` to "
                "lay out each sample in one row; samples are counted by the first dimension, or "
                "by the last with `transpose: true`."
            )
        X = np.moveaxis(X, -1, 0) if transpose else X
        return X.reshape(len(X), -1)
    return X.T if transpose else X


def as_features(where: str, X) -> "np.ndarray | sparse.csr_array":
    """The features as real float64 numbers, dense or CSR.

    Raises
    ------
    ValueError
        If they are no real numbers.
    """
    from scipy import sparse

    if X.dtype.kind == "c":
        raise ValueError(
            f"{where}: the features are complex numbers. Save real ones: the real and the "
            "imaginary parts, or the magnitudes."
        )
    if X.dtype.kind not in "biuf":
        raise ValueError(
            f"{where}: the features are not numbers ({X.dtype}). Name another array or variable."
        )
    if sparse.issparse(X):
        return sparse.csr_array(X, dtype=np.float64)
    return np.ascontiguousarray(X, dtype=np.float64)


def without_gaps(where: str, X: np.ndarray, missing: str) -> tuple[np.ndarray, np.ndarray]:
    """A dense matrix without NaN, and the rows of it that are kept.

    Raises
    ------
    ValueError
        If a value is infinite, or NaN and nothing is said of missing values; if a feature has no
        value at all to take the mean of.
    """
    from sklearn.impute import SimpleImputer

    rows = np.arange(len(X))
    bad = ~np.isfinite(X)
    if not bad.any():
        return X, rows
    if missing == "error" or np.isinf(X).any():
        _refuse_gaps(where, bad)
    if missing == "drop":
        rows = np.flatnonzero(~bad.any(axis=1))
        return X[rows], rows
    absent = np.flatnonzero(bad.all(axis=0))
    if absent.size:
        raise ValueError(f"{where}: feature {absent[0]} holds no value at all; leave it out")
    return SimpleImputer(strategy=missing).fit_transform(X), rows


def _refuse_gaps(where: str, bad: np.ndarray) -> None:
    row, column = np.argwhere(bad)[0]
    raise ValueError(
        f"{where}: {bad.any(axis=1).sum()} of {len(bad)} samples hold(s) NaN or infinity (first at "
        f"row {row}, feature {column}). Correct them; for NaN say `missing: drop` (leaves these "
        "rows out), mean, median or most_frequent."
    )
