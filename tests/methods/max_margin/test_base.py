import pickle

import numpy as np
import pytest
from domain_alignment.max_margin import _base
from domain_alignment.max_margin._base import principal_axes
from domain_alignment.max_margin._mmdt import LSMMDT, MMDT, DomainSVM
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

ESTIMATORS = [LSMMDT(regularize="zero", random_state=0), MMDT(random_state=0)]


@pytest.fixture(params=ESTIMATORS, ids=lambda given: type(given).__name__)
def estimator(request):
    return clone(request.param)


@pytest.fixture
def fitted(estimator, make_domains):
    return estimator.fit(*make_domains(((60, 8), (50, 8))))


def test_the_embedding_is_the_source_and_the_mapped_target(fitted, make_domains):
    Xs, _ = make_domains(((60, 8), (50, 8)))
    W = fitted.transform_.to_dense()
    ones = np.ones((60, 1))
    np.testing.assert_array_equal(fitted.embeddings_[0], np.hstack([ones, Xs[0]]))
    np.testing.assert_allclose(
        fitted.embeddings_[1], np.hstack([ones[:50], Xs[1]]) @ W.T, atol=1e-10
    )
    for domain in (0, 1, -1):
        Z = fitted.embeddings_[domain]
        np.testing.assert_allclose(fitted.transform(Xs[domain], domain), Z, atol=1e-12)
        scores = fitted.decision_function(Xs[domain], domain)
        np.testing.assert_allclose(scores, Z @ fitted.coef_.T, atol=1e-10)
        np.testing.assert_array_equal(
            fitted.predict(Xs[domain], domain), fitted.classes_[scores.argmax(axis=1)]
        )
    assert fitted.n_components_ == 9
    assert fitted.classifier_rows == "source+target"


def test_capabilities_hold(estimator, make_domains):
    assert estimator.capabilities.heterogeneous
    assert estimator.capabilities.embeds_new_samples
    assert estimator.capabilities.labels == "source+target"
    Xs, ys = make_domains(((60, 8), (50, 11)))
    fitted = estimator.fit(Xs, ys)
    assert [Z.shape for Z in fitted.embeddings_] == [(60, 9), (50, 9)]
    with pytest.raises(ValueError, match=r"Xs holds 3 domains; .* aligns at most 2"):
        estimator.fit([*Xs, Xs[1]], [*ys, ys[1]])


def test_unlabelled_rows_play_no_part(estimator, make_domains):
    Xs, ys = make_domains()
    full = clone(estimator).fit(Xs, ys)
    seen = [y >= 0 for y in ys]
    part = clone(estimator).fit(
        [X[rows] for X, rows in zip(Xs, seen, strict=True)],
        [y[rows] for y, rows in zip(ys, seen, strict=True)],
    )
    np.testing.assert_array_equal(full.coef_, part.coef_)
    np.testing.assert_array_equal(full.predict(Xs[1]), part.predict(Xs[1]))


def test_labels_keep_their_names(estimator, make_domains):
    Xs, ys = make_domains()
    named = [np.where(y >= 0, 10 * y + 3, -1) for y in ys]
    expected = clone(estimator).fit(Xs, ys).predict(Xs[1])
    model = clone(estimator).fit(Xs, named)
    assert model.classes_.tolist() == [3, 13, 23]
    np.testing.assert_array_equal(model.predict(Xs[1]), 10 * expected + 3)


@pytest.mark.parametrize("n_classes", [1, 2])
def test_few_classes(estimator, make_domains, n_classes):
    Xs, ys = make_domains(n_classes=n_classes)
    model = estimator.fit(Xs, ys)
    assert model.coef_.shape == (n_classes, 9)
    seen = ys[1] >= 0
    np.testing.assert_array_equal(model.predict(Xs[1])[seen], ys[1][seen])


def test_a_class_missing_in_either_domain(estimator, make_domains):
    Xs, ys = make_domains()
    for domain in (0, 1):
        seen = list(ys)
        seen[domain] = np.where(ys[domain] == 2, -1, ys[domain])
        model = clone(estimator).fit(Xs, seen)
        assert model.classes_.tolist() == [0, 1, 2]
        assert np.isfinite(model.decision_function(Xs[1])).all()


def test_sparse_equals_dense(estimator, make_domains):
    Xs, ys = make_domains()
    dense = clone(estimator).set_params(svm_tol=1e-6).fit(Xs, ys)
    rows = [sparse.csr_matrix(X) for X in Xs]
    model = clone(estimator).set_params(svm_tol=1e-6).fit(rows, ys)
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-4)
    np.testing.assert_allclose(
        model.decision_function(rows[1]), dense.decision_function(Xs[1]), atol=1e-3
    )
    assert sparse.issparse(model.embeddings_[0])


BASELINES = [
    MMDT(n_iterations=0, random_state=0),
    *(DomainSVM(domain, random_state=0) for domain in ("source", "target")),
]


