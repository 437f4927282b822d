import numpy as np
import pytest
import sklearn
from domain_alignment import CORAL, FMA, JDA, MMDT, AlignedClassifier, NoAdaptation
from domain_alignment.model_selection import (
    SELECTORS,
    Evidence,
    SelectorScorer,
    chosen,
    make_selector_scorer,
)
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC


@pytest.fixture
def stacked(make_domains):
    """Rows of two sources and a target in random order: X, y, sample_domain."""
    Xs, ys = make_domains(((60, 8), (50, 8), (70, 8)), n_visible=8)
    sample_domain = np.repeat([5, 2, -3], [60, 50, 70])
    order = np.random.default_rng(0).permutation(180)
    return np.concatenate(Xs)[order], np.concatenate(ys)[order], sample_domain[order]


@pytest.fixture
def fitted(stacked):
    X, y, sample_domain = stacked
    return AlignedClassifier(CORAL()).fit(*pair(X, y, sample_domain))


def pair(X, y, sample_domain):
    """The first source and the target alone: CORAL takes two domains."""
    rows = sample_domain != 5
    return X[rows], y[rows], sample_domain[rows]


@pytest.mark.parametrize("name", SELECTORS)
def test_the_evidence_of_new_rows(stacked, name):
    X, y, sample_domain = stacked
    model = AlignedClassifier(NoAdaptation()).fit(X, y, sample_domain)
    source = np.concatenate([np.flatnonzero(sample_domain == number) for number in (2, 5)])
    target = np.flatnonzero(sample_domain == -3)
    classifier = model.classifier_
    evidence = Evidence(
        source_embedding=X[source],
        target_embedding=X[target],
        source_labels=y[source],
        target_labels=y[target],
        source_predicted=classifier.predict(X[source]),
        target_predicted=classifier.predict(X[target]),
        source_probabilities=classifier.predict_proba(X[source]),
        target_probabilities=classifier.predict_proba(X[target]),
        source_held_out=classifier.predict(X[source]),
        target_held_out=classifier.predict(X[target]),
        classes=classifier.classes_,
        backward=lambda pseudo: LogisticRegression().fit(X[target], pseudo).predict(X[source]),
    )
    score = make_selector_scorer(name)(model, X, y, sample_domain=sample_domain)
    assert score == pytest.approx(SELECTORS[name](evidence), abs=1e-10)
    assert np.isfinite(score)


def test_the_rows_of_fit_are_held_out_by_refitting(stacked):
    X, y, sample_domain = stacked
    noise = np.random.default_rng(1).normal(size=(180, 300))  # which the fit learns by heart
    X = np.hstack([X / 5, noise])
    model = AlignedClassifier(NoAdaptation()).fit(X, y, sample_domain)
    naive, honest = (
        make_selector_scorer("source_accuracy", cv)(model, X, y, sample_domain) for cv in (None, 2)
    )
    assert naive == 1
    assert honest < 0.8


def test_aligners_that_cannot_embed_new_rows(stacked):
    X, y, sample_domain = stacked
    fma = FMA(level="instance", n_components=9, n_neighbors=5)
    model = AlignedClassifier(fma).fit(X, y, sample_domain)
    target = sample_domain == -3
    embedding = model.aligner_.embeddings_[-1]
    P = model.classifier_.predict_proba(embedding)
    expected = np.mean(np.sum(P * np.log(P), axis=1))
    assert embedding.shape[0] == target.sum()
    scorer = make_selector_scorer("entropy", cv=2)
    assert scorer(model, X, y, sample_domain) == pytest.approx(expected, abs=1e-10)
    assert 0.5 < make_selector_scorer("labelled_accuracy", cv=2)(model, X, y, sample_domain) <= 1


def test_grid_search(stacked):
    X, y, sample_domain = stacked
    scorer = make_selector_scorer("mutual_information")
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(), AlignedClassifier(NoAdaptation()))
        grid = {
            "alignedclassifier__classifier": [LogisticRegression(C=C) for C in (1e-4, 1.0, 1e-3)]
        }
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        search = GridSearchCV(model, grid, scoring=scorer, cv=folds, error_score="raise")
        search.fit(X, y, sample_domain=sample_domain)
        expected = np.empty((3, 3))
        for fold, (kept, left_out) in enumerate(folds.split(X, y)):
            for number, classifier in enumerate(grid["alignedclassifier__classifier"]):
                there = clone(model).set_params(alignedclassifier__classifier=classifier)
                there.fit(X[kept], y[kept], sample_domain=sample_domain[kept])
                tested = X[left_out], y[left_out], sample_domain[left_out]
                expected[number, fold] = scorer(there, *tested)
        several = cross_validate(
            model,
            X,
            y,
            cv=folds,
            scoring={name: make_selector_scorer(name) for name in ("entropy", "source_accuracy")},
            params={"sample_domain": sample_domain},
            error_score="raise",
        )
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected.mean(axis=1))
    assert search.best_index_ == chosen(expected.mean(axis=1)) == 1
    assert (several["test_source_accuracy"] > 1 / 3).all()
    assert (several["test_entropy"] < 0).all()


