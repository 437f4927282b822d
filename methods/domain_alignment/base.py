"""The estimator interface that all methods implement."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from domain_alignment.utils._answers import (
    check_answer,
    check_magnitude,
    decompositions_of,
    unshared,
)
from domain_alignment.utils._containers import OutputPerDomain, plain
from domain_alignment.utils._feature_names import (
    check_common_order,
    check_names,
    feature_names,
    remember_names,
    remembered_names,
    warn_of_missing_names,
)
from domain_alignment.utils._params import python_numbers
from domain_alignment.utils.validation import (
    check_domains,
    check_equal_features,
    check_matrix,
    check_prepared,
    domain_name,
)


@dataclass(frozen=True)
class Capabilities:
    """Capabilities of a configured method; tests verify them by running it.

    The defaults describe a linear map of two domains with the same features. `labels` has no
    default: every method states it.

    Attributes
    ----------
    labels : {"none", "source", "source+target"}
        Labels that `fit` uses.
    max_domains : int or None, default=2
        Largest number of domains, ``None`` for any.
    needs_pairs : bool, default=False
        Whether row i of every domain must be the same object.
    heterogeneous : bool, default=False
        Whether the domains may have different features.
    nonlinear : bool, default=False
        Whether the map from features to embedding is nonlinear.
    embeds_new_samples : bool, default=True
        Whether `transform` accepts samples not seen in `fit`.
    invertible : bool, default=False
        Whether embedded samples can be mapped back to features: the method implements
        ``_inverse_transform(Z, domain)``, and then has ``inverse_transform``.
    """

    labels: Literal["none", "source", "source+target"]
    max_domains: int | None = 2
    needs_pairs: bool = False
    heterogeneous: bool = False
    nonlinear: bool = False
    embeds_new_samples: bool = True
    invertible: bool = False


def _is_invertible(aligner):
    return aligner.capabilities.invertible


class Aligner(OutputPerDomain, TransformerMixin, BaseEstimator, ABC):
    """Base class of all methods, which map several domains into one common space.

    ``fit(Xs, ys)`` takes lists with one entry per domain, the **target last**; domains may differ
    in their samples and, where the method allows it, in their features. A label of -1 means
    unlabelled. ``prepare(X)`` computes the label-free part of one domain; passing it to ``fit``
    saves that work and leaves the result bitwise identical, or the same to rounding where TCA,
    SSTCA or JDA have just been fitted to the same two domains in the other direction.

    A subclass declares ``_parameter_constraints`` (scikit-learn's notation) and implements
    ``_fit``, ``_transform`` and ``capabilities``. If it has a label-free part, it also implements
    ``_prepare``, sets ``_model_type`` to the class that this returns and ``_model_params`` to the
    parameters that it depends on. Unless it declares ``heterogeneous``, domains whose features
    differ in number, or in the order of shared column names, are refused before ``_fit``;
    ``_features_reason`` ends the message. ``unmoved_domains`` are the positions of domains that are
    embedded as their features, new samples too; sparse features of theirs may stand for the dense
    embedding, where products with it are all that is asked for.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, n_components_)
        Training samples of each domain in the common space. Sparse where a method leaves sparse
        features as they are.
    n_components_ : int
        Dimension of the common space.
    n_features_in_ : list of int
        Number of features of each domain.
    feature_names_in_ : list of (ndarray of str of shape (p_a,), or None)
        Column names of each domain; only if one was a data frame with such names. Then `transform`
        and `predict` refuse data frames with other columns.
    """

    _parameter_constraints: ClassVar[dict] = {}
    unmoved_domains: ClassVar[tuple[int, ...]] = ()
    _model_type: ClassVar[type | None] = None
    _features_reason: ClassVar[str] = "this method maps all domains by the same features"

    @property
    @abstractmethod
    def capabilities(self):
        """:class:`Capabilities` of this instance; they may depend on its parameters."""

    @property
    def classifier_rows(self):
        """Domains whose labelled rows a classifier should train on; None leaves it to the protocol.

        One of ``"source"``, ``"target"``, ``"source+target"``.
        """
        return None

    def _validate_params(self):
        super()._validate_params()
        given = self.get_params(deep=False)
        for name, number in python_numbers(given, self._parameter_constraints).items():
            setattr(self, name, number)  # same value, Python type

    def prepare(self, X):
        """Compute the label-free part of one domain, for reuse in any number of fits.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        model : object or None
            To be passed to ``fit(..., prepared=[...])`` at this domain's position; picklable.
            ``None`` if the method has no label-free part.
        """
        self._validate_params()
        names = feature_names(X)
        X = check_matrix(X)
        check_magnitude(X, "X")
        with decompositions_of(self):
            return remember_names(self._prepare(X, "X"), names)

    def accepts(self, model, X):
        """Whether a model of `X` prepared with other parameters can be used by this instance.

        Parameters
        ----------
        model : object
            Returned by :meth:`prepare`; not None.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The domain it was prepared from; only its shape and column names are checked.

        Returns
        -------
        bool
        """
        try:
            check_names(feature_names(X), remembered_names(model), "X", "", "prepare")
            X = X if hasattr(X, "shape") else check_matrix(X, finite=False)
            self._check_model(model, X, "X")
        except ValueError:
            return False
        return True

    def fit(self, Xs, ys=None, prepared=None):
        """Align the domains.

        Parameters
        ----------
        Xs : list of array-like or sparse matrices of shape (n_a, p_a)
            One per domain, the target last.
        ys : list of array-like of int of shape (n_a,), optional
            Labels from 0; -1, an entry of ``None`` or no list at all means unlabelled.
        prepared : list, optional
            Results of :meth:`prepare`, one per domain; ``None`` entries are computed. Domains with
            a model are not validated again.

        Returns
        -------
        self : Aligner

        Raises
        ------
        ValueError
            If a parameter, a domain, its labels or its prepared model is invalid.
        AlignmentError
            If the data are valid but the method has no solution for them.
        """
        self._validate_params()
        names = _names(Xs)  # which the arrays do not have
        prepared = [] if prepared is None else prepared
        known = {domain for domain, model in enumerate(prepared) if model is not None}
        Xs, ys = check_domains(Xs, ys, known)
        self._check_number(len(Xs))
        self._check_features(Xs, names)
        for domain, X in enumerate(Xs):
            if domain not in known:
                check_magnitude(X, domain_name(domain))
        self._check_room(Xs, ys)
        with decompositions_of(self):
            models = self._models(Xs, prepared or [None] * len(Xs), names)
            self._remember_features(Xs, names)
            embeddings = [plain(Z) for Z in self._fit(Xs, ys, models)]
        for domain, Z in enumerate(embeddings):
            check_answer(Z, f"{domain_name(domain)}: its embedding")
        self.embeddings_ = [unshared(Z, Xs) for Z in embeddings]
        self.n_components_ = self.embeddings_[0].shape[1]
        return self

    def _check_number(self, n_domains):
        """Raise ``ValueError`` if this instance cannot align `n_domains` domains."""
        limit = self.capabilities.max_domains
        if limit is not None and n_domains > limit:
            raise ValueError(
                f"Xs holds {n_domains} domains; {type(self).__name__} aligns at most {limit}"
            )

    def _check_features(self, Xs, names):
        """Raise ``ValueError`` if features have to correspond between the domains and do not."""
        if not self.capabilities.heterogeneous:
            check_equal_features(Xs, self._features_reason)
            check_common_order(names, self._features_reason)

    def _check_room(self, Xs, ys):
        """Raise ``AlignmentError`` for what sizes and labels alone show to exceed the memory.

        Called before anything is computed; what a method learns later it checks later.
        """

    def _remember_features(self, Xs, names):
        self.n_features_in_ = [X.shape[1] for X in Xs]
        if any(columns is not None for columns in names):
            self.feature_names_in_ = names
        else:
            vars(self).pop("feature_names_in_", None)  # of an earlier fit

    def _models(self, Xs, prepared, feature_names):
        if len(prepared) != len(Xs):
            raise ValueError(
                f"prepared holds {len(prepared)} models for {len(Xs)} domains; "
                "give one per domain, or None to compute it"
            )
        names = [domain_name(domain) for domain in range(len(Xs))]
        for X, model, name, columns in zip(Xs, prepared, names, feature_names, strict=True):
            if model is not None:
                check_names(columns, remembered_names(model), name, "repeat it", "prepare")
                self._check_model(model, X, name)
        return [
            self._prepare(X, name) if model is None else model
            for X, model, name in zip(Xs, prepared, names, strict=True)
        ]

    def transform(self, X, domain):
        """Map samples of one domain into the common space.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, p_domain)
        domain : int
            Position of the domain in ``Xs``; negative values count from the end, so -1 is the
            target.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            Sparse where the method leaves sparse features as they are; a data frame after
            ``set_output(transform="pandas")``.

        Raises
        ------
        ValueError
            If the domain does not exist, or `X` has another number of features or other column
            names than in `fit`.
        AlignmentError
            If the method cannot embed these samples.
        """
        return self._embed(X, domain)

    def _embed(self, X, domain):
        """`transform` without a container, for what computes with the embedding."""
        check_is_fitted(self, "embeddings_")
        X, domain = self._checked(X, domain)
        with decompositions_of(self):
            Z = plain(self._transform(X, domain))
        check_answer(Z, "X: its embedding")
        return unshared(Z, [X])

    @available_if(_is_invertible)
    def inverse_transform(self, Z, domain):
        """Map embedded samples back to the features of a domain; of invertible methods only.

        Parameters
        ----------
        Z : array-like or sparse matrix of shape (n_samples, n_components_)
        domain : int
            Position of the domain in ``Xs``, as for :meth:`transform`.

        Returns
        -------
        X : ndarray of shape (n_samples, p_domain)
            For samples of this domain, themselves up to what the embedding leaves out.

        Raises
        ------
        ValueError
            If the domain does not exist, or `Z` has the wrong number of columns.
        AlignmentError
            If this domain has no map back.
        """
        check_is_fitted(self, "embeddings_")
        domain = self._position(domain)
        Z = check_matrix(Z, "Z")
        if Z.shape[1] != self.n_components_:
            raise ValueError(f"Z has {Z.shape[1]} columns; the embedding has {self.n_components_}")
        with decompositions_of(self):
            X = self._inverse_transform(Z, domain)
        check_answer(X, "Z: its features")
        return unshared(X, [Z])

    def _checked(self, X, domain):
        """Validated samples and the non-negative position of their domain."""
        domain = self._position(domain)
        self._check_columns(X, domain)
        X = check_matrix(X)
        if X.shape[1] != self.n_features_in_[domain]:
            raise ValueError(
                f"X has {X.shape[1]} features; domain {domain} was fitted with "
                f"{self.n_features_in_[domain]}"
            )
        check_magnitude(X, "X", fitted=False)
        return X, domain

    def _check_columns(self, X, domain):
        """Raise ``ValueError`` if the columns of `X` are not those of a domain of `fit`."""
        given = feature_names(X)
        known = getattr(self, "feature_names_in_", None)
        fitted = None if known is None else known[domain]
        warn_of_missing_names(given, fitted, "X", type(self).__name__)
        remedy = f"give the columns of domain {domain} (X[list(feature_names_in_[{domain}])])"
        check_names(given, fitted, "X", remedy)

    def _position(self, domain):
        """Non-negative position of a fitted domain."""
        n_domains = len(self.n_features_in_)
        if not isinstance(domain, Integral) or domain not in range(-n_domains, n_domains):
            raise ValueError(f"domain {domain!r} does not exist; fitted: 0 to {n_domains - 1}")
        return range(n_domains)[domain]

    def get_feature_names_out(self, input_features=None):
        """Names of the embedding's columns: lower-case class name plus column number.

        Parameters
        ----------
        input_features : ignored
            For API consistency.
        """
        check_is_fitted(self, "n_components_")
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(self.n_components_)], dtype=object)

    def _prepare(self, X, name):
        """Label-free model of one validated domain; `name` is used in messages."""

    @property
    def _model_params(self):
        """Parameters that a prepared model depends on (its ``params``), or None."""
        return None

    @property
    def _has_model(self):
        """Whether `prepare` makes a model with these parameters."""
        return self._model_type is not None

    def _check_model(self, model, X, name):
        """Raise ``ValueError`` if a prepared model does not match `X` and the parameters."""
        method = type(self).__name__
        if self._model_type is None:
            raise ValueError(
                f"{name}: {method} has no label-free part, so its prepared model must be None"
            )
        check_prepared(model, self._model_type, self._model_params, X.shape, name, method)

    @abstractmethod
    def _fit(self, Xs, ys, models):
        """Return the embeddings of the validated domains, one array per domain."""

    @abstractmethod
    def _transform(self, X, domain):
        """Return the embedding of validated samples of one domain."""

    def _inverse_transform(self, Z, domain):
        """Return features of validated embedded samples; of methods that declare `invertible`."""
        raise NotImplementedError(
            f"{type(self).__name__} declares invertible=True; implement _inverse_transform"
        )


def _names(Xs):
    """Column names of each domain; none for what is no list, which is refused later."""
    if not isinstance(Xs, list | tuple):
        return []
    return [feature_names(X, domain_name(domain)) for domain, X in enumerate(Xs)]


class ClassScoresMixin:
    """Mixin for aligners that classify: ``decision_function`` and ``predict``.

    The aligner sets ``classes_`` in ``fit`` and implements ``_class_scores(X, domain)``, which
    validates the samples and returns one score per class.
    """

    def decision_function(self, X, domain=-1):
        """Class scores of samples of one domain.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, p_domain)
        domain : int, default=-1
            0 is the source, 1 or -1 the target.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "n_components_")  # set at the end of fit
        return self._class_scores(X, domain)

    def predict(self, X, domain=-1):
        """Classes with the largest score; arguments as for :meth:`decision_function`."""
        best = self.decision_function(X, domain).argmax(axis=1)
        return self.classes_[best]
