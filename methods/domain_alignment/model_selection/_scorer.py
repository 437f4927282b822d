"""Selectors as scorers of scikit-learn."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, NuSVC
from sklearn.utils.metadata_routing import MetadataRequest

from domain_alignment.model_selection._evidence import Evidence
from domain_alignment.model_selection._selectors import SELECTORS
from domain_alignment.model_selection._validation import held_out_predictions
from domain_alignment.utils._class_labels import check_comparable, known_labels
from domain_alignment.utils._containers import plain
from domain_alignment.utils._rows import stacked
from domain_alignment.utils._sample_domain import check_sample_domain, fitted_domains
from domain_alignment.utils.validation import UNLABELLED, dense


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
        :func:`~domain_alignment.model_selection.held_out_predictions`. That they are the rows of
        ``fit`` is checked; behind a step of a pipeline with its own ``fit_transform`` (such as
        PCA), or from another package, only that their domains are.
    random_state : int, default=0
        Seed of the folds.

    Raises
    ------
    ValueError
        If the selector is unknown, `sample_domain` is missing or lacks the target, or the rows are
        not those of ``fit`` though `cv` is given.
    AlignmentError
        If `cv` is None and the aligner cannot embed new samples; give `cv`.

    Notes
    -----
    Labels of -1 are unlabelled. The score is NaN where the selector is not defined, for instance
    if it needs probabilities and the classifier has none (nearest neighbours and support vector
    machines count as such, whatever they offer), or circular validation of an aligner that reads
    labels: those of the source would be found again in the embedding that they shaped. Folds
    without source rows, as of :class:`~domain_alignment.TargetFolds`, serve the selectors of the
    target's predictions only; the others compare both domains: give them folds that hold rows of
    both, and labelled rows of both for ``labelled_accuracy`` (where domains lie one after another,
    shuffled ones), or `cv`.

    A criterion without labels need not hold rows out: ``GridSearchCV(..., cv=[(rows, rows)])`` with
    all rows, and `cv` here, chooses on all of them, by any aligner.

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
        scored = _ScoredRows(estimator, X, y, sample_domain)
        embeddings, predicted = scored.anew() if self.cv is None else scored.as_in_fit()
        held_out = None
        if self.cv is None:
            held_out = predicted
        elif any(part.endswith("held_out") for part in selector.needs):
            held_out = held_out_predictions(
                scored.refitted, scored.labels, self.cv, self.random_state
            )
        return selector(scored.evidence(embeddings, predicted, held_out))


def make_selector_scorer(selector, cv=None, random_state=0):
    """Scorer of a selector; parameters as for :class:`~domain_alignment.SelectorScorer`."""
    return SelectorScorer(selector, cv, random_state)


class _ScoredRows:
    """The rows to be scored by domain, the target last, with classes as numbers."""

    def __init__(self, estimator, X, y, sample_domain):
        self.estimator, self.X, self.sample_domain = estimator, X, sample_domain
        self.model = _final(estimator)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        y = np.full(n_rows, UNLABELLED) if y is None else y
        self.y, known = known_labels(y, n_rows)
        if known.any():
            check_comparable(self.y[known], self.model.classes_)
        # Classes that the model does not know come after its own, and are never predicted.
        strange = np.setdiff1d(self.y[known], self.model.classes_)
        self.numbers = {c: i for i, c in enumerate([*self.model.classes_, *strange])}
        codes = np.full(n_rows, UNLABELLED)
        codes[known] = self.numbers_of(self.y[known])
        self.members = _members(self.model, n_rows, sample_domain)
        self.labels = [codes[rows] for rows in self.members]

    def numbers_of(self, classes):
        return np.array([self.numbers[c] for c in classes], dtype=np.intp)

    def anew(self):
        """Embeddings and predictions of the rows of each domain as new samples."""
        Z = plain(self.estimator.transform(self.X, sample_domain=self.sample_domain))
        if self.model.classifier_ is None:
            predicted = self.estimator.predict(self.X, sample_domain=self.sample_domain)
        else:
            predicted = self.model.classifier_.predict(self.model._as_trained(Z))
        predicted = self.numbers_of(predicted)
        return [Z[rows] for rows in self.members], [predicted[rows] for rows in self.members]

    def as_in_fit(self):
        """Embeddings and predictions that fit has left for its rows."""
        embeddings = self.model.aligner_.embeddings_
        sizes, fitted = [len(rows) for rows in self.members], [Z.shape[0] for Z in embeddings]
        if sizes != fitted:
            raise ValueError(
                f"the domains have {sizes} rows, in fit they had {fitted}; with cv, score the rows "
                "of fit, or give cv=None"
            )
        if not self._are_of_fit():
            raise ValueError(
                "the rows are not those of fit, or in another order; with cv, score the rows of "
                "fit, or give cv=None"
            )
        return embeddings, self._transduced(self.model)

    def _are_of_fit(self):
        """Whether the rows are those of fit in its order, as far as the model can tell."""
        if self.model._rows is None:
            return True
        members, marks = self.model._rows
        if not all(map(np.array_equal, self.members, members)):
            return False
        X = self._last_input()
        if X is None:
            return True
        # Rows may come in single precision, and sums be rounded differently.
        atol = 1e-6 * np.median(np.abs(marks))
        return np.allclose(self.model._marks_of(X), marks, rtol=1e-6, atol=atol)

    def _last_input(self):
        """What the model was given of the rows in fit; None if it cannot be made again."""
        X = self.X
        for _, step in getattr(self.estimator, "steps", [])[:-1]:
            if step in (None, "passthrough"):
                continue
            if not _repeats_itself(step):
                return None
            X = step.transform(X)
        return X

    def _transduced(self, model):
        predicted = self.numbers_of(model.transduction_)
        return [predicted[rows] for rows in self.members]

    def refitted(self, labels):
        """Predictions of the rows of each domain by a clone fitted with some labels hidden."""
        # Arrays of strings or booleans could not hold -1.
        y = self.y.copy() if self.y.dtype.kind in "if" else self.y.astype(object)
        for rows, shown in zip(self.members, labels, strict=True):
            y[rows[shown == UNLABELLED]] = UNLABELLED
        refit = clone(self.estimator).fit(self.X, y, sample_domain=self.sample_domain)
        return self._transduced(_final(refit))

    @property
    def _is_of_both_directions(self):
        """Whether the embedding holds no label: it is that of the domains turned round, too."""
        labels = self.model.aligner_.capabilities.labels
        return self.model.classifier_ is not None and labels == "none"

    def evidence(self, embeddings, predicted, held_out):
        """Evidence on the model, sources stacked."""
        classifier, parts = self.model.classifier_, {}
        for side, join in (("source", _sources), ("target", _target)):
            parts[f"{side}_embedding"] = join(embeddings)
            parts[f"{side}_labels"] = join(self.labels)
            parts[f"{side}_predicted"] = join(predicted)
            parts[f"{side}_held_out"] = None if held_out is None else join(held_out)
        if _has_probabilities(classifier):
            Z = self.model._as_trained(parts["target_embedding"])
            parts["target_probabilities"] = classifier.predict_proba(Z)

        def backward(pseudo):
            source, target = parts["source_embedding"], parts["target_embedding"]
            if not (sparse.issparse(source) and sparse.issparse(target)):
                source, target = dense(source), dense(target)
            return clone(classifier).fit(target, pseudo).predict(source)

        return Evidence(
            **parts,
            classes=np.arange(len(self.model.classes_)),
            trained_on=self.model._trained_on,
            backward=backward if self._is_of_both_directions else None,
        )


def _has_probabilities(classifier):
    """Whether a classifier says how sure it is: 0 and 1 of a nearest neighbour are no beliefs."""
    last = classifier.steps[-1][1] if hasattr(classifier, "steps") else classifier
    no_beliefs = isinstance(last, KNeighborsClassifier | SVC | NuSVC)
    return hasattr(classifier, "predict_proba") and not no_beliefs


def _sources(parts):
    return stacked(parts[:-1]) if len(parts) > 1 else parts[-1][:0]


def _target(parts):
    return parts[-1]


def _final(estimator):
    """The fitted ``AlignedClassifier``, at the end of a pipeline or by itself."""
    final = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    if not hasattr(final, "aligner_") or not hasattr(final, "transduction_"):
        raise ValueError(
            f"the estimator is a {type(final).__name__}; give a fitted AlignedClassifier, or a "
            "pipeline that ends in one"
        )
    return final


def _repeats_itself(step):
    """Whether ``transform`` of a pipeline's step surely gives what ``fit_transform`` gave.

    Not if the step has its own ``fit_transform`` (target encoders make another matrix there, PCA
    rounds otherwise), works in place, or is not scikit-learn's and may need more than the rows.
    """
    usual = getattr(type(step), "fit_transform", None) is TransformerMixin.fit_transform
    known = type(step).__module__.startswith("sklearn.")
    return usual and known and getattr(step, "copy", True) is not False


def _members(model, n_rows, sample_domain):
    """Rows of each source that has some, and of the target."""
    sample_domain = check_sample_domain(sample_domain, n_rows, model.target_domain)
    positions = fitted_domains(sample_domain, model.domains_, model.target_domain)
    members = [np.flatnonzero(positions == domain) for domain in range(len(model.domains_))]
    if not members[-1].size:
        raise ValueError(
            f"sample_domain names the domains {np.unique(sample_domain).tolist()}; a selector "
            f"needs rows of the target, {model.domains_[-1].item()!r}"
        )
    return [rows for rows in members[:-1] if rows.size] + members[-1:]
