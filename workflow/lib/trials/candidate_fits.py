"""The fits of one alignment of a tuned job: with all labels, without those of a fold, reversed."""

import dataclasses
import time
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse

from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.execution.startup import import_sklearn_without_pandas
from workflow.lib.trials.candidate_models import classifier_roles, take_both_kinds
from workflow.lib.trials.fitting import (
    Aligned,
    Block,
    Features,
    fit_aligned,
    kept_reduction,
    prepared_models,
    preprocessed_features,
    sees_only_rows,
    stacked,
    warned,
)
from workflow.lib.trials.protocols import HIDDEN, Trial, handed_labels, role_domains

import_sklearn_without_pandas()

from domain_alignment.base import Aligner  # noqa: E402
from domain_alignment.model_selection import EmbeddedDomains  # noqa: E402
from sklearn.base import clone  # noqa: E402

# Of fits without labels, which a block keeps for its other trials.
_KEPT_BYTES = 2**27


def estimator_of(block: Block, alignment: Mapping) -> Aligner:
    """The method of a block with the parameters of an alignment, not fitted."""
    return resolve_estimator(block.spec["method"]["estimator"])(**alignment["params"])


@dataclasses.dataclass
class _LabelFree:
    """A fit that saw no label, for the trials that show the same rows."""

    aligned: Aligned
    embedded: EmbeddedDomains
    told: list[str]
    seconds: float

    @property
    def n_bytes(self) -> int:
        """Of its embeddings, each once."""
        fit, both = self.aligned, self.embedded
        parts = [*fit.embeddings, fit.embedded_target, both.source, both.target]
        return sum(Z.data.nbytes for Z in {id(Z): Z for Z in parts}.values())


class Fits:
    """One alignment of a trial, fitted with all labels or without those of a fold.

    Attributes
    ----------
    seconds_before : float
        What the fit took that an earlier trial has left; 0 if it was made here.
    told_before : list of str
        Its warnings.
    """

    def __init__(self, block: Block, trial: Trial, alignment: Mapping):
        self.block, self.trial = block, trial
        self.sees = block.spec["method"]["sees_labels"]
        self.estimator = estimator_of(block, alignment)
        self.roles = classifier_roles(block.spec, self.estimator)
        self.features = _features(block, trial, alignment)
        self.keeps_sparse = take_both_kinds(alignment["classifiers"])
        self.known: dict[bytes, Aligned] = {}
        self.known_reversed: dict[bytes, Aligner] = {}
        self.embedded: EmbeddedDomains | None = None
        self.seconds_before, self.told_before = 0.0, []

    def aligned(self, labels: Sequence[np.ndarray]) -> Aligned:
        """The fit with some labels; the first is that with all, and embeds the whole target."""
        handed = handed_labels(dataclasses.replace(self.trial, labels=labels), self.sees)
        key = b"".join(own.tobytes() for own in handed)
        if key not in self.known:
            self.known[key] = self._fitted(handed)
        return self.known[key]

    def _fitted(self, handed: Sequence[np.ndarray]) -> Aligned:
        whole = not self.known
        if not (whole and sees_only_rows(self.estimator, handed)):
            return self._fit(handed, whole)
        shown = b"".join(rows.tobytes() for rows in self.trial.rows)
        kept = self.block.cache.setdefault("label-free fits", {})
        if any(of_rows != shown for of_rows, *_ in kept):
            kept.clear()
        params = repr(sorted(self.estimator.get_params().items()))
        key = shown, self.features.key, params, self.keeps_sparse
        if key in kept:
            self.seconds_before, self.told_before = kept[key].seconds, kept[key].told
            found = kept[key]
        else:
            found = self._label_free(handed)
            self.told_before = found.told
            if sum(one.n_bytes for one in (*kept.values(), found)) <= _KEPT_BYTES:
                kept[key] = found
        self.embedded = found.embedded
        return found.aligned

    def _label_free(self, handed: Sequence[np.ndarray]) -> _LabelFree:
        started = time.perf_counter()
        with warned() as told:
            aligned = self._fit(handed)
        if not hasattr(aligned.aligner, "predict"):  # its embedding is all that is asked for
            aligned = dataclasses.replace(aligned, aligner=None)
        embedded = embedded_domains(aligned, self.trial)
        return _LabelFree(aligned, embedded, told, time.perf_counter() - started)

    def _fit(self, handed: Sequence[np.ndarray], whole_target: bool = True) -> Aligned:
        where = self.block, self.features, self.trial
        return fit_aligned(*where, self.estimator, handed, whole_target, self.keeps_sparse)

    @property
    def reads_labels_of(self) -> tuple[int, ...]:
        """Domains whose labels the method learns from: 0 the sources, 1 the target."""
        return role_domains(self.estimator.capabilities.labels, n_domains=2)

    def reversed(self, pseudo: np.ndarray) -> Aligner:
        """The method with the target for a source of these labels, the sources for a target."""
        key = pseudo.tobytes()
        if key not in self.known_reversed:
            *sources, target = self.features.visible
            source = stacked(sources)
            labels = [pseudo, np.full(source.shape[0], HIDDEN)]
            models = prepared_models(self.block, self.features, self.estimator)
            prepared = [models[-1], models[0] if len(sources) == 1 else None]
            fitted = clone(self.estimator).fit([target, source], labels, prepared=prepared)
            self.known_reversed[key] = fitted
        return self.known_reversed[key]


def embedded_domains(aligned: Aligned, trial: Trial) -> EmbeddedDomains:
    """Visible rows of the sources and of the target; sparse where the whole target stays so."""
    whole, visible = aligned.embedded_target, aligned.embeddings[-1]
    target = whole[trial.rows[-1]] if sparse.issparse(whole) else visible
    return EmbeddedDomains(stacked(aligned.embeddings[:-1]), target)


def _features(block: Block, trial: Trial, alignment: Mapping) -> Features:
    features = preprocessed_features(block, trial, alignment["steps"])
    if not (n_components := alignment.get("reduce")):
        return features
    return kept_reduction(block, features, n_components)
