"""All that the page of an answer on data of one's own shows, put together from files."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from workflow.lib.config.searches import marked
from workflow.lib.config.suite import Suite
from workflow.lib.results.own_answer import Answer, Candidate, decide, rank
from workflow.lib.results.own_candidates import read_candidates
from workflow.lib.results.shift_diagnosis import (
    ClassShares,
    FeatureShift,
    Separation,
    Spectrum,
    class_shares,
    feature_shifts,
    separation,
    spectrum,
)
from workflow.lib.storage.artifacts import read_arrays
from workflow.lib.storage.features import read_features
from workflow.lib.trials.protocols import HIDDEN, Trial, read_trials

# Features that the diagnosis reads; of more, those with the largest variance.
_N_FEATURES = 500


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """What is known of the shift; parts are None for domains with different features."""

    separation: Separation | None
    classes: ClassShares
    features: Sequence[FeatureShift] | None
    n_shifted: int
    n_tested: int  # features; of very many those with the largest variance
    spectrum: Spectrum


@dataclasses.dataclass(frozen=True)
class Own:
    """Everything that the page shows.

    Attributes
    ----------
    name, title : str
    answer : Answer
    candidates : sequence of Candidate
        The best of every method, as the answer judges them.
    left_out : mapping of str to str
    n_asked : int
        Candidates of all methods, those included that gave no answer.
    seconds : int or None
        After which a trial of a method began no further setting.
    labels_of : mapping of str to str
        Labels of methods.
    scalings : mapping of str to sequence of str
        Preprocessing steps of the target, by the name of the scaling in the candidates' words.
    class_names : sequence of str
    shift : Diagnosis
    shown : int ndarray of shape (n_t,)
        Known labels of all target rows that methods were shown, -1 elsewhere.
    features : ndarray of shape (n_t, p)
    hidden : int ndarray of shape (n_t,)
        Known labels that methods were not shown: for the check alone, after the answer stands.
    file_rows : int ndarray of shape (n_t,)
        Rows of the target's file, from 0, that its samples are.
    searched : frozenset of str
        Methods with a setting that was found by searching, on other data.
    """

    name: str
    title: str
    answer: Answer
    candidates: Sequence[Candidate]
    left_out: Mapping[str, str]
    n_asked: int
    seconds: int | None
    labels_of: Mapping[str, str]
    scalings: Mapping[str, Sequence[str]]
    class_names: Sequence[str]
    shift: Diagnosis
    shown: np.ndarray
    features: np.ndarray
    hidden: np.ndarray
    file_rows: np.ndarray
    searched: frozenset[str] = frozenset()

    @property
    def votes(self) -> np.ndarray:
        return np.stack([one.predicted for one in self.candidates])


def view(
    suite: Suite,
    experiment: str,
    features: Sequence[Path | str],
    labels: Path | str,
    trials: Path | str,
    aligned: Sequence[Path | str],
) -> Own:
    """Decide, and diagnose the shift; then read the labels that were hidden.

    Parameters
    ----------
    suite : Suite
    experiment : str
        Of one task, tuned with an answer.
    features : sequence of path
        Of every domain, the target last.
    labels : path
        Of the target; what no trial shows is read for the check alone.
    trials : path
    aligned : sequence of path
        ``<method>.<block>.align.jsonl``.

    Raises
    ------
    NothingToCompareError
        If no answer can be given.
    """
    sampled, _ = read_trials(trials)
    first = sampled[0]
    candidates, left_out, n_asked = read_candidates(suite, experiment, aligned, sampled)
    domains, names = _rows_of(features, first)
    shown = np.full(read_features(features[-1]).shape[0], HIDDEN)
    shown[first.rows[-1]] = first.labels[-1]
    same = domains[0].shape[1] == domains[1].shape[1]
    apart = separation(*domains) if same else None
    answer = decide(candidates, first.labels[-1], apart is None or apart.found)
    true, meta = read_arrays(labels)
    class_names = [str(name) for name in meta.get("class_names", [])]
    class_names = class_names or [str(code) for code in range(_n_classes(suite, experiment))]
    diagnosis = _diagnosis(domains, names, apart, answer.baseline, first, len(class_names))
    return Own(
        name=experiment,
        title=suite.experiments[experiment].title,
        answer=answer,
        candidates=_best_of_methods(candidates, answer),
        left_out=left_out,
        n_asked=n_asked,
        seconds=suite.experiments[experiment].tuning["seconds"],
        labels_of={m: suite.methods[m]["label"] for m in suite.experiments[experiment].methods},
        scalings=_scalings(suite, experiment),
        class_names=class_names,
        shift=diagnosis,
        shown=shown,
        features=_dense(read_features(features[-1])),
        hidden=np.where(shown == HIDDEN, true["y"], HIDDEN),
        file_rows=true.get("rows", np.arange(len(shown))),
        searched=frozenset(
            method
            for method in suite.experiments[experiment].methods
            if marked(suite, suite.experiments[experiment], method)
        ),
    )


def _scalings(suite: Suite, experiment: str) -> dict[str, Sequence[str]]:
    asked = suite.experiments[experiment]
    drawn = (suite.candidates(experiment, method, asked.tasks[0]) for method in asked.methods)
    return {one.scaling: one.steps[-1] for alignments in drawn for one in alignments}


def _n_classes(suite: Suite, experiment: str) -> int:
    return suite.datasets[suite.experiments[experiment].tasks[0].target.dataset]["classes"]


def _best_of_methods(candidates: Sequence[Candidate], answer: Answer) -> list[Candidate]:
    by_labels = answer.n_labels > 0
    best: dict[str, Candidate] = {}
    for one in candidates:
        known = best.setdefault(one.method, one)
        if rank(one, by_labels) > rank(known, by_labels):
            best[one.method] = one
    best |= {one.method: one for one in (answer.best, answer.baseline)}
    return sorted(best.values(), key=lambda one: rank(one, by_labels), reverse=True)


def _rows_of(features: Sequence[Path | str], trial: Trial) -> tuple[list[np.ndarray], list[str]]:
    """Visible rows of the sources, stacked, and of the target; names of the features."""
    *sources, target = (
        _dense(read_features(path)[rows]) for path, rows in zip(features, trial.rows, strict=True)
    )
    named = read_arrays(features[-1])[1].get("feature_names")
    names = [str(name) for name in named or range(target.shape[1])]
    if len({part.shape[1] for part in sources}) > 1:
        sources = sources[:1]
    source = np.vstack(sources)
    if source.shape[1] == target.shape[1] > _N_FEATURES:
        kept = np.argsort(-np.vstack([source, target]).var(axis=0), kind="stable")[:_N_FEATURES]
        source, target, names = source[:, kept], target[:, kept], [names[j] for j in kept]
    return [source, target], names


def _diagnosis(domains, names, apart, baseline: Candidate, trial: Trial, n_classes: int):
    found, n_shifted = (None, 0) if apart is None else feature_shifts(*domains, names)
    shown = np.concatenate(trial.labels[:-1])
    classes = class_shares(
        shown, baseline.source_held_out, baseline.predicted[trial.rows[-1]], n_classes
    )
    n_tested = domains[1].shape[1]
    return Diagnosis(apart, classes, found, n_shifted, n_tested, spectrum(*domains))


def _dense(X) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def hidden_accuracies(own: Own) -> dict[str, float] | None:
    """Accuracy of both on labels that were known and not shown; None without any."""
    known = own.hidden >= 0
    if not known.any():
        return None
    pairs = {"method": own.answer.best, "baseline": own.answer.baseline}
    return {
        name: float(np.mean(one.predicted[known] == own.hidden[known]))
        for name, one in pairs.items()
    }
