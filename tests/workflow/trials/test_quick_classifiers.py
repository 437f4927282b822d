"""Quick forms answer as scikit-learn's own classifiers do."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from workflow.lib.trials import quick_classifiers
from workflow.lib.trials.quick_classifiers import NearestRow, quickened

RNG = np.random.default_rng(0)
CENTRES = RNG.normal(size=(4, 9))
Y = np.arange(80) % 4
ROWS = CENTRES[Y] + RNG.normal(size=(80, 9))
NEW = CENTRES[np.arange(60) % 4] + RNG.normal(size=(60, 9))
MODELS = [
    KNeighborsClassifier(n_neighbors=1),
    KNeighborsClassifier(n_neighbors=1, metric="euclidean"),
    KNeighborsClassifier(n_neighbors=1, metric="cosine"),
    SVC(kernel="linear", C=0.05),
    SVC(kernel="linear", C=10.0),
]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 4, 11])
def test_the_answers_are_those_of_scikit_learn(model, kind, n_classes):
    y = RNG.permutation(len(ROWS)) % n_classes  # classes that lie within each other
    quick = quickened(model).fit(kind(ROWS), y)
    assert type(quick) is not type(model)
    own = model.fit(ROWS, y)
    np.testing.assert_array_equal(quick.predict(kind(NEW)), own.predict(NEW))
    np.testing.assert_array_equal(quick.classes_, own.classes_)
    if hasattr(own, "decision_function"):
        expected = own.decision_function(NEW)
        np.testing.assert_allclose(quick.decision_function(kind(NEW)), expected, atol=1e-2)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_batches_and_matrices_too_large_for_memory_change_nothing(model, monkeypatch):
    expected = quickened(model).fit(ROWS, Y).predict(NEW)
    monkeypatch.setattr(quick_classifiers, "_ENTRIES", 7 * len(ROWS))
    np.testing.assert_array_equal(quickened(model).fit(ROWS, Y).predict(NEW), expected)


@pytest.mark.parametrize("entries", [2**24, len(ROWS)])
@pytest.mark.parametrize("kinds", [(np.asarray, sparse.csr_array), (sparse.csr_array, np.asarray)])
@pytest.mark.parametrize("model", [*MODELS, LogisticRegression()], ids=str)
def test_dense_rows_answer_sparse_ones_and_the_reverse(model, kinds, entries, monkeypatch):
    monkeypatch.setattr(quick_classifiers, "_ENTRIES", entries)
    expected = quickened(model).fit(ROWS, Y).predict(NEW)
    fitted, asked = kinds
    found = quickened(model).fit(fitted(ROWS), Y).predict(asked(NEW))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("of_queries", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_the_nearest_of_rows_far_from_zero_is_found(of_queries):
    """Seconds since 1970: squares of 3e18 leave no digit to rows that are 1 apart."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=100)
    rows, queries = (1.7e9 + rng.normal(size=(n, 5)) + 3 * y[:n, None] for n in (100, 60))
    expected = KNeighborsClassifier(1, algorithm="kd_tree").fit(rows, y).predict(queries)
    found = quickened(KNeighborsClassifier(1)).fit(rows, y).predict(of_queries(queries))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_missing", [1, 20])
def test_rows_elsewhere_hide_no_offset_of_the_others(n_missing):
    """Missing rows written as zeros have all of the variance."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=100)
    rows, queries = (1.7e9 + rng.normal(size=(n, 5)) + 3 * y[:n, None] for n in (100, 60))
    rows[rng.permutation(100)[:n_missing]] = 0.0
    expected = KNeighborsClassifier(1, algorithm="kd_tree").fit(rows, y).predict(queries)
    found = quickened(KNeighborsClassifier(1)).fit(rows, y).predict(queries)
    np.testing.assert_array_equal(found, expected)


class SVCOfAnother(SVC):
    pass


SVCOfAnother.__name__ = "SVC"  # as another's class may be called


def test_a_row_of_zeros_is_at_right_angles_to_all():
    rows, new = np.array([[0.0, 0.0], [1.0, 0.2], [-1.0, 0.0]]), np.array([[5.0, 1.0], [0.0, -2.0]])
    own = KNeighborsClassifier(1, metric="cosine").fit(rows, [0, 1, 2])
    np.testing.assert_array_equal(NearestRow(True).fit(rows, [0, 1, 2]).predict(new)[0], 1)
    np.testing.assert_array_equal(
        NearestRow(True).fit(rows, [0, 1, 2]).predict(new)[0], own.predict(new)[0]
    )


def test_the_first_of_equally_near_rows_answers():
    rows, labels = np.array([[1.0], [-1.0], [1.0]]), np.array([7, 8, 9])
    np.testing.assert_array_equal(
        NearestRow(False).fit(rows, labels).predict(np.array([[0.0], [2.0]])), [7, 7]
    )


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(n_neighbors=3),
        KNeighborsClassifier(n_neighbors=1, metric="manhattan"),
        SVC(kernel="rbf"),
        LogisticRegression(solver="liblinear"),
        KNeighborsClassifier(n_neighbors=1, metric_params={"w": np.ones(9)}),
        SVC(kernel="linear", break_ties=True, decision_function_shape="ovr"),
        SVCOfAnother(kernel="linear"),
        KNeighborsClassifier(n_neighbors=1, p=1),
        SVC(kernel="linear", probability=True),
    ],
    ids=str,
)
def test_other_classifiers_are_left_as_they_are(model):
    assert quickened(model) is model


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_logistic_regression_in_the_span_of_its_samples_has_the_same_weights(
    C, n_classes, monkeypatch
):
    Z, y = RNG.normal(size=(30, 100)), np.arange(30) % n_classes
    Z[7] = Z[3]  # the samples need not be independent
    own = LogisticRegression(C=C, max_iter=1000, tol=1e-9).fit(Z, y)
    trained, fit = [], LogisticRegression.fit
    monkeypatch.setattr(
        LogisticRegression, "fit", lambda self, Z, y: trained.append(Z.shape) or fit(self, Z, y)
    )
    quick = quickened(LogisticRegression(C=C, max_iter=1000, tol=1e-9)).fit(Z, y)
    assert trained == [(30, 30)]
    size = np.abs(own.coef_).max()
    np.testing.assert_allclose(quick.coef_, own.coef_, atol=1e-5 * size)
    np.testing.assert_allclose(quick.intercept_, own.intercept_, atol=1e-5)
    new = RNG.normal(size=(50, 100))
    np.testing.assert_allclose(quick.predict_proba(new), own.predict_proba(new), atol=1e-5)


@pytest.mark.parametrize("Z", [ROWS, sparse.csr_array(np.tile(ROWS, (1, 20)))], ids=["n", "sparse"])
def test_logistic_regression_elsewhere_is_scikit_learns(Z):
    model = LogisticRegression(max_iter=1000)
    np.testing.assert_array_equal(quickened(model).fit(Z, Y).coef_, model.fit(Z, Y).coef_)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_logistic_regression_of_samples_that_hardly_differ(rank):
    Z = RNG.normal(size=(400, rank)) @ RNG.normal(size=(rank, 500))
    y = np.arange(400) % 2
    model = LogisticRegression(max_iter=1000, tol=1e-9)
    expected = model.fit(Z, y).predict_proba(Z)
    np.testing.assert_allclose(quickened(model).fit(Z, y).predict_proba(Z), expected, atol=1e-5)
