import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from tests.workflow.trials.small_block import Y, write_block
from workflow.lib.trials.align import run_trial, setup
from workflow.lib.trials.probabilities import Predictor, left_probabilities, read_probabilities

RNG = np.random.default_rng(0)
LABELS = np.array([3, 5] * 6)
FEATURES = RNG.normal(size=(12, 2)) + LABELS[:, None]
ROWS = np.array([1, 4, 7])


class Says:
    """A model of two classes with given probabilities; keeps how it was asked."""

    classes_ = np.array([3, 5])

    def __init__(self, values):
        self.values, self.asked = values, []

    def predict(self, X, **place):
        return np.full(len(X), 3)

    def predict_proba(self, X, **place):
        self.asked.append((X, place))
        if isinstance(self.values, Exception):
            raise self.values
        return self.values


def asked(model, **place):
    predictor = Predictor(lambda: model, FEATURES, **place)
    predictor.predict()
    return predictor


def test_probabilities_are_those_of_the_model_that_predicted():
    fits = []

    def fit():
        fits.append(LogisticRegression().fit(FEATURES, LABELS))
        return fits[-1]

    predictor = Predictor(fit, FEATURES)
    predicted = predictor.predict()
    record = {"warnings": []}
    arrays = left_probabilities("c", predictor, ROWS, record)
    assert len(fits) == 1
    np.testing.assert_array_equal(predicted, fits[0].predict(FEATURES))
    found = read_probabilities(arrays, "c")
    np.testing.assert_allclose(found.values, fits[0].predict_proba(FEATURES)[ROWS], atol=1e-7)
    np.testing.assert_array_equal(found.classes, [3, 5])
    assert found.values.dtype == np.float32
    assert record == {"warnings": []}


def test_a_model_without_probabilities_leaves_none():
    predictor = asked(SVC().fit(FEATURES, LABELS))
    record = {}
    assert left_probabilities("c", predictor, ROWS, record) == {}
    assert record == {}
    assert read_probabilities({"c": np.zeros(3)}, "c") is None


def test_a_method_of_its_own_is_told_the_domain():
    model = Says(np.full((3, 2), 0.5))
    left_probabilities("own", asked(model, domain=-1), ROWS, {})
    ((features, place),) = model.asked
    np.testing.assert_array_equal(features, FEATURES[ROWS])
    assert place == {"domain": -1}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (np.full((2, 2), 0.5), "shape (2, 2); return floats of shape (3, 2)"),
        (np.array([[1, 0]] * 3), "int64"),
        (np.array([[np.nan, 1.0]] * 3), "NaN or infinity"),
        (np.array([[1.5, -0.5]] * 3), "no distributions"),
        (np.array([[0.5, 0.4]] * 3), "no distributions"),
        (FloatingPointError("no answer"), "FloatingPointError: no answer"),
    ],
    ids=["shape", "integers", "nan", "negative", "sum", "error"],
)
def test_probabilities_of_no_use_are_a_warning_of_the_record(values, told):
    record = {"status": "ok", "warnings": ["UserWarning: first"]}
    assert left_probabilities("c", asked(Says(values)), ROWS, record) == {}
    assert record["status"] == "ok"
    assert record["warnings"][0] == "UserWarning: first"
    assert told in record["warnings"][1]


def test_a_block_leaves_them_only_where_they_are_asked_for(tmp_path):
    (record,), plain = run_trial(setup(write_block(tmp_path)), 0)
    assert set(plain) == {"0/logistic"}
    block = write_block(tmp_path, probabilities=True)
    (again,), arrays = run_trial(setup(block), 0)
    found = read_probabilities(arrays, "0/logistic")
    assert found.values.shape == (8, 2)
    np.testing.assert_array_equal(arrays["0/logistic"], plain["0/logistic"])
    # Of the scored rows, in their order: the predictions are the most probable classes.
    np.testing.assert_array_equal(
        found.classes[found.values.argmax(axis=1)], arrays["0/logistic"][2:]
    )
    assert record["status"] == again["status"] == "ok"
    assert set(found.classes) == set(Y[0])
