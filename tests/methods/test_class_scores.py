import numpy as np
import pytest
from domain_alignment.base import ClassScoresMixin
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError


class Signed(ClassScoresMixin, BaseEstimator):
    """Scores of the target are those of the source with the other sign."""

    def fit(self):
        self.classes_, self.n_components_ = np.array([3, 7]), 1
        return self

    def _class_scores(self, X, domain):
        return np.column_stack([-X, X]) if domain == 0 else np.column_stack([X, -X])


def test_the_class_of_the_largest_score_under_its_own_name():
    X = np.array([1.0, -2.0, 0.5])
    model = Signed().fit()
    np.testing.assert_array_equal(model.predict(X, domain=0), [7, 3, 7])
    np.testing.assert_array_equal(model.predict(X), [3, 7, 3])
    np.testing.assert_array_equal(model.decision_function(X)[:, 0], X)


def test_only_when_fitted():
    for ask in (Signed().predict, Signed().decision_function):
        with pytest.raises(NotFittedError, match="Signed"):
            ask(np.ones(2))
