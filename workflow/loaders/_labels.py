"""Labels of own data: one spelling per class, codes from 0, and what counts as unlabelled."""

import re
from collections.abc import Sequence

import numpy as np
from domain_alignment.utils.cells import spelled

UNLABELLED = -1  # as in scikit-learn's semi-supervised module
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
EMPTY = (
    "",
    "nan",
    "NaN",
    "NAN",
)  # cells without a value, in a column of text and in one of numbers
_EMPTY = frozenset(EMPTY)


def in_order(names: set[str]) -> list[str]:
    """Names of classes by size where all are whole numbers, else by the alphabet."""
    numbers = all(_WHOLE.fullmatch(name) for name in names)
    return sorted(names, key=int) if numbers else sorted(names)


def listing(names: Sequence[object]) -> str:
    """Some names for a message, the first twenty of many."""
    shown = ", ".join(map(str, names[:20]))
    return f"{shown}, … ({len(names)} in all)" if len(names) > 20 else shown or "nothing"


def meaning_unlabelled(values: Sequence[object], class_names: Sequence[object]) -> set[str]:
    """Labels that name no class: -1, unless it is among the named classes, and further values.

    Raises
    ------
    ValueError
        If a value is the name of a class too.
    """
    asked = {spelled(value) for value in values}
    if asked & _EMPTY:
        asked |= _EMPTY
    classes = {spelled(name) for name in class_names}
    both = sorted(asked & classes)
    if both:
        raise ValueError(
            f"unlabelled: {both[0]!r} is among class_names too; a value is either a class or "
            "unlabelled"
        )
    return asked | ({str(UNLABELLED)} - classes)


def checked_names(
    path: object, name: str | None, stored: np.ndarray, unlabelled: set[str]
) -> list[str]:
    """Spelled labels of an array.

    Raises
    ------
    ValueError
        If they are not one label per sample, or one of them is neither a class nor unlabelled.
    """
    where = f"{path}: labels {name!r}" if name else f"{path}: labels"
    if stored.dtype.kind in "cmMV":
        raise ValueError(f"{where} are of type {stored.dtype}. Save strings or whole numbers.")
    if max(stored.shape, default=0) != stored.size:
        raise ValueError(f"{where} have shape {stored.shape}; expected one label per sample.")
    names = [spelled(label) for label in stored.ravel()]
    floats = stored.dtype.kind == "f"
    for row, label in enumerate(names):
        if label in unlabelled:
            continue
        if label in _EMPTY or (floats and not _WHOLE.fullmatch(label)):
            place = f"row {row} of {name!r}" if name else f"row {row}"
            raise ValueError(
                f"{path}: label {label!r} in {place} is not a class. Labels are strings or whole "
                "numbers; correct or drop this sample, or say that it means unlabelled: "
                f"`unlabelled: [{label!r}]`."
            )
    return names


def coded(domain: str, names: list[str], classes: list[str], unlabelled: set[str]) -> np.ndarray:
    """Number of each label's class, -1 for what means unlabelled.

    Raises
    ------
    ValueError
        At the first label that is neither.
    """
    code = dict.fromkeys(unlabelled, UNLABELLED)
    code |= {name: number for number, name in enumerate(classes)}
    for row, name in enumerate(names):
        if name not in code:
            raise ValueError(
                f"label {name!r} (row {row} of domain {domain!r}) is not among the classes "
                f"{listing(classes)}. Add it to `class_names`, correct the label, or say that it "
                f"means unlabelled: `unlabelled: [{name!r}]`."
            )
    return np.array([code[name] for name in names], dtype=np.int64)
