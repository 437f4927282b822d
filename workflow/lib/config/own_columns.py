"""Columns of one's own tables: which mark divides them, which of them all tables have."""

import difflib
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from domain_alignment.utils.cells import DELIMITERS

from workflow.loaders._labels import listing
from workflow.loaders._suffixes import TABLES
from workflow.loaders._tables import column_names, decimal_mark, fitting

# Options of the command that name columns, each of which may be given several times.
NAMING = ("drop", "categorical")
_FEW = 6


class OwnDataError(ValueError):
    """What is wrong with the files or with what was asked of them, and what to do."""


def marks(path: Path, reading: Mapping) -> tuple[str | None, str]:
    """Separator, None to find it, and decimal mark of a table; that one is found in each file."""
    separator = reading.get("separator")
    return separator, reading.get("decimal") or decimal_mark(path, separator)


def tables(paths: Sequence[Path], reading: Mapping) -> dict[Path, list[str]]:
    """Names of the columns of those files that are tables.

    Raises
    ------
    OwnDataError
        If a mark that was said does not divide the lines of one file.
    """
    held = {p: column_names(p, *marks(p, reading)) for p in paths if p.suffix in TABLES}
    for path, names in held.items():
        told = [f"--{key} {reading[key]!r}" for key in ("separator", "decimal") if key in reading]
        if told and len(names) == 1 and any(mark in names[0] for mark in DELIMITERS):
            raise OwnDataError(
                f"{path}: with {' and '.join(told)} its whole first line is one column: the marks "
                "of this file are others. Leave the option out (the marks are found in each file), "
                "or save the files alike."
            )
    return held


def named_columns(reading: Mapping, held: Mapping[Path, Sequence[str]]) -> dict:
    """What was said of the reading, with ``a,b`` as two names where no column is called that.

    Raises
    ------
    OwnDataError
        If a name fits no column; with the nearest one, and those that there are.
    """
    known = list(dict.fromkeys(name for names in held.values() for name in names))
    found = dict(reading)
    for option in NAMING:
        parts = [part for told in reading.get(option, ()) for part in _parts(told, known)]
        for part in parts:
            if known and not fitting(part, known):
                raise OwnDataError(
                    f"--{option} {part}: no column of any file has this name.{nearest(part, known)}"
                    f" Columns: {listing(known)}."
                )
        if parts:
            found[option] = parts
    return found


def _parts(told: str, known: Sequence[str]) -> list[str]:
    whole = fitting(told, known) or "," not in told
    return [told] if whole else [part.strip() for part in told.split(",") if part.strip()]


def nearest(word: str, known: Sequence[str]) -> str:
    """A sentence with the known name that is most like a word, if one is like it."""
    alike = {name.strip().casefold(): name for name in reversed(known)}
    near = difflib.get_close_matches(word.strip().casefold(), alike, n=1)
    return f" Did you mean {alike[near[0]]!r}?" if near else ""


def not_in_all(held: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Columns that some domains have and others lack, with the domains that have them."""
    names = dict.fromkeys(name for columns in held.values() for name in columns)
    places = {name: [key for key, columns in held.items() if name in columns] for name in names}
    return {name: keys for name, keys in places.items() if len(keys) < len(held)}


def shared(held: Mapping[str, Sequence[str]]) -> list[str]:
    """Columns that all domains have, in the order of the first."""
    first, *others = held.values()
    return [name for name in first if all(name in columns for columns in others)]


def told_not_in_all(apart: Mapping[str, Sequence[str]], files: Mapping[str, str]) -> str:
    """Words for the columns of `not_in_all`: each with the files that have it."""
    groups: dict[tuple, list[str]] = {}
    for name, domains in apart.items():
        groups.setdefault(tuple(files[domain] for domain in domains), []).append(repr(name))
    return "; ".join(f"{listing(names)} only in {listing(keys)}" for keys, names in groups.items())


def leaving_out(apart: Mapping[str, Sequence[str]]) -> str:
    """Options that leave the columns of `not_in_all` out."""
    drops = " ".join(f"--drop {shlex.quote(name)}" for name in apart)
    return f"--shared-columns (or {drops})" if len(apart) <= _FEW else "--shared-columns"


def keep_shared(entry: dict, held: Mapping[str, Sequence[str]]) -> None:
    """Leave out of every table of a dataset's entry what another one lacks.

    Raises
    ------
    OwnDataError
        If nothing is left.
    """
    if not shared(held):
        raise OwnDataError(
            "--shared-columns: no column is in all files: "
            + "; ".join(f"{domain} has {listing(names)}" for domain, names in held.items())
        )
    apart = not_in_all(held)
    for domain, names in held.items():
        params = entry["domains"][domain]["params"]
        more = [name for name in names if name in apart]
        params |= {"drop": [*params.get("drop", ()), *more]} if more else {}
