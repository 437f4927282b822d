"""What predicts samples of the target: its preprocessing, the aligner and the classifier."""

import warnings

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from domain_alignment.exceptions import SavedModelError
from domain_alignment.persistence._kinds import kinds, unknown_kinds
from domain_alignment.utils._containers import plain
from domain_alignment.utils._feature_names import check_names, feature_names
from domain_alignment.utils.cells import number
from domain_alignment.utils.validation import check_matrix


def _predictor_has(name):
    """Check for ``available_if``: whether what predicts has a method of that name."""

    def check(self):
        getattr(self._predictor, name)  # raises AttributeError, which says what lacks it
        return True

    return check


class TargetModel:
    """Fitted preprocessing, aligner and classifier, for new samples of one domain.

    What :func:`save_model` keeps and :func:`load_model` returns. Of an
    :class:`~domain_alignment.AlignedClassifier` it is made by itself (:meth:`of`); made by hand it
    also serves domains with different features and columns of text.

    Parameters
    ----------
    aligner : Aligner
        Fitted.
    classifier : classifier, optional
        Fitted on embedded samples; None: the aligner's own ``predict``.
    classes : array-like of shape (n_classes,), optional
        What the predictions 0, 1, ... mean; by default themselves.
    preprocessing : transformer, optional
        Fitted on the rows of the domain.
    feature_names : sequence of str, optional
        Names of the columns before the preprocessing.
    text_features : sequence of int, default=()
        Positions of the columns that hold text, which the preprocessing must turn into numbers. It
        is then handed arrays of objects, with None for a cell that holds no text. Numbers there
        are names too: 3, 3.0 and "3" are the same. A kind that the preprocessing codes one-hot and
        was not fitted with is predicted with a ``UserWarning``.
    domain : int, default=-1
        Position of the domain in the aligner's fit; the target is the last.
    reading : dict, optional
        How the files of the domain were read, for the command ``predict``: "separator", "decimal",
        and "zero_based" of .svmlight.
    n_features : int, optional
        Number of columns before a preprocessing that does not say it itself.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features,), or None

    Raises
    ------
    SavedModelError
        If the aligner cannot embed new samples.
    ValueError
        If a part is not fitted, or does not fit the others.

    Notes
    -----
    Cost: that of the parts' ``transform`` and ``predict``.

    Examples
    --------
    >>> from domain_alignment import CORAL
    >>> from sklearn.neighbors import NearestCentroid
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> Xs = [4 * y[:, None] + rng.normal(size=(40, 2)) for _ in range(2)]
    >>> aligner = CORAL().fit(Xs)
    >>> names = np.array(["healthy", "ill"])
    >>> classifier = NearestCentroid().fit(aligner.embeddings_[0], names[y])
    >>> TargetModel(aligner, classifier).predict([[0.0, 0.5], [3.5, 4.0]]).tolist()
    ['healthy', 'ill']
    """

    reading = None  # of models saved before it was kept

    def __init__(
        self,
        aligner,
        classifier=None,
        classes=None,
        *,
        preprocessing=None,
        feature_names=None,
        text_features=(),
        domain=-1,
        reading=None,
        n_features=None,
    ):
        check_is_fitted(aligner, "embeddings_")
        _check_embeds(aligner)
        self.aligner = aligner
        self.classifier = classifier
        self.preprocessing = preprocessing
        self.domain = _position(domain, len(aligner.n_features_in_))
        self.reading = None if reading is None else dict(reading)
        self._check_predicts()
        self._names = None if classes is None else np.asarray(classes)
        self.classes_ = self._named(self._predictor.classes_)
        self.n_features_in_ = self._n_features(n_features)
        self.feature_names_in_ = self._checked_names(feature_names)
        self.text_features = [int(at) for at in text_features]
        if self.text_features and preprocessing is None:
            raise ValueError("text_features: need a preprocessing that makes numbers of them")

    @classmethod
    def of(cls, model):
        """The target's part of a fitted :class:`~domain_alignment.AlignedClassifier`.

        Parameters
        ----------
        model : AlignedClassifier
        """
        check_is_fitted(model, "transduction_")
        own = model.classifier_ is None
        return cls(
            model.aligner_,
            model.classifier_,
            model.classes_ if own else None,
            preprocessing=None if model.preprocessors_ is None else model.preprocessors_[-1],
            feature_names=getattr(model, "feature_names_in_", None),
            n_features=model.n_features_in_,
        )

    def predict(self, X):
        """Classes of samples.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        if self.classifier is None:
            return self._named(self.aligner.predict(self._preprocessed(X), self.domain))
        return self._named(self.classifier.predict(self.transform(X)))

    @available_if(_predictor_has("predict_proba"))
    def predict_proba(self, X):
        """Probabilities of the classes, in the order of ``classes_``, if there are any."""
        if self.classifier is None:
            return self.aligner.predict_proba(self._preprocessed(X), self.domain)
        return self.classifier.predict_proba(self.transform(X))

    def transform(self, X):
        """Embedding of samples, of shape (n_samples, n_components)."""
        return plain(self.aligner.transform(self._preprocessed(X), self.domain))

    @property
    def _predictor(self):
        return self.aligner if self.classifier is None else self.classifier

    def _check_predicts(self):
        if self.classifier is not None:
            check_is_fitted(self.classifier)
        elif not hasattr(self.aligner, "predict"):
            name = type(self.aligner).__name__
            raise ValueError(f"{name} has no predict of its own; give a classifier")

    def _named(self, predicted):
        return predicted if self._names is None else self._names[predicted]

    def _n_features(self, told):
        if self.preprocessing is None:
            known = self.aligner.n_features_in_[self.domain]
        else:
            known = getattr(self.preprocessing, "n_features_in_", told)
        if known is None:
            name = type(self.preprocessing).__name__
            raise ValueError(
                f"{name} does not say how many columns it was fitted with; give n_features"
            )
        if told not in (None, known):
            raise ValueError(f"n_features={told}, and fitted were {known}; leave it out")
        return known

    def _checked_names(self, names):
        if names is None:
            return None
        names = np.array([str(name) for name in names], dtype=object)
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"feature_names: {len(names)} names for {self.n_features_in_} features; give one "
                "each"
            )
        return names

    def _preprocessed(self, X):
        check_names(feature_names(X), self.feature_names_in_, "X", "give the columns of fit")
        X = self._checked(X)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features; the model was fitted with {self.n_features_in_}"
            )
        return X if self.preprocessing is None else plain(self.preprocessing.transform(X))

    def _checked(self, X):
        """Numbers as a matrix; with columns of text an array of objects, numbers as floats."""
        if not self.text_features:
            return check_matrix(X, finite=self.preprocessing is None)
        X = np.array(X, dtype=object)
        if X.ndim != 2:
            raise ValueError(f"X: has {X.ndim} dimension(s) instead of 2; give rows of features")
        for at in range(X.shape[1]):
            X[:, at] = kinds(X[:, at]) if at in self.text_features else _numbers(X[:, at], at)
        for told in unknown_kinds(
            self.preprocessing, X, self.text_features, self.feature_names_in_
        ):
            warnings.warn(f"X: {told}", UserWarning, stacklevel=5)
        return X


def _numbers(cells, at):
    """Cells of a column as floats: beside text, numbers may be written as text too."""
    try:
        if any(isinstance(cell, str) for cell in cells):
            return np.array([number(cell) for cell in cells], dtype=float)
        return cells.astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X: column {at} is not of real numbers ({error}); give real numbers"
        ) from None


def _check_embeds(aligner):
    if not aligner.capabilities.embeds_new_samples:
        raise SavedModelError(
            f"{type(aligner).__name__}: embeds only the samples that it was fitted on and predicts "
            "no new ones; keep its predictions, or choose a method whose capabilities say "
            "embeds_new_samples"
        )


def _position(domain, n_domains):
    try:
        return range(n_domains)[domain]
    except IndexError:
        raise ValueError(f"domain {domain} does not exist; fitted: 0 to {n_domains - 1}") from None
