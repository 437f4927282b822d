"""Choose among candidates: by each selector without scored labels, then by the oracle with them."""

from collections.abc import Mapping, Sequence

import numpy as np
from domain_alignment.model_selection import chosen

from workflow.lib.config.tuning import CANDIDATES_FAILED, FIRST_WITH, FIXED
from workflow.lib.trials.evaluate import complete, score
from workflow.lib.trials.probabilities import read_probabilities
from workflow.lib.trials.protocols import Trial

UNDEFINED = {
    "status": "not_applicable",
    "error": "no candidate of this method can be chosen so: the selector is undefined for all of "
    "them, or the method predicts by itself",
}


def choose(candidates: Sequence[Mapping], choices: Sequence[str]) -> dict[str, int | None]:
    """The candidate that each way of choosing names, by what the method's process wrote.

    Parameters
    ----------
    candidates : sequence of mappings
        Records of one trial, in the order of the candidates.
    choices : sequence of str
        Names of selectors, and of `REFERENCES`, of which all but ``average`` and ``oracle`` are
        told here, where no scored label is at hand: ``default`` is the first candidate.

    Returns
    -------
    dict
        None where a selector is undefined for every candidate.
    """
    found: dict[str, int | None] = {}
    for name in choices:
        if name == "default":
            found[name] = 0
        elif name.startswith(FIXED):
            found[name] = _fixed(candidates, name.removeprefix(FIXED))
        elif name not in ("average", "oracle"):
            values = [record.get("selectors", {}).get(name) for record in candidates]
            found[name] = chosen([np.nan if value is None else value for value in values])
    return found


def _fixed(candidates: Sequence[Mapping], classifier: str) -> int | None:
    """The untuned embedding with a fixed classifier; None for methods that predict themselves."""
    numbers = (n for n, record in enumerate(candidates) if record.get("fixed") == classifier)
    return next(numbers, None)


def evaluate_choices(
    aligned: Sequence[Mapping],
    predictions: Mapping[str, np.ndarray],
    labels: np.ndarray,
    trials: Sequence[Trial],
    choices: Sequence[str],
    n_trials: int,
    settings: Sequence,
    coordinates: Mapping,
) -> list[dict]:
    """Scored records of one method on one task: one per trial and way of choosing.

    Parameters
    ----------
    aligned : sequence of mappings
        One per (trial, candidate), as `tuning` wrote them.
    predictions : mapping
        ``"<trial>/<candidate>"`` to the predicted labels of the whole target, and below it what
        `left_probabilities` leaves, if the experiment asks for it.
    labels : int ndarray
        True labels of the target domain; the choices are made before they are read. Where none is
        known (all -1), the choices stand in the records without a metric, and no oracle.
    trials : sequence of Trial
        All that were sampled: of a varied protocol, those of one setting after the other.
    choices : sequence of str
        Ways of choosing; ``oracle`` is the candidate with the highest accuracy, ``average`` the
        mean over the candidates that gave an answer, of every metric that all of them have.
    n_trials : int
        Trials of one setting.
    settings : sequence
        Values of the varied quantity; ``(None,)`` where nothing is varied.
    coordinates : mapping
        Fields that all records share.
    """
    records = []
    for number, trial in enumerate(trials):
        candidates = [record for record in aligned if record["trial"] == number]
        candidates.sort(key=lambda record: record.get("candidate", 0))
        if not candidates:
            continue
        picked = choose(candidates, choices)
        scores = {
            record["candidate"]: _scores(
                f"{number}/{record['candidate']}", predictions, labels, trial
            )
            for record in candidates
            if record["status"] == "ok"
        }
        place = {"trial": number % n_trials, "setting": settings[number // n_trials]}
        for name in choices:
            found = {"classifier": name, **_found(name, picked, candidates, scores)}
            records.append(complete({**found, **place}, coordinates))
    return records


def _scores(name: str, predictions: Mapping, labels: np.ndarray, trial: Trial) -> dict[str, float]:
    return score(predictions[name], labels, trial, read_probabilities(predictions, name))


def _found(name: str, picked: Mapping, candidates: Sequence[Mapping], scores: Mapping) -> dict:
    """Record of one way of choosing in one trial."""
    cost = _cost(candidates)
    if not scores:
        first = candidates[0]
        return {"status": first["status"], "error": first.get("error"), **cost, "warnings": []}
    if name == "average":
        return {"status": "ok", **_mean(scores.values()), **cost}
    number = _oracle(scores) if name == "oracle" else picked[name]
    if number is None:
        return {**_unchosen(name, candidates), **cost}
    record = candidates[number]
    if record["status"] != "ok":
        return {"status": record["status"], "error": record["error"], **cost}
    kept = {"n_components": record["n_components"], "candidate": number}
    told = [*record["warnings"], *cost["warnings"]]
    return {"status": "ok", **scores[number], **cost, **kept, "warnings": told}


def _unchosen(name: str, candidates: Sequence[Mapping]) -> dict:
    """Why none was chosen: by the first error that kept the selector from a score, if there is."""
    told = (record.get("troubles", {}).get(name) for record in candidates)
    error = next(filter(None, told), None)
    return UNDEFINED if error is None else {"status": "error", "error": error}


def _oracle(scores: Mapping[int, Mapping]) -> int | None:
    """The most accurate candidate; None where no scored label is known."""
    known = [number for number, found in scores.items() if "accuracy" in found]
    return max(known, key=lambda number: scores[number]["accuracy"], default=None)


def _cost(candidates: Sequence[Mapping]) -> dict:
    """Seconds and memory of all candidates, and how many of them failed."""
    failed = [record for record in candidates if record["status"] != "ok"]
    told = f"{len(failed)} of {len(candidates)} {CANDIDATES_FAILED}"

    def known(name: str) -> list[float]:  # what was never computed has no cost
        return [record[name] for record in candidates if record.get(name) is not None]

    return {
        "seconds": sum(known("seconds")) if known("seconds") else None,
        "peak_mb": max(known("peak_mb"), default=None),
        "warnings": [f"{told}, {FIRST_WITH}{failed[0]['error']}"] if failed else [],
    }


def _mean(scores) -> dict[str, float]:
    scores = list(scores)
    shared = [name for name in scores[0] if all(name in one for one in scores)]
    return {name: float(np.mean([one[name] for one in scores])) for name in shared}
