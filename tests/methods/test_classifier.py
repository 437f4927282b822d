import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from domain_alignment import (
    CORAL,
    FMA,
    HFA,
    JDA,
    LSMMDT,
    MEDA,
    MMDT,
    SMA,
    TCA,
    AlignedClassifier,
    DomainSVM,
    LabelledSubspace,
    NoAdaptation,
    TargetFolds,
)
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

from workflow.lib.trials.preprocess import make_preprocessing


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


def test_labels_that_cannot_be_compared_have_no_score(stacked):
    X, _, sample_domain, truth = stacked
    for fitted, asked, words in (
        (truth, truth.astype(str), "y: holds labels of type str, such as '2', and fit had int"),
        (truth.astype(str), truth, "y: holds labels of type int, such as 2, and fit had str"),
        (truth > 0, truth.astype(object).astype(str), "type str, .* and fit had bool"),
    ):
        model = AlignedClassifier(NoAdaptation()).fit(X, fitted, sample_domain)
        with pytest.raises(ValueError, match=words):
            model.score(X, asked, sample_domain)
        assert model.score(X, fitted.astype(object), sample_domain) > 0.3
    model = AlignedClassifier(NoAdaptation()).fit(X, truth, sample_domain)
    assert model.score(X, truth.astype(float), sample_domain) > 0.3


def test_weights_of_a_score_are_one_per_row(stacked):
    X, y, sample_domain, _ = stacked
    model = AlignedClassifier(NoAdaptation()).fit(X, y, sample_domain)
    right = model.predict(X, sample_domain) == y
    weight = np.random.default_rng(0).random(180)
    expected = np.average(right[y >= 0], weights=weight[y >= 0])
    found = model.score(X, y, sample_domain, sample_weight=weight.tolist())
    assert found == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"sample_weight: has shape \(5,\) for 180 samples; give"):
        model.score(X, y, sample_domain, sample_weight=np.ones(5))
    for wrong in (np.r_[np.nan, weight[1:]], weight.astype(str)):
        with pytest.raises(ValueError, match="sample_weight: not all of it are finite numbers"):
            model.score(X, y, sample_domain, sample_weight=wrong)


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


@pytest.mark.parametrize("aligner", [JDA(3), MMDT(random_state=0)], ids=["JDA", "MMDT"])
def test_own_is_the_aligners_own_predict(make_domains, aligner):
    Xs, ys = make_domains(((60, 8), (70, 8)), n_visible=8)
    X, sample_domain = np.concatenate(Xs), np.repeat([1, -2], [60, 70])
    model = AlignedClassifier(aligner, "own").fit(X, np.concatenate(ys), sample_domain)
    expected = clone(aligner).fit(Xs, ys)
    np.testing.assert_array_equal(model.predict(Xs[1]), expected.predict(Xs[1]))
    np.testing.assert_array_equal(model.transduction_[60:], expected.predict(Xs[1]))
    np.testing.assert_array_equal(model.predict(X, sample_domain)[:60], expected.predict(Xs[0], 0))
    assert model.classifier_ is None
    assert not hasattr(model, "predict_proba")
    assert hasattr(model, "decision_function") == hasattr(aligner, "decision_function")
    if hasattr(model, "decision_function"):
        scores = model.decision_function(Xs[1])
        np.testing.assert_array_equal(scores, expected.decision_function(Xs[1]))


def test_own_names_its_classes_as_they_were_given(make_domains):
    Xs, ys = make_domains(((60, 8), (70, 8)), n_visible=8)
    X, y = np.concatenate(Xs), np.concatenate(ys)
    names = np.array(["cup", "mug", "pen", None], dtype=object)[y]
    sample_domain = np.repeat([1, -2], [60, 70])
    numbers = AlignedClassifier(JDA(3), "own").fit(X, y, sample_domain)
    named = AlignedClassifier(JDA(3), "own").fit(X, names, sample_domain)
    assert named.classes_.tolist() == ["cup", "mug", "pen"]
    np.testing.assert_array_equal(named.predict(X), named.classes_[numbers.predict(X)])
    assert named.score(X, names) == pytest.approx(numbers.score(X, y))


