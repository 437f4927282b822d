"""Aligners in scikit-learn's (X, y) interface: stacked samples plus a vector of domains."""

from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from domain_alignment.utils._params import HasMethods, StrOptions
from domain_alignment.utils._rows import stacked
from domain_alignment.utils.validation import UNLABELLED, check_labels, check_matrix


class AlignedClassifier(ClassifierMixin, BaseEstimator):
    r"""An aligner followed by a classifier, on the stacked samples of all domains.

    Makes any aligner of domains with equal features work in scikit-learn's ``Pipeline``,
    ``GridSearchCV`` and ``cross_validate``. `sample_domain` assigns rows to domains in skada's
    convention: positive numbers are sources, a negative number is the target. Sources are aligned
    in ascending order, the target last.

    Parameters
    ----------
    aligner : Aligner
        For instance ``FMA(level="feature")``; a clone is fitted.
    classifier : classifier, optional
        A clone is fitted on the embedded samples; ``LogisticRegression()`` by default, as in the
        experiments of Dernbach & Towsley (2020).
    train_on : {"auto", "source", "target", "source+target"}, default="auto"
        Domains whose labelled rows train the classifier. "auto": the aligner's ``classifier_rows``
        if set, else the sources.

    Attributes
    ----------
    aligner_ : Aligner
    classifier_ : classifier
    classes_ : ndarray of shape (n_classes,)
    domains_ : ndarray of int of shape (n_domains,)
        Domain numbers in the order of alignment, the target last.
    transduction_ : ndarray of int of shape (n_samples,)
        Predictions for the rows of `fit`; the only ones for aligners that cannot embed new samples.
    n_features_in_ : int

    Raises
    ------
    ValueError
        If `sample_domain` is missing, has the wrong length, or does not name at least one source
        and exactly one target; or there is no labelled row to train on.
    AlignmentError
        Raised by the aligner; in particular by `predict` if it cannot embed new samples.

    Notes ----- Set ``sklearn.set_config(enable_metadata_routing=True)`` to pass `sample_domain`
    through scikit-learn's tools; no ``set_fit_request`` is needed. Rows with y = -1 are unlabelled
    and ignored by `score`. Domains with different features cannot be stacked: call the aligner
    directly. Preprocessing in the same pipeline is fitted on all domains together.

    Cost: that of the aligner and of the classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import FMA
    >>> rng = np.random.default_rng(0)
    >>> y = np.tile(np.repeat([0, 1], 20), 2)
    >>> X = np.array([[4.0, 0.0, 0.0], [0.0, 4.0, 0.0]])[y] + rng.normal(size=(80, 3))
    >>> X[40:] += 3  # the target is shifted
    >>> sample_domain = np.repeat([1, -2], 40)
    >>> seen = np.where((sample_domain > 0) | (np.arange(80) % 20 < 3), y, -1)
    >>> aligner = FMA(level="feature", n_components=4, n_neighbors=5)
    >>> model = AlignedClassifier(aligner).fit(X, seen, sample_domain=sample_domain)
    >>> bool(model.score(X[40:], y[40:]) > 0.9)
    True
    """

    # Default requests for scikit-learn's metadata routing.
    __metadata_request__fit: ClassVar[dict] = {"sample_domain": True}
    __metadata_request__predict: ClassVar[dict] = {"sample_domain": True}
    __metadata_request__predict_proba: ClassVar[dict] = {"sample_domain": True}
    __metadata_request__transform: ClassVar[dict] = {"sample_domain": True}
    __metadata_request__score: ClassVar[dict] = {"sample_domain": True}

    _parameter_constraints: ClassVar[dict] = {
        "aligner": [HasMethods(["fit", "transform", "prepare"])],
        "classifier": [HasMethods(["fit", "predict"]), None],
        "train_on": [StrOptions({"auto", "source", "target", "source+target"})],
    }

    def __init__(self, aligner, classifier=None, train_on="auto"):
        self.aligner = aligner
        self.classifier = classifier
        self.train_on = train_on

    def fit(self, X, y, sample_domain=None):
        """Align the domains and train the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of int of shape (n_samples,)
            -1 is unlabelled.
        sample_domain : array-like of int of shape (n_samples,)

        Returns
        -------
        self : AlignedClassifier
        """
        self._validate_params()
        X = check_matrix(X)
        y = check_labels(y, X.shape[0])
        sample_domain = _check_sample_domain(sample_domain, X.shape[0])
        self.domains_ = _aligned_order(sample_domain)
        self.n_features_in_ = X.shape[1]
        members = [np.flatnonzero(sample_domain == number) for number in self.domains_]
        self.aligner_ = clone(self.aligner).fit(
            [X[rows] for rows in members], [y[rows] for rows in members]
        )
        used, embedded = self._training_rows(y, members)
        classifier = LogisticRegression() if self.classifier is None else clone(self.classifier)
        self.classifier_ = classifier.fit(embedded, y[used])
        self.classes_ = self.classifier_.classes_
        self.transduction_ = np.empty_like(y)
        for rows, embedding in zip(members, self.aligner_.embeddings_, strict=True):
            self.transduction_[rows] = self.classifier_.predict(embedding)
        return self

    def _training_rows(self, y, members):
        """Labelled rows that train the classifier, and their embedding."""
        train_on = self.train_on
        if train_on == "auto":
            train_on = self.aligner_.classifier_rows or "source"
        chosen = {
            "source": range(len(members) - 1),
            "target": [len(members) - 1],
            "source+target": range(len(members)),
        }[train_on]
        labelled = {domain: y[members[domain]] != UNLABELLED for domain in chosen}
        used = np.concatenate([members[domain][labelled[domain]] for domain in chosen])
        if not used.size:
            raise ValueError(
                f"no row of the {train_on} domains is labelled; label some, or change train_on"
            )
        parts = [self.aligner_.embeddings_[domain][labelled[domain]] for domain in chosen]
        return used, stacked(parts)

    def transform(self, X, sample_domain=None):
        """Embed samples, each with the map of its domain.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        sample_domain : array-like of int of shape (n_samples,), optional
            All target by default.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
        """
        check_is_fitted(self, "classifier_")
        X = check_matrix(X)
        if sample_domain is None:
            return self.aligner_.transform(X, -1)
        sample_domain = _check_sample_domain(sample_domain, X.shape[0])
        unknown = np.setdiff1d(sample_domain, self.domains_)
        if unknown.size:
            raise ValueError(
                f"sample_domain holds {unknown[0]}, which was not in fit "
                f"(fitted: {self.domains_.tolist()})"
            )
        members = [np.flatnonzero(sample_domain == number) for number in self.domains_]
        present = [domain for domain, rows in enumerate(members) if rows.size]
        parts = [self.aligner_.transform(X[members[domain]], domain) for domain in present]
        order = np.argsort(np.concatenate([members[domain] for domain in present]))
        return stacked(parts)[order]

    def predict(self, X, sample_domain=None):
        """Classes of the samples; arguments as for :meth:`transform`."""
        return self.classifier_.predict(self.transform(X, sample_domain))

    def predict_proba(self, X, sample_domain=None):
        """Class probabilities, if the classifier provides them."""
        return self.classifier_.predict_proba(self.transform(X, sample_domain))

    def score(self, X, y, sample_domain=None, sample_weight=None):
        """Accuracy on the labelled rows (y other than -1).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of int of shape (n_samples,)
        sample_domain : array-like of int of shape (n_samples,), optional
            All target by default.
        sample_weight : array-like of shape (n_samples,), optional

        Raises
        ------
        ValueError
            If no row is labelled.
        """
        y = check_labels(y, np.shape(X)[0])
        labelled = y != UNLABELLED
        if not labelled.any():
            raise ValueError("score: all rows are unlabelled (-1); label some")
        weight = None if sample_weight is None else np.asarray(sample_weight)[labelled]
        right = self.predict(X, sample_domain)[labelled] == y[labelled]
        return float(np.average(right, weights=weight))


def _check_sample_domain(sample_domain, n_samples):
    if sample_domain is None:
        raise ValueError(
            "sample_domain is missing: give one number per sample, positive for sources and "
            "negative for the target (in scikit-learn's tools, after "
            "sklearn.set_config(enable_metadata_routing=True))"
        )
    sample_domain = np.asarray(sample_domain)
    if sample_domain.shape != (n_samples,) or sample_domain.dtype.kind not in "iu":
        raise ValueError(
            f"sample_domain has shape {sample_domain.shape} and dtype {sample_domain.dtype} for "
            f"{n_samples} samples; give one integer per sample"
        )
    if not sample_domain.all():
        raise ValueError("sample_domain holds 0; sources must be positive and the target negative")
    return sample_domain


def _aligned_order(sample_domain):
    numbers = np.unique(sample_domain)
    sources, targets = numbers[numbers > 0], numbers[numbers < 0]
    if not sources.size or targets.size != 1:
        raise ValueError(
            f"sample_domain names sources {sources.tolist()} and targets {targets.tolist()}; "
            "need at least one source (positive) and exactly one target (negative)"
        )
    return np.concatenate([sources, targets])
