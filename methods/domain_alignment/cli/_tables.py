"""Tables of new samples: the columns that a model needs, as numbers or text."""

import csv
import io
import re
import warnings
from collections import Counter
from contextlib import contextmanager

import numpy as np
import scipy.io
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from domain_alignment.utils._optional import needed
from domain_alignment.utils.cells import BLANKS, DELIMITERS, category, number

_SVMLIGHT = (".svmlight", ".libsvm", ".svm")
_ARRAYS = (".npy", ".npz", ".mat", *_SVMLIGHT)
_LONGEST = 2**31 - 1  # characters of a cell: the most that csv can be told everywhere
_HEAD = 1_000_000  # characters in which the first line ends
_MOST_SHOWN = 5  # names in a message


def read_samples(path, names, n_features, text=(), reading=None):
    """Samples of a file, with the columns in the order of the model's.

    Parameters
    ----------
    path : Path
        ``.npy``, ``.npz``, ``.mat``, ``.svmlight`` and ``.parquet`` by their ending; anything else
        is text with a delimiter: that of `reading`, comma, semicolon, tabulator or bar, whichever
        the first line shows. Of several arrays that one is read which has as many columns as the
        model features.
    names : list of str, or None
        Names of the features, which must be columns; others are left out. None: the columns must
        be as many as the features, and a first line that holds no numbers is a header.
    n_features : int
    text : sequence of int, default=()
        Positions of the features that hold text.
    reading : dict, optional
        How the model's own files were read, as far as that is known: "separator" and "decimal"
        mark of text, and whether the features of .svmlight files are counted from 0
        ("zero_based").

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
    reading, names = reading or {}, names and [name.strip() for name in names]
    suffix = path.suffix.lower()
    if suffix in _SVMLIGHT:
        return _svmlight(path, n_features, reading.get("zero_based")), []
    if suffix in _ARRAYS:
        return _array(path, n_features), []
    decimal = "."
    if suffix == ".parquet":
        header, columns = _parquet(path)
    else:
        with _cells_of_any_length(path):
            header, columns, decimal = _text(path, names, not text, reading)
    columns, left_out = _wanted(path, header, columns, names, n_features)
    shown = names or [f"number {at + 1}" for at in range(n_features)]
    X = np.empty((len(columns[0]), n_features), dtype=object if len(text) else float)
    for at, (cells, name) in enumerate(zip(columns, shown, strict=True)):
        X[:, at] = _texts(cells) if at in text else _numbers(cells, path, name, decimal)
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
    held = _arrays(path)
    fitting = [X for X in held.values() if X.ndim == 2 and X.shape[1] == n_features]
    if len(fitting) != 1:
        shapes = ", ".join(f"{name} of shape {X.shape}".strip() for name, X in held.items())
        several = "several arrays" if fitting else "an array"
        raise ValueError(
            f"{path}: holds {several} ({shapes}); give one of shape (samples, {n_features})"
        )
    return fitting[0]


def _svmlight(path, n_features, zero_based):
    """Features counted from 0 or from 1 as in the model's own files; else as the file shows."""
    X = next(iter(_arrays(path).values()))
    if not X.nnz:
        return sparse.csr_matrix((X.shape[0], n_features))
    low, high = int(X.indices.min()), int(X.indices.max())
    if zero_based is None:
        if low and high != n_features:
            raise ValueError(
                f"{path}: its features {low} to {high} do not tell whether the first of the "
                f"model's {n_features} has the number 0 or 1; say --first-feature 0 or 1"
            )
        zero_based = not low
    first = 0 if zero_based else 1
    if low < first or high >= first + n_features:
        raise ValueError(
            f"{path}: holds the features {low} to {high}, those of the model are {first} to "
            f"{first + n_features - 1}; number them so, or say --first-feature 0 or 1 for the "
            "number of the first"
        )
    shape = X.shape[0], n_features
    return sparse.csr_matrix((X.data, X.indices - first, X.indptr), shape=shape)


def _arrays(path):
    suffix = path.suffix.lower()
    with path.open("rb"):  # a missing file is a missing file
        pass
    try:
        if suffix == ".npy":
            return {"": np.load(path, allow_pickle=False)}
        if suffix == ".mat":
            found = scipy.io.loadmat(path)
            return {name: X for name, X in found.items() if hasattr(X, "shape")}
        if suffix != ".npz":
            return {"": load_svmlight_file(str(path), zero_based=True)[0]}
        with np.load(path, allow_pickle=False) as stored:
            if "format" in stored:  # of SciPy, compressed or by coordinates
                return {"": sparse.load_npz(path).tocsr()}
            return {name: stored[name] for name in stored.files}
    except Exception as error:  # damaged bytes raise whatever a parser comes upon
        raise ValueError(f"{path}: cannot be read ({error}); save it as .npy or .csv") from error


def _parquet(path):
    table = needed("pyarrow.parquet", f"{path.name}", "; or give a .csv file").read_table(path)
    if not table.num_rows:
        raise ValueError(f"{path}: holds no samples; give at least one row")
    names = [name.strip() for name in table.column_names]
    return names, [column.to_pylist() for column in table.columns]


