"""Trials that need not be computed again: of an interrupted block, and of blocks of another size.

A block's outputs appear when all its trials are done, which may take hours. Meanwhile its finished
trials are kept beside them, several at a time, until the task is evaluated, and a block that is
begun again takes up those that were made from the same: code, settings and inputs. So does a block
that holds other trials than those whose outputs lie beside it: how trials are shared among jobs is
nobody's result.
"""

import dataclasses
import hashlib
import json
import shutil
import time
from collections.abc import Container, Mapping, Sequence
from pathlib import Path

import numpy as np

from workflow.lib.config.suite import block_trials
from workflow.lib.execution.guard import Outcome
from workflow.lib.storage.artifacts import (
    CorruptArtifact,
    content_sum,
    read_arrays,
    read_records,
    write_arrays,
)
from workflow.lib.storage.computed_with import computed_by_all, computed_here
from workflow.lib.trials.measured import kept_folder

# What is lost at most, beside the trial at work; shorter blocks keep nothing.
SECONDS_BETWEEN = 20.0

Found = tuple[Outcome, dict[str, np.ndarray]]


class Kept:
    """Finished trials of one block.

    Parameters
    ----------
    folder : Path
        Theirs alone; made when there is something to keep.
    made_from : object
        JSON-able: all that the block is described by, its code included.
    inputs : sequence of str
        Files that it reads, of `write_arrays`.
    others : sequence of (records, predictions)
        Outputs of other blocks of the same task and method, whose headers have this `header`.
    """

    def __init__(
        self,
        folder: Path,
        made_from: object,
        inputs: Sequence[str],
        others: Sequence[tuple[Path, Path]] = (),
    ):
        self._folder, self._made_from, self._inputs = folder, made_from, inputs
        self._others = others
        self._pending: list[Found] = []
        self._since = time.monotonic()
        self._key: str | None = None
        self._taken: dict[int, Mapping] = {}

    def found(self) -> dict[int, Found]:
        """What an earlier attempt or another block has left, by trial.

        What is damaged or was made from anything else is not.
        """
        trials = {n: found for files in self._others for n, found in self._of(*files).items()}
        for path in sorted(self._folder.glob("*.npz")):
            try:
                arrays, meta = read_arrays(path)
            except (CorruptArtifact, OSError):
                continue
            if meta["key"] == self.key:
                for outcome in (Outcome(**fields) for fields in meta["outcomes"]):
                    trials[outcome.trial] = outcome, _below(arrays, f"{outcome.trial}/")
                    self._taken[outcome.trial] = meta
        return trials

    def _of(self, records: Path, predictions: Path) -> dict[int, Found]:
        """Trials of another block that gave an answer."""
        try:
            rows, meta = read_records(records)
            if meta.get("key") != self.key:
                return {}
            arrays, _ = read_arrays(predictions)
        except (CorruptArtifact, OSError):
            return {}
        self._taken |= dict.fromkeys(meta["answered"], meta)
        return {trial: _answer(trial, rows, arrays) for trial in meta["answered"]}

    def header(self, answered: Sequence[int], computed: Sequence[int]) -> dict:
        """By which the trials of a finished block are known to those of another size.

        And with what they were computed, here or where they were found.

        Parameters
        ----------
        answered : sequence of int
            Trials that gave an answer.
        computed : sequence of int
            Trials that were computed, here or where they were found, those that failed included.
        """
        headers = [self._taken.get(trial) or computed_here() for trial in computed]
        return {"key": self.key, "answered": list(answered), **computed_by_all(headers)}

    def put(self, outcome: Outcome, arrays: dict[str, np.ndarray]) -> None:
        """Keep a trial that gave an answer, with the next that are due."""
        self._pending.append((outcome, arrays))
        if time.monotonic() - self._since >= SECONDS_BETWEEN:
            self.write()

    def write(self) -> None:
        """Keep what is pending, now: the block is to be begun again."""
        if not self._pending:
            return
        numbers = [outcome.trial for outcome, _ in self._pending]
        together = {name: array for _, arrays in self._pending for name, array in arrays.items()}
        outcomes = [dataclasses.asdict(outcome) for outcome, _ in self._pending]
        meta = {"key": self.key, "outcomes": outcomes, **computed_here()}
        write_arrays(self._folder / f"{min(numbers)}-{max(numbers)}.npz", together, meta)
        self._pending, self._since = [], time.monotonic()

    @property
    def key(self) -> str:
        """Sum of all that the trials are made from."""
        if self._key is None:
            parts = [self._made_from, [content_sum(path) for path in self._inputs]]
            self._key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        return self._key


def clear_kept(records: Path, statuses: Container[str]) -> None:
    """Remove what was kept of a block that is evaluated, unless a trial of it is lost.

    Not before: where several blocks are one job of a cluster, those that are done lose their
    outputs with the one that fails.

    Parameters
    ----------
    records : Path
        The block's.
    statuses : container of str
        Of its trials.
    """
    if "lost" not in statuses:
        method, block = records.name.split(".")[:2]
        shutil.rmtree(kept_folder(records.parent, method, block), ignore_errors=True)


def block_files(folder: Path, method: str, trials: Sequence[int]) -> list[tuple[Path, Path]]:
    """Records and predictions of the blocks of a method, in the folder of a task, that hold some of
    these trials.
    """
    found = []
    for file in sorted(folder.glob(f"{method}.*.align.jsonl")):
        stem = file.name.removesuffix(".align.jsonl")
        if not {*trials}.isdisjoint(block_trials(stem.rpartition(".")[2])):
            found.append((file, file.with_name(f"{stem}.predictions.npz")))
    return found


def _answer(trial: int, rows: Sequence[dict], arrays: dict[str, np.ndarray]) -> Found:
    own = [row for row in rows if row["trial"] == trial]
    records = [{name: value for name, value in row.items() if name != "trial"} for row in own]
    return Outcome(trial, "ok", records), _below(arrays, f"{trial}/")


def _below(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name: array for name, array in arrays.items() if name.startswith(prefix)}
