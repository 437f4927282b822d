"""From the columns of tables to features: one order, one coding, one treatment of empty cells.

What a column is (numbers or categories) and which categories it has is found over all domains of a
dataset together and without labels, so that a feature means the same in every domain. Domains with
the same names of columns have them in the order of the first of them.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from domain_alignment.utils.cells import FLAGS, category, is_missing_number, is_missing_text

from workflow.loaders._labels import listing
from workflow.loaders._pairing import refuse_half_shared
from workflow.loaders._tables import THOUSANDS, fitting, told_row

if TYPE_CHECKING:
    import pandas as pd

MISSING = ("error", "drop", "mean", "median", "most_frequent")
# A column of text with more categories than this share of its rows names samples, not kinds.
_IDENTIFIER_SHARE, _FEW = 0.5, 20


@dataclasses.dataclass(frozen=True)
class Coding:
    """How the columns of one domain become features; can be kept as JSON and used on new rows.

    Parameters
    ----------
    columns : tuple of str
        Names of the columns in the order of the features.
    categories : dict of str to tuple of str
        Categories of the columns that are coded one-hot; a category that is not among them gives
        zeros (scikit-learn's ``OneHotEncoder(handle_unknown="ignore")``).
    missing : str
        What is done with empty cells, one of `MISSING`.
    fills : dict of str to float or str
        What stands in for an empty cell of a column; empty unless ``missing`` asks for it.
    """

    columns: tuple[str, ...]
    categories: dict[str, tuple[str, ...]]
    missing: str = "error"
    fills: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def feature_names(self) -> list[str]:
        """Names of the features: a column's own, or ``column=category``."""
        parts = [
            [f"{name}={category}" for category in self.categories[name]]
            if name in self.categories
            else [name]
            for name in self.columns
        ]
        return [name for part in parts for name in part]

    def as_dict(self) -> dict:
        """The coding as what JSON can hold; `Coding.of` reads it."""
        return dataclasses.asdict(self)

    @classmethod
    def of(cls, stored: Mapping) -> "Coding":
        """The coding that `as_dict` gave."""
        categories = {name: tuple(found) for name, found in stored["categories"].items()}
        return cls(tuple(stored["columns"]), categories, stored["missing"], dict(stored["fills"]))

    def encode(self, table: "pd.DataFrame", where: str) -> tuple[np.ndarray, np.ndarray]:
        """Features of a table's rows, and which of its rows are kept (all, unless dropped).

        Parameters
        ----------
        table : DataFrame
            Any order of columns; others than `columns` are ignored.
        where : str
            The file, for messages.

        Raises
        ------
        ValueError
            If a column is missing, or a cell is empty, infinite or no number; the message names
            the file, the column, the row and what can be done.
        """
        absent = [name for name in self.columns if name not in table.columns]
        if absent:
            raise ValueError(f"{where}: no column {absent[0]!r}; it is one of the features")
        read = {name: self._read(table[name], where) for name in self.columns}
        empty = np.array([_is_empty(values) for values in read.values()])
        kept = np.ones(len(table), dtype=bool)
        if self.missing == "drop":
            kept = ~empty.any(axis=0)
        for name, values in read.items():
            read[name] = self._filled(name, values[kept], table[name][kept], where)
        parts = [self._part(name, values) for name, values in read.items()]
        return np.column_stack(parts).astype(np.float64), np.flatnonzero(kept)

    def empty_cells(self, table: "pd.DataFrame", where: str) -> int:
        """How many cells of the columns hold no value."""
        return sum(int(_is_empty(self._read(table[name], where)).sum()) for name in self.columns)

    def _read(self, values: "pd.Series", where: str) -> np.ndarray:
        if values.name in self.categories:
            return as_categories(values)
        return as_numbers(values, where)

    def _filled(self, name: str, values: np.ndarray, cells: "pd.Series", where: str):
        empty = np.flatnonzero(_is_empty(values))
        if name in self.fills and empty.size:
            values = values.copy()
            values[empty] = self.fills[name]
        elif empty.size:
            first = told_row(cells, cells.index[empty[0]])
            raise ValueError(
                f"{where}: column {name!r}: {empty.size} of {len(values)} cells hold no value "
                f"(first in {first}). Fill them in, leave the column out by `drop`, or say "
                "`missing: drop` (leaves these rows out), mean, median or most_frequent."
            )
        return values

    def _part(self, name: str, values: np.ndarray) -> np.ndarray:
        if name not in self.categories:
            return values
        from sklearn.preprocessing import OneHotEncoder

        known = np.array(self.categories[name], dtype=object)
        encoder = OneHotEncoder(
            categories=[known], handle_unknown="ignore", sparse_output=False, dtype=np.float64
        )
        return encoder.fit(known[:, None]).transform(values[:, None])


def codings(
    tables: Mapping[str, "pd.DataFrame"], asked: Mapping[str, Mapping]
) -> dict[str, Coding]:
    """The coding of every domain of a dataset, found over all of them without labels.

    Parameters
    ----------
    tables : mapping
        Columns of features by domain, in the order of the dataset's entry.
    asked : mapping
        By domain: ``where`` (the file), ``categorical`` (names or patterns) and ``missing``.

    Raises
    ------
    HalfSharedError
        If methods would pair features of two domains by position.
    ValueError
        If a column holds numbers and text, or text that names the samples.
    """
    kinds = _kinds(tables, asked)
    found: dict[str, Coding] = {}
    for domain, table in tables.items():
        columns = list(table.columns)
        same = (other.columns for other in found.values() if set(other.columns) == set(columns))
        columns = next(same, tuple(columns))
        categories = {name: kinds[name] for name in columns if kinds[name] is not None}
        coding = Coding(columns, categories, asked[domain]["missing"])
        known = {other: made.feature_names for other, made in found.items()}
        refuse_half_shared(domain, coding.feature_names, known)
        found[domain] = coding
    return {
        domain: dataclasses.replace(
            coding, fills=_fills(tables[domain], coding, asked[domain]["where"])
        )
        for domain, coding in found.items()
    }


def check_cells(table: "pd.DataFrame", asked: Mapping) -> None:
    """Refuse a cell that can be no feature whatever other domains hold; ``asked`` as in `codings`.

    Raises
    ------
    ValueError
        As `Coding.encode`.
    """
    columns = list(table.columns)
    kinds = {name for told in asked["categorical"] for name in fitting(told, columns)}
    text = {name: () for name in columns if name in kinds or _is_text(table[name])}
    coding = Coding(tuple(table.columns), text)
    for name in table.columns:
        values = coding._read(table[name], asked["where"])
        if asked["missing"] == "error":
            coding._filled(name, values, table[name], asked["where"])


def chosen_columns(
    where: str, held: Sequence[str], features: str | Sequence[str] | None, drop: Sequence[str]
) -> list[str]:
    """Columns that are features: a list, those that fit a pattern, or all; less the dropped ones.

    Raises
    ------
    ValueError
        If a name or pattern fits nothing; the message lists what there is.
    """
    if isinstance(features, str):
        columns = fitting(features, held)
        require(where, columns or [features], held, "column that fits")
    else:
        columns = list(held) if features is None else list(features)
        require(where, columns, held, "column")
    for pattern in drop:
        dropped = fitting(pattern, held)
        require(where, dropped or [pattern], held, "column to drop that fits")
        columns = [name for name in columns if name not in dropped]
    if not columns:
        raise ValueError(f"{where}: no column is left as a feature. It holds: {listing(held)}.")
    return columns


def require(where: str, names: Sequence[str], held: Sequence[str], what: str) -> None:
    """Refuse a name that is not held, with what is."""
    missing = [name for name in names if name not in held]
    if missing:
        raise ValueError(
            f"{where}: no {what} {missing[0]!r}. It holds: {listing(held)}. "
            "Name one of these in the entry."
        )


def as_categories(values: "pd.Series") -> np.ndarray:
    """Cells as text, None where there is no value."""
    return np.array([category(cell) for cell in values], dtype=object)


def as_numbers(values: "pd.Series", where: str) -> np.ndarray:
    """Cells as numbers, truth values as 0 and 1, NaN where there is no value.

    Raises
    ------
    ValueError
        At the first cell that is infinite or no number, or if they are times.
    """
    import pandas as pd

    if values.dtype.kind in "mM":
        raise ValueError(
            f"{where}: column {values.name!r} holds times ({values.dtype}); save them as numbers, "
            f"or leave the column out: `drop: {_listed(values.name)}`"
        )
    if values.dtype.kind in "biuf":
        numbers = values.to_numpy(dtype=np.float64)
    else:
        texts = values.map(lambda cell: FLAGS.get(str(cell).strip().lower(), cell))
        numbers = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64)
        wrong = np.isnan(numbers) & ~values.map(is_missing_number).to_numpy(dtype=bool)
        if wrong.any():
            raise _no_number(values, int(np.flatnonzero(wrong)[0]), where)
    infinite = np.flatnonzero(np.isinf(numbers))
    if infinite.size:
        row = told_row(values, values.index[infinite[0]])
        raise ValueError(f"{where}: column {values.name!r}: infinite in {row}; correct the value")
    return numbers


