"""The selectors agree with skada's scorers where their definitions do."""

import importlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from domain_alignment.model_selection import SELECTORS
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from tests.methods.model_selection.candidates import N_CLASSES, candidate

MANUAL = Path(__file__).parents[3] / "reports/manual"
SOURCE = Path(__file__).read_text("utf-8")


class AnswersOfTheEvidence:
    """A fitted classifier of skada's kind: looks up what the evidence holds for a row number."""

    def __init__(self, evidence):
        self.probabilities = np.vstack(
            [evidence.source_probabilities, evidence.target_probabilities]
        )

    def fit(self, X, y=None):
        return self

    def predict_proba(self, X, sample_domain=None, allow_source=True):
        return self.probabilities[X[:, 0].astype(int)]


@pytest.fixture(scope="module")
def metrics():
    return importlib.import_module("skada.metrics")  # slow to import: not while collecting


@pytest.fixture
def numbered():
    """Evidence, rows that hold nothing but their number, labels and domains as for skada."""
    evidence = candidate(seed=4)
    evidence = replace(evidence, source_labels=np.abs(evidence.source_labels))  # all labelled
    X = np.arange(70 + 55, dtype=float)[:, None]
    y = np.concatenate([evidence.source_labels, np.full(55, -1)])
    return evidence, X, y, np.repeat([1, -2], [70, 55])


def test_the_manual_names_every_scorer_that_is_compared_here(metrics):
    page = (MANUAL / "guide/model_selection.md").read_text("utf-8")
    _, told = page.split("## Beside skada\n")
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", told, re.MULTILINE)
    assert {theirs for _, theirs in rows} == set(re.findall(r"metrics\.(\w+)\(", SOURCE))
    assert {ours for ours, _ in rows} == set(re.findall(r'SELECTORS\["(\w+)"\]', SOURCE))
    (without,) = re.findall(r"^(`labelled_accuracy`.*) needs none", told, re.MULTILINE)
    assert {ours for ours, _ in rows} | set(re.findall(r"`(\w+)`", without)) == set(SELECTORS)
    theirs = {name for name, kind in vars(metrics).items() if is_scorer(metrics, name, kind)}
    assert len(theirs) > 5
    assert not {name for name in theirs if name not in told}


def is_scorer(metrics, name, kind):
    return isinstance(kind, type) and kind.__module__ == metrics.__name__ and name[0] != "_"


def test_skadas_entropy(metrics, numbered):
    evidence, X, y, sample_domain = numbered
    scorer = metrics.PredictionEntropyScorer(reduction="sum")
    theirs = scorer._score(None, Logarithms(evidence), X, y, sample_domain) / 55
    assert SELECTORS["entropy"](evidence) == pytest.approx(theirs, abs=1e-10)
    # The mean over rows and classes, as said.
    mean = metrics.PredictionEntropyScorer()._score(None, Logarithms(evidence), X, y, sample_domain)
    assert mean * N_CLASSES == pytest.approx(theirs, abs=1e-10)


class Logarithms(AnswersOfTheEvidence):
    """Without ``predict_log_proba``, skada adds 1e-7 to the probabilities."""

    def predict_log_proba(self, X, sample_domain=None):
        return np.log(self.predict_proba(X))


def test_skadas_neighbourhood_density(metrics, numbered):
    evidence, X, y, sample_domain = numbered
    scorer = metrics.SoftNeighborhoodDensity()
    theirs = scorer._score(None, AnswersOfTheEvidence(evidence), X, y, sample_domain)
    assert SELECTORS["neighborhood_density"](evidence) == pytest.approx(theirs, abs=1e-10)


def test_skadas_deep_embedded_validation(metrics, numbered):
    evidence, X, y, sample_domain = numbered
    validated = []

    def loss(labels, probabilities):
        return (labels != probabilities.argmax(axis=1)).astype(float)[:, None]

    class Weights(AnswersOfTheEvidence):
        """A domain classifier that gives the evidence's weights."""

        def __init__(self, weights=None):
            self.weights = weights

        def get_params(self, deep=True):
            return {"weights": self.weights}

        def __sklearn_clone__(self):
            return self

        def fit(self, X, y):
            self.prior = np.sum(y == 1) / np.sum(y == 0)
            return self

        def predict_proba(self, X):
            validated.append(X[:, 0].astype(int))
            odds = self.weights[validated[-1]] / self.prior
            return np.column_stack([odds, np.ones(len(odds))]) / (1 + odds)[:, None]

    scorer = metrics.DeepEmbeddedValidation(Weights(evidence.weights), loss, random_state=0)
    estimator = make_pipeline(FunctionTransformer(), AnswersOfTheEvidence(evidence))
    estimator.predict_proba = estimator[-1].predict_proba
    theirs = scorer._score(None, estimator, X, y, sample_domain)
    # Ours on the rows that skada validates on.
    held_out = np.full(70, -1)
    rows = validated[0]
    held_out[rows] = evidence.source_probabilities[rows].argmax(axis=1)
    ours = SELECTORS["deep_embedded"](replace(evidence, source_held_out=held_out))
    assert ours == pytest.approx(theirs, abs=1e-10)
    assert ours < 0


def test_skadas_importance_weighting(metrics, numbered):
    evidence, X, y, sample_domain = numbered
    log_ratios = evidence.embedded.log_ratios[0]

    class Densities:
        """Density 1 of the source, and that of the target by the weights: fitted in this order."""

        fitted = 0

        def __sklearn_clone__(self):
            return Densities()

        def fit(self, X):
            self.of_target = X[0, 0] == 70
            return self

        def score_samples(self, X):
            return log_ratios * self.of_target

    predicted = evidence.source_predicted

    def scoring(estimator, X, y, sample_weight, **_):
        right = predicted[X[:, 0].astype(int)] == y
        return np.average(right, weights=sample_weight)

    class Weighted(BaseEstimator):
        def fit(self, X, y):
            return self

        def score(self, X, y, sample_weight=None):
            raise AssertionError("scored by `scoring`")

    estimator = Weighted().set_score_request(sample_weight=True)
    scorer = metrics.ImportanceWeightedScorer(Densities(), scoring)
    theirs = scorer._score(None, estimator, X, y, sample_domain)
    ours = SELECTORS["importance_weighted"](replace(evidence, source_held_out=predicted))
    assert ours == pytest.approx(theirs, abs=1e-10)


def test_skadas_circular_validation(metrics):
    class TrainsOnTheSource(ClassifierMixin, BaseEstimator):
        """Without adaptation, skada's backward fit is of the classifier alone, as ours."""

        def fit(self, X, y, sample_domain):
            rows = sample_domain > 0
            self.classifier_ = LogisticRegression(C=0.1).fit(X[rows], y[rows])
            return self

        def predict(self, X, sample_domain=None):
            return self.classifier_.predict(X)

    evidence = candidate(seed=4)
    labels = np.arange(70) % N_CLASSES
    evidence = replace(evidence, source_labels=labels)
    X = np.vstack([evidence.source_embedding, evidence.target_embedding])
    y, sample_domain = np.r_[labels, np.full(55, -1)], np.repeat([1, -2], [70, 55])
    estimator = TrainsOnTheSource().fit(X, y, sample_domain)
    theirs = metrics.CircularValidation()._score(None, estimator, X, y, sample_domain)
    predicted = estimator.predict(evidence.target_embedding)
    ours = SELECTORS["circular"](replace(evidence, target_predicted=predicted))
    assert ours == pytest.approx(theirs, abs=1e-10)
