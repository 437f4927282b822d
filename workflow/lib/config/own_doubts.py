"""What is odd in one's own files though it can be read: each is told with what to do about it."""

import dataclasses
import re
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from workflow.lib.config.own_columns import leaving_out, not_in_all, shared, told_not_in_all
from workflow.lib.config.own_data import methods_for
from workflow.loaders._columns import Coding, as_numbers
from workflow.loaders._labels import listing
from workflow.loaders._tables import fitting

FEW_LABELS, FEW_ROWS = 5, 20
# Rows from which on an order by chance is too improbable to be one.
_ENOUGH = 10
# Fewer different numbers with one unit may be names: "2 doors" and "4 doors".
_FEWEST_AMOUNTS = 3
# Names of classes that may mean that there is none.
_MISSING = frozenset({"na", "n/a", "#n/a", "null", "none", "?", "-", "unknown"})
_AMOUNT = re.compile(r"[-+]?\d+([.,]\d+)?\s*(?P<unit>[^\d\s.,+_-][^\d\s]*)")


@dataclasses.dataclass(frozen=True)
class Read:
    """What was read of the files, by domain, the target last.

    Attributes
    ----------
    files : dict of str to str
        The file, with the domain's name if it holds several.
    labels : dict of str to list of str or None
        Labels that name classes; None without a column of labels.
    rows : dict of str to int
    tables, codings : dict
        Of those domains that are tables.
    kept : dict of str to int
        Number of features.
    entry, protocol, experiment : dict
        The configuration.
    """

    files: dict[str, str]
    labels: dict[str, list[str] | None]
    rows: dict[str, int]
    tables: dict
    codings: dict[str, Coding]
    kept: dict[str, int]
    entry: dict
    protocol: dict
    experiment: dict

    @property
    def target(self) -> str:
        """The last domain."""
        return list(self.files)[-1]

    @property
    def columns(self) -> dict[str, Sequence[str]]:
        """Names of the columns by domain; empty unless all are tables."""
        all_tables = len(self.codings) == len(self.files)
        return {d: coding.columns for d, coding in self.codings.items()} if all_tables else {}


def doubts(read: Read) -> list[str]:
    """Sentences on what is odd, what concerns most of the answer first."""
    return [
        *_apart(read),
        *_numbers_of_samples(read),
        *_amounts(read),
        *_classes(read),
        *_small(read),
        *_many(read),
    ]


def _apart(read: Read) -> list[str]:
    """Columns that some files lack: most methods need the same ones."""
    if not read.columns or not (apart := not_in_all(read.columns)):
        return []
    alike = shared(read.columns)
    if not alike and len(set(read.kept.values())) == 1:
        return ["no column has the same name in all files: columns are paired by their order"]
    if not alike:
        return ["no column has the same name in all files: only methods for different features run"]
    told = f"columns that not all files have: {told_not_in_all(apart, read.files)}. "
    shown, values = read.protocol["target_labels"], read.entry["values"]
    now, then = read.experiment["methods"], methods_for("quick", shown, True, values)
    compared = "those that apply" if now == "all" else f"{len(now)} methods"
    other = "all" if now == "all" else f"{len(then)} methods"
    return [
        f"{told}So only {compared} for different features are compared; {leaving_out(apart)} "
        f"compares {other} on the {len(alike)} columns that all have"
    ]


def _numbers_of_samples(read: Read) -> list[str]:
    """Columns of whole numbers that tell the samples apart."""
    names = dict.fromkeys(name for coding in read.codings.values() for name in coding.columns)
    return [
        f"column {name!r} ({_places(read, name)}) has another whole number in every row, like a "
        "number of the sample. As a feature it tells the file or the order of the rows, which new "
        f"samples do not have. If it is no measurement: --drop {shlex.quote(name)}"
        for name in names
        if _is_number_of_samples(name, _values(read, name))
    ]


def _values(read: Read, name: str) -> list[np.ndarray]:
    """A column's numbers by domain; none where it holds kinds."""
    having = [domain for domain, coding in read.codings.items() if name in coding.columns]
    if any(name in read.codings[domain].categories for domain in having):
        return []
    return [as_numbers(read.tables[domain][name], read.files[domain]) for domain in having]


def _is_number_of_samples(name: str, parts: Sequence[np.ndarray]) -> bool:
    values = np.concatenate(parts) if parts else np.empty(0)
    whole = len(values) > 1 and bool((values == np.round(values)).all())  # NaN is not
    if not whole or len(np.unique(values)) < len(values):
        return False
    if name.strip().lower().endswith("id"):
        return True
    return len(values) >= _ENOUGH and all(_in_order(part) for part in parts)


