"""Data without a loader of its own: tables, named arrays and variables of the usual formats.

Example entry of ``config/datasets.yaml``, or of a folder of one's own (``--config own=FOLDER``)::

    my_sensors:
      description: Two generations of a gas sensor.
      loader: generic:load
      files:
        old.csv: {path: data/old.csv}
        new.mat: {path: data/new.mat}
      classes: 3
      class_names: [ethanol, methane, none]     # this order gives the codes 0, 1, 2
      params: {missing: median}                 # for all domains
      domains:
        old: {files: [old.csv], params: {labels: gas, features: "r*"}}
        new: {files: [new.mat], params: {features: X, labels: y, transpose: true}}

Labels may be strings or any whole numbers. With ``class_names`` they are coded by its order, else
by the sorted labels of all domains of the dataset together, so that a code means the same class
everywhere. The label -1 means unlabelled unless ``class_names`` has it: such rows are seen without
a label, predicted and never scored. What becomes of the columns of tables stands in `_columns`.
"""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workflow.loaders import _arrays, _suffixes, _tables
from workflow.loaders._columns import (
    MISSING,
    Coding,
    check_cells,
    chosen_columns,
    codings,
    require,
)
from workflow.loaders._labels import (
    UNLABELLED,
    checked_names,
    coded,
    in_order,
    listing,
    meaning_unlabelled,
    spelled,
)

if TYPE_CHECKING:
    import pandas as pd
    from scipy import sparse


def load(
    domain: str,
    paths: dict[str, Path],
    dataset: dict,
    labels: str | None = None,
    features: str | list[str] | None = None,
    transpose: bool = False,
    labels_file: str | None = None,
    separator: str | None = None,
    decimal: str = ".",
    rows: dict | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    missing: str = "error",
    unlabelled: Sequence[object] = (),
    flatten: bool = False,
    pooled: Sequence[str] = (),
) -> "tuple[np.ndarray | sparse.csr_array, np.ndarray, dict]":
    """Features and coded labels of one domain, and what is to be known of them.

    Parameters
    ----------
    domain : str
    paths : dict of str to Path
        The files that `workflow.loaders.files_of` names.
    dataset : dict
        The whole entry: ``classes``, ``class_names`` and the other domains.
    labels : str, optional
        Name of the array, variable or column with the labels; a field of a struct as
        ``struct.field``. A domain without is unlabelled. Files of one array (.npy) and .svmlight
        files need no name.
    features : str or list of str, optional
        Name of the array or variable. For tables, the columns: a list, a pattern such as
        ``"pixel*"``, or None for every column but the labels. None also for an .npz of
        `scipy.sparse.save_npz`, .npy and .svmlight.
    transpose : bool
        The samples are the columns of the matrix (the last dimension of an array with more), for
        .mat files as MATLAB shows it.
    labels_file : str
        The file with the labels, if it is not the one with the features (the first of ``files``).
    separator : str, optional
        Between the columns of .csv and .tsv files; found from the first lines if left out.
    decimal : str
        Decimal point in these files, e.g. ``","``.
    rows : dict, optional
        ``{column: batch, value: b1}``: of a table that holds several domains, the rows of this one.
    drop : sequence of str
        Columns, or patterns of columns, that are no features.
    categorical : sequence of str
        Columns, or patterns, whose values are names of kinds though some are numbers. Columns of
        text alone need not be named.
    missing : {"error", "drop", "mean", "median", "most_frequent"}
        What to do with a cell that holds no value: refuse it, leave its row out, or fill it in from
        the same column of the same domain (a category always by the most frequent one).
    unlabelled : sequence
        Further labels that mean unlabelled; ``""`` is an empty cell.
    flatten : bool
        Lay out the samples of an array of more than two dimensions, one in each row.
    pooled : sequence of str
        Other domains of the dataset, of equally many features, whose samples one after another are
        this one's; each is read by its own parameters, and those given here are of no use.

    Raises
    ------
    ValueError
        If a name is not in its file (the message lists what the file holds), or a value cannot be
        what it should; the message names file, column, row and remedy.
    """
    reader = Reader(dataset, paths)
    if pooled:
        return _pooled([_load(reader, part) for part in pooled])
    return _load(reader, domain)


