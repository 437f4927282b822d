"""Tables of own data: .csv, .tsv, .parquet and .xlsx files as data frames with named columns.

Numbers are parsed as numbers; labels and what else is asked for stay text, since "NA" may be a
class and 01 is not 1. Nothing is guessed but the separator, and that from the first lines alone;
`decimal_mark` finds the decimal mark for who asks.
"""

import codecs
import csv
import fnmatch
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from domain_alignment.utils.cells import BLANKS, DELIMITERS

from workflow.loaders._labels import EMPTY, listing

if TYPE_CHECKING:
    import pandas as pd

_COMMA = re.compile(r"[-+]?\d*,\d+(e[-+]?\d+)?", re.IGNORECASE)
_POINT = re.compile(r"[-+]?\d*\.\d+(e[-+]?\d+)?", re.IGNORECASE)
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Cells of a column that are looked at for what they are.
_FIRST_CELLS = 100
_INDEX_NAMES = ("", "index", "id", "unnamed: 0", "level_0")


def read_table(
    path: Path, text: Sequence[str], separator: str | None = None, decimal: str = "."
) -> "pd.DataFrame":
    """Read a table; its index counts the rows below the names of the columns, from 0.

    Parameters
    ----------
    path : Path
    text : sequence of str
        Columns, or patterns of columns, that stay text, with ``""`` for an empty cell; those that
        are not there are skipped.
    separator : str, optional
        Between the columns of .csv and .tsv files; found from their first lines if left out.
    decimal : str
        Decimal point of the numbers in .csv and .tsv files.

    Returns
    -------
    DataFrame
        Other columns than ``text`` are numbers, truth values, or text where a cell is no number;
        NaN where a cell is empty.

    Raises
    ------
    ValueError
        If the file is no such table; the message names the file and the remedy.
    """
    if path.suffix == ".parquet":
        table = _read_parquet(path)
    elif path.suffix == ".xlsx":
        table = _read_xlsx(path)
    else:
        return _read_delimited(path, text, separator or sniffed(path, decimal), decimal)
    _refuse_twice(path, list(table.columns))
    for name in _read_as_text(list(table.columns), text):
        table[name] = _as_text(table[name])
    return table


def column_names(path: Path, separator: str | None = None, decimal: str = ".") -> list[str]:
    """Names of a table's columns; of .csv and .tsv files the first lines alone are read."""
    if path.suffix in (".csv", ".tsv"):
        return _first_line(path, separator or sniffed(path, decimal))
    return list(read_table(path, []).columns)


def sniffed(path: Path, decimal: str = ".") -> str:
    """Separator of a table: the one that divides the first lines into equally many cells.

    Raises
    ------
    ValueError
        If several divide them alike; the message says how to name one.
    """
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        lines = [line for line in itertools.islice(file, 20) if line.strip()]
    counts = {mark: _widths(lines, mark) for mark in DELIMITERS if mark != decimal}
    even = [mark for mark, widths in counts.items() if len(widths) == 1 and widths != {1}]
    if len(even) > 1:
        raise ValueError(
            f"{path}: {' and '.join(map(repr, even))} both divide the lines alike; name the one "
            "between the columns: `separator`"
        )
    first = {mark: lines[0].count(mark) for mark in counts} if lines else {}
    return even[0] if even else max(first, key=first.get, default=",")


def _widths(lines: Sequence[str], mark: str) -> set[int]:
    """Numbers of cells that a mark divides the lines into; none where it cannot be the mark."""
    try:
        return {len(row) for row in csv.reader(lines, delimiter=mark)}
    except csv.Error:  # a wide line that it leaves whole is longer than a cell may be
        return set()


def decimal_mark(path: Path, separator: str | None = None) -> str:
    """Decimal mark of a table: a comma where cells show one and none shows a point, else a point.

    Looks at the first thousand lines. Where three digits follow every comma, as they do where it
    parts the thousands, it is no sign.
    """
    parting = separator or sniffed(path) if path.suffix in (".csv", ".tsv") else ","
    if parting == "," or len(parting) != 1:  # a longer one is refused where the table is read
        return "."
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        lines = itertools.islice(file, 1, 1001)
        cells = [cell.strip(' \t\r\n"') for line in lines for cell in line.split(parting)]
    if any(_POINT.fullmatch(cell) for cell in cells):
        return "."
    signs = (_COMMA.fullmatch(cell) and not THOUSANDS.fullmatch(cell) for cell in cells)
    return "," if any(signs) else "."


def fitting(told: str, names: Sequence[str]) -> list[str]:
    """Names that are meant: the one that is spelled so, else those that fit it as a pattern.

    A column may be called ``mass [kg]``, which as a pattern does not fit itself.
    """
    return [told] if told in names else [n for n in names if fnmatch.fnmatchcase(n, told)]


def _read_as_text(names: Sequence[str], text: Sequence[str]) -> set[str]:
    return {name for told in text for name in fitting(told, names)}


