"""Base of scikit-learn's decompositions as aligners."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from domain_alignment.base import Aligner


class StackedAligner(Aligner):
    """One decomposition of all domains stacked.

    A subclass implements ``_decompose(X)``, which returns a fitted estimator with ``transform``.
    """

    _features_reason = "domains of different features cannot be stacked"

    def _fit(self, Xs, ys, models):
        if any(sparse.issparse(X) for X in Xs):
            X = sparse.vstack([sparse.csr_array(X) for X in Xs], format="csr")
        else:
            X = np.vstack(Xs)
        self.decomposition_ = self._decompose(X)
        return self._training_scores(Xs)

    def _training_scores(self, Xs):
        return [self._transform(X, domain) for domain, X in enumerate(Xs)]

    def _transform(self, X, domain):
        return self.decomposition_.transform(X)


def at_most(n_components, limit, what):
    """`n_components` clipped at `limit`, with a warning."""
    if n_components > limit:
        warnings.warn(
            f"n_components={n_components}, but there are {what}; {limit} components are used",
            ConvergenceWarning,
            stacklevel=5,
        )
    return min(n_components, limit)
