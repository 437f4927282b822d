"""What the jobs of an experiment with an answer left, as candidates to decide among."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.candidates import in_words, numbered
from workflow.lib.config.suite import Suite
from workflow.lib.results.accuracy_estimates import estimate
from workflow.lib.results.own_answer import Candidate
from workflow.lib.storage.artifacts import read_arrays, read_records
from workflow.lib.trials.protocols import Trial

# Judge candidates on labels of the target that are shown, where there are some: both domains, and
# the source alone.
ON_LABELS, ON_SOURCE = "labelled_accuracy", "source_accuracy"


def read_candidates(
    suite: Suite, experiment: str, aligned: Sequence[Path | str], trials: Sequence[Trial]
) -> tuple[list[Candidate], dict[str, str], int]:
    """Candidates that answered in every trial, why other methods have none, and how many there are.

    Parameters
    ----------
    suite : Suite
    experiment : str
        Of one task.
    aligned : sequence of path
        ``<method>.<block>.align.jsonl``, beside the predictions.
    trials : sequence of Trial

    Returns
    -------
    candidates : list of Candidate
        In the order of the experiment's methods.
    left_out : dict of str to str
        Method to the reason.
    n_asked : int
        Candidates of all methods, those included that were not tried.
    """
    records: dict[str, list[dict]] = {}
    arrays: dict[str, dict[str, np.ndarray]] = {}
    for path in map(Path, aligned):
        method = path.name.partition(".")[0]
        records.setdefault(method, []).extend(read_records(path)[0])
        left = path.with_name(path.name.replace("align.jsonl", "predictions.npz"))
        arrays.setdefault(method, {}).update(read_arrays(left)[0])
    task = suite.experiments[experiment].tasks[0]
    candidates, left_out, n_asked, of_target = [], {}, 0, set()
    for method in suite.experiments[experiment].methods:
        defaults = suite.method(experiment, method)["params"]
        drawn = numbered(suite.candidates(experiment, method, task))
        words = [in_words(alignment, classifier, defaults) for alignment, classifier in drawn]
        n_asked += len(drawn)
        is_baseline = suite.is_baseline(method)
        found = candidates_of_method(
            method, is_baseline, words, records[method], arrays[method], trials
        )
        make = resolve_estimator(suite.methods[method]["estimator"])
        embeds = [make(**one.params).capabilities.embeds_new_samples for one, _ in drawn]
        candidates += [dataclasses.replace(one, embeds=embeds[one.number]) for one in found]
        if is_baseline and make(**defaults).classifier_rows == "target":
            of_target.add(method)
        if not found:
            reasons = [record["error"] for record in records[method] if record.get("error")]
            left_out[method] = reasons[0] if reasons else "no estimate of its accuracy"
    return with_both_halves(candidates, of_target), left_out, n_asked


def with_both_halves(
    candidates: Sequence[Candidate], of_target: Collection[str]
) -> list[Candidate]:
    """Candidates of the target alone, named by method, with what stands for their source's half.

    Their criterion is the held-out accuracy on the target; see `Candidate.on_source`.
    """
    known = [one for one in candidates if one.selector is not None]
    on_target = [
        one.selector if one.method in of_target else 2 * one.selector - one.on_source
        for one in known
    ]
    if not known:
        return list(candidates)
    usual = float(np.mean(on_target))
    return [
        dataclasses.replace(one, selector=(one.selector + usual) / 2, on_source=usual)
        if one.method in of_target and one.selector is not None
        else one
        for one in candidates
    ]


def candidates_of_method(
    method: str,
    is_baseline: bool,
    words: Sequence[str],
    records: Sequence[Mapping],
    arrays: Mapping[str, np.ndarray],
    trials: Sequence[Trial],
) -> list[Candidate]:
    """Those of one method that gave an answer and an estimate in every trial.

    Parameters
    ----------
    method : str
    is_baseline : bool
    words : sequence of str
        Settings of every candidate by its number.
    records : sequence of mappings
        One per (trial, candidate), as `tuning` wrote them.
    arrays : mapping
        ``"<trial>/<candidate>..."`` to what was left.
    trials : sequence of Trial
    """
    known = {(r["trial"], r["candidate"]): r for r in records if r["status"] == "ok"}
    found = []
    for number, settings in enumerate(words):
        mine = [known.get((trial, number)) for trial in range(len(trials))]
        if not all(mine):
            continue
        estimates = [estimate(arrays, f"{t}/{number}", trial) for t, trial in enumerate(trials)]
        if not all(estimates):
            continue
        held_out, n_target = arrays[f"0/{number}/held_out"], len(trials[0].labels[-1])
        found.append(
            Candidate(
                method=method,
                number=number,
                is_baseline=is_baseline,
                words=settings,
                estimates=tuple(estimates),
                predicted=arrays[f"0/{number}"].astype(np.int64),
                confidence=_confidence(arrays, number, trials[0]),
                held_out=held_out[-n_target:],
                source_held_out=held_out[:-n_target],
                selector=_selector(mine, ON_LABELS),
                on_source=_selector(mine, ON_SOURCE),
            )
        )
    return found


def _confidence(arrays: Mapping, number: int, trial: Trial) -> np.ndarray | None:
    found = arrays.get(f"0/{number}/confidence")
    if found is None:
        return None
    n_rows = len(arrays[f"0/{number}"])
    placed = np.full(n_rows, np.nan)
    placed[trial.rows[-1]] = found
    return placed


def _selector(records: Sequence[Mapping], name: str) -> float | None:
    values = [record["selectors"].get(name) for record in records]
    return None if any(value is None for value in values) else float(np.mean(values))
