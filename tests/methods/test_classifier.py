import pickle

import numpy as np
import pytest
import sklearn
from domain_alignment import FMA, SMA, AlignedClassifier, NoAdaptation
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@pytest.fixture
def stacked(make_domains):
    """Rows of two sources and a target in random order: X, y, sample_domain, true labels."""
    shapes = ((60, 8), (50, 8), (70, 8))
    Xs, ys = make_domains(shapes, n_visible=8)
    truth = np.concatenate(make_domains(shapes, n_visible=100)[1])
    sample_domain = np.repeat([2, 5, -3], [60, 50, 70])
    order = np.random.default_rng(0).permutation(180)
    X, y = np.concatenate(Xs), np.concatenate(ys)
    return X[order], y[order], sample_domain[order], truth[order]


def fma(**parameters):
    return FMA(**{"level": "feature", "n_components": 9, "n_neighbors": 5, **parameters})


def test_equals_the_aligner_and_the_classifier_by_hand(stacked):
    X, y, sample_domain, _ = stacked
    model = AlignedClassifier(fma()).fit(X, y, sample_domain=sample_domain)
    assert model.domains_.tolist() == [2, 5, -3]
    rows = [sample_domain == number for number in (2, 5, -3)]
    aligner = fma().fit([X[members] for members in rows], [y[members] for members in rows])
    Z, labels = np.concatenate(aligner.embeddings_[:2]), np.concatenate([y[rows[0]], y[rows[1]]])
    classifier = LogisticRegression().fit(Z[labels >= 0], labels[labels >= 0])
    np.testing.assert_array_equal(
        model.transduction_[rows[2]], classifier.predict(aligner.embeddings_[2])
    )
    np.testing.assert_array_equal(model.predict(X[rows[2]]), model.transduction_[rows[2]])
    np.testing.assert_array_equal(model.predict(X, sample_domain), model.transduction_)
    probability = model.predict_proba(X, sample_domain)
    np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], model.transduction_)


def test_rows_are_embedded_as_samples_of_their_domain(stacked):
    X, y, sample_domain, _ = stacked
    model = AlignedClassifier(fma()).fit(X, y, sample_domain)
    Z = model.transform(X, sample_domain)
    for domain, number in enumerate(model.domains_):
        rows = sample_domain == number
        np.testing.assert_allclose(Z[rows], model.aligner_.embeddings_[domain], atol=1e-10)
    # A part of the domains, in another order.
    part = np.flatnonzero(sample_domain != 5)[::-1]
    np.testing.assert_allclose(model.transform(X[part], sample_domain[part]), Z[part], atol=1e-12)


@pytest.mark.parametrize("train_on", ["source", "target", "source+target"])
def test_the_classifier_sees_the_rows_asked_for(stacked, train_on):
    X, y, sample_domain, _ = stacked
    allowed = {"source": sample_domain > 0, "target": sample_domain < 0}.get(train_on, y > -9)
    expected = LogisticRegression().fit(X[allowed & (y >= 0)], y[allowed & (y >= 0)])
    stated = {"source+target": "both"}.get(train_on, train_on)
    by_parameter = AlignedClassifier(NoAdaptation(), train_on=train_on)
    by_aligner = AlignedClassifier(NoAdaptation(domains=stated))
    for model in (by_parameter, by_aligner):
        model.fit(X, y, sample_domain)
        np.testing.assert_allclose(
            model.predict_proba(X, sample_domain), expected.predict_proba(X), atol=1e-3
        )


def test_grid_search_over_a_pipeline_with_routing(stacked):
    X, y, sample_domain, truth = stacked
    with sklearn.config_context(enable_metadata_routing=True):
        model = AlignedClassifier(fma(), KNeighborsClassifier(1))
        search = GridSearchCV(
            make_pipeline(StandardScaler(), model),
            [
                {"alignedclassifier__aligner": [fma(level="instance"), SMA("feature", 6, 5)]},
                {"alignedclassifier__aligner__n_components": [6, 12]},
            ],
            cv=StratifiedKFold(3, shuffle=True, random_state=0),
            error_score="raise",
        )
        search.fit(X, y, sample_domain=sample_domain)
        hidden = (sample_domain < 0) & (y < 0)
        predicted = search.predict(X[hidden])  # of the target, as nothing else is said
    assert len(search.cv_results_["params"]) == 4
    assert (predicted == truth[hidden]).mean() > 0.8


def test_the_score_leaves_unlabelled_rows_out(stacked):
    X, y, sample_domain, _ = stacked
    model = AlignedClassifier(fma()).fit(X, y, sample_domain)
    seen = y >= 0
    expected = np.mean(model.transduction_[seen] == y[seen])
    assert model.score(X, y, sample_domain) == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"score: all rows are unlabelled"):
        model.score(X[~seen], y[~seen], sample_domain[~seen])


def test_instance_level_answers_for_the_rows_of_fit(stacked):
    X, y, sample_domain, truth = stacked
    model = AlignedClassifier(fma(level="instance")).fit(X, y, sample_domain)
    assert (model.transduction_ == truth).mean() > 0.8
    # Rows that predict gets are new samples to it, even these.
    assert (model.predict(X, sample_domain) == truth).mean() > 0.75


def test_sparse_baseline(stacked):
    X, y, sample_domain, _ = stacked
    dense, thin = (
        AlignedClassifier(NoAdaptation()).fit(given, y, sample_domain)
        for given in (X, sparse.csr_array(X))
    )
    np.testing.assert_array_equal(dense.transduction_, thin.transduction_)
    np.testing.assert_array_equal(
        thin.predict(sparse.csr_array(X), sample_domain), thin.transduction_
    )


def test_clone_and_pickle(stacked):
    X, y, sample_domain, _ = stacked
    model = AlignedClassifier(fma()).fit(X, y, sample_domain)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X, sample_domain), model.transduction_)
    assert not hasattr(clone(model), "aligner_")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: None, "sample_domain is missing: .*enable_metadata_routing"),
        (lambda d: d[:-1], r"sample_domain has shape \(179,\) and dtype int64 for 180 samples"),
        (lambda d: d / 2, r"type float64 for 180 samples; give one integer per sample"),
        (lambda d: np.where(d == 2, 0, d), "sample_domain holds 0"),
        (np.abs, r"names sources \[2, 3, 5\] and targets \[\]; need at least one source"),
        (lambda d: -np.abs(d), r"names sources \[\] and targets \[-5, -3, -2\]"),
    ],
)
def test_wrong_sample_domain(stacked, change, message):
    X, y, sample_domain, _ = stacked
    with pytest.raises(ValueError, match=message):
        AlignedClassifier(NoAdaptation()).fit(X, y, change(sample_domain))


def test_other_errors(stacked):
    X, y, sample_domain, _ = stacked
    model = AlignedClassifier(NoAdaptation()).fit(X, y, sample_domain)
    with pytest.raises(ValueError, match=r"sample_domain holds 9, which was not in fit"):
        model.predict(X[:2], [2, 9])
    unlabelled = np.where(sample_domain > 0, -1, y)
    with pytest.raises(ValueError, match="no row of the source domains is labelled"):
        AlignedClassifier(NoAdaptation()).fit(X, unlabelled, sample_domain)
    with pytest.raises(ValueError, match="'train_on' parameter of AlignedClassifier must be"):
        AlignedClassifier(NoAdaptation(), train_on="all").fit(X, y, sample_domain)
