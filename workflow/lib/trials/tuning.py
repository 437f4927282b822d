"""Fit the candidates of one method on a block of trials; score each by the selectors.

Runs in the guarded child, as `align` does, and sees the same: a trial's visible rows and the labels
that it shows. Candidates share what they have in common: scaled features and prepared models over
the whole block, an alignment among the classifiers on its embedding, the density ratio of an
embedding among its classifiers. Trials that show the same rows share both, of a fit without labels.

Held-out predictions come from fits without the labels of a fold, so that no candidate is judged on
a label that shaped its alignment; a method that takes no labels is not fitted again.
"""

import dataclasses
import functools
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from workflow.lib.config.candidates import OWN
from workflow.lib.execution.allocator import keep_freed
from workflow.lib.execution.memory import peak_mib
from workflow.lib.execution.startup import import_sklearn_without_pandas
from workflow.lib.trials.fitting import (
    Aligned,
    Block,
    begin_trial,
    failure,
    not_applicable,
    stacked,
    warned,
)
from workflow.lib.trials.fitting import setup as read_inputs
from workflow.lib.trials.predictions import as_stored, check_predictions
from workflow.lib.trials.probabilities import left_probabilities
from workflow.lib.trials.protocols import HIDDEN, Trial

import_sklearn_without_pandas()

from domain_alignment.exceptions import NonfiniteAnswerError  # noqa: E402
from domain_alignment.model_selection import (  # noqa: E402
    SELECTORS,
    Evidence,
    held_out_predictions,
)

from workflow.lib.trials.candidate_fits import Fits, embedded_domains, estimator_of  # noqa: E402
from workflow.lib.trials.candidate_models import (  # noqa: E402
    TooFewClasses,
    predicted_rows,
    train,
    trained,
)
from workflow.lib.trials.discrepancy import critic_space, disagreement  # noqa: E402

_WITHOUT = "without the labels of a fold"


def setup(spec: dict) -> Block:
    """Read the inputs of a block, whose candidates make arrays of the same sizes over and over."""
    block = read_inputs(spec)
    n_shown = max(sum(map(len, trial.rows)) for trial in block.trials)
    n_embedded = max(n_shown, block.features[-1].shape[0])  # the whole target is
    widest = max(X.shape[1] for X in block.features)
    keep_freed(8 * max(n_shown**2, n_embedded * widest))
    return block


