"""The papers' tables as files: config/published/*.csv."""

import csv
from pathlib import Path


class PublishedTableError(ValueError):
    """A file in config/published does not have the documented form."""


def read_published(path: Path) -> list[dict]:
    """Rows of a published table, numbers parsed; empty ``std`` is None.

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
            rows.append({**line, "mean": float(line["mean"]), "std": std})
        except (KeyError, TypeError, ValueError) as error:
            raise PublishedTableError(
                f"{path}: line {number}: cannot be read ({error}); every line is "
                "source,target,method,mean,std with the mean in percent"
            ) from error
    return rows