def _blank_lines(path: Path) -> int:
    """Lines without a word above the names of the columns."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return sum(1 for _ in itertools.takewhile(lambda line: not line.strip(), file))


def _last_blank_lines(path: Path) -> int:
    """Lines without a word at the end."""
    blank = 0
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for line in file:
            blank = 0 if line.strip() else blank + 1
    return blank


def _read_delimited(path: Path, text: Sequence[str], separator: str, decimal: str):
    import pandas as pd

    names = _first_line(path, separator)
    _refuse_twice(path, names)
    as_text = _read_as_text(names, text)
    kept = {position: str for position, name in enumerate(names) if name in as_text}
    others = {n: list(EMPTY) for n in range(len(names)) if n not in kept}
    try:
        # Without names, so that a row longer than the first is an error: with them the first
        # column would become an index.
        table = pd.read_csv(
            path,
            sep=separator,
            decimal=decimal,
            header=None,
            skiprows=_blank_lines(path) + 1,
            dtype=kept,
            na_values=others,
            keep_default_na=False,
            low_memory=False,
            skip_blank_lines=len(names) > 1,  # of one column they are cells without a value
            encoding="utf-8-sig",
        )
    except pd.errors.EmptyDataError:
        raise ValueError(f"{path}: no samples: only the first line, with the names") from None
    except (ValueError, pd.errors.ParserError) as error:
        raise _no_table(path, error) from error
    if table.shape[1] != len(names):
        raise ValueError(
            f"{path}: cannot be read as a table: its first line names {len(names)} columns "
            f"({listing(names)}), its second has {table.shape[1]} cells between {separator!r}. "
            "Name every column; see also `separator`."
        )
    if len(names) == 1:
        table = table.iloc[: len(table) - _last_blank_lines(path)]
    table.columns = names
    _refuse_short_row(path, table, separator)
    # For what is said of a comma in a cell, and of the line that a row stands in.
    table.attrs |= {"path": str(path), "separator": separator}
    own = {names[n]: table.iloc[:, n].fillna("") for n in kept}
    if decimal == ",":
        # A column with one cell that is no number is left as it was written.
        written = (n for n in others if table.iloc[:, n].dtype.kind not in "biuf")
        own |= {names[n]: table.iloc[:, n].map(_with_point) for n in written}
    return table.assign(**own)


def told_row(values: "pd.DataFrame | pd.Series", row: int) -> str:
    """A row of a table as messages name it: from 0, and in a file of text its line, from 1.

    The file is read again for the line: a row need not stand one line below the last, since cells
    may hold ends of lines, and lines without a word are no rows.
    """
    if "path" not in values.attrs:  # no file of text
        return f"row {row}"
    with Path(values.attrs["path"]).open(encoding="utf-8-sig", newline="") as file:
        try:
            line = _line(file, row, values.attrs["separator"])
        except csv.Error:  # a cell longer than this reader of lines takes
            line = None
    return f"row {row}" if line is None else f"row {row}, line {line}"


def _line(file: Iterable[str], row: int, separator: str) -> int | None:
    """Line, from 1, in which a row below the names of the columns begins; None if none does."""
    blanks = separator == BLANKS

    def is_row(cells: Sequence[str]) -> bool:
        return bool("".join(cells).strip()) or (len(cells) > 1 and not blanks)

    rows = _with_lines(csv.reader(file, delimiter=" " if blanks else separator))
    names = next(cells for _, cells in rows if is_row(cells))
    if len(names) > 1:  # of one column, lines without a word are cells without a value
        rows = (found for found in rows if is_row(found[1]))
    return next((line for line, _ in itertools.islice(rows, row, None)), None)


def _with_lines(rows: Any) -> Iterator[tuple[int, list[str]]]:
    """Each row of a `csv.reader` with the line in which it begins."""
    begins = 1
    for cells in rows:
        yield begins, cells
        begins = rows.line_num + 1


def _with_point(cell: object) -> object:
    """A cell, with a point where it is a number with a decimal comma."""
    is_number = isinstance(cell, str) and _COMMA.fullmatch(cell.strip())
    return cell.replace(",", ".") if is_number else cell


def _refuse_short_row(path: Path, table: "pd.DataFrame", separator: str) -> None:
    """Refuse a row with fewer cells than there are columns, which the parser fills up."""
    n_columns, last = table.shape[1], table.iloc[:, -1]
    if n_columns == 1 or separator == BLANKS or not (last.isna() | (last == "")).any():
        return
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=separator)
        for cells in rows:
            if len(cells) < n_columns and any(cell.strip() for cell in cells):
                raise ValueError(
                    f"{path}: line {rows.line_num} has {len(cells)} cells for {n_columns} columns; "
                    "is the file complete? Write an empty cell between separators."
                )


def _first_line(path: Path, separator: str) -> list[str]:
    import pandas as pd

    if len(separator) != 1 and separator != BLANKS:
        raise ValueError(
            f"{path}: the separator {separator!r} is no single character; give one, or {BLANKS} "
            "for any run of blanks"
        )
    try:
        first = pd.read_csv(
            path,
            sep=separator,
            header=None,
            skiprows=_blank_lines(path),
            nrows=1,
            dtype=str,
            keep_default_na=False,
            encoding="utf-8-sig",
        )
    except (ValueError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise _no_table(path, error) from error
    names = [str(name).strip() for name in first.iloc[0].fillna("")]
    if all(_is_number(name) for name in names) and names != [str(n) for n in range(len(names))]:
        raise ValueError(
            f"{path}: the first line holds numbers ({listing(names)}), not the names of the "
            "columns; write one above it"
        )
    return names


def _no_table(path: Path, error: Exception) -> ValueError:
    if isinstance(error, UnicodeDecodeError):
        return _not_utf8(path, error)
    return ValueError(
        f"{path}: cannot be read as a table ({str(error).strip()}). "
        "Its first line must name the columns; see also `separator`."
    )


def _not_utf8(path: Path, error: UnicodeDecodeError) -> ValueError:
    with path.open("rb") as file:
        in_utf16 = file.read(2) in _UTF16
    found = "UTF-16" if in_utf16 else f"not UTF-8 (byte 0x{error.object[error.start]:02x})"
    return ValueError(
        f"{path}: the encoding of its text is {found}; save it as UTF-8 (in a spreadsheet: CSV "
        f"UTF-8), or convert it: iconv -f {'UTF-16' if in_utf16 else 'WINDOWS-1252'} -t UTF-8 "
        f"{path.name} > utf8_{path.name}"
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse_twice(path: Path, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{path}: column {name!r} stands twice in the first line; rename one")


def _read_parquet(path: Path) -> "pd.DataFrame":
    import pandas as pd

    with path.open("rb"):  # a missing file is a missing file
        pass
    try:
        table = pd.read_parquet(path)
    except Exception as error:  # damaged bytes raise whatever the parser comes upon
        raise ValueError(f"{path}: cannot be read as .parquet ({error}). Save it again.") from error
    return _plain(path, table)


def _read_xlsx(path: Path) -> "pd.DataFrame":
    import pandas as pd

    try:
        import openpyxl  # noqa: F401
    except ImportError as error:
        raise ValueError(
            f"{path}: .xlsx files need the package openpyxl, which is not installed. Install it, "
            "or save the sheet as .csv."
        ) from error
    try:
        first = pd.read_excel(path, header=None, nrows=1, dtype=str, keep_default_na=False)
        table = pd.read_excel(path, na_values=list(EMPTY), keep_default_na=False)
    except Exception as error:  # damaged or locked files raise whatever the parser comes upon
        raise ValueError(
            f"{path}: cannot be read as .xlsx ({error}). Save it again, without a password."
        ) from error
    _refuse_twice(path, [name.strip() for name in first.iloc[0] if name.strip()])  # else renamed
    return _plain(path, table)


def _plain(path: Path, table: "pd.DataFrame") -> "pd.DataFrame":
    """Columns as the reader of .csv files gives them, numbers, truth values or text; and times."""
    from pandas.api import types

    table = table.reset_index(drop=True).set_axis(
        [str(name).strip() for name in table.columns], axis="columns"
    )
    for name in table.columns:
        values = table[name]
        # Times stay what they are, to be refused where they are to be features.
        times = types.is_datetime64_any_dtype(values) or types.is_timedelta64_dtype(values)
        if any(isinstance(cell, list | tuple | np.ndarray) for cell in values.head(_FIRST_CELLS)):
            raise ValueError(
                f"{path}: column {name!r} holds lists; save each of their numbers as a column, or "
                f"leave it out: `drop: [{name!r}]`"
            )
        if not (times or types.is_numeric_dtype(values)):
            table[name] = values.astype(object).where(values.notna(), np.nan)
    return table


def _as_text(values: "pd.Series") -> "pd.Series":
    return values.astype(object).where(values.notna(), "").astype(str)


def refuse_index(path: Path, table: "pd.DataFrame", features: Sequence[str]) -> None:
    """Refuse a first column that counts the rows, which a classifier could read the order from.

    Raises
    ------
    ValueError
        Naming the column and the remedy; also for any other feature without a name.
    """
    if "" in features and table.columns[0] != "":
        place = list(table.columns).index("") + 1
        raise ValueError(f"{path}: column {place} has no name in the first line; give it one")
    name = table.columns[0]
    if name not in features or name.lower() not in _INDEX_NAMES:
        return
    values, n = table.iloc[:, 0], len(table)
    if any(np.array_equal(values, np.arange(start, start + n)) for start in (0, 1)):
        what = f"column {name!r}" if name else "column without a name"
        raise ValueError(
            f"{path}: the first {what} counts the rows: an index, which is no feature (it tells "
            "the order, and with it the label where rows are sorted). Save without it "
            f"(to_csv(..., index=False)), or leave it out: `drop: [{name!r}]`."
        )
    if not name:
        raise ValueError(
            f"{path}: the first column has no name in the first line. Give it one, or leave it "
            "out: `drop: ['']`."
        )
