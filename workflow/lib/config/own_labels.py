"""Labels of one's own files: names of the classes, and what is known of the target's."""

import dataclasses
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from domain_alignment.utils.cells import spelled

from workflow.lib.config.own_columns import OwnDataError, nearest
from workflow.loaders._labels import UNLABELLED, listing
from workflow.loaders._tables import told_row
from workflow.loaders.generic import Reader

_SHOWN = 3  # strange classes in a message


@dataclasses.dataclass(frozen=True)
class Known:
    """What is known of the target's labels.

    Attributes
    ----------
    target_counts : dict of str to int
        Labelled samples of the target by class.
    target_complete : bool
        Whether all of the target is labelled.
    """

    target_counts: dict[str, int]
    target_complete: bool


def check_label(label: str | None, held: Mapping[Path, Sequence[str]], only_tables: bool) -> None:
    """Refuse a column of labels that no table has.

    Raises
    ------
    OwnDataError
        With the nearest name and those that there are.
    """
    known = list(dict.fromkeys(name for names in held.values() for name in names))
    if label is None and only_tables:
        raise OwnDataError(
            f"which column holds the classes? Say --label COLUMN; the columns: {listing(known)}"
        )
    if only_tables and label not in known:
        raise OwnDataError(
            f"--label {label}: no file has a column of this name.{nearest(label, known)} "
            f"Columns: {listing(known)}."
        )