def run_trial(block: Block, number: int) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Fit and score every candidate of one trial.

    Returns
    -------
    records : list of dict
        One per candidate: ``candidate``, ``status``, and where it is ``ok`` the ``selectors``, a
        score (or None) by name of those that the experiment asks for, and the ``troubles``, by
        name what kept one from a score; where it is undefined there is none.
    arrays : dict
        ``<candidate>`` : predicted labels of every row of the target domain; where the experiment
        asks for an answer, also what `kept_evidence` keeps; where it asks for probabilities, of
        the fixed classifiers what `left_probabilities` leaves. Others are chosen in some trials
        only, so no mean over all trials would follow from theirs.
    """
    trial, asked = block.trials[number], block.spec["tuning"]
    begin_trial(block, trial)
    if not asked["alignments"]:
        reason = asked["takes_only"]
    else:
        first = estimator_of(block, asked["alignments"][0])
        reason = not_applicable(first, block.features, trial)
    if reason:
        return [{"candidate": 0, "status": "not_applicable", "error": reason}], {}
    records, arrays = [], {}
    for alignment in asked["alignments"]:
        # A fit that another trial of the block paid for counts as if this one had.
        spent = sum(record.get("seconds") or 0.0 for record in records)
        if spent > asked["seconds"]:
            error = f"not tried: those before it took {spent:.0f} s"
            found = _for_all(alignment, {"status": "timeout", "error": error})
        else:
            found = _outcomes(block, trial, alignment)
        for classifier, (record, left) in zip(alignment["classifiers"], found, strict=True):
            arrays |= {f"{len(records)}{suffix}": array for suffix, array in left.items()}
            place = {"candidate": len(records), "fixed": classifier["fixed"]}
            records.append({**place, **record})
    return records, arrays


def _outcomes(block: Block, trial: Trial, alignment: Mapping) -> list[tuple]:
    """Record and arrays of every candidate of an alignment, also if it fails."""
    started = time.perf_counter()
    try:
        return list(_tried(block, trial, alignment))
    except Exception as error:  # the other alignments are still tried
        traceback.print_exc()
        share = (time.perf_counter() - started) / len(alignment["classifiers"])
        return _for_all(alignment, {**failure(error), "seconds": share})


def _for_all(alignment: Mapping, record: dict) -> list[tuple]:
    return [(record, {})] * len(alignment["classifiers"])


def _tried(block: Block, trial: Trial, alignment: Mapping) -> Iterator[tuple[dict, dict]]:
    """Record and arrays of every candidate that shares an alignment."""
    started, classifiers = time.perf_counter(), alignment["classifiers"]
    with warned() as warnings:
        fits = Fits(block, trial, alignment)
        aligned = fits.aligned(trial.labels)
        started -= fits.seconds_before
        if not aligned.finite:
            raise NonfiniteAnswerError("the embedding is not finite")
        certain = _confidences(trial, classifiers, block.spec["tuning"])
        held_out = _held_out(fits, trial, classifiers, block.spec["tuning"], certain)
    judge = _Judge(fits, aligned, trial)
    share = (time.perf_counter() - started) / len(classifiers)
    rows = zip(classifiers, held_out, certain, strict=True)
    for classifier, without, confidence in rows:
        record, left = _candidate(judge, classifier, without, share, confidence)
        told = sorted({*fits.told_before, *warnings, *record.get("warnings", ())})
        yield {**record, "n_components": aligned.n_components, "warnings": told}, left


def _candidate(
    judge: "_Judge",
    classifier: Mapping,
    held_out: "_HeldOut",
    share: float,
    confidence: list | None,
) -> tuple[dict, dict]:
    """One candidate; its seconds are its own and its share of the alignment's."""
    started = time.perf_counter()
    try:
        with warned() as warnings:
            model = judge.trained(classifier)
            evidence, predicted = judge.evidence(model, classifier, held_out.predictions)
            scores, troubles = _scores(evidence, judge.selectors)
        left = {"": as_stored(predicted)}
        if confidence is not None:
            left |= kept_evidence(evidence, np.concatenate(confidence), judge.critic_spaces)
    except TooFewClasses as error:
        return {"status": "not_applicable", "error": str(error)}, {}
    except Exception as error:  # the other classifiers are still tried
        return {**failure(error), "seconds": time.perf_counter() - started + share}, {}
    troubles = held_out.troubles(judge.selectors) | troubles
    record = {
        "status": "ok",
        "selectors": scores,
        "troubles": {name: one.told for name, one in troubles.items() if one.failed},
        "seconds": time.perf_counter() - started + share,
        "peak_mb": peak_mib(),
        "warnings": [*warnings, *dict.fromkeys(one.told for one in troubles.values())],
    }
    if judge.keeps_probabilities and classifier["fixed"]:
        left |= left_probabilities("", model, judge.trial.scored, record)
    return record, left


def kept_evidence(
    evidence: Evidence, held_out_confidence: np.ndarray, spaces: Sequence
) -> dict[str, np.ndarray]:
    """What an estimate of the accuracy on the target needs of a candidate beside its predictions.

    Parameters
    ----------
    evidence : Evidence
        Holds no scored label.
    held_out_confidence : ndarray of shape (n,)
        Largest class probability of the visible rows of all domains, by fits without their labels.
    spaces : sequence
        Those of `critic_space` in which a critic is asked.

    Returns
    -------
    dict
        By suffix of the candidate's number: ``/held_out``, held-out prediction of the visible rows
        of all domains, the target last (-1 where there is none); ``/held_out_confidence``;
        ``/log_ratios``, of the same rows, the density ratio target / source; ``/confidence``,
        probability of the predicted class of the target's visible rows; ``/disagreement``, of
        shape (1 or 2, 2), see `discrepancy`: in the common space, then in that of the features,
        where the domains share it. What the candidate does not have is left out.
    """
    left = {}
    if np.isfinite(held_out_confidence).any():
        left["/held_out_confidence"] = held_out_confidence.astype(np.float32)
    if evidence.source_held_out is not None and evidence.target_held_out is not None:
        both = np.concatenate([evidence.source_held_out, evidence.target_held_out])
        left["/held_out"] = both.astype(np.int64)
        predicted = evidence.source_held_out, evidence.target_predicted
        shares = [disagreement(space, *predicted) for space in spaces]
        if all(share is not None for share in shares):
            left["/disagreement"] = np.stack(shares)
    left["/log_ratios"] = np.concatenate(evidence.embedded.log_ratios).astype(np.float32)
    if evidence.target_probabilities is not None:
        columns = np.searchsorted(evidence.classes, evidence.target_predicted)
        rows = np.arange(len(columns))
        left["/confidence"] = evidence.target_probabilities[rows, columns].astype(np.float32)
    return left