@pytest.mark.parametrize("baseline", BASELINES)
@pytest.mark.parametrize("intercept", [True, False])
def test_sparse_features_stay_sparse_where_no_map_is_learned(baseline, intercept, make_domains):
    Xs, ys = make_domains()
    baseline = clone(baseline).set_params(fit_intercept=intercept)
    rows = [sparse.csr_array(X) for X in Xs]
    model, expected = clone(baseline).fit(rows, ys), clone(baseline).fit(Xs, ys)
    for domain, X in enumerate(rows):
        features = sparse.hstack([np.ones((X.shape[0], 1)), X]) if intercept else X
        for Z in (model.embeddings_[domain], model.transform(X, domain)):
            assert sparse.issparse(Z)
            np.testing.assert_array_equal(Z.toarray(), features.toarray())
        np.testing.assert_array_equal(expected.embeddings_[domain], features.toarray())
    X = Xs[1].copy()  # an embedding is no view of the samples
    expected.fit([Xs[0], X], ys)
    X[:] = 0
    assert expected.embeddings_[1].any()


def test_one_domain_may_be_sparse(estimator, make_domains):
    Xs, ys = make_domains()
    for model in (estimator, *BASELINES):
        expected = clone(model).set_params(svm_tol=1e-6).fit(Xs, ys).decision_function(Xs[1])
        for given in ([Xs[0], sparse.csr_array(Xs[1])], [sparse.csr_array(Xs[0]), Xs[1]]):
            found = clone(model).set_params(svm_tol=1e-6).fit(given, ys)
            np.testing.assert_allclose(found.decision_function(given[1]), expected, atol=1e-3)


def test_samples_are_mapped_in_blocks_as_at_once(fitted, make_domains, monkeypatch):
    target = make_domains(((60, 8), (50, 8)))[0][1]
    at_once = fitted.transform_.apply(np.hstack([np.ones((50, 1)), target]))
    monkeypatch.setattr(_base, "COPIED_VALUES", 7 * 8)
    np.testing.assert_allclose(fitted.transform(target, 1), at_once, rtol=1e-12, atol=1e-14)


def test_without_intercept(estimator, make_domains):
    Xs, ys = make_domains()
    model = estimator.set_params(fit_intercept=False).fit(Xs, ys)
    np.testing.assert_array_equal(model.embeddings_[0], Xs[0])
    assert model.transform_.to_dense().shape == (8, 8)


def test_the_answer_repeats_and_survives_pickling(estimator, make_domains):
    Xs, ys = make_domains()
    first, again = clone(estimator).fit(Xs, ys), clone(estimator).fit(Xs, ys)
    np.testing.assert_array_equal(first.coef_, again.coef_)
    copy = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(copy.predict(Xs[1]), first.predict(Xs[1]))


def test_its_own_hyperplanes_are_new_classifiers_too(fitted, make_domains):
    target = make_domains(((60, 8), (50, 8)))[0][1]
    np.testing.assert_allclose(
        fitted.decision_new(target, fitted.coef_), fitted.decision_function(target)
    )
    no_constant = np.column_stack([np.zeros(3), fitted.coef_[:, 1:]])
    np.testing.assert_allclose(
        fitted.decision_new(target, fitted.coef_[:, 1:]), fitted.decision_new(target, no_constant)
    )


@pytest.mark.parametrize("labels", [[3, 5, 8], [3, 5]])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_new_classifiers_of_scikit_learn(estimator, make_domains, labels, fit_intercept):
    Xs, ys = make_domains()
    model = estimator.set_params(fit_intercept=fit_intercept).fit(Xs, ys)
    new = np.array(labels)[np.arange(60) % len(labels)]
    classifier = LinearSVC(random_state=0).fit(Xs[0] + new[:, None], new)
    Z = model.transform(Xs[1], -1)
    if fit_intercept:
        coef = np.column_stack([classifier.intercept_, classifier.coef_])
        scores = Z @ coef.T
    else:
        scores = classifier.decision_function(Z).reshape(50, -1)
    found = model.decision_new(Xs[1], classifier)
    np.testing.assert_allclose(found[:, -1], scores[:, -1], atol=1e-9)
    assert found.shape == (50, len(labels))
    best = found.argmax(axis=1)
    np.testing.assert_array_equal(model.predict_new(Xs[1], classifier), np.array(labels)[best])