def _in_order(values: np.ndarray) -> bool:
    """Whether numbers rise or fall throughout, or leave out fewer than they hold."""
    steps = np.diff(values)
    return bool((steps > 0).all() or (steps < 0).all() or np.ptp(values) < 2 * len(values))


def _amounts(read: Read) -> list[str]:
    """Columns of numbers with one unit behind each, which as texts become kinds."""
    kinds: dict[str, set[str]] = {}
    for coding in read.codings.values():
        for name, found in coding.categories.items():
            kinds.setdefault(name, set()).update(found)
    asked = read.entry.get("params", {}).get("categorical", ())
    meant = {name for told in asked for name in fitting(told, list(kinds))}
    units = {name: _unit(found) for name, found in kinds.items() if name not in meant}
    return [
        f"column {name!r} ({_places(read, name)}) holds numbers with {unit!r} behind each, so that "
        f"its {len(kinds[name])} different texts become kinds without an order. If they are "
        f"amounts, save the numbers alone; if they are kinds: --categorical {shlex.quote(name)}"
        for name, unit in units.items()
        if unit is not None
    ]


def _unit(texts: Collection[str]) -> str | None:
    """What stands behind the number in every text, if that is the same and several differ."""
    parts = [_AMOUNT.fullmatch(text.strip()) for text in texts]
    units = {part and part["unit"] for part in parts}
    return units.pop() if len(parts) >= _FEWEST_AMOUNTS and len(units) == 1 else None


def _classes(read: Read) -> list[str]:
    told = []
    known = [label for labels in read.labels.values() for label in labels or ()]
    spellings: dict[str, list[str]] = {}
    for name in sorted(set(known)):
        spellings.setdefault(" ".join(name.casefold().split()), []).append(name)
    for names in spellings.values():
        if len(names) > 1:
            told.append(
                f"classes {listing([repr(name) for name in names])} differ in case or spaces alone "
                "and count as different; write them alike if they are one"
            )
    missing = sorted(name for name in set(known) if name.casefold() in _MISSING)
    if missing:
        named = " ".join(f"--unlabelled {shlex.quote(name)}" for name in missing)
        told.append(
            f"{listing([repr(name) for name in missing])} counts as a class; if it means that "
            f"there is no label: {named}"
        )
    of_sources = (labels for domain, labels in read.labels.items() if domain != read.target)
    counts = Counter(name for labels in of_sources for name in labels or ())
    few = [f"{name} {n}" for name in read.entry["class_names"] if (n := counts[name]) < FEW_LABELS]
    if few:
        told.append(
            f"classes with fewer than {FEW_LABELS} labelled rows in the sources: {listing(few)}. "
            "They are hardly learned; label more, or leave them out or unlabelled (--unlabelled)"
        )
    return told + _classes_of_the_target(read)


def _classes_of_the_target(read: Read) -> list[str]:
    """Classes that no label of the target names, of which held-out labels then say nothing."""
    named = set(read.labels[read.target] or ())
    lacking = [name for name in read.entry["class_names"] if name not in named]
    if not named or not lacking:
        return []
    return [
        f"the target's labels name no {listing(lacking)}: an accuracy that is measured on them, "
        "and the choice by it, says nothing of these classes. If they occur in the target, label "
        "some rows of each, drawn at random"
    ]


def _small(read: Read) -> list[str]:
    rows = read.rows[read.target]
    if rows >= FEW_ROWS:
        return []
    return [
        f"the target has {rows} rows, fewer than {FEW_ROWS}: its shift is hardly seen, and an "
        "accuracy on it hardly measured; give more rows, which need no label"
    ]


def _many(read: Read) -> list[str]:
    """Columns of text that are nearly as many features as there are samples."""
    kinds: dict[str, int] = {}
    for coding in read.codings.values():
        kinds |= {name: len(found) for name, found in coding.categories.items()}
    most = {
        name: max(read.rows[d] for d, coding in read.codings.items() if name in coding.columns)
        for name in kinds
    }
    return [
        f"column {name!r} ({_places(read, name)}) holds {count} different texts, each of which "
        f"becomes a feature; if they are dates, remarks or names: --drop {shlex.quote(name)}"
        for name, count in kinds.items()
        if count > most[name] / 2
    ]


def _places(read: Read, name: str) -> str:
    having: Mapping[str, Coding] = read.codings
    return listing([read.files[d] for d, coding in having.items() if name in coding.columns])
