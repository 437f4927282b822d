"""Base of scikit-learn's decompositions as aligners."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from domain_alignment.base import Aligner

DOMAINS = ("all", "target")


class StackedAligner(Aligner):
    """One decomposition of all domains stacked, or of the target alone.

    A subclass has the parameter ``domains``, one of `DOMAINS`, and implements ``_decompose(X)``,
    which returns a fitted estimator with ``transform``.
    """

    _features_reason = (
        'domains of different features cannot be stacked; use domains="target" for the target alone'
    )

    domains = "all"  # models of earlier versions have none

    @property
    def classifier_rows(self):
        """Whose labelled rows a classifier is to train on: the target's, if that is all."""
        return "target" if self.domains == "target" else None

    @property
    def _samples_in_words(self):
        return f"the samples of {'the target' if self.domains == 'target' else 'all domains'}"

    def _decomposed(self, Xs):
        """The domains whose samples the decomposition is of."""
        return Xs[-1:] if self.domains == "target" else Xs

    def _fit(self, Xs, ys, models):
        chosen = self._decomposed(Xs)
        if any(sparse.issparse(X) for X in chosen):
            X = sparse.vstack([sparse.csr_array(X) for X in chosen], format="csr")
        else:
            X = np.vstack(chosen)
        self.decomposition_ = self._decompose(X)
        scores = self._training_scores(chosen)
        self.n_components_ = scores[-1].shape[1]
        others = Xs[: len(Xs) - len(chosen)]
        return [self._transform(X, domain) for domain, X in enumerate(others)] + scores

    def _training_scores(self, Xs):
        return [self._scores(X) for X in Xs]

    def _scores(self, X):
        return self.decomposition_.transform(X)

    def _transform(self, X, domain):
        if self._is_foreign(domain):
            return np.zeros((X.shape[0], self.n_components_))
        return self._scores(X)

    def _is_foreign(self, domain):
        """Whether a domain has other features than those that were decomposed."""
        return self.n_features_in_[domain] != self.n_features_in_[-1]


def at_most(n_components, limit, what):
    """`n_components` clipped at `limit`, with a warning."""
    if n_components > limit:
        warnings.warn(
            f"n_components={n_components}, but there are {what}; {limit} components are used",
            ConvergenceWarning,
            stacklevel=5,
        )
    return min(n_components, limit)
