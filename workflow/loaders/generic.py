"""Data without a loader of its own: named arrays of .npz, .mat and .csv files.

Example entry of ``config/datasets.yaml``::

    my_sensors:
      description: Two generations of a gas sensor.
      loader: generic:load
      files:
        old.csv: {path: data/old.csv}
        new.mat: {path: data/new.mat}
      classes: 3
      class_names: [ethanol, methane, none]     # this order gives the codes 0, 1, 2
      domains:
        old: {files: [old.csv], params: {labels: gas, features: "r*"}}
        new: {files: [new.mat], params: {features: X, labels: y, transpose: true}}

Labels may be strings or any whole numbers. With ``class_names`` they are coded by its order, else
by the sorted labels of all domains of the dataset together, so that a code means the same class
everywhere.
"""

import fnmatch
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workflow.loaders._check import check_size

if TYPE_CHECKING:
    import pandas as pd
    from scipy import sparse

_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
_WHOLE_AS_FLOAT = re.compile(r"^(-?[0-9]+)\.0*$")


def load(
    domain: str,
    paths: dict[str, Path],
    dataset: dict,
    labels: str,
    features: str | list[str] | None = None,
    transpose: bool = False,
    labels_file: str | None = None,
    separator: str = ",",
) -> "tuple[np.ndarray | sparse.csr_array, np.ndarray]":
    """Features and coded labels of one domain.

    Parameters
    ----------
    domain : str
    paths : dict of str to Path
        The files that `workflow.loaders.files_of` names.
    dataset : dict
        The whole entry: ``classes``, ``class_names`` and the other domains.
    labels : str
        Name of the array, variable or column with the labels.
    features : str or list of str
        Name of the array or variable. For .csv, the columns: a list, a pattern such as
        ``"pixel*"``, or None for every column but the labels. None also for an .npz of
        `scipy.sparse.save_npz`.
    transpose : bool
        The samples are the columns of the matrix, for .mat files as MATLAB shows it.
    labels_file : str
        The file with the labels, if it is not the one with the features (the first of ``files``).
    separator : str
        Between the columns of .csv files.

    Raises
    ------
    ValueError
        If a name is not in its file; the message lists what the file holds.
    """
    files = dataset["domains"][domain].get("files") or list(paths)
    names = _read_labels(_path(paths, labels_file or files[0]), labels, separator)
    classes = dataset.get("class_names") or _classes_of_all(dataset, paths)
    y = _code(domain, names, [_name(c) for c in classes])
    X = _read_features(_path(paths, files[0]), features, labels, separator)
    return _as_features(files[0], X.T if transpose else X), y


def _path(paths: dict[str, Path], file: str) -> Path:
    if file not in paths:
        raise ValueError(
            f"file {file!r} is not among the files of the domain: {', '.join(paths)}. "
            "List it in `files` of the domain."
        )
    return Path(paths[file])


# -- labels -----------------------------------------------------------------------------------


def _name(label: object) -> str:
    """One spelling per class: 3, 3.0, "3" and "3.0" are the same."""
    text = label.decode() if isinstance(label, bytes) else str(label)
    return _WHOLE_AS_FLOAT.sub(r"\1", text.strip())


def _sorted(names: set[str]) -> list[str]:
    numbers = all(_WHOLE.fullmatch(name) for name in names)
    return sorted(names, key=int) if numbers else sorted(names)


def _classes_of_all(dataset: dict, paths: dict[str, Path]) -> list[str]:
    found = set()
    for name, described in dataset["domains"].items():
        params = described["params"]
        file = params.get("labels_file") or described.get("files", list(paths))[0]
        if file not in paths:
            raise ValueError(
                f"the labels of domain {name!r} ({file}) are needed to code the classes alike. "
                "Give `class_names` in the entry, or all files of the dataset."
            )
        labels = _read_labels(Path(paths[file]), params["labels"], params.get("separator", ","))
        found.update(labels)
    classes = _sorted(found)
    if len(classes) != dataset["classes"]:
        raise ValueError(
            f"expected {dataset['classes']} classes, found {len(classes)} labels in all domains: "
            f"{_listing(classes)}. Correct `classes` in the entry, or the labels."
        )
    return classes