SCORING = {
    "MEDA": MEDA(3, n_iterations=2),
    "HFA": HFA(),
    "MMDT": MMDT(random_state=0),
    "LSMMDT": LSMMDT(random_state=0),
    "DomainSVM": DomainSVM("source", random_state=0),
    "LabelledSubspace": LabelledSubspace(),
}


@pytest.mark.parametrize("aligner", SCORING.values(), ids=SCORING)
def test_own_scores_of_two_classes_are_of_the_second(make_domains, aligner):
    Xs, ys = make_domains(((40, 8), (50, 8)), n_visible=50)
    X, sample_domain = np.concatenate(Xs), np.repeat([1, -2], [40, 50])
    names = np.where(np.concatenate(ys) == 1, "b", "a")
    model = AlignedClassifier(aligner, "own").fit(X, names, sample_domain)
    scores = model.decision_function(X, sample_domain)
    assert scores.shape == (90,)
    first, second = model.aligner_.decision_function(Xs[1]).T
    np.testing.assert_array_equal(scores[40:], second - first)
    predicted = model.predict(X, sample_domain)
    np.testing.assert_array_equal(predicted, model.classes_[(scores > 0).astype(int)])
    assert get_scorer("roc_auc")(model, Xs[1], names[40:]) > 0.8


@pytest.mark.parametrize("name", ["MEDA", "DomainSVM"])
def test_own_scores_have_a_column_for_a_class_of_the_target_alone(make_domains, name):
    Xs, ys = make_domains(((60, 8), (70, 8)), n_visible=8)
    ys[0][ys[0] == 0] = -1  # the first class, so that columns would be those of others
    model = AlignedClassifier(SCORING[name], "own")
    model.fit(np.concatenate(Xs), np.concatenate(ys), np.repeat([1, -2], [60, 70]))
    scores = model.decision_function(Xs[1])
    assert model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(Xs[1]))
    assert np.isneginf(scores[:, 0]).all()
    np.testing.assert_array_equal(scores[:, 1:], model.aligner_.decision_function(Xs[1]))


def test_own_scores_of_two_classes_of_which_one_is_unknown(make_domains):
    Xs, ys = make_domains(((60, 8), (70, 8)), n_visible=8)
    ys = [np.where(ys[0] == 1, 1, -1), np.where(ys[1] < 2, ys[1], -1)]
    model = AlignedClassifier(SCORING["MEDA"], "own")
    model.fit(np.concatenate(Xs), np.concatenate(ys), np.repeat([1, -2], [60, 70]))
    assert np.isposinf(model.decision_function(Xs[1])).all()
    assert (model.predict(Xs[1]) == 1).all()


def test_own_is_refused_where_there_is_none(stacked):
    X, y, sample_domain, _ = stacked
    with pytest.raises(ValueError, match='"own", but TCA has no predict of its own; give a class'):
        AlignedClassifier(TCA(2), "own").fit(X, y, sample_domain)
    with pytest.raises(ValueError, match=r"train_on='target' .* JDA decides; leave it at"):
        AlignedClassifier(JDA(2), "own", train_on="target").fit(X, y, sample_domain)


@pytest.mark.filterwarnings("error")
def test_the_default_classifier_converges(make_domains):
    Xs, ys = make_domains(((200, 40), (200, 40)), n_visible=50)
    noise = np.random.default_rng(0).normal(scale=3, size=(400, 40))  # classes overlap
    X = (np.concatenate(Xs) + noise) * np.geomspace(1, 10, 40)
    sample_domain = np.repeat([1, -2], 200)
    with pytest.raises(ConvergenceWarning):  # scikit-learn's own default
        AlignedClassifier(NoAdaptation(), LogisticRegression()).fit(
            X, np.concatenate(ys), sample_domain
        )
    AlignedClassifier(NoAdaptation()).fit(X, np.concatenate(ys), sample_domain)


