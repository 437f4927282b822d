"""Fit one method on a block of trials, train the classifiers, predict the target.

Runs in the guarded child, which never receives a scored label: its arguments name files of features
and the file of trials, which holds the labels that each trial shows (`protocols.sample_trials` sees
to it that none is scored). Of these a method is handed those that it may see
(`protocols.handed_labels`). Rules that do read labels of whole domains: `sample`, `evaluate`,
`study`, and the report for the colours of its pictures.
"""

import time
import traceback
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.candidates import OWN
from workflow.lib.execution.memory import peak_mib
from workflow.lib.trials.fitting import (
    Aligned,
    Block,
    Features,
    begin_trial,
    failure,
    fit_aligned,
    not_applicable,
    preprocessed_features,
    sees_only_rows,
    setup,
    stacked,
    warned,
)
from workflow.lib.trials.predictions import PICTURE, as_stored, check_predictions
from workflow.lib.trials.probabilities import Predictor, left_probabilities
from workflow.lib.trials.protocols import Trial, handed_labels, labelled_rows

__all__ = ["run_trial", "setup"]

NO_CLASSIFIER = {
    "status": "not_applicable",
    "error": "neither has a predict nor names a classifier; add 'classifier: one_nn' or another "
    "one to the method's entry",
}


def run_trial(block: Block, number: int) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Align one trial and classify its target.

    Returns
    -------
    records : list of dict
        One per setting of the method and classifier.
    arrays : dict
        ``<setting>/<classifier>`` : predicted labels of every row of the target domain, the
        settings counted from 0; what `left_probabilities` leaves, if the block asks for it; of the
        pictured trial also ``<setting>/picture/<domain>/embedding`` and ``.../rows``, the visible
        rows.
    """
    begin_trial(block, block.trials[number])
    records, arrays = [], {}
    # In reverse: a model prepared for the largest number of components serves the smaller ones.
    for position, changed in reversed(list(enumerate(block.spec["method"]["varied_params"]))):
        try:
            found, left = _run_setting(block, number, position, changed)
        except Exception as error:  # the other settings still run
            traceback.print_exc()
            found, left = _for_all(block.spec, **failure(error)), {}
        records += [{"setting": position, **record} for record in found]
        arrays |= {f"{position}/{name}": array for name, array in left.items()}
    return records, arrays


def _run_setting(block: Block, number: int, position: int, changed: Mapping):
    trial, method = block.trials[number], block.spec["method"]
    params = {**method.get("params", {}), **changed}
    estimator = resolve_estimator(method["estimator"])(**params)
    if reason := not_applicable(estimator, block.features, trial):
        return _for_all(block.spec, status="not_applicable", error=reason), {}
    with warned() as warnings:
        steps = [block.spec["preprocess"]] * len(block.features)
        features = preprocessed_features(block, trial, steps)
    labels = handed_labels(trial, method["sees_labels"])
    aligned, told = _aligned(block, position, features, trial, estimator, labels)
    if not aligned.finite:
        return _for_all(block.spec, status="nonfinite", error="the embedding is not finite"), {}
    common = {
        "n_components": aligned.n_components,
        "seconds_prepare": aligned.seconds_prepare,
        "seconds": aligned.seconds,
        "peak_mb": peak_mib(),
        "warnings": sorted({*warnings, *told}),
    }
    records, arrays = [], _picture(block.spec, number, trial, aligned)
    # A method may choose the rows its classifier trains on (no adaptation does).
    roles = estimator.classifier_rows or block.spec["classifier_rows"]
    for name, entry in block.spec["classifiers"].items():
        outcome, predicted, predictor = _classify(entry, roles, trial, aligned)
        heard = sorted({*common["warnings"], *outcome.get("warnings", ())})
        records.append({"classifier": name, **common, **outcome, "warnings": heard})
        if predicted is not None:
            arrays[name] = as_stored(predicted)
            if block.spec["probabilities"]:
                arrays |= left_probabilities(name, predictor, trial.scored, records[-1])
    return records, arrays


def _aligned(
    block: Block,
    position: int,
    features: Features,
    trial: Trial,
    estimator: object,
    labels: Sequence[np.ndarray],
) -> tuple[Aligned, list[str]]:
    """The fit of a setting and its warnings: the last one again, if it saw the same and no label.

    Its seconds are then those of the one fit.
    """
    shared = sees_only_rows(estimator, labels)
    fits = block.cache.setdefault("label-free fits", {})
    if shared and position in fits and fits[position][0] == features.key:
        return fits[position][1:]
    with warned() as warnings:
        aligned = fit_aligned(block, features, trial, estimator, labels)
    if shared:
        fits[position] = features.key, aligned, warnings
    return aligned, warnings


def _for_all(spec: Mapping, **fields) -> list[dict]:
    return [{"classifier": name, **fields} for name in spec["classifiers"]]


def _classify(entry: Mapping, roles: str, trial: Trial, aligned: Aligned):
    """Predict the whole target with one classifier, or the method's own; both, and what did."""
    if entry["estimator"] == OWN:
        return _predict_itself(aligned, trial)
    labelled = labelled_rows(trial, roles).items()
    Z = stacked([aligned.embeddings[d][rows] for d, rows in labelled])
    y = np.concatenate([trial.labels[d][rows] for d, rows in labelled])
    if len(np.unique(y)) < 2:
        reason = f"the labelled rows of the {roles} hold {len(np.unique(y))} classes; 2 are needed"
        return {"status": "not_applicable", "error": reason}, None, None
    make, params = resolve_estimator(entry["estimator"]), entry.get("params", {})
    predictor = Predictor(lambda: make(**params).fit(Z, y), aligned.embedded_target)
    return *_outcome(predictor.predict, aligned, trial), predictor


def _predict_itself(aligned: Aligned, trial: Trial):
    if not hasattr(aligned.aligner, "predict"):
        return NO_CLASSIFIER, None, None
    predictor = Predictor(lambda: aligned.aligner, aligned.target_features, domain=-1)
    return *_outcome(predictor.predict, aligned, trial), predictor


def _outcome(predict: Callable, aligned: Aligned, trial: Trial):
    """Record and predicted labels of one classifier."""
    started = time.perf_counter()
    with warned() as warnings:
        try:
            n_rows = aligned.target_features.shape[0]
            predicted = check_predictions(predict(), n_rows, trial.labels)
        except Exception as error:  # the other classifiers still run
            return failure(error), None
    outcome = {"status": "ok", "seconds_classify": time.perf_counter() - started}
    if warnings:
        outcome["warnings"] = warnings
    return outcome, predicted


def _picture(spec: Mapping, number: int, trial: Trial, aligned: Aligned) -> dict[str, np.ndarray]:
    if spec["pictured_trial"] != number:
        return {}
    arrays = {}
    for d, Z in enumerate(aligned.embeddings):
        arrays[f"{PICTURE}/{d}/embedding"] = Z
        arrays[f"{PICTURE}/{d}/rows"] = trial.rows[d]
    return arrays
