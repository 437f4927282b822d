"""Classifiers of candidates: what they train on, what they predict, their probabilities."""

from types import SimpleNamespace

import numpy as np
import pytest
from domain_alignment.base import Capabilities
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from workflow.lib.config.candidates import OWN
from workflow.lib.trials.candidate_models import (
    TooFewClasses,
    predicted_rows,
    take_both_kinds,
    train,
    trained,
)
from workflow.lib.trials.fitting import Aligned
from workflow.lib.trials.protocols import HIDDEN

LOGISTIC = {"estimator": "sklearn.linear_model:LogisticRegression", "params": {"C": 2.0}}
SVM = {"estimator": "sklearn.svm:SVC", "params": {"kernel": "linear", "C": 0.5}}
NEAREST = {
    "estimator": "sklearn.neighbors:KNeighborsClassifier",
    "params": {"n_neighbors": 1, "metric": "cosine"},
}
CLASSES = np.array([0, 1, 2])
RNG = np.random.default_rng(0)
TRUE = [np.arange(30) % 3, np.arange(24) % 3]
Z = [RNG.normal(size=(len(y), 4)) + 2 * np.eye(3, 4)[y] for y in TRUE]
NEW = RNG.normal(size=(5, 4))
LABELS = [np.where(np.arange(len(y)) < n, y, HIDDEN) for n, y in zip((21, 6), TRUE, strict=True)]


def aligned(aligner=None):
    whole = np.vstack([Z[1], NEW])
    return Aligned(aligner, whole, Z, whole, 4, 0.0, 0.0)


@pytest.mark.parametrize(
    ("roles", "parts"), [("source", [0]), ("target", [1]), ("source+target", [0, 1])]
)
def test_labelled_rows_of_the_roles_train_it(roles, parts):
    model = train(LOGISTIC, aligned(), Z, LABELS, roles)
    rows = np.vstack([Z[d][LABELS[d] != HIDDEN] for d in parts])
    labels = np.concatenate([LABELS[d][LABELS[d] != HIDDEN] for d in parts])
    expected = LogisticRegression(C=2.0).fit(rows, labels)
    np.testing.assert_array_equal(model.target(), expected.predict(np.vstack([Z[1], NEW])))


def test_one_class_is_too_few():
    labels = [np.where(y == 0, y, HIDDEN) for y in LABELS]
    with pytest.raises(TooFewClasses, match="rows of the source hold 1 classes; 2 are needed"):
        train(LOGISTIC, aligned(), Z, labels, "source")


@pytest.mark.parametrize("classifier", [LOGISTIC, SVM, NEAREST])
def test_rows_that_nobody_asks_for_are_not_predicted(classifier):
    model = train(classifier, aligned(), Z, LABELS, "source")
    asked = [np.arange(len(y)) % 4 == 1 for y in TRUE]
    whole = model.visible([np.ones(len(y), bool) for y in TRUE])
    for found, every, mask in zip(model.visible(asked), whole, asked, strict=True):
        np.testing.assert_array_equal(found, np.where(mask, every, HIDDEN))
    assert (predicted_rows(None, Z[0], np.zeros(30, bool)) == HIDDEN).all()


