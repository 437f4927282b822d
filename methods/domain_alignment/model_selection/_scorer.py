"""Selectors as scorers of scikit-learn."""

from functools import partial

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metadata_routing import MetadataRequest

from domain_alignment.model_selection._evidence import Evidence
from domain_alignment.model_selection._selectors import SELECTORS
from domain_alignment.model_selection._validation import held_out_predictions
from domain_alignment.utils._rows import stacked
from domain_alignment.utils.validation import check_labels


class SelectorScorer(BaseEstimator):
    """A selector as scikit-learn's ``scoring`` of an :class:`~domain_alignment.AlignedClassifier`.

    Called as ``scorer(estimator, X, y, sample_domain=...)``; larger is better. The estimator may
    also be a pipeline that ends in an ``AlignedClassifier``. With
    ``sklearn.set_config(enable_metadata_routing=True)``, ``GridSearchCV`` and ``cross_validate``
    pass `sample_domain` on; no ``set_score_request`` is needed.

    Parameters
    ----------
    selector : str
        Key in ``SELECTORS``.
    cv : int, optional
        None, the default: the scored rows are new to the estimator, as in ``cross_validate`` and
        ``GridSearchCV``. They are embedded as new samples, and the predictions are held out.
        An integer: the scored rows are those of ``fit``, in the same order. Their embeddings are
        those of ``fit``, and held-out predictions, where the selector needs them, are made by
        refitting in this number of folds, see
        :func:`~domain_alignment.model_selection.held_out_predictions`.
    random_state : int, default=0
        Seed of the folds.

    Raises
    ------
    ValueError
        If the selector is unknown, `sample_domain` is missing or lacks a source or the target, or
        the rows are not those of ``fit`` though `cv` is given.
    AlignmentError
        If `cv` is None and the aligner cannot embed new samples; give `cv`.

    Notes
    -----
    Labels of -1 are unlabelled. The score is NaN where the selector is not defined, for instance
    if it needs probabilities and the classifier has none.

    Cost: that of the selector; with `cv`, this number of fits for selectors of held-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import AlignedClassifier, CORAL
    >>> rng = np.random.default_rng(0)
    >>> y = np.tile([0, 1], 40)
    >>> X = rng.normal(size=(80, 3)) + 4 * y[:, None]
    >>> sample_domain = np.repeat([1, -2], 40)
    >>> seen = np.where(sample_domain > 0, y, -1)
    >>> model = AlignedClassifier(CORAL()).fit(X, seen, sample_domain=sample_domain)
    >>> scorer = make_selector_scorer("source_accuracy", cv=2)
    >>> scorer(model, X, seen, sample_domain=sample_domain)
    1.0
    """

    def __init__(self, selector, cv=None, random_state=0):
        self.selector = selector
        self.cv = cv
        self.random_state = random_state

    def get_metadata_routing(self):
        """What scikit-learn's tools pass to the scorer: `sample_domain`."""
        requests = MetadataRequest(owner=self)
        requests.score.add_request(param="sample_domain", alias=True)
        return requests

    def __call__(self, estimator, X, y=None, sample_domain=None):
        """Score of a fitted estimator on these rows."""
        if self.selector not in SELECTORS:
            raise ValueError(f"unknown selector {self.selector!r}; known: {', '.join(SELECTORS)}")
        selector = SELECTORS[self.selector]
        y = check_labels(y, np.shape(X)[0])
        members = _members(estimator, y.size, sample_domain)
        if self.cv is None:
            embeddings = _embedded_anew(estimator, X, sample_domain, members)
            held_out = [_final(estimator).classifier_.predict(Z) for Z in embeddings]
        else:
            embeddings = _embedded_in_fit(estimator, members)
            held_out = None
            if any(part.endswith("held_out") for part in selector.needs):
                refit = partial(_refitted, estimator, X, sample_domain, members)
                labels = [y[rows] for rows in members]
                held_out = held_out_predictions(refit, labels, self.cv, self.random_state)
        return selector(_evidence(_final(estimator), embeddings, y, members, held_out))


def make_selector_scorer(selector, cv=None, random_state=0):
    """Scorer of a selector; parameters as for :class:`SelectorScorer`."""
    return SelectorScorer(selector, cv, random_state)


def _final(estimator):
    """The fitted ``AlignedClassifier``, at the end of a pipeline or by itself."""
    final = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    missing = [name for name in ("aligner_", "classifier_", "domains_") if not hasattr(final, name)]
    if missing:
        raise ValueError(
            f"the estimator, a {type(final).__name__}, has no {missing[0]}; give a fitted "
            "AlignedClassifier, or a pipeline that ends in one"
        )
    return final


def _members(estimator, n_samples, sample_domain):
    """Rows of each domain that has some, the target last."""
    given = None if sample_domain is None else np.asarray(sample_domain)
    if given is None or given.shape != (n_samples,):
        found = "missing" if given is None else f"of shape {given.shape} for {n_samples} samples"
        raise ValueError(
            f"sample_domain is {found}: give one number per sample, positive for sources and "
            "negative for the target (in scikit-learn's tools, after "
            "sklearn.set_config(enable_metadata_routing=True))"
        )
    members = [np.flatnonzero(given == number) for number in _final(estimator).domains_]
    sources = [rows for rows in members[:-1] if rows.size]
    if not sources or not members[-1].size:
        raise ValueError(
            f"sample_domain names the domains {np.unique(given).tolist()}; a selector compares "
            "samples of at least one source and of the target of fit "
            f"({_final(estimator).domains_.tolist()})"
        )
    return [*sources, members[-1]]


def _embedded_anew(estimator, X, sample_domain, members):
    Z = estimator.transform(X, sample_domain=sample_domain)
    return [Z[rows] for rows in members]


def _embedded_in_fit(estimator, members):
    embeddings = _final(estimator).aligner_.embeddings_
    sizes = [len(rows) for rows in members]
    if sizes != [Z.shape[0] for Z in embeddings]:
        raise ValueError(
            f"the domains have {sizes} rows, in fit they had {[Z.shape[0] for Z in embeddings]}; "
            "with cv, score the rows of fit, or give cv=None"
        )
    return embeddings


def _refitted(estimator, X, sample_domain, members, ys):
    """Predictions for the rows of each domain by a clone fitted with other labels."""
    y = np.empty(np.shape(X)[0], dtype=np.int64)
    for rows, labels in zip(members, ys, strict=True):
        y[rows] = labels
    refit = clone(estimator).fit(X, y, sample_domain=sample_domain)
    return [_final(refit).transduction_[rows] for rows in members]


def _evidence(model, embeddings, y, members, held_out):
    """Evidence of a fitted model from the embeddings of each domain's rows, the target last."""
    classifier, parts = model.classifier_, {}
    sources = np.concatenate(members[:-1])
    for side, Z, rows in (
        ("source", stacked(embeddings[:-1]), sources),
        ("target", embeddings[-1], members[-1]),
    ):
        parts[f"{side}_embedding"], parts[f"{side}_labels"] = Z, y[rows]
        parts[f"{side}_predicted"] = classifier.predict(Z)
        if hasattr(classifier, "predict_proba"):
            parts[f"{side}_probabilities"] = classifier.predict_proba(Z)
    if held_out is not None:
        parts["source_held_out"] = np.concatenate(held_out[:-1])
        parts["target_held_out"] = held_out[-1]

    def backward(pseudo):
        there = clone(classifier).fit(parts["target_embedding"], pseudo)
        return there.predict(parts["source_embedding"])

    return Evidence(**parts, classes=classifier.classes_, backward=backward)
