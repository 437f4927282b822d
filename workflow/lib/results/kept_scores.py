"""Scores by trial that the reference run keeps, so that boards and findings can be made anew.

Boards, kinds of shift and curves over labels take hours each and need not be run in one piece: a
board is made of what every experiment of it left here, findings of what all boards left. These are
no records: of a trial, the metrics that boards show, its cost and its outcome, and no prediction.
"""

import dataclasses
from collections.abc import Collection, Iterable
from pathlib import Path

import pandas as pd

from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.results.asked import drawn_of, tried_by
from workflow.lib.results.board import OF_PROBABILITIES, SHOWN
from workflow.lib.results.records import CELL
from workflow.lib.results.text import listed
from workflow.lib.results.views import ExperimentView
from workflow.lib.storage.artifacts import atomic_write
from workflow.lib.trials.evaluate import COLUMNS

FOLDER = "scores"
# Columns that tell trials of other data, or drawn in another way, from these, and scores of a
# method that had other settings or candidates.
_DRAWN, _TRIED = "drawn", "tried"
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
    runs : dict of str to list of str
        The methods of each run, by the run in words; that with most methods first.
    commits : dict of str to str
        The commit of each run of which it is known.
    """

    view: ExperimentView
    runs: dict[str, list[str]]
    commits: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def run(self) -> str:
        """The runs in words, with their commits; with methods, where those of one experiment are of
        several.
        """
        first, *others = self.runs
        parts = (f"{listed(self.labels(run))} of the {self._at(run)}" for run in others)
        return "; ".join([self._at(first), *parts])

    def _at(self, run: str) -> str:
        return f"{run} (commit {self.commits[run]})" if run in self.commits else run

    def labels(self, run: str) -> list[str]:
        """Labels of the methods of a run."""
        return [self.view.suite.methods[method]["label"] for method in self.runs.get(run, [])]

    def part(self, run: str) -> ExperimentView:
        """The methods of a run alone."""
        return _restricted(self.view, self.runs[run])


def keep_scores(views: Iterable[ExperimentView], out: Path, run: str, commit: str = "") -> None:
    """Leave the scores of some experiments in the folder of a reference.

    Of methods that the run has not, those of an earlier one stay, if they are of the same cells.

    Parameters
    ----------
    views : iterable of ExperimentView
    out : Path
        The reference.
    run : str
        The run that they are of, in words.
    commit : str, optional
        The commit that it ran at, where that is known.
    """
    about = {"run": run, "commit": commit}
    for view in views:
        drawn = drawn_of(view.suite, view.experiment)
        table = view.records.reindex(columns=_KEPT).assign(**about, **{_DRAWN: drawn})
        table[_TRIED] = table["method"].map(tried_by(view.suite, view.experiment))
        table = pd.concat([table, *_others(view, out)], ignore_index=True)
        with atomic_write(_file(view.name, out)) as temporary:
            table.to_parquet(temporary, index=False, compression="zstd")


def _others(view: ExperimentView, out: Path) -> list[pd.DataFrame]:
    """What stands of other methods of the experiment."""
    if not _file(view.name, out).is_file():
        return []
    table = pd.read_parquet(_file(view.name, out))
    if not _same_cells(table, view.experiment, view.suite):
        return []
    others = {*view.experiment.methods} - {*view.records["method"]}
    return [_as_today(table[table["method"].isin(others)], view.experiment, view.suite)]


def kept_scores(suite: Suite, names: Iterable[str], out: Path) -> list[Kept]:
    """What is kept of some experiments; nothing where one of them asks for other cells by now.

    Other cells: tasks, ways of choosing, settings, or another protocol or other data under the same
    names; or where no method that applies has the settings and candidates of today. Methods may
    have come or gone since; one that has others by now is gone.
    """
    found = [_kept(suite, name, out) for name in names if _file(name, out).is_file()]
    return [] if None in found else found


def _kept(suite: Suite, name: str, out: Path) -> Kept | None:
    table, experiment = pd.read_parquet(_file(name, out)), suite.experiments[name]
    if not _same_cells(table, experiment, suite):
        return None
    table = _as_today(table, experiment, suite)
    if not (table["status"] != "not_applicable").any():  # then no score is of today's candidates
        return None
    records = table.reindex(columns=list(COLUMNS)).astype(COLUMNS)
    view = _restricted(ExperimentView(experiment, suite, records), [*table["method"]])
    of = dict(zip(table["method"], table["run"], strict=True))
    runs: dict[str, list[str]] = {}
    for method in view.methods:
        runs.setdefault(of[method], []).append(method)
    at = dict(zip(table["run"], table.get("commit", [None] * len(table)), strict=True))
    known = {run: at[run] for run in runs if isinstance(at[run], str) and at[run]}
    return Kept(view, dict(sorted(runs.items(), key=lambda run: -len(run[1]))), known)


def _restricted(view: ExperimentView, methods: Collection[str]) -> ExperimentView:
    """The view of some of its methods."""
    shown = tuple(method for method in view.methods if method in {*methods})
    records = view.records[view.records["method"].isin(shown)].reset_index(drop=True)
    experiment = dataclasses.replace(view.experiment, methods=shown)
    return ExperimentView(experiment, view.suite, records)


def _same_cells(table: pd.DataFrame, experiment: Experiment, suite: Suite) -> bool:
    asked = {
        "task": {task.name for task in experiment.tasks},
        "classifier": {*experiment.recorded},
        "setting": {*experiment.settings},
    }
    # What was kept before this column was has none.
    known = {*table.get(_DRAWN, pd.Series(dtype=str)).dropna()}
    return known <= {drawn_of(suite, experiment)} and all(
        {*_plain(table[column])} == values for column, values in asked.items()
    )


def _as_today(table: pd.DataFrame, experiment: Experiment, suite: Suite) -> pd.DataFrame:
    """The methods of a table that have the same settings and candidates today."""
    if _TRIED not in table:  # what was kept before this column was
        return table
    today = table["method"].map(tried_by(suite, experiment))
    return table[table[_TRIED].isna() | (table[_TRIED] == today)]


def _plain(column: pd.Series) -> pd.Series:
    return column.astype(object).where(column.notna(), None)


def _file(name: str, out: Path) -> Path:
    return out / FOLDER / f"{name}.parquet"
