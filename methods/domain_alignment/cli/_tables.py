"""Tables of new samples: the columns that a model needs, as numbers or text."""

import csv
import io
import warnings

import numpy as np
import scipy.io
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from domain_alignment.utils._optional import needed
from domain_alignment.utils.cells import DELIMITERS, category, number

_ARRAYS = (".npy", ".npz", ".mat", ".svmlight", ".libsvm", ".svm")
_HEAD = 1_000_000  # characters in which the first line ends
_MOST_SHOWN = 5  # names in a message


def read_samples(path, names, n_features, text=()):
    """Samples of a file, with the columns in the order of the model's.

    Parameters
    ----------
    path : Path
        ``.npy``, ``.npz``, ``.mat``, ``.svmlight`` and ``.parquet`` by their ending; anything else
        is text with a delimiter: comma, semicolon, tabulator or bar, whichever the first line
        shows. Of several arrays that one is read which has as many columns as the model features.
    names : list of str, or None
        Names of the features, which must be columns; others are left out. None: the columns must
        be as many as the features, and a first line that holds no numbers is a header.
    n_features : int
    text : sequence of int, default=()
        Positions of the features that hold text.

    Returns
    -------
    X : ndarray of float, or of object where there are texts, of shape (n_samples, n_features)
        Missing numbers are NaN, missing texts None; a CSR matrix if the file holds one.
    left_out : list of str
        Columns that the model does not know.

    Raises
    ------
    ValueError
        With the file, the column, the row and the remedy.
    """
    if path.suffix in _ARRAYS:
        return _array(path, n_features), []
    header, columns = _parquet(path) if path.suffix == ".parquet" else _text(path, names, not text)
    columns, left_out = _wanted(path, header, columns, names, n_features)
    shown = names or [f"number {at + 1}" for at in range(n_features)]
    X = np.empty((len(columns[0]), n_features), dtype=object if len(text) else float)
    for at, (cells, name) in enumerate(zip(columns, shown, strict=True)):
        X[:, at] = _texts(cells) if at in text else _numbers(cells, path, name)
    return X, left_out


def first_missing(X, names):
    """Words for the place of the first missing number, rows counted from 0; "" if none is."""
    if sparse.issparse(X):
        return ""
    missing = np.argwhere(X != X)
    if not len(missing):
        return ""
    row, column = missing[0]
    name = f"number {column + 1}" if names is None else repr(names[column])
    return f"the first missing cell is in column {name}, row {row}"


def _array(path, n_features):
    """The one array of a file that has so many columns."""
    held = _arrays(path, n_features)
    fitting = [X for X in held.values() if X.ndim == 2 and X.shape[1] == n_features]
    if len(fitting) != 1:
        shapes = ", ".join(f"{name} of shape {X.shape}" for name, X in held.items())
        several = "several arrays" if fitting else "an array"
        raise ValueError(
            f"{path}: holds {several} ({shapes}); give one of shape (samples, {n_features})"
        )
    return fitting[0]


def _arrays(path, n_features):
    with path.open("rb"):  # a missing file is a missing file
        pass
    try:
        if path.suffix == ".npy":
            return {"": np.load(path, allow_pickle=False)}
        if path.suffix == ".mat":
            found = scipy.io.loadmat(path)
            return {name: X for name, X in found.items() if hasattr(X, "shape")}
        if path.suffix != ".npz":
            return {"": load_svmlight_file(str(path), n_features=n_features)[0]}
        with np.load(path, allow_pickle=False) as stored:
            if "indptr" in stored:
                return {"": sparse.load_npz(path).tocsr()}
            return {name: stored[name] for name in stored.files}
    except Exception as error:  # damaged bytes raise whatever a parser comes upon
        raise ValueError(f"{path}: cannot be read ({error}); save it as .npy or .csv") from error


