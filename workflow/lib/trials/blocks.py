"""Run a block under guard and gather the results of its trials."""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from workflow.lib.execution.guard import Limits, Outcome, Outgrown, run_block
from workflow.lib.trials.kept import Found, Kept

# What a record says of a trial without an outcome when its job is not tried any more.
LOST = (
    "not computed: the run was told to give up what was missing, or each time its job was tried it "
    "failed by itself (its log says why), was cancelled, ran out of time, or lost its node"
)


def note_lost(records: Path | str) -> None:
    """Note that a file of an experiment holds lost trials, so that the next run repeats it."""
    records = Path(records)
    note = records.parents[0 if records.name == "study.jsonl" else 1] / "lost"
    note.mkdir(exist_ok=True)
    (note / f"{records.parent.name}.{records.name}").write_text(str(records), encoding="utf-8")


def run_aligned(
    block: dict,
    trials: Sequence[int],
    limits: Limits,
    scratch: Path,
    tell: Callable[[Outcome], None],
    kept: Kept | None = None,
) -> tuple[list[dict], dict[str, np.ndarray], list[int]]:
    """Align a block of trials, but for those that `kept` finds.

    Returns
    -------
    records : list of dict
        One per (trial, setting, classifier), or per (trial, candidate) where the block is tuned,
        whatever became of the trial.
    arrays : dict
        What the trials left, each name below its trial: ``"<trial>/<setting>/<classifier>"`` or
        ``"<trial>/<candidate>"``.
    answered : list of int
        Trials that gave an answer: what failed may do better in another block.

    Raises
    ------
    Outgrown
        If a trial may have failed for want of memory that the job had not asked for.
    """
    job = f"workflow.lib.trials.{'tuning' if block['tuning'] else 'align'}"
    done = kept.found() if kept else {}
    remaining, answered = [trial for trial in trials if trial not in done], list(done)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        for outcome in run_block(job, block, remaining, limits, Path(folder), answered):
            # An error, too, may come from a cluster that bounds the address space.
            if limits.is_guess and (error := _first_error(outcome)):
                raise Outgrown(outcome.trial, error)
            left = {}
            if outcome.status == "ok":
                left = _arrays(Path(folder) / f"{outcome.trial}.npz", outcome.trial)
                if kept:
                    kept.put(outcome, left)
            done[outcome.trial] = outcome, left
            tell(outcome)
    return _gathered(block, trials, done)


def given_up(
    block: dict, trials: Sequence[int], kept: Kept
) -> tuple[list[dict], dict[str, np.ndarray], list[int]]:
    """The same of a block that is not tried again: what `kept` finds, and the others as lost."""
    return _gathered(block, trials, kept.found())


def _gathered(block: dict, trials: Sequence[int], done: Mapping[int, Found]) -> tuple:
    records, arrays, answered = [], {}, []
    for trial in trials:
        outcome, left = done.get(trial) or (Outcome(trial, "lost", error=LOST), {})
        records += _records(outcome, block)
        arrays |= left
        if outcome.status == "ok":
            answered.append(trial)
    return records, arrays, answered


def run_timed(block: dict, repeats: int, limits: Limits, scratch: Path) -> list[dict]:
    """Time a method ``repeats`` times; a failed repeat is a record too."""
    records = []
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        trials = range(repeats)
        for outcome in run_block("workflow.lib.trials.timing", block, trials, limits, Path(folder)):
            for record in outcome.records or [_failure(outcome)]:
                records.append({"repeat": outcome.trial, **record})
    return records


def _records(outcome: Outcome, block: dict) -> list[dict]:
    if outcome.status == "ok":
        return [{"trial": outcome.trial, **record} for record in outcome.records]
    return _every_cell(block, [outcome.trial], _failure(outcome))


def _first_error(outcome: Outcome) -> str | None:
    told = [{"status": outcome.status, "error": outcome.error}, *outcome.records]
    return next((record["error"] for record in told if record["status"] == "error"), None)


def _every_cell(block: dict, trials: Iterable[int], fields: dict) -> list[dict]:
    """The same record for every setting and classifier of some trials; once where tuned."""
    if block["tuning"]:
        return [{"trial": trial, "candidate": 0, **fields} for trial in trials]
    n_settings = len(block["method"]["varied_params"])
    return [
        {"trial": trial, "setting": position, "classifier": name, **fields}
        for trial in trials
        for position in range(n_settings)
        for name in block["classifiers"]
    ]


def _failure(outcome: Outcome) -> dict:
    return {
        "status": outcome.status,
        "error": outcome.error,
        "seconds": outcome.seconds,
        "peak_mb": outcome.peak_mb,
    }


def _arrays(path: Path, trial: int) -> dict[str, np.ndarray]:
    with np.load(path) as stored:
        return {f"{trial}/{name}": stored[name] for name in stored.files}


def unavailable(block: dict, trials: Iterable[int], reason: str) -> list[dict]:
    """Records of trials whose data is unavailable."""
    return _every_cell(block, trials, {"status": "data_unavailable", "error": reason})


def run_study(block: dict, limits: Limits, scratch: Path) -> tuple[Outcome, dict]:
    """Run a study; its records are in the outcome, its arrays beside it."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        (outcome,) = run_block("workflow.lib.trials.study", block, [0], limits, Path(folder))
        if outcome.status != "ok":
            return outcome, {}
        with np.load(Path(folder) / "0.npz") as stored:
            return outcome, {name: stored[name] for name in stored.files}
