"""Fit one method on a block of trials, train the classifiers, predict the target.

Runs in the guarded child, which never receives a scored label: its arguments name files of features
and the file of trials, which holds the labels that each trial shows (`protocols.sample_trials` sees
to it that none is scored). Of these a method is handed those that it may see
(`protocols.handed_labels`). Rules that do read labels of whole domains: `sample`, `evaluate`,
`study`, and the report for the colours of its pictures.
"""

import dataclasses
import hashlib
import time
import traceback
import warnings
from collections.abc import Callable, Mapping

import numpy as np
from scipy import sparse

from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.suite import OWN
from workflow.lib.execution.memory import peak_mib
from workflow.lib.execution.startup import import_sklearn_without_pandas
from workflow.lib.storage.features import read_features
from workflow.lib.trials.predictions import (
    PICTURE,
    NonfinitePredictions,
    check_predictions,
)
from workflow.lib.trials.probabilities import Predictor, left_probabilities
from workflow.lib.trials.protocols import (
    HIDDEN,
    Trial,
    handed_labels,
    labelled_rows,
    read_trials,
    role_domains,
)

import_sklearn_without_pandas()

from domain_alignment.base import Aligner  # noqa: E402
from domain_alignment.exceptions import NonfiniteAnswerError  # noqa: E402
from sklearn.base import clone  # noqa: E402

from workflow.lib.trials.preprocess import preprocessed  # noqa: E402

NO_CLASSIFIER = {
    "status": "not_applicable",
    "error": "neither has a predict nor names a classifier; add 'classifier: one_nn' or another "
    "one to the method's entry in config/methods.yaml",
}


@dataclasses.dataclass
class Block:
    """What the trials of a block share: raw features, the trials, and a cache."""

    spec: dict
    features: list
    trials: list[Trial]
    cache: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Aligned:
    """A fitted aligner and its embedding of one trial."""

    aligner: Aligner
    target_features: object  # every row of the target domain, as the aligner takes them
    embeddings: list[np.ndarray]  # visible rows of each domain
    embedded_target: np.ndarray  # every row of the target domain
    n_components: int
    seconds_prepare: float
    seconds: float


def setup(spec: dict) -> Block:
    """Read the inputs of a block; a method that fails does so in its trials."""
    trials, _ = read_trials(spec["trials"])
    return Block(spec, [read_features(path) for path in spec["features"]], trials)


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
    records, arrays = [], {}
    # In reverse: a model prepared for the largest number of components serves the smaller ones.
    for position, changed in reversed(list(enumerate(block.spec["method"]["varied_params"]))):
        try:
            found, left = _run_setting(block, number, changed)
        except Exception as error:  # the other settings still run
            traceback.print_exc()
            found, left = _for_all(block.spec, **_failure(error)), {}
        records += [{"setting": position, **record} for record in found]
        arrays |= {f"{position}/{name}": array for name, array in left.items()}
    return records, arrays