@pytest.mark.parametrize("name", ["labelled_accuracy", "class_ami"])
def test_grid_search_on_all_rows(stacked, name):
    X, y, sample_domain = stacked
    aligners = [FMA(level="instance", n_components=size, n_neighbors=5) for size in (6, 12)]
    rows, scorer = np.arange(180), make_selector_scorer(name, cv=2)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            AlignedClassifier(aligners[0]),
            {"aligner": aligners},
            scoring=scorer,
            cv=[(rows, rows)],
            error_score="raise",
        ).fit(X, y, sample_domain=sample_domain)
    expected = [
        scorer(AlignedClassifier(aligner).fit(X, y, sample_domain), X, y, sample_domain)
        for aligner in aligners
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)
    assert search.best_index_ == chosen(expected)


def test_sparse_rows(stacked):
    X, y, sample_domain = stacked
    X = np.where(np.abs(X) > 1, X, 0)
    models = [
        AlignedClassifier(NoAdaptation()).fit(given, y, sample_domain)
        for given in (X, sparse.csr_array(X))
    ]
    for name in ("labelled_accuracy", "class_ami", "a_distance", "circular"):
        dense, thin = (
            make_selector_scorer(name, cv=2)(model, given, y, sample_domain)
            for model, given in zip(models, (X, sparse.csr_array(X)), strict=True)
        )
        assert thin == pytest.approx(dense, abs=1e-6)


def test_a_classifier_without_probabilities(stacked):
    X, y, sample_domain = stacked
    model = AlignedClassifier(NoAdaptation(), SVC()).fit(X, y, sample_domain)
    assert np.isnan(make_selector_scorer("entropy")(model, X, y, sample_domain))
    assert np.isfinite(make_selector_scorer("circular")(model, X, y, sample_domain))


@pytest.mark.parametrize("name", ["entropy", "mutual_information", "neighborhood_density", "bnm"])
def test_a_nearest_neighbour_is_not_chosen_because_it_is_always_sure(stacked, name):
    X, y, sample_domain = stacked
    nearest = KNeighborsClassifier(1)
    scorer = make_selector_scorer(name)
    for classifier in (nearest, make_pipeline(StandardScaler(), nearest)):
        model = AlignedClassifier(NoAdaptation(), classifier).fit(X, y, sample_domain)
        assert np.isnan(scorer(model, X, y, sample_domain))
    model = AlignedClassifier(NoAdaptation(), LogisticRegression()).fit(X, y, sample_domain)
    assert np.isfinite(scorer(model, X, y, sample_domain))


def test_parameters_and_clone():
    scorer = make_selector_scorer("bnm", cv=3, random_state=4)
    assert isinstance(scorer, SelectorScorer)
    assert clone(scorer).get_params() == {"selector": "bnm", "cv": 3, "random_state": 4}


def test_errors(stacked, fitted):
    X, y, sample_domain = pair(*stacked)
    scorer = make_selector_scorer("entropy")
    with pytest.raises(ValueError, match="unknown selector 'entropie'; known: source_accuracy, "):
        make_selector_scorer("entropie")(fitted, X, y, sample_domain)
    with pytest.raises(ValueError, match="sample_domain is missing: give one number per sample"):
        scorer(fitted, X, y)
    with pytest.raises(ValueError, match=r"sample_domain has shape \(2,\) and dtype int64 for 120"):
        scorer(fitted, X, y, sample_domain[:2])
    source = sample_domain > 0
    with pytest.raises(ValueError, match=r"names the domains \[2\]; a selector needs .*, -3"):
        scorer(fitted, X[source], y[source], sample_domain[source])
    with pytest.raises(ValueError, match=r"rows, in fit they had \[50, 70\]; with cv, score the"):
        make_selector_scorer("entropy", cv=2)(fitted, X[1:], y[1:], sample_domain[1:])
    with pytest.raises(ValueError, match="is a LogisticRegression; give a fitted Aligned"):
        scorer(LogisticRegression().fit(X, y), X, y, sample_domain)