@contextmanager
def _cells_of_any_length(path):
    """No limit of a cell's length: with a wrong delimiter a whole line is one. It is csv's own."""
    former = csv.field_size_limit(_LONGEST)
    try:
        yield
    except csv.Error as error:
        raise ValueError(
            f"{path}: cannot be read as a table ({error}); save it again as .csv"
        ) from error
    finally:
        csv.field_size_limit(former)


def _text(path, names, all_numbers, reading):
    """Header, or None, the cells of each column, and their decimal mark.

    The cells are numbers where all are, which is faster.
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: is no text in UTF-8 ({error}); save it as UTF-8") from None
    separator, decimal = reading.get("separator"), reading.get("decimal", ".")
    if separator == BLANKS:
        content, separator = _with_single_blanks(content), " "
    delimiter = _delimiter(content[:_HEAD], names, separator, decimal)
    first = next((row for row in _parsed(content, delimiter) if row), [])
    if all_numbers and names is not None:
        # A decimal mark that is the delimiter too stands in cells with quotes, if anywhere.
        mark = "." if decimal == delimiter else decimal
        values = _matrix(content, delimiter, len(first), mark)
        if values is not None:
            return [name.strip() for name in first], list(values.T), decimal
    rows = [row for row in _parsed(content, delimiter) if row]
    if not rows:
        raise ValueError(f"{path}: is empty; give a table with one sample per row")
    numbers = names is None and all(_is_number(_pointed(cell, decimal)) for cell in rows[0])
    header = None if numbers else rows.pop(0)
    header = header and [name.strip() for name in header]
    if not rows:
        raise ValueError(f"{path}: holds a header and no samples; give at least one row")
    width = len(rows[0] if header is None else header)
    for at, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(
                f"{path}: row {at} has {len(row)} cells instead of {width}; correct it"
            )
    return header, list(zip(*rows, strict=True)), decimal


def _with_single_blanks(content):
    return "\n".join(re.sub(r"[ \t]+", " ", line.strip()) for line in content.split("\n"))


def _pointed(cell, decimal):
    """A cell of a column of numbers with a decimal point."""
    return cell if decimal == "." else cell.replace(decimal, ".")


def _matrix(content, delimiter, width, decimal):
    """All rows below the header as numbers, or None if a cell is none or a row is short."""
    stream = io.StringIO(content, newline="")
    next((row for row in _reader(stream, delimiter) if row), None)
    if decimal != ".":
        stream = io.StringIO(_pointed(stream.read(), decimal), newline="")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that there are no rows is said later
            values = np.loadtxt(stream, delimiter=delimiter, comments=None, quotechar='"', ndmin=2)
    except ValueError:
        return None
    return values if values.size and values.shape[1] == width else None


def _reader(stream, delimiter):
    return csv.reader(stream, delimiter=delimiter, skipinitialspace=delimiter != " ")


def _parsed(content, delimiter):
    return _reader(io.StringIO(content, newline=""), delimiter)


def _delimiter(content, names, separator, decimal):
    """The delimiter that finds most of the names in the first line, or makes most cells of it.

    Of those that find as many that of the model's own files, and not the decimal mark.
    """

    def found(delimiter):
        cells = next(_parsed(content.lstrip(), delimiter), [])
        n_names = len(set(names or ()) & {cell.strip() for cell in cells})
        return n_names, delimiter == separator, delimiter != decimal, len(cells)

    return max((*DELIMITERS, separator) if separator else DELIMITERS, key=found)


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
    counts = Counter(header)  # of a header of thousands of names no list is searched
    missing = [name for name in names if name not in counts]
    if missing:
        raise ValueError(
            f"{path}: has no column {listed(missing)}; the model needs them, by these names (the "
            f"table has {listed(header)})"
        )
    twice = [name for name in names if counts[name] > 1]
    if twice:
        raise ValueError(f"{path}: has two columns {listed(twice)}; rename or drop one")
    wanted = set(names)
    left_out = [name for name in header if name not in wanted]
    places = {name: at for at, name in enumerate(header)}
    return [columns[places[name]] for name in names], left_out


def _numbers(cells, path, name, decimal):
    if isinstance(cells, np.ndarray):
        if np.isinf(cells).any():
            cells, decimal = cells.tolist(), "."  # numbers, whatever their mark was
        else:
            return cells
    values = np.empty(len(cells))
    for at, cell in enumerate(cells):
        try:
            values[at] = number(_pointed(cell, decimal))
        except ValueError:
            remedy = "correct the cell, or leave it empty if it is missing"
            if decimal != "," and isinstance(cell, str) and _is_number(cell.replace(",", ".")):
                remedy = "where the comma is the decimal mark, say --decimal ,"
            raise ValueError(
                f"{path}: column {name}, sample {at} (counted from 0): {cell!r} is no finite "
                f"number; {remedy}"
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