def _code(domain: str, names: list[str], classes: list[str]) -> np.ndarray:
    code = {name: number for number, name in enumerate(classes)}
    for row, name in enumerate(names):
        if name not in code:
            raise ValueError(
                f"label {name!r} (row {row} of domain {domain!r}) is not among the classes "
                f"{_listing(classes)}. Add it to `class_names`, or correct the label."
            )
    return np.array([code[name] for name in names], dtype=np.int64)


def _listing(names: list[str]) -> str:
    shown = ", ".join(map(str, names[:20]))
    return f"{shown}, … ({len(names)} in all)" if len(names) > 20 else shown or "nothing"


def _read_labels(path: Path, name: str, separator: str) -> list[str]:
    if path.suffix == ".csv":
        table = _read_csv(path, separator)
        _require(path, [name], list(table.columns), "column")
        stored = table[name].to_numpy()
    elif path.suffix == ".npz":
        stored = _read_npz(path, name)
    else:
        stored = _read_mat(path, name)
    stored = np.asarray(stored.todense() if hasattr(stored, "todense") else stored)
    if stored.dtype.kind in "cmMV":
        raise ValueError(
            f"{path}: labels {name!r} are of type {stored.dtype}. Save strings or whole numbers."
        )
    if max(stored.shape, default=0) != stored.size:
        raise ValueError(
            f"{path}: labels {name!r} have shape {stored.shape}; expected one label per sample."
        )
    names = [_name(label) for label in stored.ravel()]
    for row, label in enumerate(names):
        if label in {"", "nan"} or (stored.dtype.kind == "f" and not _WHOLE.fullmatch(label)):
            raise ValueError(
                f"{path}: label {label!r} in row {row} of {name!r} is not a class. "
                "Labels are strings or whole numbers; drop or correct this sample."
            )
    return names


# -- features ---------------------------------------------------------------------------------


def _read_features(
    path: Path, features: str | list[str] | None, labels: str, separator: str
) -> "np.ndarray | sparse.csr_array":
    if path.suffix == ".csv":
        return _csv_features(path, features, labels, separator)
    if isinstance(features, list):
        raise ValueError(
            f"{path}: features {features!r}: a list of columns is for .csv files. "
            "Name one array or variable."
        )
    if path.suffix == ".npz":
        return _read_npz(path, features)
    if features is None:
        raise ValueError(f"{path}: `features` is missing: name the variable with the features.")
    return _read_mat(path, features)


def _as_features(file: str, X: "np.ndarray | sparse.sparray") -> "np.ndarray | sparse.csr_array":
    from scipy import sparse

    if X.dtype.kind == "c":
        raise ValueError(
            f"{file}: the features are complex numbers. Save real ones: the real and the imaginary "
            "parts, or the magnitudes."
        )
    if X.dtype.kind not in "biuf":
        raise ValueError(
            f"{file}: the features are not numbers ({X.dtype}). Name another array or variable."
        )
    if sparse.issparse(X):
        return sparse.csr_array(X, dtype=np.float64)
    return np.ascontiguousarray(X, dtype=np.float64)


def _require(path: Path, names: list[str], held: list[str], what: str) -> None:
    missing = [name for name in names if name not in held]
    if missing:
        raise ValueError(
            f"{path}: no {what} {missing[0]!r}. It holds: {_listing(sorted(held))}. "
            "Name one of these in the entry."
        )


def _csv_features(
    path: Path, features: str | list[str] | None, labels: str, separator: str
) -> np.ndarray:
    table = _read_csv(path, separator)
    held = [column for column in table.columns if column != labels]
    if isinstance(features, str):
        columns = [column for column in held if fnmatch.fnmatchcase(column, features)]
        _require(path, columns or [features], held, "column that fits")
    else:
        columns = held if features is None else features
        _require(path, columns, held, "column")
    return np.column_stack([_numbers(path, column, table[column]) for column in columns])