def _no_number(values: "pd.Series", place: int, where: str) -> ValueError:
    row, cell = told_row(values, values.index[place]), str(values.iloc[place])
    remedy = (
        _remedy_of_commas(values)
        if _has_commas(cell)
        else f"Correct the value; if the column names kinds, say `categorical: "
        f"{_listed(values.name)}`; if it is no feature, leave it out: "
        f"`drop: {_listed(values.name)}`."
    )
    return ValueError(
        f"{where}: column {values.name!r}: {cell!r} is not a number ({row}). {remedy}"
    )


def _has_commas(cell: str) -> bool:
    """Whether a cell is a number but for its commas."""
    thousands = THOUSANDS.fullmatch(cell.strip())
    return "," in cell and bool(thousands or _is_number(cell.replace(",", ".")))


def _remedy_of_commas(values: "pd.Series") -> str:
    """What to do about commas in numbers, by what divides the columns of the file."""
    separator = values.attrs.get("separator")
    if separator is None:  # no file of text
        option = "save them as numbers"
    elif separator == ",":  # which would no longer be looked for
        option = "say `separator: ','` and `decimal: ','`"
    else:
        option = "say `decimal: ','`"
    cells = [cell for cell in values.map(lambda cell: str(cell).strip()) if "," in cell]
    if all(THOUSANDS.fullmatch(cell) for cell in cells):
        return (
            "Commas between the thousands? Save the numbers without them. Decimal commas? Then "
            f"{option}."
        )
    return f"Numbers with a decimal comma? {option[0].upper()}{option[1:]}."


