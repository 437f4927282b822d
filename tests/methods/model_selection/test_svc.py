import pickle

import numpy as np
import pandas as pd
import pytest
from domain_alignment import CrossValidatedSVC
from scipy import sparse
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

GRID = (0.01, 1.0, 100.0)


def samples(distance=1.5):
    """Three overlapping classes, and samples of a shifted domain."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 15)
    centres = distance * np.eye(3, 5)
    return *(centres[y] + rng.normal(size=(45, 5)) + shift for shift in (0, 0.5)), y


def test_rows_predicted_right_while_left_out_as_by_scikit_learn():
    Z, _, y = samples()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = [
        cross_val_score(SVC(C=C, kernel="linear"), Z, y, cv=folds) @ np.full(5, len(y) / 5)
        for C in GRID
    ]
    for given in (Z, sparse.csr_array(Z)):
        np.testing.assert_allclose(CrossValidatedSVC(C=GRID).fit(given, y).n_correct_, expected)


def test_numpys_global_generator_is_left_alone():
    Z, _, y = samples()
    before = pickle.dumps(np.random.get_state())  # noqa: NPY002
    CrossValidatedSVC(C=GRID).fit(Z, y)
    assert pickle.dumps(np.random.get_state()) == before  # noqa: NPY002


def test_the_classifier_takes_the_best_c_and_all_rows():
    Z, new, y = samples()
    chosen = CrossValidatedSVC(C=GRID).fit(Z, y)
    assert chosen.best_C_ == GRID[chosen.n_correct_.argmax()]
    plain = SVC(C=chosen.best_C_, kernel="linear").fit(Z, y)
    np.testing.assert_array_equal(chosen.predict(new), plain.predict(new))


def test_the_first_of_equals_is_taken():
    Z, _, y = samples(distance=50.0)
    chosen = CrossValidatedSVC(C=GRID).fit(Z, y)
    assert (chosen.n_correct_ == len(y)).all()
    assert chosen.best_C_ == GRID[0]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_that_change_later_do_no_harm(form):
    Z, new, y = samples()
    given = form(Z)
    chosen = CrossValidatedSVC(C=GRID).fit(given, y)
    expected = chosen.predict(new)
    given *= -1
    np.testing.assert_array_equal(chosen.predict(new), expected)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": ()}, r"C=\(\); give a list of at least one candidate, all positive"),
        ({"C": [1.0, 0.0]}, r"C=\[1.0, 0.0\]; give a list of at least one candidate, all positive"),
        ({"C": 3.0}, r"C=3.0; give a list"),
        ({"cv": 1}, r"cv=1; give a whole number of folds from 2"),
        ({"cv": 2.5}, r"cv=2.5; give a whole number of folds from 2"),
    ],
)
def test_parameters_that_choose_nothing_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        CrossValidatedSVC(**params).fit(samples()[0], samples()[-1])


@pytest.mark.parametrize("labels", [np.zeros(45, dtype=int), np.arange(45)])
def test_labels_that_cannot_be_cut_into_folds_are_named(labels):
    with pytest.raises(ValueError, match=r"^the samples hold .* 2 classes with 2 samples"):
        CrossValidatedSVC().fit(samples()[0], labels)


def test_candidates_may_be_a_series_with_places_of_its_own():
    y = np.repeat([0, 1], 10)
    Z = np.random.default_rng(0).normal(size=(20, 2)) + 3 * y[:, None]
    given = pd.Series(GRID, index=[5, 6, 7])
    assert CrossValidatedSVC(given).fit(Z, y).best_C_ == CrossValidatedSVC(GRID).fit(Z, y).best_C_


@parametrize_with_checks([CrossValidatedSVC(cv=2)])
def test_it_is_an_estimator_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_decision_function_is_the_machines(form):
    Z, new, y = samples()
    chosen = CrossValidatedSVC(C=GRID).fit(form(Z), y)
    plain = SVC(C=chosen.best_C_, kernel="linear").fit(Z, y)
    np.testing.assert_allclose(
        chosen.decision_function(form(new)), plain.decision_function(new), atol=1e-8
    )