def test_a_new_classifier_of_two_classes_with_one_dimensional_weights(make_domains):
    Xs, ys = make_domains()
    model = LSMMDT(random_state=0).fit(Xs, ys)
    new = np.array(["a", "b"])[np.arange(60) % 2]
    classifier = RidgeClassifier().fit(Xs[0] + (new == "b")[:, None], new)
    assert classifier.coef_.ndim == 1
    Z = model.transform(Xs[1], -1)[:, 1:] @ classifier.coef_
    constant = model.transform(Xs[1], -1)[:, 0] * classifier.intercept_
    found = model.decision_new(Xs[1], classifier)
    np.testing.assert_allclose(found, np.column_stack([-Z - constant, Z + constant]), atol=1e-9)
    predicted = model.predict_new(Xs[1], classifier)
    np.testing.assert_array_equal(predicted, np.where(Z + constant > 0, "b", "a"))


def test_a_category_without_any_target_label_is_transferred():
    # The target is the source turned; two categories never show a label there.
    rng = np.random.default_rng(0)
    centres = 3 * rng.normal(size=(10, 6))
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    y = np.repeat(np.arange(10), 20)
    source, target = (centres[y] + 0.3 * rng.normal(size=(200, 6)) for _ in range(2))
    target = target @ turn
    known = y < 8
    model = LSMMDT(C_source=1.0, regularize="zero", random_state=0)
    few = known & (np.arange(200) % 20 < 6)
    model.fit([source, target], [np.where(known, y, -1), np.where(few, y, -1)])
    classifier = LogisticRegression().fit(source[~known], y[~known])
    assert np.mean(model.predict_new(target[~known], classifier) == y[~known]) > 0.9


@pytest.mark.parametrize("domain", [0, 1])
def test_a_domain_without_labels(estimator, make_domains, domain):
    Xs, ys = make_domains()
    ys[domain] = None
    message = f"domain {domain}: none of its .* samples is labelled.*label some"
    with pytest.raises(ValueError, match=message):
        estimator.fit(Xs, ys)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.predict(np.ones((2, 7))), "X has 7 features; domain 1 was fitted with 8"),
        (lambda m: m.predict(np.ones((2, 8)), 2), "domain 2 does not exist; fitted: 0 to 1"),
        (
            lambda m: m.predict_new(np.ones((2, 8)), np.ones((3, 5))),
            "source_classifiers have 5 features, but the source has 8",
        ),
    ],
)
def test_wrong_calls(fitted, call, message):
    with pytest.raises(ValueError, match=message):
        call(fitted)


@pytest.mark.parametrize("n_rows", [7, 40])  # fewer rows than features, and more
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_principal_axes_are_those_of_all_rows(n_rows, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 12)) * np.linspace(1, 4, 12) + 3
    expected = PCA(4, svd_solver="full").fit(X).components_
    for parts in ([form(X[:3]), form(X[3:])], [X[:3], form(X[3:])], [form(X[:3]), X[3:]]):
        found = principal_axes(parts, 4).T
        np.testing.assert_allclose(np.abs(np.sum(found * expected, axis=1)), 1, atol=1e-8)
        np.testing.assert_allclose(found @ found.T, np.eye(4), atol=1e-8)


def test_more_axes_than_directions():
    X = np.random.default_rng(0).normal(size=(6, 9))
    assert principal_axes([X[:2], X[2:]], 5).shape == (9, 5)
    with pytest.raises(ValueError, match=r"n_pca=6, but .* have only 5 principal axes"):
        principal_axes([X[:2], X[2:]], 6)
    with pytest.raises(ValueError, match=r"have only 9 principal axes"):
        principal_axes([np.repeat(np.eye(9), 3, axis=0), np.zeros((2, 9))], 10)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_a_constant_before_sparse_features_is_the_stacked_one(kind):
    X = kind(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [3.0, 0.0, 4.0]]))
    found, expected = MMDT()._with_constant(X), sparse.hstack([np.ones((3, 1)), X], "csr")
    assert type(found) is type(X)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
        assert getattr(found, part).dtype == getattr(expected, part).dtype


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(300, 1), (111, 1), (9, 2)])
def test_categories_in_equal_numbers_have_as_many_axes_as_asked(shape, form):
    n_categories, n_times = shape
    X = form(0.1 * np.tile(np.eye(n_categories), (n_times, 1)))
    axes = principal_axes([X], 5)
    np.testing.assert_allclose(axes.T @ axes, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(axes.sum(axis=0), 0, atol=1e-12)  # in the space of differences


def test_axes_are_orthonormal_where_some_are_small():
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.normal(size=(n, 14)))[0] for n in (15, 40))
    axes = principal_axes([left * np.logspace(0, -5.9, 14) @ right.T], 13)
    np.testing.assert_allclose(axes.T @ axes, np.eye(13), atol=1e-13)


@pytest.mark.parametrize("n_rows", [20, 60])
def test_axes_of_sparse_rows_keep_their_digits_far_from_zero(n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 40))
    X[:, 0] += 1e8
    dense_axes, axes = (principal_axes([form(X)], 4) for form in (np.asarray, sparse.csr_array))
    np.testing.assert_allclose(axes @ axes.T, dense_axes @ dense_axes.T, atol=1e-5)