def _run_setting(block: Block, number: int, changed: Mapping):
    trial, method = block.trials[number], block.spec["method"]
    params = {**method.get("params", {}), **changed}
    estimator = resolve_estimator(method["estimator"])(**params)
    if reason := not_applicable(estimator, block.features, trial):
        return _for_all(block.spec, status="not_applicable", error=reason), {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        aligned = _align(block, trial, estimator)
    if not all(_finite(Z) for Z in (*aligned.embeddings, aligned.embedded_target)):
        return _for_all(block.spec, status="nonfinite", error="the embedding is not finite"), {}
    common = {
        "n_components": aligned.n_components,
        "seconds_prepare": aligned.seconds_prepare,
        "seconds": aligned.seconds,
        "peak_mb": peak_mib(),
        "warnings": sorted({f"{w.category.__name__}: {w.message}" for w in caught}),
    }
    records, arrays = [], _picture(block.spec, number, trial, aligned)
    # A method may choose the rows its classifier trains on (no adaptation does).
    roles = estimator.classifier_rows or block.spec["classifier_rows"]
    for name, entry in block.spec["classifiers"].items():
        outcome, predicted, predictor = _classify(entry, roles, trial, aligned)
        records.append({"classifier": name, **common, **outcome})
        if predicted is not None:
            arrays[name] = predicted
            if block.spec["probabilities"]:
                arrays |= left_probabilities(name, predictor, trial.scored, records[-1])
    return records, arrays


def not_applicable(estimator: Aligner, features: list, trial: Trial) -> str | None:
    """Why a method does not apply to a task, by its declared capabilities; None if it does."""
    able = estimator.capabilities
    widths = [X.shape[1] for X in features]
    if able.max_domains is not None and len(features) > able.max_domains:
        return f"aligns at most {able.max_domains} domains, the task has {len(features)}"
    if not able.heterogeneous and len(set(widths)) > 1:
        found = f"{', '.join(map(str, widths[:-1]))} and {widths[-1]}"
        return f"needs equal numbers of features; this task has {found}"
    if able.needs_pairs:
        return "needs samples in pairs, row i with row i of another domain; the task has none"
    if (trial.labels[-1] == HIDDEN).all():
        target = len(features) - 1
        if target in role_domains(able.labels, len(features)):
            return "learns from labels of the target, and the protocol shows none"
        if target in role_domains(estimator.classifier_rows or "none", len(features)):
            return "its classifier learns from labels of the target, and the protocol shows none"
    return None


def _for_all(spec: Mapping, **fields) -> list[dict]:
    return [{"classifier": name, **fields} for name in spec["classifiers"]]


def _align(block: Block, trial: Trial, estimator: Aligner) -> Aligned:
    visible, target = _preprocessed(block, trial)
    started = time.perf_counter()
    prepared = [_prepared(block, estimator, trial, d, X) for d, X in enumerate(visible)]
    prepared_at = time.perf_counter()
    labels = handed_labels(trial, block.spec["method"]["sees_labels"])
    aligner = clone(estimator).fit(visible, labels, prepared=prepared)
    embeddings = aligner.embeddings_
    whole = _whole_target(aligner, trial, embeddings[-1], target)
    return Aligned(
        aligner=aligner,
        target_features=target,
        embeddings=embeddings,
        embedded_target=whole,
        n_components=int(aligner.n_components_),
        seconds_prepare=prepared_at - started,
        seconds=time.perf_counter() - prepared_at,
    )


def _whole_target(aligner: Aligner, trial: Trial, seen: np.ndarray, target) -> np.ndarray:
    """Embedding of every target row: from the fit where the row was seen, else by `transform`."""
    rest = np.setdiff1d(np.arange(target.shape[0]), trial.rows[-1])
    if not len(rest):
        return seen
    new = aligner.transform(target[rest], domain=len(trial.rows) - 1)
    return _stacked([seen, new])[np.argsort(np.concatenate([trial.rows[-1], rest]))]


def _preprocessed(block: Block, trial: Trial) -> tuple[list, object]:
    """Preprocessed visible rows of each domain, and all rows of the target."""
    visible = []
    for d, rows in enumerate(trial.rows):
        key = ("features", d, _digest(rows))
        if key not in block.cache:
            block.cache[key] = preprocessed(block.spec, block.features[d], rows)
        visible.append(block.cache[key][0])
    X, steps = block.cache[key]
    everything = len(trial.rows[-1]) == block.features[-1].shape[0]
    return visible, X if everything else steps.transform(block.features[-1])


def _prepared(block: Block, estimator: Aligner, trial: Trial, d: int, X) -> object:
    """Label-free model of a domain, shared by all trials and settings that accept it."""
    models = block.cache.setdefault(("prepared", d, _digest(trial.rows[d])), [])
    for model in models:
        if model is None or estimator.accepts(model, X):
            return model
    models.append(estimator.prepare(X))
    return models[-1]


def _digest(rows: np.ndarray) -> str:
    return hashlib.sha256(rows.tobytes()).hexdigest()


def _classify(entry: Mapping, roles: str, trial: Trial, aligned: Aligned):
    """Predict the whole target with one classifier, or the method's own; both, and what did."""
    if entry["estimator"] == OWN:
        return _predict_itself(aligned, trial)
    labelled = labelled_rows(trial, roles).items()
    Z = _stacked([aligned.embeddings[d][rows] for d, rows in labelled])
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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            n_rows = aligned.target_features.shape[0]
            predicted = check_predictions(predict(), n_rows, trial.labels)
        except Exception as error:  # the other classifiers still run
            return _failure(error), None
    outcome = {"status": "ok", "seconds_classify": time.perf_counter() - started}
    if caught:
        outcome["warnings"] = sorted({f"{w.category.__name__}: {w.message}" for w in caught})
    return outcome, predicted


def _failure(error: Exception) -> dict[str, str]:
    if isinstance(error, (NonfiniteAnswerError, NonfinitePredictions)):
        return {"status": "nonfinite", "error": str(error)}
    return {"status": "error", "error": f"{type(error).__name__}: {error}"}


def _stacked(parts: list):
    """Stack by rows; sparse features stay sparse."""
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.vstack(parts)


def _finite(Z) -> bool:
    return bool(np.isfinite(Z.data if sparse.issparse(Z) else Z).all())


def _picture(spec: Mapping, number: int, trial: Trial, aligned: Aligned) -> dict[str, np.ndarray]:
    if spec["pictured_trial"] != number:
        return {}
    arrays = {}
    for d, Z in enumerate(aligned.embeddings):
        arrays[f"{PICTURE}/{d}/embedding"] = Z
        arrays[f"{PICTURE}/{d}/rows"] = trial.rows[d]
    return arrays
