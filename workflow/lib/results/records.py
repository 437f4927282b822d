"""One tidy table of everything that an experiment asked for, and its summary.

Every cell (task x method x classifier x setting x trial) that the configuration asks for has
exactly one record. A missing or duplicate record is an error: a table that averages whatever
arrived looks like a correct one.
"""

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet

from workflow.lib.config.metrics import METRICS
from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.results.asked import sums_of
from workflow.lib.results.statistics import describe, mean
from workflow.lib.storage.artifacts import (
    SCHEMA_VERSION,
    CorruptArtifact,
    atomic_write,
    read_as_written,
    read_records,
    verify_sums,
    write_sums,
)
from workflow.lib.storage.computed_with import COMPUTED_WITH, UNSAID
from workflow.lib.trials.evaluate import COLUMNS

STATUSES = (
    "ok",
    "error",
    "timeout",
    "memory",
    "killed",
    "nonfinite",
    "not_applicable",
    "data_unavailable",
    "lost",
)
# Trials that ran and gave no answer. The others could not run, or a cluster took their job away.
FAILURES = ("error", "timeout", "memory", "killed", "nonfinite")
# Coordinates of a table cell, over whose trials scores are summarised.
GROUP = ["task", "method", "classifier", "setting"]
CELL = [*GROUP, "trial"]
FILES = ("records.csv", "records.parquet", "summary.csv")
ASKED = "asked"  # among the metadata of the schema of records.parquet
_SHOWN = 5  # cells that a message names
# In the summary: over the trials that are ok, where others are not.
PARTIAL_MEAN = "accuracy_partial_mean"


class IncompleteResultsError(ValueError):
    """The records are not exactly the ones that the experiment asks for."""


def collect(
    experiment: Experiment, record_files: Iterable[Path | str], suite: Suite
) -> pd.DataFrame:
    """Read the records of every task of an experiment and check that they are complete.

    Parameters
    ----------
    experiment : Experiment
        Says which cells are asked for, and in which order they are listed.
    record_files : iterable of path
        ``records.jsonl`` of every task.
    suite : Suite
        Gives the number of trials.

    Returns
    -------
    pandas.DataFrame
        One row per cell, sorted as the experiment file lists tasks, methods, classifiers and
        settings.

    Raises
    ------
    CorruptArtifact
        If a file is damaged.
    IncompleteResultsError
        Naming the cells that are missing, doubled or not asked for.
    """
    rows = []
    for path in record_files:
        for record in read_records(path)[0]:
            if record.get("status") not in STATUSES:
                raise CorruptArtifact(Path(path), f"unknown status {record.get('status')!r}")
            rows.append(record)
    records = _frame(rows)
    asked = list(_asked_cells(experiment, suite.n_trials(experiment.name)))
    _check_complete(experiment.name, records, asked)
    order = {cell: position for position, cell in enumerate(asked)}
    positions = [order[cell] for cell in _cells(records)]
    return records.iloc[np.argsort(positions, kind="stable")].reset_index(drop=True)


def write_results(
    folder: Path | str,
    experiment: Experiment,
    records: pd.DataFrame,
    suite: Suite,
    computed: Iterable[Mapping[str, str]] = (),
) -> list[Path]:
    """Write records.csv, records.parquet, summary.csv and SHA256SUMS; return their paths.

    What the records were computed with, see `storage.computed_with`, and with which settings, see
    `asked`, stands among the metadata of the schema of records.parquet.
    """
    folder = Path(folder)
    with atomic_write(folder / "records.csv") as temporary:
        records.to_csv(temporary, index=False, lineterminator="\n")
    with atomic_write(folder / "records.parquet") as temporary:
        table = pyarrow.Table.from_pandas(records, preserve_index=False)
        told = {COMPUTED_WITH: list(computed), ASKED: sums_of(suite, experiment)}
        schema = table.schema.metadata | {key: json.dumps(what) for key, what in told.items()}
        pyarrow.parquet.write_table(table.replace_schema_metadata(schema), temporary)
    with atomic_write(folder / "summary.csv") as temporary:
        summarise(experiment, records, suite).to_csv(temporary, index=False, lineterminator="\n")
    write_sums(folder, list(FILES))
    return [folder / name for name in (*FILES, "SHA256SUMS")]


def load_results(folder: Path | str) -> pd.DataFrame:
    """Records that `write_results` wrote, after checking every sum in ``SHA256SUMS``.

    Raises
    ------
    CorruptArtifact
        If a file of the folder is missing or changed.
    """
    verify_sums(folder, FILES)
    return pd.read_parquet(Path(folder) / "records.parquet").astype(COLUMNS)


def load_computed_with(folder: Path | str) -> list[dict[str, str]]:
    """What the records of `load_results` were computed with, as far as their table says.

    Raises
    ------
    CorruptArtifact
        If the table is damaged.
    """
    said = _metadata(folder, COMPUTED_WITH)
    return [UNSAID] if said is None else said


def load_asked(folder: Path | str) -> dict | None:
    """With which settings the records were made, see `asked.sums_of`; None where they do not say.

    Raises
    ------
    CorruptArtifact
        If the table is damaged.
    """
    return _metadata(folder, ASKED)


def _metadata(folder: Path | str, key: str):
    with read_as_written(path := Path(folder) / "records.parquet"):
        said = (pyarrow.parquet.read_schema(path).metadata or {}).get(key.encode())
        return None if said is None else json.loads(said)


