"""Accuracies by trial that the reference run keeps, so that its findings can be computed anew.

Boards, kinds of shift and curves over labels take hours each and need not be run in one piece. What
is said of all of them together is computed from what each run left here: no records, for they hold
no prediction, no warning and no other metric.
"""

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from workflow.lib.config.suite import Suite
from workflow.lib.results.records import CELL
from workflow.lib.results.views import ExperimentView
from workflow.lib.storage.artifacts import atomic_write
from workflow.lib.trials.evaluate import COLUMNS

FOLDER = "scores"
_KEPT = ["experiment", "source", "target", *CELL, "status", "accuracy", "seconds"]


@dataclasses.dataclass(frozen=True)
class Kept:
    """What one run left of an experiment.

    Attributes
    ----------
    view : ExperimentView
        With the methods that were run; of a record all is missing that is not kept.
    run : str
        The run, in words.
    """

    view: ExperimentView
    run: str


def keep_scores(views: Iterable[ExperimentView], out: Path, run: str) -> None:
    """Leave the accuracies of some experiments in the folder of a reference.

    Parameters
    ----------
    views : iterable of ExperimentView
    out : Path
        The reference.
    run : str
        The run that they are of, in words.
    """
    for view in views:
        with atomic_write(_file(view.name, out)) as temporary:
            table = view.records.reindex(columns=_KEPT).assign(run=run)
            table.to_parquet(temporary, index=False, compression="zstd")


def forget_scores(names: Iterable[str], out: Path) -> None:
    """Take away what was kept of some experiments."""
    for name in names:
        _file(name, out).unlink(missing_ok=True)


def kept_scores(suite: Suite, names: Iterable[str], out: Path) -> list[Kept]:
    """What is kept of those of some experiments that still have the same tasks."""
    found = [_kept(suite, name, out) for name in names if _file(name, out).is_file()]
    return [one for one in found if one is not None]


def _kept(suite: Suite, name: str, out: Path) -> Kept | None:
    table, experiment = pd.read_parquet(_file(name, out)), suite.experiments[name]
    if {*table["task"]} != {task.name for task in experiment.tasks}:
        return None
    methods = tuple(method for method in experiment.methods if method in {*table["method"]})
    mine = table[table["method"].isin(methods)].reset_index(drop=True)
    records = mine.reindex(columns=list(COLUMNS)).astype(COLUMNS)
    run = str(table["run"].iloc[0])
    asked = dataclasses.replace(experiment, methods=methods)
    return Kept(ExperimentView(asked, suite, records), run)


def _file(name: str, out: Path) -> Path:
    return out / FOLDER / f"{name}.parquet"
