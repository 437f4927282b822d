"""Tables of new samples: the columns that a model needs, as numbers or text."""

import csv
import io
import warnings

import numpy as np

from domain_alignment.utils._optional import needed

_DELIMITERS = (",", ";", "\t")
_MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"})
_HEAD = 1_000_000  # characters in which the first line ends
_MOST_SHOWN = 5  # names in a message


def read_samples(path, names, n_features, text=()):
    """Samples of a file, with the columns in the order of the model's.

    Parameters
    ----------
    path : Path
        ``.npy`` and ``.parquet`` by their ending; anything else is text with a delimiter: comma,
        semicolon or tabulator, whichever the first line shows.
    names : list of str, or None
        Names of the features, which must be columns; others are left out. None: the columns must
        be as many as the features, and a first line that holds no numbers is a header.
    n_features : int
    text : sequence of int, default=()
        Positions of the features that hold text.

    Returns
    -------
    X : ndarray of float, or of object where there are texts, of shape (n_samples, n_features)
        Missing numbers are NaN, missing texts None.
    left_out : list of str
        Columns that the model does not know.

    Raises
    ------
    ValueError
        With the file, the column, the row and the remedy.
    """
    if path.suffix == ".npy":
        return _of_array(path, n_features), []
    header, columns = _parquet(path) if path.suffix == ".parquet" else _text(path, names, not text)
    columns, left_out = _wanted(path, header, columns, names, n_features)
    shown = names or [f"number {at + 1}" for at in range(n_features)]
    X = np.empty((len(columns[0]), n_features), dtype=object if len(text) else float)
    for at, (cells, name) in enumerate(zip(columns, shown, strict=True)):
        X[:, at] = _texts(cells) if at in text else _numbers(cells, path, name)
    return X, left_out


def first_missing(X, names):
    """Words for the place of the first missing number, rows counted from 1; "" if none is."""
    missing = np.argwhere(X != X)
    if not len(missing):
        return ""
    row, column = missing[0]
    name = f"number {column + 1}" if names is None else repr(names[column])
    return f"the first missing cell is in column {name}, row {row + 1}"


def _of_array(path, n_features):
    X = np.load(path, allow_pickle=False)
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(
            f"{path}: holds an array of shape {X.shape}; give one of (samples, {n_features})"
        )
    return X


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
            return first, list(values.T)
    rows = [row for row in _parsed(content, delimiter) if row]
    if not rows:
        raise ValueError(f"{path}: is empty; give a table with one sample per row")
    header = None if names is None and all(map(_is_number, rows[0])) else rows.pop(0)
    if not rows:
        raise ValueError(f"{path}: holds a header and no samples; give at least one row")
    width = len(rows[0] if header is None else header)
    for at, row in enumerate(rows, 1):
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
        return len(set(names or ()) & set(cells)), len(cells)

    return max(_DELIMITERS, key=found)


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return cell.strip() in _MISSING
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
        return cells
    values = np.empty(len(cells))
    for at, cell in enumerate(cells):
        if cell is None or (isinstance(cell, str) and cell.strip() in _MISSING):
            values[at] = np.nan
            continue
        try:
            if isinstance(cell, str) and "_" in cell:  # which Python takes for a separator
                raise ValueError
            values[at] = float(cell)
        except (TypeError, ValueError):
            raise ValueError(
                f"{path}: column {name}, row {at + 1}: {cell!r} is no number; correct the cell, "
                "or leave it empty if it is missing"
            ) from None
    return values


def _texts(cells):
    values = np.empty(len(cells), dtype=object)
    values[:] = [None if cell is None or cell == "" else str(cell) for cell in cells]
    return values


def listed(names):
    """The first few names, in quotes."""
    shown = ", ".join(map(repr, names[:_MOST_SHOWN]))
    return f"{shown}, ..." if len(names) > _MOST_SHOWN else shown
