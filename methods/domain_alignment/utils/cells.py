"""What a cell of a table means: one meaning wherever tables are read."""

import re

# Marks between columns, any run of blanks among what may be said, and how truth values are written.
DELIMITERS = (",", ";", "\t", "|")
BLANKS = r"\s+"
FLAGS = {"true": 1.0, "false": 0.0}

# In a column of numbers each of these is a missing cell; in one of text only an empty cell and
# "nan" are, since "NA" and "None" may be categories.
_NO_NUMBER = frozenset({"", "na", "n/a", "nan", "null", "none"})
_NO_TEXT = frozenset({"", "nan"})
_WHOLE_AS_FLOAT = re.compile(r"^(-?[0-9]+)\.0*$")


def is_missing(cell):
    """Whether an object is no value: None, NaN or what else differs from itself.

    Parameters
    ----------
    cell : object

    Examples
    --------
    >>> [is_missing(cell) for cell in (None, float("nan"), "nan", 0)]
    [True, True, False, False]
    """
    return _is_missing(cell, ())


def is_missing_number(cell):
    """Whether a cell of a column of numbers is empty.

    Parameters
    ----------
    cell : object

    Examples
    --------
    >>> [is_missing_number(cell) for cell in (None, float("nan"), " NA", "0")]
    [True, True, True, False]
    """
    return _is_missing(cell, _NO_NUMBER)


def is_missing_text(cell):
    """Whether a cell of a column of text is empty.

    Parameters
    ----------
    cell : object

    Examples
    --------
    >>> [is_missing_text(cell) for cell in (None, "", "nan", "NA")]
    [True, True, True, False]
    """
    return _is_missing(cell, _NO_TEXT)


def _is_missing(cell, words):
    if isinstance(cell, str):
        return cell.strip().lower() in words
    try:
        return cell is None or bool(cell != cell)
    except TypeError:  # pandas' NA, which is neither equal nor different
        return True


def spelled(cell):
    """One spelling of a name: 3, 3.0, "3" and "3.0" are the same.

    Parameters
    ----------
    cell : object
        Text, bytes, a number, or None for "".

    Examples
    --------
    >>> [spelled(cell) for cell in (3.0, "3", " red ", None)]
    ['3', '3', 'red', '']
    """
    if cell is None:
        return ""
    text = cell.decode() if isinstance(cell, bytes) else str(cell)
    return _WHOLE_AS_FLOAT.sub(r"\1", text.strip())


def category(cell):
    """Name of the category that a cell of text holds; None where it holds none.

    Parameters
    ----------
    cell : object
    """
    return None if is_missing_text(cell) else spelled(cell)


def number(cell):
    """A cell of a column of numbers: NaN where it is empty, truth values as 1 and 0.

    Parameters
    ----------
    cell : object

    Raises
    ------
    ValueError
        If it is no number, or infinite.

    Examples
    --------
    >>> [number(cell) for cell in ("2.5", "true", "NA")]
    [2.5, 1.0, nan]
    """
    if is_missing_number(cell):
        return float("nan")
    text = str(cell).strip().lower()
    if text in FLAGS:
        return FLAGS[text]
    if "_" in text:  # which Python takes for a separator
        raise ValueError(f"{cell!r} is no number")
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{cell!r} is infinite")
    return value
