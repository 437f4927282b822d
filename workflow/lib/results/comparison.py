"""Compare the records of two runs: ``python -m workflow.lib.results.comparison OLD NEW``.

OLD and NEW are folders of an experiment (``results/fma_table1``), or folders of such folders. What
depends on the machine (seconds, memory) is left alone. Exits with 1 if anything else differs.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from workflow.lib.config.metrics import METRICS
from workflow.lib.results.records import CELL, groups, scores_of
from workflow.lib.results.statistics import mean, standard_error
from workflow.lib.results.text import count

_RECORDS = "records.csv"
_COMPARED = ["status", "n_components", *METRICS]


def differences(old: pd.DataFrame, new: pd.DataFrame) -> list[str]:
    """What differs between two tables of records, a sentence each; none if they agree to the bit.

    Parameters
    ----------
    old, new : DataFrame
        Columns of records.csv. A column that only one of them has is not compared.
    """
    old, new = (table.set_index(CELL).sort_index() for table in (old, new))
    common = old.index.intersection(new.index)
    told = [
        f"{count(len(here) - len(common), 'record')} in the {which} run alone"
        for which, here in (("old", old), ("new", new))
        if len(here) > len(common)
    ]
    columns = [name for name in _COMPARED if name in old and name in new]
    before, after = old.loc[common, columns], new.loc[common, columns]
    changed = ~((before == after) | (before.isna() & after.isna()))
    told += [
        f"{name}: {count(int(changed[name].sum()), 'record')} changed"
        for name in columns
        if changed[name].any()
    ]
    return told + _moved_means(before[changed.any(axis=1)], old, new)


def _moved_means(changed: pd.DataFrame, old: pd.DataFrame, new: pd.DataFrame) -> list[str]:
    """How far the mean accuracy of each cell with a changed record has moved."""
    before, after = (
        {names: scores_of(cell, "accuracy") for names, cell in groups(table.reset_index())}
        for table in (old, new)
    )
    told = []
    for names, _ in groups(changed.reset_index()):
        told_means = " -> ".join(_mean_told(scores[names]) for scores in (before, after))
        moved = f"{', '.join(map(str, names[:3]))}: mean accuracy {told_means}"
        error, means = standard_error(before[names]), [mean(s[names]) for s in (before, after)]
        if error and None not in means:
            moved += f" ({abs(means[1] - means[0]) / error:.1f} standard errors)"
        told.append(moved)
    return told


def _mean_told(scores: pd.Series) -> str:
    """``81.00``, with the number of trials that have a score."""
    value = mean(scores)
    return "none" if value is None else f"{100 * value:.2f} ({count(len(scores), 'trial')})"


def _experiments(folder: Path) -> dict[str, Path]:
    """Folders with records, by name; the folder itself may be one."""
    if (folder / _RECORDS).is_file():
        return {"": folder}
    return {path.parent.name: path.parent for path in sorted(folder.glob(f"*/{_RECORDS}"))}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    asked = parser.parse_args(arguments)
    old, new = _experiments(asked.old), _experiments(asked.new)
    common = [name for name in old if name in new]
    if not common:
        parser.error(f"{asked.old} and {asked.new} have no experiment with records in common")
    different = False
    for name in common:
        tables = [pd.read_csv(runs[name] / _RECORDS) for runs in (old, new)]
        told = differences(*tables)
        different |= bool(told)
        label = name or asked.new.name
        print(f"{label}: {count(len(tables[1]), 'record')}, {'different' if told else 'equal'}")
        print(*(f"  {sentence}" for sentence in told), sep="\n", end="\n" if told else "")
    return int(different)


if __name__ == "__main__":
    sys.exit(main())
