"""Fit the candidate of an answer once more, as it was judged, and save it for new samples.

Runs in the guarded child, as `tuning` does. The first trial shows all rows that methods may see,
and the predictions of the answer are its predictions; so the model is fitted on that trial.
"""

from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.candidates import OWN
from workflow.lib.storage.artifacts import read_arrays
from workflow.lib.trials.candidate_models import classifier_roles
from workflow.lib.trials.fitting import (
    Aligned,
    Block,
    components,
    fit_aligned,
    preprocessed_features,
    reduced_features,
    setup,
    stacked,
)
from workflow.lib.trials.new_rows import decoded, fitted_coder, text_columns
from workflow.lib.trials.preprocess import preprocessed
from workflow.lib.trials.protocols import Trial, handed_labels, labelled_rows
from workflow.lib.trials.quick_classifiers import NearestRow, SpanLogistic, quickened
from workflow.loaders._columns import Coding

from domain_alignment.persistence import TargetModel, save_model  # isort: skip

__all__ = ["run_trial", "setup"]

N_EXAMPLES = 5
# Of a matrix of training rows that is made dense: 512 MB.
_DENSE_ENTRIES = 2**26


def run_trial(block: Block, number: int) -> tuple[list[dict], dict[str, np.ndarray]]:
    """Fit and save: ``spec["saved"]`` has the ``folder`` and what the card says (``about``).

    Also how the target's files are written, as far as that is known (``reading``, ``counted``).
    """
    saved = block.spec["saved"]
    stored = read_arrays(block.spec["features"][-1])[1].get("coding")
    coding = None if stored is None else Coding.of(stored)
    model = fitted_model(block, number, coding)
    model.reading = _reading(saved)
    rows = block.features[-1][:N_EXAMPLES]
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    example = rows if coding is None else np.array(decoded(coding, rows), dtype=object)
    save_model(Path(saved["folder"]), model, example=example, **saved["about"])
    return [], {}


def fitted_model(block: Block, number: int, coding: Coding | None) -> TargetModel:
    """Preprocessing, aligner and classifier of a candidate, for rows as the target's file has them.

    Parameters
    ----------
    block : Block
        ``spec["alignment"]`` and ``spec["classifier"]`` are those of the candidate,
        ``spec["class_names"]`` the names of the classes.
    number : int
        Of the trial.
    coding : Coding or None
        Of the target's table; None where the file holds arrays.
    """
    spec, trial = block.spec, block.trials[number]
    alignment, method = spec["alignment"], spec["method"]
    estimator = resolve_estimator(method["estimator"])(**alignment["params"])
    features = preprocessed_features(block, trial, alignment["steps"])
    steps = [fitted_coder(coding)] if coding else []
    steps += _scaling(block, trial)
    if alignment["reduce"]:
        steps.append(components(features.visible, alignment["reduce"])[-1])
        features = reduced_features(features, alignment["reduce"])
    labels = handed_labels(trial, method["sees_labels"])
    aligned = fit_aligned(block, features, trial, estimator, labels, whole_target=False)
    return TargetModel(
        aligned.aligner,
        _classifier(spec, trial, estimator, aligned),
        spec["class_names"],
        preprocessing=make_pipeline(*steps),
        feature_names=coding and coding.columns,
        text_features=text_columns(coding) if coding else (),
    )


def _reading(saved: dict) -> dict | None:
    """How the target's files are written; of .svmlight files that is seen in the files."""
    files = [Path(path).expanduser() for path in saved.get("counted", ())]
    if not files or not all(path.is_file() for path in files):
        return saved.get("reading")
    return {"zero_based": any(_has_a_feature_0(path) for path in files)}


def _has_a_feature_0(path: Path) -> bool:
    """Whether the features are counted from 0, as scikit-learn tells: it takes no entry for yes."""
    indices = load_svmlight_file(str(path), zero_based=True)[0].indices
    return not indices.size or not indices.min()


def _scaling(block: Block, trial: Trial) -> list:
    """Fitted steps of the target; not what made sparse features dense, which tables are."""
    asked = {
        "preprocess": block.spec["alignment"]["steps"][-1],
        "preprocess_rows": block.spec["preprocess_rows"],
    }
    _, fitted = preprocessed(asked, block.features[-1], trial.rows[-1])
    steps = [step for _, step in fitted.steps]
    return [step for step in steps if not (isinstance(step, FunctionTransformer) and step.func)]


def _classifier(spec: dict, trial: Trial, estimator, aligned: Aligned):
    """The candidate's classifier, fitted to the numbers of the classes; None: the method's own."""
    asked = spec["classifier"]
    if asked["estimator"] == OWN:
        return None
    roles = classifier_roles(spec, estimator)
    labelled = labelled_rows(trial, roles).items()
    Z = stacked([aligned.embeddings[d][rows] for d, rows in labelled])
    y = np.concatenate([trial.labels[d][rows] for d, rows in labelled])
    model = resolve_estimator(asked["estimator"])(**asked["params"])
    quick = quickened(model)
    if isinstance(quick, SpanLogistic):  # what it fits is scikit-learn's, with the same answers
        return quick.fit(Z, y)
    if isinstance(quick, NearestRow):
        model.set_params(algorithm="brute")
        Z = _made_dense(Z)
    return model.fit(Z, y)


def _made_dense(Z):
    """Rows of which scikit-learn's brute force, among equals, takes the first, as `NearestRow`.

    Of sparse rows beside sparse ones it takes any; so it does of more than fit into the memory.
    """
    few = Z.shape[0] * Z.shape[1] <= _DENSE_ENTRIES
    return Z.toarray() if sparse.issparse(Z) and few else Z