def _confidences(trial: Trial, classifiers: Sequence, asked: Mapping) -> list:
    """Room for each classifier's held-out confidence by domain; None where nobody asks for it."""
    if not asked.get("answer"):
        return [None] * len(classifiers)
    return [[np.full(len(y), np.nan) for y in trial.labels] for _ in classifiers]


@dataclasses.dataclass(frozen=True)
class _HeldOut:
    """Held-out predictions of each domain by one candidate, or why they cannot be had."""

    predictions: list | None = None
    trouble: "_Trouble | None" = None

    def troubles(self, selectors: Sequence[str]) -> dict[str, "_Trouble"]:
        """That of each selector which reads them."""
        if self.trouble is None:
            return {}
        read = {"source_held_out", "target_held_out"}
        return {name: self.trouble for name in selectors if read & set(SELECTORS[name].needs)}


def _held_out(
    fits: Fits, trial: Trial, classifiers: Sequence, asked: Mapping, certain: Sequence
) -> list[_HeldOut]:
    """Held-out predictions of every classifier; without them it may still be fitted.

    Fills ``certain``.
    """
    failed = {}

    def fit(labels):
        hidden = [
            (y == HIDDEN) & (known != HIDDEN) for y, known in zip(labels, trial.labels, strict=True)
        ]
        aligned = fits.aligned(labels)
        parts = []
        for number, classifier in enumerate(classifiers):
            try:
                model = train(classifier, aligned, fits.features.visible, labels, fits.roles)
                parts.append(model.visible(hidden))
                if certain[number] is not None:
                    _fill(certain[number], model.confidence(hidden), hidden)
            except Exception as error:  # the other classifiers are still trained
                failed[number] = _Trouble.of(_WITHOUT, error)
                parts.append([np.full(len(y), HIDDEN) for y in labels])
        return [np.stack(own) for own in zip(*parts, strict=True)]

    try:
        found = held_out_predictions(fit, list(trial.labels), asked["folds"], asked["seed"])
    except Exception as error:
        return [_HeldOut(trouble=_Trouble.of(_WITHOUT, error))] * len(classifiers)
    n_rows = [len(y) for y in trial.labels]  # where no label can be hidden, one row for all
    by_domain = [
        np.broadcast_to(own, (len(classifiers), n)) for own, n in zip(found, n_rows, strict=True)
    ]
    return [
        _HeldOut(trouble=failed[number])
        if number in failed
        else _HeldOut([own[number] for own in by_domain])
        for number in range(len(classifiers))
    ]


def _fill(room: Sequence[np.ndarray], found: Sequence[np.ndarray], rows: Sequence) -> None:
    for own, values, asked in zip(room, found, rows, strict=True):
        own[asked] = values[asked]


@dataclasses.dataclass(frozen=True)
class _Trouble:
    """What kept a candidate from a score; of too few classes it is undefined, and did not fail."""

    told: str
    failed: bool

    @classmethod
    def of(cls, where: str, error: Exception) -> "_Trouble":
        told = f"{where}: {type(error).__name__}: {error}"
        return cls(told, not isinstance(error, TooFewClasses))


