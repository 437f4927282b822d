"""A candidate's classifier, trained on an embedding or the method's own, behind one interface."""

import functools
from collections.abc import Mapping, Sequence

import numpy as np

from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.candidates import OWN
from workflow.lib.trials.fitting import Aligned, stacked
from workflow.lib.trials.probabilities import Probabilities, class_probabilities
from workflow.lib.trials.protocols import HIDDEN, role_domains
from workflow.lib.trials.quick_classifiers import quickened, takes_both_kinds


class TooFewClasses(ValueError):
    """Labels hold fewer classes than a classifier needs."""


def classifier_roles(spec: Mapping, estimator) -> str:
    """Domains whose labelled rows train a classifier in the place of a method's own.

    All that the protocol shows, for every aligning method alike, whatever its authors trained
    theirs on: what is compared is alignments. A baseline is defined by its rows.

    Parameters
    ----------
    spec : mapping
        Of a tuned block.
    estimator : aligner
        Of its method.
    """
    own = estimator.classifier_rows if spec["tuning"]["baseline"] else None
    return own or spec["classifier_rows"]


def train(
    classifier: Mapping, aligned: Aligned, visible: Sequence, labels: Sequence, roles: str
) -> "_OnEmbedding | _Own":
    """Train a classifier of ``config/tuning.yaml`` on some labels of an alignment.

    Parameters
    ----------
    classifier : mapping
        ``estimator`` and ``params``.
    aligned : Aligned
        Fitted with these labels.
    visible : sequence
        Features of the visible rows, by domain.
    labels : sequence of int ndarray
        Of these rows; -1 is hidden.
    roles : {"source", "target", "source+target"}
        Domains whose labelled rows train it, unless the method predicts itself.

    Raises
    ------
    TooFewClasses
        If the labels hold fewer than two classes.
    """
    if classifier["estimator"] == OWN:
        return _Own(aligned, visible)
    domains = role_domains(roles, len(labels))
    known = {d: labels[d] != HIDDEN for d in domains}
    Z = stacked([aligned.embeddings[d][known[d]] for d in domains])
    y = np.concatenate([labels[d][known[d]] for d in domains])
    if (n_classes := len(np.unique(y))) < 2:
        raise TooFewClasses(
            f"the labelled rows of the {roles} hold {n_classes} classes; 2 are needed"
        )
    return _OnEmbedding(trained(classifier, Z, y), aligned)


def trained(classifier: Mapping, Z: np.ndarray, y: np.ndarray):
    """A fitted scikit-learn classifier, or one with its answers."""
    make = resolve_estimator(classifier["estimator"])
    return quickened(make(**classifier["params"])).fit(Z, y)


def take_both_kinds(classifiers: Sequence[Mapping]) -> bool:
    """Whether all of them, trained on dense rows, predict sparse ones too.

    A method's own is not asked: it sees features, of whatever kind they are.
    """
    made = (c for c in classifiers if c["estimator"] != OWN)
    return all(takes_both_kinds(resolve_estimator(c["estimator"])(**c["params"])) for c in made)


class _OnEmbedding:
    """A classifier on the common space."""

    def __init__(self, model, aligned: Aligned):
        self.model, self.aligned = model, aligned

    def visible(self, asked: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Predictions of the visible rows of each domain that a mask asks for; -1 elsewhere."""
        parts = zip(self.aligned.embeddings, asked, strict=True)
        return [predicted_rows(self.model, Z, rows) for Z, rows in parts]

    def confidence(self, asked: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Largest class probability of the rows that a mask asks for; NaN elsewhere."""
        parts = zip(self.aligned.embeddings, asked, strict=True)
        return [_confidence(self.model, Z, rows) for Z, rows in parts]

    def target(self) -> np.ndarray:
        """Predictions of every row of the target."""
        return self.model.predict(self.aligned.embedded_target)

    def target_probabilities(self, rows: np.ndarray, classes: np.ndarray) -> np.ndarray | None:
        """Of some rows of the target, one column per class; None if the classifier has none."""
        return _probabilities(self.model, classes, self.aligned.embedded_target[rows])

    def probabilities(self, rows: np.ndarray) -> Probabilities | None:
        """Of some rows of the target, where the classifier is a model of them (no softmax)."""
        return class_probabilities(self.model, self.aligned.embedded_target[rows])


class _Own:
    """A method that predicts itself, from features."""

    def __init__(self, aligned: Aligned, visible: Sequence):
        self.aligned, self.features = aligned, visible

    def visible(self, asked: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [
            predicted_rows(self.aligned.aligner, X, rows, whole=self._by_place, domain=d)
            for d, (X, rows) in enumerate(zip(self.features, asked, strict=True))
        ]

    def confidence(self, asked: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [
            _confidence(self.aligned.aligner, X, rows, whole=self._by_place, domain=d)
            for d, (X, rows) in enumerate(zip(self.features, asked, strict=True))
        ]

    @property
    def _by_place(self) -> bool:
        """Whether the method knows its training samples by their places, and no others."""
        return not self.aligned.aligner.capabilities.embeds_new_samples

    def target(self) -> np.ndarray:
        return self.aligned.aligner.predict(self.aligned.target_features, domain=-1)

    def target_probabilities(self, rows: np.ndarray, classes: np.ndarray) -> np.ndarray | None:
        X = self.aligned.target_features[rows]
        return _probabilities(self.aligned.aligner, classes, X, domain=-1)


def predicted_rows(model, X, rows: np.ndarray, *, whole: bool = False, **place: int) -> np.ndarray:
    """Predictions of the rows that a mask names, -1 elsewhere; ``whole`` if it is to see all."""
    found = np.full(X.shape[0], HIDDEN)
    if rows.any():
        found[rows] = _asked(model.predict, X, rows, whole, **place)
    return found


def _confidence(model, X, rows: np.ndarray, *, whole: bool = False, **place: int) -> np.ndarray:
    found = np.full(X.shape[0], np.nan)
    if rows.any():
        values = _asked(
            functools.partial(_probabilities, model, model.classes_), X, rows, whole, **place
        )
        if values is not None:
            found[rows] = values.max(axis=1)
    return found


def _asked(answer, X, rows: np.ndarray, whole: bool, **place: int):
    """Answers of the rows of a mask: of the rows alone, or picked from those of all."""
    if not whole:
        return answer(X[rows], **place)
    values = answer(X, **place)
    return None if values is None else values[rows]


def _probabilities(model, classes: np.ndarray, X, **place) -> np.ndarray | None:
    """Class probabilities of a model that has them, else None.

    A nearest neighbour has none: 0 and 1 are no degrees of belief. Nor has a machine: what it makes
    of a row's distances, of more than two classes the votes of pairs, grows with C and not with
    what is known, so that a softmax of it is as certain where it guesses as where it is right.
    """
    if not hasattr(model, "predict_proba"):
        return None
    values = model.predict_proba(X, **place)
    placed = np.zeros((values.shape[0], len(classes)))
    placed[:, np.searchsorted(classes, model.classes_)] = values
    return placed