def summarise(experiment: Experiment, records: pd.DataFrame, suite: Suite) -> pd.DataFrame:
    """One row per (task, method, classifier, setting): counts by status, scores, cost."""
    n_asked = suite.n_trials(experiment.name)
    rows = []
    # As arrays: to choose rows of a table by a condition takes half a millisecond, and there are
    # ten such choices in every cell.
    status, source, target = (
        records[name].to_numpy(dtype=object) for name in ("status", "source", "target")
    )
    names = {name: records[name].to_numpy(dtype=object) for name in GROUP}
    numbers = {
        name: records[name].to_numpy(dtype=float, na_value=np.nan)
        for name in (*METRICS, "seconds", "peak_mb")
    }
    for here in _places(records):
        first = here[0]
        counts = Counter(status[here])
        scored = here[status[here] == "ok"]
        seconds, peaks = (_known(numbers[name][here]) for name in ("seconds", "peak_mb"))
        rows.append(
            {
                "schema_version": SCHEMA_VERSION,
                "experiment": experiment.name,
                "task": names["task"][first],
                "source": source[first],
                "target": target[first],
                "method": names["method"][first],
                "classifier": names["classifier"][first],
                "setting": _or_none(names["setting"][first]),
                "n_asked": n_asked,
                **{f"n_{status}": counts[status] for status in STATUSES},
                **_score_columns({name: numbers[name][scored] for name in METRICS}, n_asked),
                "seconds_median": float(np.median(seconds)) if len(seconds) else None,
                "peak_mb": float(peaks.max()) if len(peaks) else None,
            }
        )
    return pd.DataFrame(rows)


def _score_columns(scores: dict[str, np.ndarray], n_asked: int) -> dict[str, float | None]:
    """Statistics of every metric over all trials of a cell; without some of them there are none.

    The hard trials may be those that failed, so a mean of the others has a name of its own.
    """
    known = {name: _known(values) for name, values in scores.items()}
    columns = {}
    for metric in METRICS.values():
        whole = known[metric.name] if len(known[metric.name]) == n_asked else ()
        found = describe(whole, metric.summary)
        columns |= {f"{metric.name}_{name}": value for name, value in found.items()}
    partial = known["accuracy"] if len(known["accuracy"]) < n_asked else ()
    return {**columns, PARTIAL_MEAN: mean(partial)}


def _places(records: pd.DataFrame) -> list[np.ndarray]:
    """Rows of each cell of a table, in the order of the cells' first rows."""
    cells = records.groupby(GROUP, sort=False, dropna=False).ngroup().to_numpy()
    if not len(cells):
        return []
    return np.split(np.argsort(cells, kind="stable"), np.cumsum(np.bincount(cells))[:-1])


def _known(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)]


def groups(records: pd.DataFrame) -> Iterator[tuple[tuple, pd.DataFrame]]:
    """Records of each (task, method, classifier, setting); no setting is None."""
    for (*names, setting), group in records.groupby(GROUP, sort=False, dropna=False):
        yield (*names, _or_none(setting)), group


def scores_of(cell: pd.DataFrame, measure: str) -> np.ndarray:
    """Scores of the trials that are ok, as floats."""
    scores = cell[measure].to_numpy(dtype=float, na_value=np.nan)
    ok = (cell["status"] == "ok").to_numpy(dtype=bool)
    return scores[ok & ~np.isnan(scores)]


def seconds_of(records: pd.DataFrame) -> float:
    """Seconds that the trials took; every classifier or way of choosing of a trial repeats them."""
    trials = records.groupby(["task", "method", "setting", "trial"], dropna=False)
    return float(trials["seconds"].max().fillna(0).sum())


def _or_none(number: float) -> float | None:
    return None if pd.isna(number) else float(number)


def no_records() -> pd.DataFrame:
    """An empty table of records, for a study."""
    return _frame([])


def _frame(rows: list[dict]) -> pd.DataFrame:
    table = {
        name: pd.array([_plain(row.get(name)) for row in rows], dtype=kind)
        for name, kind in COLUMNS.items()
    }
    return pd.DataFrame(table)


def _plain(value: object) -> object:
    """A list (of warnings) as one text; None for an empty list and for NaN."""
    if isinstance(value, list):
        return "; ".join(str(item) for item in value) or None
    if isinstance(value, float) and np.isnan(value):
        return None
    return value


def _asked_cells(experiment: Experiment, n_trials: int) -> Iterable[tuple]:
    return itertools.product(
        [task.name for task in experiment.tasks],
        experiment.methods,
        experiment.recorded,
        experiment.settings,
        range(n_trials),
    )


def _cells(records: pd.DataFrame) -> list[tuple]:
    return [
        (*names, _or_none(setting), trial)
        for *names, setting, trial in records[CELL].itertuples(index=False, name=None)
    ]


def _check_complete(name: str, records: pd.DataFrame, asked: list[tuple]) -> None:
    found, known = Counter(_cells(records)), set(asked)
    problems = {
        "missing": [cell for cell in asked if cell not in found],
        "recorded more than once": [cell for cell, times in found.items() if times > 1],
        "not asked for": [cell for cell in found if cell not in known],
    }
    told = [
        f"{len(cells)} of {len(asked)} cells {what}: {_some(cells)}"
        for what, cells in problems.items()
        if cells
    ]
    if told:
        raise IncompleteResultsError(
            f"results/{name}: {'; '.join(told)}. "
            f"Delete results/{name}/<task> of the tasks named and run again."
        )


def _some(cells: list[tuple]) -> str:
    words = [
        f"{task}/{method}/{classifier}{_at(setting)} trial {trial}"
        for task, method, classifier, setting, trial in cells[:_SHOWN]
    ]
    return ", ".join(words) + (", …" if len(cells) > _SHOWN else "")


def _at(setting: float | None) -> str:
    return "" if setting is None else f" setting {setting:g}"