def _load(reader: "Reader", domain: str) -> tuple:
    """What `load` gives of a domain with files of its own."""
    params = reader.params(domain)
    missing, transpose = params.get("missing", "error"), params.get("transpose", False)
    if missing not in MISSING:
        raise ValueError(f"missing: {missing!r} is none of {', '.join(MISSING)}")
    hidden = reader.meaning_unlabelled(domain)
    names = reader.labels(domain)
    reader.check_alone(domain)
    classes = reader.classes()
    X, kept, n_rows, about = reader.features(domain)
    if names is None:
        y = np.full(len(kept), UNLABELLED, dtype=np.int64)
    else:
        y = coded(domain, names, classes, hidden)
        _check_as_many(reader.where(domain), len(y), n_rows, X.shape[1], transpose)
        y = y[kept]
    about |= {
        "class_names": classes,
        "unlabelled": int((y == UNLABELLED).sum()),
        "dropped": n_rows - len(kept),
    }
    rows = reader.rows(domain, kept)
    if not np.array_equal(rows, np.arange(len(rows))):
        about["rows"] = rows
    return X, y, about


def _pooled(parts: Sequence[tuple]) -> tuple:
    """Samples of several domains as those of one; what is known of its columns is of the first."""
    from scipy import sparse

    features, labels, abouts = zip(*parts, strict=True)
    is_sparse = any(sparse.issparse(X) for X in features)
    X = sparse.csr_array(sparse.vstack(features)) if is_sparse else np.vstack(features)
    counts = {key: sum(about[key] for about in abouts) for key in ("unlabelled", "dropped")}
    about = {key: told for key, told in abouts[0].items() if key != "rows"}  # of several files
    return X, np.concatenate(labels), about | counts


def _check_as_many(where: str, n_labels: int, n_rows: int, n_features: int, transpose: bool):
    if n_labels == n_rows:
        return
    remedy = "Name other features or labels, or another file."
    if n_labels == n_features:
        remedy = f"Set `transpose: {str(not transpose).lower()}`."
    raise ValueError(f"{where}: {n_labels} labels, features {n_rows} x {n_features}. {remedy}")


def _read_once(path: Path, text: tuple[str, ...], separator: str | None, decimal: str):
    """A table that is read for each of its dataset's domains is parsed once by a process."""
    state = path.stat()
    return _parsed(path, text, separator, decimal, (state.st_size, state.st_mtime_ns))


@functools.lru_cache(maxsize=8)
def _parsed(path: Path, text: tuple[str, ...], separator: str | None, decimal: str, state: tuple):
    return _tables.read_table(path, text, separator, decimal)