def test_preprocessing_is_fitted_per_domain_as_a_protocol_does(stacked):
    X, y, sample_domain, _ = stacked
    X = np.abs(X) + 10 * (sample_domain < 0)[:, None]
    steps = make_pipeline(Normalizer("l1"), StandardScaler())
    model = AlignedClassifier(NoAdaptation(), preprocessing=steps).fit(X, y, sample_domain)
    Z = model.transform(X, sample_domain)
    for domain in (2, 5, -3):
        rows = sample_domain == domain
        expected = make_preprocessing(["l1_rows", "zscore"]).fit_transform(X[rows])
        np.testing.assert_array_equal(Z[rows], expected)
    assert len(model.preprocessors_) == 3
    assert not hasattr(steps[-1], "mean_")
    together = make_pipeline(steps, AlignedClassifier(NoAdaptation()))
    with sklearn.config_context(enable_metadata_routing=True):
        together.fit(X, y, sample_domain=sample_domain)
    assert not np.allclose(together[0].transform(X), Z)


def test_missing_values_are_for_the_preprocessing(stacked):
    X, y, sample_domain, _ = stacked
    X = X.copy()
    X[::7, 2] = np.nan
    steps = make_pipeline(SimpleImputer(), StandardScaler())
    model = AlignedClassifier(fma(), preprocessing=steps).fit(X, y, sample_domain)
    assert np.isfinite(model.transform(X, sample_domain)).all()
    with pytest.raises(ValueError, match="26 of 180 samples hold NaN"):
        AlignedClassifier(fma()).fit(X, y, sample_domain)
    with pytest.raises(ValueError, match=r"domain 0: .* NaN"):
        AlignedClassifier(fma(), preprocessing=StandardScaler()).fit(X, y, sample_domain)


def test_domains_by_name(stacked):
    X, y, sample_domain, _ = stacked
    numbered = AlignedClassifier(fma()).fit(X, y, sample_domain)
    names = np.select([sample_domain == 2, sample_domain == 5], ["amazon", "dslr"], "caltech")
    named = AlignedClassifier(fma(), target_domain="caltech").fit(X, y, names)
    assert named.domains_.tolist() == ["amazon", "dslr", "caltech"]
    np.testing.assert_array_equal(named.transduction_, numbered.transduction_)
    np.testing.assert_array_equal(named.predict(X, names), numbered.predict(X, sample_domain))
    positive = AlignedClassifier(fma(), target_domain=3).fit(X, y, np.abs(sample_domain))
    np.testing.assert_array_equal(positive.transduction_, numbered.transduction_)
    # In skada a number names the domain, its sign the role that it is packed for.
    np.testing.assert_array_equal(
        numbered.predict(X, np.abs(sample_domain)), numbered.predict(X, sample_domain)
    )


def test_names_of_domains_of_several_types(stacked):
    X, y, sample_domain, _ = stacked
    mixed = np.where(sample_domain < 0, "t", sample_domain.astype(object))
    model = AlignedClassifier(fma(), target_domain="t")
    Z = model.fit_transform(X, y, mixed)
    np.testing.assert_allclose(Z, model.transform(X, mixed), atol=1e-10)


@pytest.mark.parametrize(
    "y", [["a", "-1"] * 90, pd.Series(["a", "-1"] * 90), np.array(["a", np.nan] * 90)]
)
def test_strings_that_mean_unlabelled_are_no_class(stacked, y):
    X, _, sample_domain, _ = stacked
    with pytest.raises(ValueError, match="row 1 holds the string"):
        AlignedClassifier(NoAdaptation()).fit(X, y, sample_domain)
    with pytest.raises(ValueError, match="row 1 holds the string"):
        next(TargetFolds().split(X, y, sample_domain))


def test_columns_of_data_frames(stacked):
    X, y, sample_domain, _ = stacked
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = AlignedClassifier(fma()).fit(frame, y, sample_domain)
    assert model.feature_names_in_.tolist() == list("abcdefgh")
    np.testing.assert_array_equal(model.predict(frame, sample_domain), model.transduction_)
    for other in (frame[list("abcdefhg")], frame.rename(columns={"a": "z"})):
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(other)


