"""Scores by trial that the reference run keeps, so that boards and findings can be made anew.

Boards, kinds of shift and curves over labels take hours each and need not be run in one piece: a
board is made of what every experiment of it left here, findings of what all boards left. These are
no records: of a trial, the metrics that boards show, its cost and its outcome, and no prediction.
"""

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from workflow.lib.config.suite import Suite
from workflow.lib.results.board import OF_PROBABILITIES, SHOWN
from workflow.lib.results.records import CELL
from workflow.lib.results.views import ExperimentView
from workflow.lib.storage.artifacts import atomic_write
from workflow.lib.trials.evaluate import COLUMNS

FOLDER = "scores"
_KEPT = [
    *("experiment", "source", "target", *CELL, "status", "error", "warnings"),
    *("candidate", *SHOWN, *OF_PROBABILITIES, "seconds", "peak_mb"),
]


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
    """Leave the scores of some experiments in the folder of a reference.

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


def kept_scores(suite: Suite, names: Iterable[str], out: Path) -> list[Kept]:
    """What is kept of some experiments; nothing where one of them asks for other cells by now.

    Other cells: tasks, ways of choosing or settings. Methods may have come or gone since.
    """
    found = [_kept(suite, name, out) for name in names if _file(name, out).is_file()]
    return [] if None in found else found


def _kept(suite: Suite, name: str, out: Path) -> Kept | None:
    table, experiment = pd.read_parquet(_file(name, out)), suite.experiments[name]
    asked = {
        "task": {task.name for task in experiment.tasks},
        "classifier": {*experiment.recorded},
        "setting": {*experiment.settings},
    }
    if any({*_plain(table[column])} != values for column, values in asked.items()):
        return None
    methods = tuple(method for method in experiment.methods if method in {*table["method"]})
    mine = table[table["method"].isin(methods)].reset_index(drop=True)
    records = mine.reindex(columns=list(COLUMNS)).astype(COLUMNS)
    run = str(table["run"].iloc[0])
    shown = dataclasses.replace(experiment, methods=methods)
    return Kept(ExperimentView(shown, suite, records), run)


def _plain(column: pd.Series) -> pd.Series:
    return column.astype(object).where(column.notna(), None)


def _file(name: str, out: Path) -> Path:
    return out / FOLDER / f"{name}.parquet"
