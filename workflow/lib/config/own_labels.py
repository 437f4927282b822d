"""Labels of one's own files: names of the classes, and what is known of the target's."""

import dataclasses
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from domain_alignment.utils.cells import spelled

from workflow.lib.config.own_columns import OwnDataError, nearest
from workflow.loaders._labels import listing
from workflow.loaders.generic import Reader

_SHOWN = 3  # strange classes in a message


@dataclasses.dataclass(frozen=True)
class Known:
    """What the labels of all files say.

    Attributes
    ----------
    classes : list of str
        Names in the order of their codes.
    target_counts : dict of str to int
        Labelled samples of the target by class.
    target_complete : bool
        Whether all of the target is labelled.
    """

    classes: list[str]
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


def known_labels(reader: Reader, domains: Sequence[str], target: str, label: str | None) -> Known:
    """Names of the classes, and what is known of the target's labels.

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
        raise OwnDataError(
            f"the sources have the classes {sorted(classes)}; two are needed. A label of -1 means "
            "unlabelled; give a class of this code another name"
        )
    numbers = all(re.fullmatch("-?[0-9]+", name) for name in classes)
    ordered = sorted(classes, key=int) if numbers else sorted(classes)
    names = list(own.values())
    complete = by_domain[target] is not None and len(own) == len(reader.labels(target))
    return Known(ordered, {name: names.count(name) for name in set(names)}, complete)


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
    row = reader.row(target, places[0])
    of_rows = "1 row, that" if len(places) == 1 else f"{len(places)} rows, the first"
    near = nearest(name, sorted(classes)).replace(" Did", "; did")
    return f"{name!r} of the target ({of_rows} in row {row}, line {row + 2} of a .csv file{near})"