def _parquet(path):
    table = needed("pyarrow.parquet", f"{path.name}", "; or give a .csv file").read_table(path)
    if not table.num_rows:
        raise ValueError(f"{path}: holds no samples; give at least one row")
    return table.column_names, [column.to_pylist() for column in table.columns]


def _text(path, names, all_numbers):
    """Header, or None, and the cells of each column; numbers where all are, which is faster."""
    try:
        content = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: is no text in UTF-8 ({error}); save it as UTF-8") from None
    delimiter = _delimiter(content[:_HEAD], names)
    first = next((row for row in _parsed(content, delimiter) if row), [])
    if all_numbers and names is not None:
        values = _matrix(content, delimiter, len(first))
        if values is not None:
            return [name.strip() for name in first], list(values.T)
    rows = [row for row in _parsed(content, delimiter) if row]
    if not rows:
        raise ValueError(f"{path}: is empty; give a table with one sample per row")
    header = None if names is None and all(map(_is_number, rows[0])) else rows.pop(0)
    header = header and [name.strip() for name in header]
    if not rows:
        raise ValueError(f"{path}: holds a header and no samples; give at least one row")
    width = len(rows[0] if header is None else header)
    for at, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(
                f"{path}: row {at} has {len(row)} cells instead of {width}; correct it"
            )
    return header, list(zip(*rows, strict=True))


def _matrix(content, delimiter, width):
    """All rows below the header as numbers, or None if a cell is none or a row is short."""
    stream = io.StringIO(content, newline="")
    next((row for row in _reader(stream, delimiter) if row), None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that there are no rows is said later
            values = np.loadtxt(stream, delimiter=delimiter, comments=None, quotechar='"', ndmin=2)
    except ValueError:
        return None
    return values if values.size and values.shape[1] == width else None


def _reader(stream, delimiter):
    return csv.reader(stream, delimiter=delimiter, skipinitialspace=True)


def _parsed(content, delimiter):
    return _reader(io.StringIO(content, newline=""), delimiter)


def _delimiter(content, names):
    """The delimiter that finds most of the names in the first line, or makes most cells of it."""

    def found(delimiter):
        cells = next(_parsed(content.lstrip(), delimiter), [])
        cells = [cell.strip() for cell in cells]
        return len(set(names or ()) & set(cells)), len(cells)

    return max(DELIMITERS, key=found)


def _is_number(cell):
    try:
        number(cell)
    except ValueError:
        return False
    return True


def _wanted(path, header, columns, names, n_features):
    """The model's columns in its order, and the names of the others."""
    if names is None:
        if len(columns) != n_features:
            raise ValueError(
                f"{path}: has {len(columns)} columns; the model, whose features have no names, was "
                f"fitted with {n_features}"
            )
        return columns, []
    missing = [name for name in names if name not in header]
    if missing:
        raise ValueError(
            f"{path}: has no column {listed(missing)}; the model needs them, by these names (the "
            f"table has {listed(header)})"
        )
    twice = [name for name in names if header.count(name) > 1]
    if twice:
        raise ValueError(f"{path}: has two columns {listed(twice)}; rename or drop one")
    left_out = [name for name in header if name not in set(names)]
    return [columns[header.index(name)] for name in names], left_out


def _numbers(cells, path, name):
    if isinstance(cells, np.ndarray):
        if np.isinf(cells).any():
            cells = cells.tolist()
        else:
            return cells
    values = np.empty(len(cells))
    for at, cell in enumerate(cells):
        try:
            values[at] = number(cell)
        except ValueError:
            raise ValueError(
                f"{path}: column {name}, sample {at} (counted from 0): {cell!r} is no finite "
                "number; correct the cell, or leave it empty if it is missing"
            ) from None
    return values


def _texts(cells):
    values = np.empty(len(cells), dtype=object)
    values[:] = [category(cell) for cell in cells]
    return values


def listed(names):
    """The first few names, in quotes."""
    shown = ", ".join(map(repr, names[:_MOST_SHOWN]))
    return f"{shown}, ..." if len(names) > _MOST_SHOWN else shown
