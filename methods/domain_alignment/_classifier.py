"""Aligners in scikit-learn's (X, y) interface: stacked samples plus a vector of domains."""

from numbers import Integral
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from domain_alignment.utils._class_labels import check_comparable, class_numbers, known_labels
from domain_alignment.utils._containers import plain
from domain_alignment.utils._params import HasMethods, StrOptions
from domain_alignment.utils._rows import in_place_of, row_marks, stacked
from domain_alignment.utils._sample_domain import (
    check_sample_domain,
    domains_in_order,
    fitted_domains,
)
from domain_alignment.utils.validation import check_matrix, dense


def _predictor_has(name):
    """Check for ``available_if``: whether what predicts has a method of that name."""

    def check(self):
        # Raises AttributeError, which says what lacks the method.
        getattr(self._predictor(), name)
        return True

    return check


class AlignedClassifier(ClassifierMixin, TransformerMixin, BaseEstimator):
    r"""An aligner followed by a classifier, on the stacked samples of all domains.

    Makes any aligner of domains with equal features work in scikit-learn's ``Pipeline``,
    ``GridSearchCV`` and ``cross_validate``. `sample_domain` assigns rows to domains. By default in
    skada's convention: positive numbers are sources, a negative number is the target; with
    `target_domain` any numbers or names. Sources are aligned in ascending order, the target last.

    Parameters
    ----------
    aligner : Aligner
        For instance ``FMA(level="feature")``; a clone is fitted.
    classifier : classifier or "own", optional
        A clone is fitted on the embedded samples; ``LogisticRegression(max_iter=1000)`` by default,
        as in the experiments of Dernbach & Towsley (2020). "own": the aligner's own ``predict``, of
        methods that classify (JDA, MEDA, MMDT, ARC-t, HFA, ...), as in their papers.
    train_on : {"auto", "source", "target", "source+target"}, default="auto"
        Domains whose labelled rows train the classifier. "auto": the aligner's ``classifier_rows``
        if set, else the sources.
    preprocessing : transformer, optional
        A clone is fitted to all rows of each domain by itself, without labels, and transforms the
        rows of that domain; new samples by the clone of theirs. For instance
        ``make_pipeline(Normalizer("l1"), StandardScaler())``, the steps ``[l1_rows, zscore]`` of a
        protocol; an imputer may come first. A scaler *before* this estimator in a pipeline is
        fitted to all domains together and keeps their shift.
    target_domain : int or str, optional
        Which entry of `sample_domain` is the target; all others are sources. By default the
        negative number.

    Attributes
    ----------
    aligner_ : Aligner
        Fitted with the classes as numbers, positions in ``classes_``.
    classifier_ : classifier or None
        Fitted with the classes as given; None for "own".
    classes_ : ndarray of shape (n_classes,)
        Of all labelled rows; with a classifier, of the rows that it was trained on.
    domains_ : ndarray of int or str of shape (n_domains,)
        Domains in the order of alignment, the target last.
    preprocessors_ : list of transformers, or None
        One per domain.
    transduction_ : ndarray of shape (n_samples,), of the type of `classes_`
        Predictions for the rows of `fit`; the only ones for aligners that cannot embed new samples.
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features,)
        Only if X was a data frame. Other columns are refused afterwards.

    Raises
    ------
    ValueError
        If `sample_domain` is missing, has the wrong length, or does not name at least one source
        and exactly one target; a label is no class; there is no labelled row to train on; or
        "own" is asked of an aligner that has no ``predict``.
    AlignmentError
        Raised by the aligner; in particular by `predict` if it cannot embed new samples.

    Notes
    -----
    *Labels* are integers from 0, strings or booleans. Unlabelled rows are -1, in lists and arrays
    of objects or floats also None and NaN; they take part in the alignment and `score` ignores
    them.

    *Metadata routing.* After ``sklearn.set_config(enable_metadata_routing=True)`` scikit-learn's
    tools hand `sample_domain` to ``fit``, ``predict``, ``score`` and to the folds, without any
    ``set_fit_request``: ``cross_validate(model, X, y, params={"sample_domain": d}, cv=...)``. Folds
    should be :class:`~domain_alignment.TargetFolds`: plain folds score mostly source rows, and a
    fold without labelled rows scores nan. skada's splitters and scorers work likewise.

    *At predict* a number names the domain and its sign the role, as in skada: 3 is the domain -3 of
    fit. Without `sample_domain` all rows are the target's.

    Domains with different features cannot be stacked: call the aligner directly.

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
    __metadata_request__decision_function: ClassVar[dict] = {"sample_domain": True}
    __metadata_request__transform: ClassVar[dict] = {"sample_domain": True}
    __metadata_request__score: ClassVar[dict] = {"sample_domain": True}

    # The rows of each domain in fit, and marks to know them by; None in older pickles.
    _rows = None

    _trained_sparse = True  # of what earlier versions have pickled

    _parameter_constraints: ClassVar[dict] = {
        "aligner": [HasMethods(["fit", "transform", "prepare"])],
        "classifier": [HasMethods(["fit", "predict"]), StrOptions({"own"}), None],
        "train_on": [StrOptions({"auto", "source", "target", "source+target"})],
        "preprocessing": [HasMethods(["fit", "transform"]), None],
        "target_domain": [Integral, str, None],
    }

    def __init__(
        self, aligner, classifier=None, train_on="auto", preprocessing=None, target_domain=None
    ):
        self.aligner = aligner
        self.classifier = classifier
        self.train_on = train_on
        self.preprocessing = preprocessing
        self.target_domain = target_domain

    def fit(self, X, y, sample_domain=None):
        """Align the domains and train the classifier.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of int, str or bool of shape (n_samples,)
            -1 (or None, NaN) is unlabelled.
        sample_domain : array-like of int or str of shape (n_samples,)

        Returns
        -------
        self : AlignedClassifier
        """
        self._validate_params()
        self._check_own()
        features = self._check_features(X, reset=True)
        y, known = known_labels(y, features.shape[0])
        self.domains_, members = self._rows_by_domain(sample_domain, features.shape[0])
        self._rows = members, row_marks(features)
        Xs = self._fit_preprocessing([features[rows] for rows in members])
        self.classes_, codes = class_numbers(y, known)
        self.aligner_ = clone(self.aligner).fit(Xs, [codes[rows] for rows in members])
        self.classifier_ = None
        if self.classifier != "own":
            used, embedded = self._training_rows(known, members)
            classifier = clone(self._default() if self.classifier is None else self.classifier)
            self._trained_sparse = sparse.issparse(embedded)
            self.classifier_ = classifier.fit(embedded, self.classes_[codes[used]])
            self.classes_ = self.classifier_.classes_
        self.transduction_ = self._transduce(Xs, members)
        return self

    def _rows_by_domain(self, sample_domain, n_samples):
        """Domains in the order of alignment, and the rows of each."""
        sample_domain = check_sample_domain(sample_domain, n_samples, self.target_domain)
        domains = domains_in_order(sample_domain, self.target_domain)
        return domains, [np.flatnonzero(sample_domain == domain) for domain in domains]

    def _marks_of(self, X):
        return row_marks(self._check_features(X, reset=False))

    def _check_own(self):
        if self.classifier != "own":
            return
        name = type(self.aligner).__name__
        if not hasattr(self.aligner, "predict"):
            raise ValueError(
                f'classifier="own", but {name} has no predict of its own; give a classifier, or '
                "leave it out for a logistic regression"
            )
        if self.train_on != "auto":
            raise ValueError(
                f"train_on={self.train_on!r} says what a classifier is trained on, but with "
                f'classifier="own" {name} decides; leave it at "auto"'
            )

    def _check_features(self, X, *, reset):
        """`X` as a matrix with the columns of fit; a preprocessor may get missing values."""
        if np.ma.isMaskedArray(X):
            check_matrix(X)  # scikit-learn would read what is under the mask
        least = 2 if reset else 1  # a sample of the source and one of the target
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            ensure_all_finite=False,
            ensure_min_samples=least,
        )
        return check_matrix(X, finite=self.preprocessing is None)

    def _fit_preprocessing(self, Xs):
        """The features of each domain after a transformer of its own."""
        self.preprocessors_ = None
        if self.preprocessing is None:
            return Xs
        self.preprocessors_ = [clone(self.preprocessing).fit(X) for X in Xs]
        return [self._preprocessed(X, domain) for domain, X in enumerate(Xs)]

    def _preprocessed(self, X, domain):
        if self.preprocessors_ is None:
            return X
        return plain(self.preprocessors_[domain].transform(X))

    @property
    def _trained_on(self):
        """Domains whose labelled rows train the classifier, "auto" resolved."""
        if self.train_on == "auto":
            return self.aligner_.classifier_rows or "source"
        return self.train_on

    def _training_rows(self, known, members):
        """Labelled rows that train the classifier, and their embedding."""
        train_on = self._trained_on
        chosen = {
            "source": range(len(members) - 1),
            "target": [len(members) - 1],
            "source+target": range(len(members)),
        }[train_on]
        labelled = {domain: known[members[domain]] for domain in chosen}
        used = np.concatenate([members[domain][labelled[domain]] for domain in chosen])
        if not used.size:
            raise ValueError(
                f"no row of the {train_on} domains is labelled; label some, or change train_on"
            )
        parts = [self.aligner_.embeddings_[domain][labelled[domain]] for domain in chosen]
        return used, stacked(parts)

    def _transduce(self, Xs, members):
        """Predictions for the rows of fit."""
        if self.classifier_ is None:
            codes = [self.aligner_.predict(X, domain) for domain, X in enumerate(Xs)]
            parts = [self.classes_[found] for found in codes]
        else:
            embeddings = map(self._as_trained, self.aligner_.embeddings_)
            parts = [self.classifier_.predict(Z) for Z in embeddings]
        return in_place_of(members, parts)

    def _by_domain(self, X, sample_domain, ask):
        """``ask(X, domain)`` for the rows of each domain, in the order of the rows of X."""
        check_is_fitted(self, "transduction_")
        X = self._check_features(X, reset=False)
        if sample_domain is None:
            last = len(self.domains_) - 1
            return ask(self._preprocessed(X, last), last)
        sample_domain = check_sample_domain(sample_domain, X.shape[0], self.target_domain)
        positions = fitted_domains(sample_domain, self.domains_, self.target_domain)
        present = np.unique(positions)
        members = [np.flatnonzero(positions == domain) for domain in present]
        parts = [
            ask(self._preprocessed(X[rows], domain), int(domain))
            for rows, domain in zip(members, present, strict=True)
        ]
        return in_place_of(members, parts)

    def _ask(self, name, X, sample_domain):
        """A method of the classifier, or of the aligner for "own"."""
        check_is_fitted(self, "transduction_")
        if self.classifier_ is None:
            return self._by_domain(X, sample_domain, getattr(self.aligner_, name))
        Z = self._as_trained(self._embedded(X, sample_domain))
        return getattr(self.classifier_, name)(Z)

    def _as_trained(self, Z):
        """An embedding in the form of the classifier's: one domain's may be sparse alone."""
        return Z if self._trained_sparse else dense(Z)

    def _embedded(self, X, sample_domain):
        check_is_fitted(self, "transduction_")
        return self._by_domain(X, sample_domain, self._aligned)

    def _aligned(self, X, domain):
        return plain(self.aligner_.transform(X, domain))

    def _default(self):
        return LogisticRegression(max_iter=1000)

    def _predictor(self):
        """What predicts: the fitted one if there is one."""
        if self.classifier == "own":
            return getattr(self, "aligner_", self.aligner)
        given = self._default() if self.classifier is None else self.classifier
        return getattr(self, "classifier_", given)

    def transform(self, X, sample_domain=None):
        """Embed samples, each with the map of its domain.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        sample_domain : array-like of int or str of shape (n_samples,), optional
            All target by default.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            Sparse where the method leaves sparse features as they are.
        """
        return self._embedded(X, sample_domain)

    def fit_transform(self, X, y, sample_domain=None):
        """Fit, and the embedding of the same rows as the alignment left them.

        Parameters
        ----------
        X, y, sample_domain
            As for :meth:`fit`.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            Sparse where the method leaves sparse features as they are.
        """
        self.fit(X, y, sample_domain)
        _, members = self._rows_by_domain(sample_domain, len(self.transduction_))
        return in_place_of(members, self.aligner_.embeddings_)

    def get_feature_names_out(self, input_features=None):
        """Names of the embedding's columns, those of the aligner; for ``set_output``.

        Parameters
        ----------
        input_features : ignored
            For API consistency.
        """
        check_is_fitted(self, "transduction_")
        return self.aligner_.get_feature_names_out()

    def predict(self, X, sample_domain=None):
        """Classes of the samples; arguments as for :meth:`transform`."""
        found = self._ask("predict", X, sample_domain)
        return self.classes_[found] if self.classifier_ is None else found

    @available_if(_predictor_has("predict_proba"))
    def predict_proba(self, X, sample_domain=None):
        """Class probabilities, if the classifier provides them."""
        return self._ask("predict_proba", X, sample_domain)

    @available_if(_predictor_has("decision_function"))
    def decision_function(self, X, sample_domain=None):
        """Class scores, if the classifier provides them.

        With "own" those of the aligner, ``-inf`` for a class of ``classes_`` that it does not know.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) if there are two classes
            Columns in the order of ``classes_``; of two, scikit-learn's single score is above 0 for
            the second.
        """
        scores = self._ask("decision_function", X, sample_domain)
        return self._of_all_classes(scores) if self.classifier_ is None else scores

    def _of_all_classes(self, scores):
        """Scores of the aligner's classes, which are positions in ``classes_``, as of all."""
        spread = np.full((len(scores), len(self.classes_)), -np.inf)
        spread[:, self.aligner_.classes_] = scores
        return spread[:, 1] - spread[:, 0] if len(self.classes_) == 2 else spread

    def score(self, X, y, sample_domain=None, sample_weight=None):
        """Accuracy on the labelled rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of int, str or bool of shape (n_samples,)
            -1 (or None, NaN) is unlabelled.
        sample_domain : array-like of int or str of shape (n_samples,), optional
            All target by default.
        sample_weight : array-like of shape (n_samples,), optional

        Raises
        ------
        ValueError
            If no row is labelled, the labels are strings and those of fit were not or the other way
            round, or the weights are not as many as the rows.
        """
        check_is_fitted(self, "transduction_")
        y, labelled = known_labels(y, _n_rows(X))
        if not labelled.any():
            raise ValueError("score: all rows are unlabelled (-1); label some")
        check_comparable(y[labelled], self.classes_)
        weight = None if sample_weight is None else _checked_weight(sample_weight, y)[labelled]
        right = self.predict(X, sample_domain)[labelled] == y[labelled]
        return _mean(right, weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _n_rows(X):
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _checked_weight(sample_weight, y):
    weight = np.asarray(sample_weight)
    if weight.dtype.kind not in "biuf" or not np.isfinite(weight).all():
        raise ValueError("sample_weight: not all of it are finite numbers; give one per sample")
    if weight.shape != y.shape:
        raise ValueError(
            f"sample_weight: has shape {weight.shape} for {len(y)} samples; give one weight per "
            "sample"
        )
    return weight


def _mean(right, weight):
    if weight is not None and not weight.sum() > 0:
        raise ValueError("sample_weight: the weights of the labelled rows add up to nothing")
    return float(np.average(right, weights=weight))
