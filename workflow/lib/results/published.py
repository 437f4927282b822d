"""The papers' tables as files: config/published/*.csv."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

# Of a number that nobody compared with the printed page.
FROM_MEMORY = "from memory"
# A printed mean is rounded, and so is each of its rows; a mean of several digits less so.
ROUNDING = 0.1


class PublishedTableError(ValueError):
    """A file in config/published does not have the documented form."""


def read_published(path: Path) -> list[dict]:
    """Rows of a published table, numbers parsed; empty ``std`` is None.

    A file may have a column ``entered``; empty: from the printed page, else `FROM_MEMORY`.

    Raises
    ------
    PublishedTableError
        Naming the line that is wrong.
    """
    with open(path, newline="", encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    rows = []
    for number, line in enumerate(lines, start=2):
        try:
            std = float(line["std"]) if line["std"] else None
            entered = line.get("entered") or ""
            if entered not in ("", FROM_MEMORY):
                raise ValueError(f"entered: {entered!r} is neither empty nor {FROM_MEMORY!r}")
            rows.append({**line, "mean": float(line["mean"]), "std": std, "entered": entered})
        except (KeyError, TypeError, ValueError) as error:
            raise PublishedTableError(
                f"{path}: line {number}: cannot be read ({error}); every line is "
                "source,target,method,mean,std with the mean in percent"
            ) from error
    return rows


def read_printed_means(config: Path) -> dict[tuple[str, str], float]:
    """The mean that a paper prints for a column, by (file, column): config/printed_means.csv."""
    with open(config / "printed_means.csv", newline="", encoding="utf-8") as stream:
        return {
            (line["file"], line["method"]): float(line["mean"]) for line in csv.DictReader(stream)
        }


def mean_of_rows(path: Path, column: str) -> float:
    """Mean of the rows that a paper prints for a column."""
    return float(np.mean([row["mean"] for row in read_published(path) if row["method"] == column]))


def misprints(config: Path) -> dict[tuple[str, str], float]:
    """Printed means that are not those of the printed rows, by (file, column)."""
    return {
        (file, column): said
        for (file, column), said in read_printed_means(config).items()
        if abs(said - mean_of_rows(config / "published" / file, column)) > ROUNDING
    }


def order_of(rows: Sequence[dict]) -> dict[str, float]:
    """Correlation of each column with the mean of the others, over the rows that all have.

    Empty for fewer than four rows or two columns, on which a correlation says nothing.
    """
    columns: dict[str, dict[tuple, float]] = {}
    for row in rows:
        columns.setdefault(row["method"], {})[row["source"], row["target"]] = row["mean"]
    places = sorted(set.intersection(*(set(column) for column in columns.values())))
    if len(places) < 4 or len(columns) < 2:
        return {}
    values = {name: np.array([column[p] for p in places]) for name, column in columns.items()}
    found = {}
    for name in values:
        others = np.mean([other for key, other in values.items() if key != name], axis=0)
        found[name] = float(np.corrcoef(values[name], others)[0, 1])
    return found