def class_names(
    reader: Reader, domains: Sequence[str], target: str, label: str | None
) -> list[str]:
    """Names of the classes in the order of their codes.

    Raises
    ------
    OwnDataError
        If a source has no label, or the classes cannot be; with the file and the remedy.
    """
    sources = [domain for domain in domains if domain != target]
    by_domain = {domain: class_labels(reader, domain) for domain in domains}
    for domain in sources:
        if not by_domain[domain]:
            raise _unlabelled_source(reader, domain, label)
        _refuse_unsaid(reader, domain)
    counted = [name for domain in sources for name in by_domain[domain].values()]
    classes = set(counted)
    if len(classes) > max(100, len(counted) // 2):
        raise OwnDataError(
            f"{len(classes)} different labels in {len(counted)} labelled rows: is this the column "
            "with the classes? Say --label"
        )
    _refuse_other_name(reader, sources, target, label, classes)
    own = by_domain[target] or {}
    _refuse_strange(reader, target, own, classes)
    if len(classes) < 2:
        raise OwnDataError(f"the sources have the classes {sorted(classes)}; two are needed")
    numbers = all(re.fullmatch("-?[0-9]+", name) for name in classes)
    return sorted(classes, key=int) if numbers else sorted(classes)


def known_labels(entry: Mapping, labels: Sequence[np.ndarray], target: str) -> Known:
    """What is known of the target's labels in those rows that ``missing: drop`` does not leave out.

    Parameters
    ----------
    entry : mapping
        Of the dataset.
    labels : sequence of int ndarray
        Codes of these rows, by domain as the entry has them; -1 without a label.
    target : str

    Raises
    ------
    OwnDataError
        If a source or a class has no labelled row left, or the target has one row alone.
    """
    codes = dict(zip(entry["domains"], labels, strict=True))
    own = codes.pop(target)
    files = {domain: file_name(entry, domain) for domain in entry["domains"]}
    remedy = (
        "every one has an empty cell, and --missing drop leaves such rows out. Fill the cells in, "
        "or say another --missing"
    )
    for domain, y in codes.items():
        if (y == UNLABELLED).all():
            raise OwnDataError(f"{files[domain]}: no labelled row is left: {remedy}")
    left = np.concatenate(list(codes.values()))
    for code, name in enumerate(entry["class_names"]):
        if code not in left:
            told = listing([files[domain] for domain in codes])
            raise OwnDataError(f"{told}: no row of the class {name!r} is left: {remedy}")
    if len(own) < 2:
        raise OwnDataError(
            f"{files[target]}: the target has {len(own)} row that is read; at least two are "
            "needed, and many more to see a shift. They need no label: give more rows"
        )
    known = own[own != UNLABELLED]
    counts = Counter(entry["class_names"][code] for code in known)
    return Known(counts, len(known) == len(own))


def file_name(entry: Mapping, domain: str) -> str:
    """The file of a domain, with what tells its rows apart if it holds several domains."""
    described = entry["domains"][domain]
    (key,), rows = described["files"], described["params"].get("rows")
    name = Path(entry["files"][key]["path"]).name
    return f"{name} [{rows['value']}]" if rows else name


def class_labels(reader: Reader, domain: str) -> dict[int, str] | None:
    """Labels that name classes by their places; None of a domain without a column of labels."""
    names, hidden = reader.labels(domain), reader.meaning_unlabelled(domain)
    if names is None:
        return None
    return {place: name for place, name in enumerate(names) if name not in hidden}


def _unlabelled_source(reader: Reader, domain: str, label: str | None) -> OwnDataError:
    told = f"{reader.where(domain)}: the source has no labels"
    columns = reader.columns(domain)
    if label is None or columns is None:
        return OwnDataError(f"{told}; say --label COLUMN")
    if reader.labels(domain) is not None:
        return OwnDataError(f"{told}: no cell of its column {label!r} names a class; fill it in")
    return OwnDataError(
        f"{told}: no column {label!r}, which others have.{nearest(label, columns)} Call its column "
        f"of classes {label!r}, or leave the file out. Columns: {listing(columns)}."
    )


def _refuse_unsaid(reader: Reader, domain: str) -> None:
    """Refuse rows of a source that are unlabelled by their -1 alone: a class would be lost."""
    name, names = str(UNLABELLED), reader.labels(domain)
    said = {spelled(value) for value in reader.params(domain).get("unlabelled", ())}
    if name not in said and (count := names.count(name)):
        raise OwnDataError(
            f"{reader.where(domain)}: -1 means unlabelled, and {count} of {len(names)} rows have "
            "this label. If it is a class, write it in another way, in all files; if it is none: "
            "--unlabelled=-1"
        )


def _refuse_other_name(reader, sources: Sequence[str], target: str, label, classes: set) -> None:
    """Refuse a target whose labels stand in a column of another name, where they are a feature."""
    columns = reader.columns(target)
    if label is None or columns is None or reader.labels(target) is not None:
        return
    elsewhere = {name for domain in sources for name in reader.columns(domain) or ()}
    for name in columns:
        if name in elsewhere:
            continue
        cells = {spelled(cell) for cell in reader.column(target, name)} - {"", "nan"}
        if name.casefold() == label.casefold() or (cells and cells <= classes):
            raise OwnDataError(
                f"{reader.where(target)}: has no column {label!r}, but {name!r} looks like its "
                f"labels ({listing(sorted(cells))}). Call it {label!r} in the file; if it is "
                f"something else: --drop {shlex.quote(name)}"
            )


def _refuse_strange(reader: Reader, target: str, own: Mapping[int, str], classes: set) -> None:
    """Refuse labels of the target that no source has."""
    strange = [name for name in dict.fromkeys(own.values()) if name not in classes]
    if not strange:
        return
    first = sorted(strange)[:_SHOWN]
    told = [_told_strange(reader, target, name, own, classes) for name in first]
    more = f", nor {len(strange) - len(first)} others" if len(strange) > len(first) else ""
    flags = " ".join(f"--unlabelled {shlex.quote(name)}" for name in first)
    raise OwnDataError(
        f"{reader.where(target)}: no source sample has the class {', nor '.join(told)}"
        f"{more}. Correct the labels, leave these samples out, or if they mean unlabelled: {flags}"
    )


def _told_strange(reader: Reader, target: str, name: str, own: Mapping, classes: set) -> str:
    places = [place for place, label in own.items() if label == name]
    row, columns = reader.rows(target, places)[0], reader.columns(target)
    place = told_row(reader.column(target, columns[0]), row) if columns else f"row {row}"
    of_rows = "1 row, that" if len(places) == 1 else f"{len(places)} rows, the first"
    near = nearest(name, sorted(classes)).replace(" Did", "; did")
    return f"{name!r} of the target ({of_rows} in {place}{near})"