class Reader:
    """The files of one dataset."""

    def __init__(self, dataset: dict, paths: Mapping[str, Path]):
        self._dataset, self._paths = dataset, paths
        self._coded: tuple | None = None

    @property
    def _domains(self) -> list[str]:
        """Those that are read from files of their own."""
        described = self._dataset["domains"]
        return [d for d in described if not described[d].get("params", {}).get("pooled")]

    def params(self, domain: str) -> dict[str, Any]:
        return self._dataset.get("params", {}) | self._dataset["domains"][domain].get("params", {})

    def where(self, domain: str) -> str:
        return str(self._paths.get(self._file(domain), self._file(domain)))

    def meaning_unlabelled(self, domain: str) -> set[str]:
        values = self.params(domain).get("unlabelled", ())
        return meaning_unlabelled(values, self._dataset.get("class_names", ()))

    # -- labels -------------------------------------------------------------------------------

    def classes(self) -> list[str]:
        """Names of the classes in the order of their codes."""
        if "class_names" in self._dataset:
            return [spelled(name) for name in self._dataset["class_names"]]
        found, hidden = set(), 0
        for domain in self._domains:
            if self._has_labels(domain) and self._labels_file(domain) not in self._paths:
                raise ValueError(
                    f"the labels of domain {domain!r} ({self._labels_file(domain)}) are needed to "
                    "code the classes alike. Give `class_names` in the entry, or all files of the "
                    "dataset."
                )
            names = self.labels(domain) or []
            known = set(names) - self.meaning_unlabelled(domain)
            hidden += sum(name not in known for name in names)
            found |= known
        classes = in_order(found)
        if len(classes) != self._dataset["classes"]:
            note = ""
            if hidden:
                note = (
                    f" Beside them {hidden} rows are unlabelled; where -1 is a class, say so by "
                    "`class_names`."
                )
            raise ValueError(
                f"expected {self._dataset['classes']} classes, found {len(classes)} labels in all "
                f"domains: {listing(classes)}. Correct `classes` in the entry, or the labels.{note}"
            )
        return classes

    def labels(self, domain: str) -> list[str] | None:
        """Spelled labels of a domain; None if it has none."""
        if not self._has_labels(domain):
            return None
        params, file = self.params(domain), self._labels_file(domain)
        path, name = self._path(file), params.get("labels")
        if path.suffix in _suffixes.TABLES:
            table = self._table(domain, file)
            held = list(table.columns)
            if name is None:
                raise ValueError(f"{path}: `labels` is missing: name one of {listing(held)}")
            require(str(path), [name], held, "column")
            stored = table[name].to_numpy(dtype=object).astype(str)
        elif path.suffix in _suffixes.SVMLIGHT:
            stored = _arrays.read_svmlight(path, [])[1]
        else:
            if name is None and path.suffix != ".npy":
                raise ValueError(f"{path}: `labels` is missing: name the array with the labels")
            stored = _arrays.read_array(path, name)
        stored = np.asarray(stored.todense() if hasattr(stored, "todense") else stored)
        return checked_names(path, name, stored, self.meaning_unlabelled(domain))

    def _has_labels(self, domain: str) -> bool:
        params = self.params(domain)
        named = params.get("labels") is not None or params.get("labels_file") is not None
        return named or Path(self._file(domain)).suffix in _suffixes.SVMLIGHT

    def _labels_file(self, domain: str) -> str:
        return self.params(domain).get("labels_file") or self._file(domain)

    # -- features -----------------------------------------------------------------------------

    def features(self, domain: str) -> tuple:
        """Features, the rows that they stand for, of how many, and what is known of them."""
        from scipy import sparse

        path, params = self._path_of(domain), self.params(domain)
        self._refuse_misplaced(domain, path)
        if path.suffix in _suffixes.TABLES:
            return self._columns(domain, path)
        if path.suffix in _suffixes.SVMLIGHT:
            X = _arrays.read_svmlight(path, self._paths_of(_suffixes.SVMLIGHT))[0]
        else:
            X = self._one_array(path, params)
        turned, flat = params.get("transpose", False), params.get("flatten", False)
        X = _arrays.as_samples(str(path), _arrays.as_features(str(path), X), turned, flat)
        n_rows = X.shape[0]
        kept = np.arange(n_rows)
        if sparse.issparse(X):
            X = sparse.csr_array(X)
        else:
            X = np.ascontiguousarray(X)
            X, kept = _arrays.without_gaps(str(path), X, params.get("missing", "error"))
        return X, kept, n_rows, {}

    def _one_array(self, path: Path, params: Mapping):
        name = params.get("features")
        if isinstance(name, list):
            raise ValueError(
                f"{path}: features {name!r}: a list of columns is for tables (.csv and the like). "
                "Name one array or variable."
            )
        return _arrays.read_array(path, name)

    def _refuse_misplaced(self, domain: str, path: Path) -> None:
        """Refuse what would be ignored: `rows` that are not looked at leave the target's in."""
        own = self._dataset["domains"][domain].get("params", {})  # others may be of another kind
        suffixes = {path.suffix, Path(self._labels_file(domain)).suffix}
        arrays, tables = "arrays (.npz and the like)", "tables (.csv and the like)"
        if path.suffix in _suffixes.TABLES:
            wrong = dict.fromkeys(("transpose", "flatten"), (own, arrays))
        else:
            wrong = dict.fromkeys(("rows", "drop", "categorical"), (self.params(domain), tables))
        if not suffixes & set(_suffixes.TABLES):
            wrong |= dict.fromkeys(("separator", "decimal"), (own, tables))
        if suffixes <= set(_suffixes.SVMLIGHT):
            wrong |= dict.fromkeys(("features", "labels"), (own, "files that name what they hold"))
        for key, (asked, told) in wrong.items():
            if asked.get(key):
                raise ValueError(f"{path}: `{key}` is for {told}")

    def _columns(self, domain: str, path: Path) -> tuple:
        if self._coded is None:  # of all domains at once, each of which needs the others
            tables = self.tables()
            self._coded = tables, self.codings(tables)
        tables, coding = self._coded[0], self._coded[1][domain]
        X, kept = coding.encode(tables[domain], str(path))
        if not len(kept):
            raise ValueError(f"{path}: every row lacks a value; `missing: drop` leaves none")
        about = {"feature_names": coding.feature_names, "coding": coding.as_dict()}
        return X, kept, len(tables[domain]), about

    def tables(self) -> "dict[str, pd.DataFrame]":
        """Columns of features of the domains that are tables."""
        return {
            domain: self._feature_table(domain)
            for domain in self._domains
            if self._file(domain) in self._paths and self._is_table(domain)
        }

    def codings(self, tables: "Mapping[str, pd.DataFrame]") -> dict[str, Coding]:
        """How the columns that `tables` gave become features, by domain."""
        return codings(tables, {domain: self._asked(domain) for domain in tables})

    def columns(self, domain: str) -> list[str] | None:
        """Names of a table's columns that are features; None of an array."""
        return list(self._feature_table(domain).columns) if self._is_table(domain) else None

    def column(self, domain: str, name: str) -> "pd.Series":
        """Cells of a column of a table, whatever it is used for."""
        return self._table(domain, self._file(domain))[name]

    def rows(self, domain: str, places: Sequence[int]) -> np.ndarray:
        """Rows of a file, from 0, that a domain's samples of these places are read from."""
        if not self._is_table(domain):
            return np.asarray(places)
        return self._table(domain, self._file(domain)).index.to_numpy()[places]

    def _is_table(self, domain: str) -> bool:
        return self._path_of(domain).suffix in _suffixes.TABLES

    def check_alone(self, domain: str) -> None:
        """Refuse what is wrong with a domain's own table, before the others are looked at."""
        if self._is_table(domain):
            check_cells(self._feature_table(domain), self._asked(domain))

    def _asked(self, domain: str) -> dict[str, Any]:
        params = self.params(domain)
        return {
            "where": self.where(domain),
            "categorical": params.get("categorical", ()),
            "missing": params.get("missing", "error"),
        }

    def _feature_table(self, domain: str) -> "pd.DataFrame":
        params, path = self.params(domain), self._path(self._file(domain))
        table = self._table(domain, self._file(domain))
        # A column that some domain takes its labels or its rows from is a feature of none.
        everyone = [self.params(other) for other in self._domains]
        taken = {own.get("labels") for own in everyone}
        taken |= {(own.get("rows") or {}).get("column") for own in everyone}
        held = [name for name in table.columns if name not in taken]
        features, drop = params.get("features"), params.get("drop", ())
        columns = chosen_columns(str(path), held, features, drop)
        _tables.refuse_index(path, table, columns)
        return table[columns]

    def _table(self, domain: str, file: str) -> "pd.DataFrame":
        """The rows of a domain in a table."""
        params, path = self.params(domain), self._path(file)
        rows = params.get("rows") or {}
        how = params.get("separator"), params.get("decimal", ".")
        table = _read_once(path, tuple(self._text(file)), *how)
        if not rows:
            return table
        if set(rows) != {"column", "value"}:
            raise ValueError("rows: say {column: NAME, value: VALUE}")
        require(str(path), [rows["column"]], list(table.columns), "column")
        values = table[rows["column"]].map(spelled)
        part = table[values == spelled(rows["value"])]
        if part.empty:
            raise ValueError(
                f"{path}: no row has {rows['value']!r} in column {rows['column']!r}. It holds: "
                f"{listing(sorted(set(values)))}."
            )
        return part

    def _text(self, file: str) -> list[str]:
        """Columns that are read as text: labels, those that tell domains apart, and categories.

        A column that is a category in one domain is one in all, and "01" is not 1 in any.
        """
        found = []
        for domain in self._domains:
            params = self.params(domain)
            found += params.get("categorical", ())
            if file in (self._file(domain), self._labels_file(domain)):
                found += [params.get("labels"), (params.get("rows") or {}).get("column")]
        return [name for name in dict.fromkeys(found) if name is not None]

    # -- files --------------------------------------------------------------------------------

    def _file(self, domain: str) -> str:
        files = self._dataset["domains"][domain].get("files") or list(self._dataset["files"])
        return files[0]

    def _path(self, file: str) -> Path:
        if file not in self._paths:
            raise ValueError(
                f"file {file!r} is not among the files of the domain: {', '.join(self._paths)}. "
                "List it in `files` of the domain."
            )
        return Path(self._paths[file])

    def _path_of(self, domain: str) -> Path:
        return self._path(self._file(domain))

    def _paths_of(self, suffixes: Sequence[str]) -> list[Path]:
        files = {self._file(domain) for domain in self._domains}
        return [
            Path(self._paths[file])
            for file in sorted(files)
            if file in self._paths and Path(file).suffix in suffixes
        ]
