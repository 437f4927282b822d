import warnings

import numpy as np
import pytest
import sklearn
from domain_alignment import CORAL, TCA, AlignedClassifier, NoAdaptation, TargetFolds
from sklearn.model_selection import GridSearchCV, KFold, cross_validate


def problem(seed, n=300, n_seen=30):
    """A source and a target whose classes overlap more; few labels of the target are seen."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=2 * n)
    sample_domain = np.repeat([1, -2], n)
    spread = np.where(sample_domain > 0, 0.8, 1.6)[:, None]
    X = 3 * np.eye(2, 4)[y] + spread * rng.normal(size=(2 * n, 4)) + (sample_domain < 0)[:, None]
    seen = np.where(sample_domain > 0, y, -1)
    seen[n : n + n_seen] = y[n : n + n_seen]
    return X, seen, sample_domain, y


def test_each_labelled_target_row_is_held_out_once_and_nothing_else():
    X, seen, sample_domain, _ = problem(0)
    labelled = np.flatnonzero((sample_domain < 0) & (seen >= 0))
    folds = list(TargetFolds(n_splits=4).split(X, seen, sample_domain))
    assert len(folds) == TargetFolds(n_splits=4).get_n_splits() == 4
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), labelled)
    for train, test in folds:
        np.testing.assert_array_equal(np.union1d(train, test), np.arange(len(X)))
        assert not np.intersect1d(train, test).size
        share = np.mean(seen[test] == 1)
        assert share == pytest.approx(np.mean(seen[labelled] == 1), abs=1 / len(test))


def test_the_shuffle_has_a_seed():
    X, seen, sample_domain, _ = problem(0)

    def first(**parameters):
        return next(TargetFolds(**parameters).split(X, seen, sample_domain))[1].tolist()

    assert first() == first(random_state=0) != first(random_state=1)
    assert first(shuffle=False) == first(shuffle=False, random_state=1) != first()


def test_named_domains_and_classes():
    X, seen, sample_domain, _ = problem(0)
    plain = list(TargetFolds().split(X, seen, sample_domain))
    names = np.where(sample_domain > 0, "books", "kitchen")
    classes = np.array(["bad", "good", None], dtype=object)[seen]
    named = TargetFolds(target_domain="kitchen").split(X, classes, names)
    for one, other in zip(plain, named, strict=True):
        for rows, same in zip(one, other, strict=True):
            np.testing.assert_array_equal(rows, same)


def test_the_score_is_nearer_to_the_hidden_accuracy_than_that_of_plain_folds():
    model, errors = AlignedClassifier(NoAdaptation()), []
    with sklearn.config_context(enable_metadata_routing=True):
        for seed in range(8):
            X, seen, sample_domain, y = problem(seed)
            given = {"sample_domain": sample_domain}
            hidden = (seen < 0).nonzero()[0]
            fitted = model.fit(X, seen, **given)
            truth = fitted.score(X[hidden], y[hidden], sample_domain[hidden])
            scores = [
                cross_validate(model, X, seen, params=given, cv=cv, error_score="raise")
                for cv in (KFold(3, shuffle=True, random_state=0), TargetFolds())
            ]
            errors.append([score["test_score"].mean() - truth for score in scores])
    plain, target = np.mean(errors, axis=0)
    assert plain > 0.08, "most rows that plain folds score are the source's"
    assert abs(target) < 0.04


def test_plain_folds_without_target_labels_score_nan_and_these_do_not():
    X, seen, sample_domain, _ = problem(0)
    order = np.argsort(seen < 0, kind="stable")  # unlabelled rows last, as in a stacked file
    X, seen, sample_domain = X[order], seen[order], sample_domain[order]
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, target = (
            cross_validate(
                AlignedClassifier(CORAL()), X, seen, params={"sample_domain": sample_domain}, cv=cv
            )["test_score"]
            for cv in (KFold(4), TargetFolds())
        )
    assert np.isnan(plain).any()
    assert np.isfinite(target).all()


def test_grid_search():
    X, seen, sample_domain, _ = problem(1)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            AlignedClassifier(CORAL()),
            {"aligner": [CORAL(), TCA(2)], "train_on": ["source", "source+target"]},
            cv=TargetFolds(),
            error_score="raise",
        ).fit(X, seen, sample_domain=sample_domain)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict(X[sample_domain < 0]).shape == (300,)


@pytest.mark.parametrize(
    ("folds", "change", "message"),
    [
        (TargetFolds(), lambda y, d: (y, None), "sample_domain is missing: .*metadata_routing"),
        (TargetFolds(), lambda y, d: (np.where(d < 0, -1, y), d), "target has 0 labelled rows"),
        (TargetFolds(25), lambda y, d: (y, d), "30 labelled rows, at most .* 25 folds need 25"),
        (TargetFolds(1), lambda y, d: (y, d), "n_splits=1; give a whole number from 2"),
        (TargetFolds(target_domain="x"), lambda y, d: (y, d), "need at least one source and the"),
    ],
)
def test_what_is_wrong_is_named(folds, change, message):
    X, seen, sample_domain, _ = problem(0)
    y, domain = change(seen, sample_domain)
    with pytest.raises(ValueError, match=message):
        list(folds.split(X, y, domain))


@pytest.mark.filterwarnings("ignore")
def test_beside_skadas_splitters_and_scorers():
    from skada import metrics
    from skada import model_selection as splitters

    X, seen, sample_domain, _ = problem(0)
    for cv in (splitters.StratifiedDomainShuffleSplit(3, random_state=0), TargetFolds()):
        for scoring in (None, metrics.PredictionEntropyScorer()):
            with sklearn.config_context(enable_metadata_routing=True):
                found = cross_validate(
                    AlignedClassifier(CORAL()),
                    X,
                    seen,
                    params={"sample_domain": sample_domain},
                    cv=cv,
                    scoring=scoring,
                    error_score="raise",
                )
            assert np.isfinite(found["test_score"]).all()