class _Judge:
    """Evidence on the candidates of one alignment, and the selectors' scores."""

    def __init__(self, fits: Fits, aligned: Aligned, trial: Trial):
        self.fits, self.aligned, self.trial = fits, aligned, trial
        self.embedded = fits.embedded or embedded_domains(aligned, trial)
        shown = np.concatenate(trial.labels)
        self.classes = np.unique(shown[shown != HIDDEN])

    @functools.cached_property
    def critic_spaces(self) -> list:
        """The common space, and that of the features where the domains share it."""
        spaces = [critic_space(self.embedded.source, self.embedded.target)]
        features, cache = self.fits.features, self.fits.block.cache
        if len({X.shape[1] for X in features.visible}) == 1:
            key = ("critic", features.key)
            if key not in cache:
                *sources, target = features.visible
                cache[key] = critic_space(stacked(sources), target, by_domain=True)
            spaces.append(cache[key])
        return spaces

    @property
    def keeps_probabilities(self) -> bool:
        """Whether the experiment asks for them."""
        return self.fits.block.spec["probabilities"]

    @property
    def selectors(self) -> Sequence[str]:
        """Names of the selectors that score: those that the experiment asks for, or all."""
        return self.fits.block.spec["tuning"].get("selectors", tuple(SELECTORS))

    def trained(self, classifier: Mapping):
        """A candidate's classifier, trained on every label that the trial shows."""
        visible, labels = self.fits.features.visible, self.trial.labels
        return train(classifier, self.aligned, visible, labels, self.fits.roles)

    def evidence(
        self, model, classifier: Mapping, held_out: list | None
    ) -> tuple[Evidence, np.ndarray]:
        """What a selector may see of a candidate, and its predictions of the whole target."""
        trial, n_rows = self.trial, self.fits.features.target.shape[0]
        predicted = check_predictions(model.target(), n_rows, trial.labels)
        rows = trial.rows[-1]
        evidence = Evidence(
            source_embedding=self.embedded.source,
            target_embedding=self.embedded.target,
            source_labels=np.concatenate(trial.labels[:-1]),
            target_labels=trial.labels[-1],
            target_predicted=predicted[rows],
            classes=self.classes,
            target_probabilities=model.target_probabilities(rows, self.classes),
            source_held_out=held_out and np.concatenate(held_out[:-1]),
            target_held_out=held_out and held_out[-1],
            trained_on=self.fits.roles,
            backward=self._backward(classifier),
            embedded=self.embedded,
        )
        return evidence, predicted

    def _backward(self, classifier: Mapping):
        """What gives the labelled source rows classes by the target's pseudo-labels; -1 elsewhere.

        Of a method that reads the source's labels the whole candidate turned round: on its own
        embedding these labels, which shaped it, would be found again by any classifier. Without
        labels the embedding is that of both directions. None where labels of the target are read:
        turned round there are none.
        """
        reads = self.fits.reads_labels_of
        if 1 in reads:
            return None
        asked = np.concatenate(self.trial.labels[:-1]) != HIDDEN
        if 0 in reads:
            return functools.partial(self._turned_round, classifier, asked)
        target, source = self.embedded.target, self.embedded.source
        return lambda pseudo: predicted_rows(trained(classifier, target, pseudo), source, asked)

    def _turned_round(self, classifier: Mapping, asked: np.ndarray, pseudo: np.ndarray):
        fitted = self.fits.reversed(pseudo)
        if classifier["estimator"] == OWN:
            source = stacked(self.fits.features.visible[:-1])
            return np.asarray(fitted.predict(source, domain=-1))
        target, source = fitted.embeddings_
        return predicted_rows(trained(classifier, target, pseudo), source, asked)


def _scores(
    evidence: Evidence, selectors: Sequence[str]
) -> tuple[dict[str, float | None], dict[str, _Trouble]]:
    """Score of each selector by name, None where there is none, and what kept it from one."""
    scores, troubles = {}, {}
    for name in selectors:
        try:
            score = SELECTORS[name](evidence)
        except Exception as error:  # the other selectors still score
            score, troubles[name] = float("nan"), _Trouble.of(name, error)
        scores[name] = score if np.isfinite(score) else None
    return scores, troubles