def _numbers(path: Path, column: str, values: "pd.Series") -> np.ndarray:
    import pandas as pd

    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64)
    # An empty cell stays NaN and is refused later with its row, like NaN in any other format.
    text = np.isnan(numbers) & ~values.str.strip().str.lower().isin(["", "nan"]).to_numpy()
    if text.any():
        row = int(np.flatnonzero(text)[0])
        raise ValueError(
            f"{path}: column {column!r}: {values.iloc[row]!r} in row {row} (line {row + 2}) is not "
            "a number. Name the feature columns in `features`, or correct the value."
        )
    return numbers


# -- formats ----------------------------------------------------------------------------------


def _read_csv(path: Path, separator: str) -> "pd.DataFrame":
    import pandas as pd

    try:
        # Everything as text: "NA" may be a class, and 01 is not 1. The first line is read like the
        # others, so that a longer row is an error; as a header it would make the first column an
        # index, and a name that stands twice would be changed.
        table = pd.read_csv(
            path,
            sep=separator,
            header=None,
            dtype=str,
            keep_default_na=False,
            encoding="utf-8-sig",
        )
    except (ValueError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ValueError(
            f"{path}: cannot be read as a table ({str(error).strip()}). "
            "Its first line must name the columns; see also `separator`."
        ) from error
    names = [str(name).strip() for name in table.iloc[0]]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{path}: column {name!r} stands twice in the first line; rename one")
    table = table.iloc[1:].fillna("")
    return table.set_axis(names, axis="columns").reset_index(drop=True)


def _read_mat(path: Path, name: str) -> "np.ndarray | sparse.csr_array":
    from workflow.loaders._matfiles import read_variables

    if path.suffix != ".mat":
        raise ValueError(
            f"{path}: the generic loader does not read {path.suffix!r} files. "
            "Save the data as .npz, .mat or .csv, or write a loader (workflow/loaders)."
        )
    return read_variables(path, [name])[0]


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
                f"It holds: {_listing(sorted(stored.files))}."
            )
        _require(path, [name], stored.files, "array")
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

    from numpy.lib import format as npy

    try:
        with stored.zip.open(f"{name}.npy") as stream:
            one = npy.read_magic(stream) == (1, 0)
            read = npy.read_array_header_1_0 if one else npy.read_array_header_2_0
            shape, _, dtype = read(stream)
    except (BadZipFile, EOFError, KeyError, ValueError, zlib.error) as error:
        raise ValueError(f"{path}: cannot be read as .npz ({error}). Save it again.") from error
    if dtype.hasobject:
        raise ValueError(
            f"{path}: array {name!r} holds Python objects, which are not read. "
            "Save labels as `labels.astype(str)`."
        )
    try:
        check_size(name, math.prod(shape) * max(dtype.itemsize, 1))
        return stored[name]
    except (BadZipFile, EOFError, ValueError, zlib.error) as error:
        raise ValueError(f"{path}: cannot be read as .npz ({error}). Save it again.") from error


def _csr(path: Path, prefix: str, stored: "np.lib.npyio.NpzFile") -> "sparse.csr_array":
    from scipy import sparse

    alone = "format" in stored and not prefix
    kind = _name(_array(path, stored, "format").item()) if alone else "csr"
    if kind != "csr":
        raise ValueError(f"{path}: the matrix is stored as {kind}. Save it as CSR (`.tocsr()`).")
    data, indices, indptr, shape = (
        _array(path, stored, prefix + part) for part in ("data", "indices", "indptr", "shape")
    )
    X = sparse.csr_array((data, indices, indptr), shape=tuple(shape))
    X.check_format(full_check=True)  # SciPy's C code follows the indices unchecked
    return X