STEPS = {
    "alone": (),
    "sparse": (),
    "scaled": (StandardScaler(), "passthrough"),
    "PCA": (PCA(5),),
    "in place": (StandardScaler(copy=False),),
}


@pytest.mark.parametrize("steps", STEPS)
def test_rows_that_are_not_those_of_fit(stacked, steps):
    X, y, sample_domain = pair(*stacked)
    as_given = sparse.csr_array if steps == "sparse" else np.array
    model = make_pipeline(*STEPS[steps], AlignedClassifier(CORAL()))
    with sklearn.config_context(enable_metadata_routing=False):  # which skada turns on for all
        model.fit(as_given(X), y, alignedclassifier__sample_domain=sample_domain)
    scorer, refused = make_selector_scorer("entropy", cv=2), "the rows are not those of fit, or in"
    assert np.isfinite(scorer(model, as_given(X), y, sample_domain))
    # Another order of the domains, each of which has its rows in order.
    order = np.argsort(sample_domain, kind="stable")
    with pytest.raises(ValueError, match=refused):
        scorer(model, as_given(X[order]), y[order], sample_domain[order])
    others = X.copy()
    others[7] = X[8]
    if steps in ("alone", "sparse", "scaled"):
        with pytest.raises(ValueError, match=refused):
            scorer(model, as_given(others), y, sample_domain)
        single = X.astype(np.float32)
        assert np.isfinite(scorer(model, as_given(single), y, sample_domain))
    else:  # what was given to the model cannot be made again
        assert np.isfinite(scorer(model, as_given(others), y, sample_domain))


def test_rows_with_missing_values_are_known_again(stacked):
    X, y, sample_domain = pair(*stacked)
    X[::2, 1], others = np.nan, X.copy()
    others[::2, 1], others[4, 2] = np.nan, 9
    model = AlignedClassifier(CORAL(), preprocessing=SimpleImputer()).fit(X, y, sample_domain)
    scorer = make_selector_scorer("entropy", cv=2)
    assert np.isfinite(scorer(model, X, y, sample_domain))
    with pytest.raises(ValueError, match="the rows are not those of fit"):
        scorer(model, others, y, sample_domain)


def test_models_pickled_before_rows_were_kept(stacked, fitted):
    X, y, sample_domain = pair(*stacked)
    del fitted._rows
    assert np.isfinite(make_selector_scorer("entropy", cv=2)(fitted, X + 1, y, sample_domain))


def test_names_of_classes_and_domains(stacked):
    X, y, sample_domain = stacked
    names = np.array(["ant", "bee", "cat", "?"])[y]
    named = np.where(y == -1, None, names.astype(object))
    places = np.array(["dslr", "webcam", "amazon"])[np.searchsorted([-3, 2, 5], sample_domain)]
    # The order of the sources by name is the reverse of that by number.
    numbers = np.where(sample_domain < 0, sample_domain, 7 - sample_domain)
    plain = AlignedClassifier(NoAdaptation()).fit(X, y, numbers)
    model = AlignedClassifier(NoAdaptation(), target_domain="dslr").fit(X, named, places)
    for name in SELECTORS:
        scorer = make_selector_scorer(name, cv=2)
        expected = scorer(plain, X, y, numbers)
        assert scorer(model, X, named, places) == pytest.approx(expected, abs=1e-6), name


def test_a_class_that_fit_has_not_seen_is_wrong(stacked):
    X, y, sample_domain = stacked
    model = AlignedClassifier(NoAdaptation()).fit(X, np.where(y == 1, -1, y), sample_domain)
    scorer = make_selector_scorer("source_accuracy")
    known = (sample_domain > 0) & (y != -1)
    expected = np.mean(model.predict(X, sample_domain)[known] == y[known])
    assert scorer(model, X, y, sample_domain) == pytest.approx(expected)
    assert np.isfinite(make_selector_scorer("entropy")(model, X, None, sample_domain))


def test_methods_that_predict_themselves(stacked):
    X, y, sample_domain = pair(*stacked)
    model = AlignedClassifier(JDA(n_components=4, n_iterations=2), "own").fit(X, y, sample_domain)
    target = sample_domain < 0
    Z = model.aligner_.embeddings_[1]
    expected = adjusted_mutual_info_score(
        model.transduction_[target],
        KMeans(
            3, init=[Z[model.transduction_[target] == c].mean(axis=0) for c in range(3)], n_init=1
        ).fit_predict(Z),
    )
    score = make_selector_scorer("class_ami", cv=2)(model, X, y, sample_domain)
    assert score == pytest.approx(expected, abs=1e-10)
    assert np.isfinite(make_selector_scorer("labelled_accuracy", cv=2)(model, X, y, sample_domain))
    for name in ("circular", "entropy"):
        assert np.isnan(make_selector_scorer(name, cv=2)(model, X, y, sample_domain))