def test_probabilities_have_a_column_for_every_class():
    labels = [np.where(LABELS[0] == 1, HIDDEN, LABELS[0]), LABELS[1]]
    model = train(LOGISTIC, aligned(), Z, labels, "source")
    rows = np.arange(7)
    found = model.target_probabilities(rows, CLASSES)
    known = labels[0] != HIDDEN
    expected = (
        LogisticRegression(C=2.0).fit(Z[0][known], labels[0][known]).predict_proba(Z[1][rows])
    )
    np.testing.assert_allclose(found[:, [0, 2]], expected)
    np.testing.assert_array_equal(found[:, 1], 0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_decision_values_of_a_machine_are_no_probabilities(n_classes):
    labels = [np.where(y < n_classes, y, HIDDEN) for y in LABELS]
    model = train(SVM, aligned(), Z, labels, "source")
    assert model.target_probabilities(np.arange(24), CLASSES[:n_classes]) is None
    asked = [np.ones(len(y), dtype=bool) for y in labels]
    assert all(np.isnan(values).all() for values in model.confidence(asked))


def test_a_nearest_neighbour_has_no_probabilities():
    model = train(NEAREST, aligned(), Z, LABELS, "source")
    assert model.target_probabilities(np.arange(3), CLASSES) is None


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_nearest_neighbour_is_that_of_scikit_learn(metric):
    classifier = {**NEAREST, "params": {"n_neighbors": 1, "metric": metric}}
    rng = np.random.default_rng(3)
    rows, y, queries = (
        rng.normal(size=(200, 7)),
        rng.integers(5, size=200),
        rng.normal(size=(300, 7)),
    )
    expected = KNeighborsClassifier(1, metric=metric).fit(rows, y).predict(queries)
    np.testing.assert_array_equal(trained(classifier, rows, y).predict(queries), expected)


class Himself:
    """A method that predicts: the domain's number; notes how many rows it was asked for."""

    classes_ = CLASSES

    def __init__(self, embeds_new_samples=True):
        self.capabilities = Capabilities("none", embeds_new_samples=embeds_new_samples)
        self.asked = []

    def predict(self, X, domain):
        self.asked.append(X.shape[0])
        return np.full(X.shape[0], domain % 2)

    def predict_proba(self, X, domain):
        return np.tile([0.1, 0.2, 0.7], (X.shape[0], 1))


def test_a_method_predicts_its_own_domains():
    features = [np.ones((30, 9)), np.ones((24, 2))]
    whole = np.ones((29, 2))
    own = SimpleNamespace(aligner=Himself(), target_features=whole)
    model = train({"estimator": OWN, "params": {}}, own, features, LABELS, "source")
    asked = [np.arange(30) < 2, np.arange(24) < 3]
    source, target = model.visible(asked)
    assert (source[:2] == 0).all()
    assert (target[:3] == 1).all()
    assert (source[2:] == HIDDEN).all()
    assert (target[3:] == HIDDEN).all()
    assert model.target().shape == (29,)
    probabilities = model.target_probabilities(np.arange(4), CLASSES)
    np.testing.assert_allclose(probabilities, np.tile([0.1, 0.2, 0.7], (4, 1)))


@pytest.mark.parametrize(("embeds_new_samples", "n_rows"), [(True, [2]), (False, [30])])
def test_a_method_sees_the_rows_that_are_asked_for_unless_it_knows_its_own_by_place(
    embeds_new_samples, n_rows
):
    method = Himself(embeds_new_samples)
    features = [np.ones((30, 9)), np.ones((24, 2))]
    own = SimpleNamespace(aligner=method, target_features=features[1])
    model = train({"estimator": OWN, "params": {}}, own, features, LABELS, "source")
    asked = [np.arange(30) >= 28, np.zeros(24, bool)]
    source, target = model.visible(asked)
    assert method.asked == n_rows
    np.testing.assert_array_equal(source, np.where(asked[0], 0, HIDDEN))
    assert (target == HIDDEN).all()
    confidence, nothing = model.confidence(asked)
    np.testing.assert_array_equal(confidence, np.where(asked[0], 0.7, np.nan))
    assert np.isnan(nothing).all()


def test_probabilities_of_a_method_that_predicts_are_of_the_rows_asked_for():
    class Method:
        classes_ = np.array([0, 1])

        def predict_proba(self, X, domain):
            return np.column_stack([X[:, 0], 1 - X[:, 0]])

    own = SimpleNamespace(aligner=Method(), target_features=np.linspace(0, 1, 11)[:, None])
    model = train({"estimator": OWN, "params": {}}, own, [], [], "source")
    rows = np.array([7, 2])
    found = model.target_probabilities(rows, np.array([0, 1]))
    np.testing.assert_allclose(found[:, 0], [0.7, 0.2])


def test_probabilities_are_of_the_rows_asked_for():
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(30, 3)), rng.integers(2, size=30)
    model = train(
        {"estimator": "sklearn.linear_model:LogisticRegression", "params": {}},
        Aligned(None, Z, [Z, Z], Z, 3, 0.0, 0.0),
        [Z, Z],
        [y, y],
        "source",
    )
    rows = np.array([7, 2, 29])
    every = model.target_probabilities(np.arange(30), np.array([0, 1]))
    np.testing.assert_allclose(model.target_probabilities(rows, np.array([0, 1])), every[rows])
    np.testing.assert_allclose(model.probabilities(rows).values, every[rows], atol=1e-6)


def test_answers_of_a_method_by_place_are_those_of_the_rows_asked_for():
    class Method:
        capabilities = Capabilities("none", embeds_new_samples=False)

        def predict(self, X, domain):
            return np.arange(X.shape[0])

    own = SimpleNamespace(aligner=Method(), target_features=None)
    model = train({"estimator": OWN, "params": {}}, own, [np.ones((6, 1))], [], "source")
    asked = np.array([False, True, False, False, True, True])
    (found,) = model.visible([asked])
    assert found.tolist() == [-1, 1, -1, -1, 4, 5]


def test_one_classifier_that_asks_for_the_kind_it_was_trained_on_keeps_a_target_dense():
    one_nn = {"estimator": "sklearn.neighbors:KNeighborsClassifier", "params": {"n_neighbors": 1}}
    five_nn = {**one_nn, "params": {"n_neighbors": 5}}
    own = {"estimator": OWN, "params": {}}
    assert take_both_kinds([one_nn, own])
    assert not take_both_kinds([five_nn])
    assert not take_both_kinds([one_nn, five_nn])
    assert not take_both_kinds([five_nn, one_nn])