def test_the_embedding_as_a_data_frame(stacked):
    X, y, sample_domain, _ = stacked
    frame = pd.DataFrame(X, columns=list("abcdefgh"), index=np.arange(len(X)) + 7)
    model = AlignedClassifier(fma()).set_output(transform="pandas").fit(frame, y, sample_domain)
    Z = model.transform(frame, sample_domain)
    assert Z.columns.tolist() == model.aligner_.get_feature_names_out().tolist()
    assert Z.index.tolist() == frame.index.tolist()
    np.testing.assert_array_equal(model.predict(frame, sample_domain), model.transduction_)
    trained = clone(model).set_output(transform="default").fit_transform(frame, y, sample_domain)
    np.testing.assert_allclose(trained, Z, atol=1e-10)


def test_single_precision_gives_the_same_to_its_precision(stacked):
    X, y, sample_domain, _ = stacked
    for aligner in (fma(), TCA(3), JDA(3), NoAdaptation()):
        rows = sample_domain != 5  # TCA and JDA align two domains
        given = X[rows].astype(np.float32), y[rows], sample_domain[rows]
        exact = AlignedClassifier(aligner).fit(given[0].astype(float), *given[1:])
        single = AlignedClassifier(aligner).fit(*given)
        np.testing.assert_array_equal(exact.transduction_, single.transduction_)
        full = AlignedClassifier(aligner).fit(X[rows], *given[1:])
        inner = [Z @ Z.T for Z in (m.aligner_.embeddings_[1] for m in (full, single))]
        np.testing.assert_allclose(*inner, rtol=0, atol=1e-4 * np.abs(inner[0]).max())


def test_its_picture_shows_its_parts():
    html = AlignedClassifier(fma(), preprocessing=StandardScaler())._repr_html_()
    for part in ("AlignedClassifier", "FMA", "StandardScaler"):
        assert part in html


def test_weights_that_add_up_to_nothing_are_refused():
    rng = np.random.default_rng(0)
    y, domain = np.tile([0, 1], 20), np.repeat([1, -2], 20)
    X = rng.normal(size=(40, 2)) + 4 * y[:, None]
    model = AlignedClassifier(CORAL()).fit(X, y, domain)
    with pytest.raises(ValueError, match=r"sample_weight: the weights .* add up to nothing"):
        model.score(X, y, domain, sample_weight=np.zeros(40))


@pytest.mark.parametrize("train_on", ["auto", "target"])
@pytest.mark.parametrize("classifier", [SVC(), GaussianNB()])
def test_an_embedding_that_is_sparse_of_one_domain_alone(stacked, classifier, train_on):
    X, y, domain = (part[stacked[2] != 5] for part in stacked[:3])
    X, dense = sparse.csr_matrix(abs(X)), abs(X)
    model = AlignedClassifier(MMDT(random_state=0), classifier, train_on=train_on)
    assert sparse.issparse(clone(model).fit(X, y, domain).aligner_.embeddings_[0])
    expected = clone(model).fit(dense, y, domain)
    found = clone(model).fit(X, y, domain)
    assert np.mean(found.transduction_ == expected.transduction_) > 0.95
    target = domain == min(domain)
    assert np.mean(found.predict(X[target]) == expected.predict(dense[target])) > 0.95


def test_predictions_of_fit_have_the_type_of_the_classes(stacked):
    X, y, domain = (part[stacked[2] != 5] for part in stacked[:3])
    names = np.where(y == -1, None, np.char.add("c", y.astype(str)).astype(object))
    model = AlignedClassifier(CORAL()).fit(X, names, domain)
    assert model.transduction_.dtype == model.classes_.dtype
    assert set(model.transduction_) <= set(model.classes_)


def test_frames_that_a_transformer_makes_give_the_aligner_no_names(stacked):
    """What a saved model hands to it are arrays, of which it would warn."""
    X, y, domain = (part[stacked[2] != 5] for part in stacked[:3])
    frame = pd.DataFrame(X, columns=[f"f{at}" for at in range(X.shape[1])])
    scaler = StandardScaler().set_output(transform="pandas")
    model = AlignedClassifier(CORAL(), preprocessing=scaler).fit(frame, y, domain)
    assert not hasattr(model.aligner_, "feature_names_in_")
