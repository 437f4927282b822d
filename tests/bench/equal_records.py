"""Records of two versions of this project, cell by cell.

    python tests/bench/equal_records.py BEFORE AFTER [AFTER ...] --names 0.1.0 a0b0a764
                                        [--about TEXT] [--page reports/reference/equal.md]

BEFORE is the folder of results of the one version and AFTER of the other, in one folder or several;
every experiment is compared that has records in both. Compared are the accuracy of each record, the
predicted label of each row that a job left, and of the trial that has a picture the inner products
of all embedded samples, which know neither the signs of the axes nor, where a subspace is equal,
which basis of it was found. A method that differs is named, with all that differs. On which
machines and with which packages both ran the folders do not say: `--about` is what the page says.

`make check-reference` compares the tables of a run with those of the reference, within their
errors; this is for two versions of the code, whose every label should be the same.
"""

import argparse
import dataclasses
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for `workflow`

import numpy as np
import pandas as pd

from workflow.lib.results.records import CELL
from workflow.lib.results.text import count

ACCURACY = "accuracy"
PICTURE = "picture/"


@dataclasses.dataclass
class Compared:
    """What differs between the records of one experiment.

    Attributes
    ----------
    experiment : str
    n_records, n_equal : int
        Cells that both have, and those of the same status and, where scored, the same accuracy.
    largest : float
        Difference of two accuracies, a fraction.
    alone : int
        Cells that one of them has not.
    records : Counter
        Cells that differ, by method.
    n_predictions : int
        Predicted rows of jobs that both have.
    predictions : Counter
        Those that differ, or that one of them has not, by method.
    embeddings : dict
        By method, the largest difference of inner products over the largest of them.
    """

    experiment: str
    n_records: int
    n_equal: int
    largest: float
    alone: int
    records: Counter
    n_predictions: int = 0
    predictions: Counter = dataclasses.field(default_factory=Counter)
    embeddings: dict = dataclasses.field(default_factory=dict)


def compare(before: Path, after: Path, experiment: str) -> Compared:
    """Records, predictions and pictured embeddings of an experiment in two folders of results."""
    told = _records(before / experiment, after / experiment)
    for name, one, other in _files(before / experiment, after / experiment):
        method = name.partition(".")[0]
        for key in {*one, *other}:
            if PICTURE not in key:
                told.n_predictions += (one if key in one else other)[key].size
                if differ := _n_apart(one.get(key), other.get(key)):
                    told.predictions[method] += differ
        if (apart := _embeddings_apart(one, other)) is not None:
            told.embeddings[method] = max(apart, told.embeddings.get(method, 0.0))
    return told


def _records(before: Path, after: Path) -> Compared:
    kinds = {"classifier": "string"}
    tables = [pd.read_csv(folder / "records.csv", dtype=kinds) for folder in (before, after)]
    for table in tables:
        table["classifier"] = table["classifier"].fillna("")
    both = tables[0].merge(
        tables[1], on=CELL, how="outer", suffixes=("", "_after"), indicator=True, validate="1:1"
    )
    shared = both[both["_merge"] == "both"]
    apart = (shared[ACCURACY] - shared[f"{ACCURACY}_after"]).abs()
    neither = shared[[ACCURACY, f"{ACCURACY}_after"]].isna().all(axis=1)
    same = (shared["status"] == shared["status_after"]) & ((apart == 0) | neither)
    return Compared(
        before.name,
        len(shared),
        int(same.sum()),
        float(apart.max() if apart.notna().any() else 0.0),
        len(both) - len(shared),
        Counter(shared.loc[~same, "method"]),
    )


def _files(before: Path, after: Path) -> Iterator[tuple[str, Mapping, Mapping]]:
    """Arrays of each file of predictions that both have."""
    for path in sorted(before.glob("*/*.predictions.npz")):
        other = after / path.relative_to(before)
        if other.is_file():
            yield path.name, _arrays(path), _arrays(other)


def _arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files if name != "manifest"}
    # Since 0.1.0 the name of what is pictured begins with its trial and setting.
    return {
        name[name.find(PICTURE) :] if PICTURE in name else name: a for name, a in arrays.items()
    }


def _n_apart(one: np.ndarray | None, other: np.ndarray | None) -> int:
    """Rows with another label; all of them where one side has none, or others."""
    if one is None or other is None or one.shape != other.shape:
        return max(len(labels) for labels in (one, other) if labels is not None)
    return int((one != other).sum())


def _embeddings_apart(one: Mapping, other: Mapping) -> float | None:
    """Largest difference of inner products of the pictured samples, relative; None without any."""
    names = sorted(n for n in one.keys() & other.keys() if PICTURE in n and "embedding" in n)
    if not names:
        return None
    (first, second) = (np.vstack([arrays[name] for name in names]) for arrays in (one, other))
    products = first @ first.T
    return float(abs(products - second @ second.T).max() / abs(products).max())


def markdown(found: list[Compared], names: tuple[str, str], about: str = "") -> str:
    """The page."""
    before, after = names
    lines = [
        f"# Records of {before} and of {after}",
        "",
        f"The same experiments by the code of {before} and of {after}.{about and f' {about}'} "
        "Equal: the same status and the same accuracy to the last digit. Predictions: labels of "
        "rows. Embeddings: of the pictured trial, the largest difference of the inner products of "
        "its samples, over the largest of them. Written by tests/bench/equal_records.py, which "
        "says more.",
        "",
        "| Experiment | Records | Equal | Largest difference, points | Predictions | Different "
        "| Embeddings |",
        "| :--- | ---: | ---: | ---: | ---: | ---: | :--- |",
    ]
    for one in found:
        embedded = ", ".join(f"{m} {x:.0e}" for m, x in sorted(one.embeddings.items()))
        lines.append(
            f"| {one.experiment} | {one.n_records:,} | {one.n_equal:,} | {100 * one.largest:.2f} "
            f"| {one.n_predictions:,} | {one.predictions.total():,} | {embedded} |"
        )
    for one in found:
        if one.records or one.predictions or one.alone:
            lines += ["", f"{one.experiment}: {_deviations(one)}."]
    return "\n".join(lines) + "\n"


def _deviations(one: Compared) -> str:
    told = [
        f"{method}: {count(one.records[method], 'record')} and "
        f"{count(one.predictions[method], 'prediction')}"
        for method in sorted({*one.records, *one.predictions})
    ]
    if one.alone:
        told.append(f"{count(one.alone, 'record')} that one of them has not")
    return "; ".join(told)


def main():
    """Compare, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path, nargs="+")
    parser.add_argument("--names", nargs=2, default=("before", "after"))
    parser.add_argument("--about", default="")
    parser.add_argument("--page", type=Path)
    asked = parser.parse_args()
    found = []
    for records in sorted(asked.before.glob("*/records.csv")):
        experiment = records.parent.name
        after = next((a for a in asked.after if (a / experiment / "records.csv").is_file()), None)
        if after:
            found.append(compare(asked.before, after, experiment))
    page = markdown(found, tuple(asked.names), asked.about)
    print(page)
    if asked.page:
        asked.page.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