def _listed(name: str) -> str:
    """A list of one name as an entry holds it, whatever quotes are in the name."""
    return json.dumps([name], ensure_ascii=False)


def _is_number(text: str) -> bool:
    try:
        return np.isfinite(float(text))
    except ValueError:
        return False


def _is_empty(values: np.ndarray) -> np.ndarray:
    if values.dtype == object:
        return np.array([value is None for value in values], dtype=bool)
    return np.isnan(values)


def _kinds(tables: Mapping, asked: Mapping) -> dict[str, tuple[str, ...] | None]:
    """Categories of every column, None for numbers."""
    kinds: dict[str, tuple[str, ...] | None] = {}
    names = list(dict.fromkeys(name for table in tables.values() for name in table.columns))
    fits = {told: fitting(told, names) for own in asked.values() for told in own["categorical"]}
    for name in names:
        holding = {domain: table for domain, table in tables.items() if name in table.columns}
        patterns = [pattern for domain in holding for pattern in asked[domain]["categorical"]]
        named = any(name in fits[pattern] for pattern in patterns)
        if named or all(_is_text(table[name]) for table in holding.values()):
            if not named:
                _refuse_decimal_commas(holding, name, asked)
            cells = [as_categories(table[name]) for table in holding.values()]
            found = sorted({cell for part in cells for cell in part if cell is not None})
            if found:
                if not named:
                    _refuse_identifier(name, found, cells, asked[next(iter(holding))]["where"])
                kinds[name] = tuple(found)
                continue
        kinds[name] = None
    return kinds


def _is_text(values: "pd.Series") -> bool:
    """Whether no cell of a column is a number or a truth value."""
    if values.dtype.kind in "mM":
        return False
    if values.dtype.kind in "biuf":
        return bool(values.isna().all())
    cells = [str(cell).strip() for cell in values if not is_missing_text(cell)]
    if any(_is_number(cell) or cell.lower() in FLAGS for cell in cells):
        return False
    return any(not is_missing_number(cell) for cell in cells) or not cells


def _refuse_decimal_commas(holding: Mapping, name: str, asked: Mapping) -> None:
    for domain, table in holding.items():
        cells = table[name][~table[name].map(is_missing_number).astype(bool)]
        if len(cells) and all(_has_commas(str(cell)) for cell in cells):
            place = int(table.index.get_loc(cells.index[0]))
            raise _no_number(table[name], place, asked[domain]["where"])


def _refuse_identifier(name: str, found: list, cells: list, where: str) -> None:
    n_cells = sum(len(part) for part in cells)
    if len(found) > max(_FEW, _IDENTIFIER_SHARE * n_cells):
        raise ValueError(
            f"{where}: column {name!r} holds {len(found)} different texts in {n_cells} rows: names "
            f"of samples rather than kinds? Leave it out: `drop: {_listed(name)}`; or, if they are "
            f"kinds, say `categorical: {_listed(name)}`."
        )


def _fills(table: "pd.DataFrame", coding: Coding, where: str) -> dict[str, Any]:
    """What stands in for empty cells: statistics of the domain's own rows, seen without labels."""
    if coding.missing in ("error", "drop"):
        return {}
    fills = {}
    for name in coding.columns:
        values = coding._read(table[name], where)
        present = values[~_is_empty(values)]
        if not present.size:
            raise ValueError(
                f"{where}: column {name!r} holds no value at all; leave it out: "
                f"`drop: {_listed(name)}`"
            )
        fills[name] = _statistic(present, coding.missing)
    return fills


def _statistic(present: np.ndarray, missing: str) -> Any:
    """Mean, median or most frequent value; of categories always the most frequent."""
    if present.dtype == object:
        categories, counts = np.unique(present.astype(str), return_counts=True)
        return str(categories[np.argmax(counts)])
    if missing == "most_frequent":
        values, counts = np.unique(present, return_counts=True)
        return float(values[np.argmax(counts)])
    return float({"mean": np.mean, "median": np.median}[missing](present))