def test_rows_of_the_target_alone(stacked):
    X, y, sample_domain = stacked
    model = AlignedClassifier(NoAdaptation()).fit(X, y, sample_domain)
    target = sample_domain < 0
    defined = set()
    for name in SELECTORS:
        scorer = make_selector_scorer(name)
        alone = scorer(model, X[target], y[target], sample_domain[target])
        if not np.isnan(alone):
            assert alone == pytest.approx(scorer(model, X, y, sample_domain), abs=1e-10)
            defined.add(name)
    assert defined == {
        "entropy",
        "mutual_information",
        "neighborhood_density",
        "bnm",
        "class_ami",
    }


def test_labels_of_another_type_are_refused_and_not_scored_as_wrong(stacked, fitted):
    X, y, sample_domain = pair(*stacked)
    named = np.where(y >= 0, y.astype(str), None)
    with pytest.raises(ValueError, match=r"holds labels of type str, .* fit had int"):
        SelectorScorer("source_accuracy")(fitted, X, named, sample_domain=sample_domain)


def test_an_embedding_that_is_sparse_of_one_domain_alone(stacked):
    X, y, domain = pair(*stacked)
    model = AlignedClassifier(CORAL(), SVC(), train_on="source")
    for rows in (sparse.csr_matrix(abs(X)), abs(X)):
        fitted = clone(model).fit(rows, y, domain)
        score = SelectorScorer("circular")(fitted, rows, y, sample_domain=domain)
        assert 0 <= score <= 1


@pytest.mark.parametrize("aligner", [JDA(n_components=4), MMDT(random_state=0)])
def test_circular_validation_is_undefined_where_labels_are_in_the_embedding(stacked, aligner):
    """On pure noise it found them again: 0.8 and more of two classes."""
    X, y, domain = pair(*stacked)
    fitted = AlignedClassifier(aligner, SVC()).fit(X, y, domain)
    assert np.isnan(SelectorScorer("circular")(fitted, X, y, sample_domain=domain))


def rows_of_two_domains():
    rng = np.random.default_rng(0)
    y = np.tile([0, 1, 2], 30)
    return rng.normal(size=(90, 4)) + 2 * np.eye(3, 4)[y], y, np.repeat([1, -2], [50, 40])


def test_probabilities_of_a_machine_are_no_beliefs():
    X, y, domain = rows_of_two_domains()
    model = AlignedClassifier(NoAdaptation(), SVC(probability=True)).fit(X, y, sample_domain=domain)
    assert np.isnan(make_selector_scorer("entropy", cv=2)(model, X, y, sample_domain=domain))


def test_a_row_that_differs_a_little_is_not_that_of_fit():
    X, y, domain = rows_of_two_domains()
    model = AlignedClassifier(NoAdaptation()).fit(X, y, sample_domain=domain)
    others = X.copy()
    others[7] += 0.05
    with pytest.raises(ValueError, match="the rows are not those of fit"):
        make_selector_scorer("entropy", cv=2)(model, others, y, sample_domain=domain)


def test_the_seed_of_the_folds_is_the_scorers():
    X, y, domain = rows_of_two_domains()
    X = np.random.default_rng(1).normal(size=X.shape) + X / 4
    model = AlignedClassifier(NoAdaptation()).fit(X, y, sample_domain=domain)
    scores = {
        make_selector_scorer("source_accuracy", 2, seed)(model, X, y, sample_domain=domain)
        for seed in range(5)
    }
    assert len(scores) > 1


def test_a_classifier_of_the_target_alone_is_judged_by_the_target():
    rng = np.random.default_rng(0)
    ys, yt = np.tile([0, 1], 50), np.tile([0, 1], 20)
    Xs, Xt = rng.normal(size=(100, 2)), rng.normal(size=(40, 2))
    Xs[:, 0] -= 4 * ys  # in the source the classes lie the other way round
    Xt[:, 0] += 4 * yt
    X, y, d = np.vstack([Xs, Xt]), np.r_[ys, yt], np.repeat([1, -2], [100, 40])
    model = AlignedClassifier(NoAdaptation(), train_on="target").fit(X, y, sample_domain=d)
    score = make_selector_scorer("labelled_accuracy")(model, X, y, sample_domain=d)
    assert score == pytest.approx(np.mean(model.predict(X[100:]) == yt))
