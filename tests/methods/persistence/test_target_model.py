"""What predicts the target: parts that fit together, samples that fit the parts."""

import numpy as np
import pandas as pd
import pytest
from domain_alignment import CORAL, JDA, AlignedClassifier
from domain_alignment.persistence import TargetModel
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from tests.methods.persistence.test_folder import CLASSES, fitted, stacked
from tests.methods.test_contract import domains


def coral():
    return CORAL().fit(domains()[0])


def one_nn(aligner):
    y = np.repeat([0, 1, 2], 15)
    return KNeighborsClassifier(1).fit(aligner.embeddings_[0], CLASSES[y])


@pytest.mark.parametrize("settings", [{}, {"preprocessing": StandardScaler()}])
def test_it_answers_as_the_classifier_that_it_is_made_of(settings):
    model, new = fitted(**settings), stacked()[-1]
    part = TargetModel.of(model)
    np.testing.assert_array_equal(part.predict(new), model.predict(new))
    np.testing.assert_array_equal(part.predict_proba(new), model.predict_proba(new))
    np.testing.assert_array_equal(part.transform(new), model.transform(new))
    np.testing.assert_array_equal(part.classes_, model.classes_)


def test_the_methods_own_predictions_have_the_names_of_the_classes():
    model, new = fitted(JDA(n_components=3), classifier="own"), stacked()[-1]
    part = TargetModel.of(model)
    np.testing.assert_array_equal(part.predict(new), model.predict(new))
    assert set(part.predict(new)) <= set(CLASSES)


def test_probabilities_where_there_are_any():
    assert hasattr(TargetModel.of(fitted()), "predict_proba")
    assert not hasattr(TargetModel.of(fitted(classifier=SVC())), "predict_proba")
    assert not hasattr(
        TargetModel.of(fitted(JDA(n_components=3), classifier="own")), "predict_proba"
    )


def test_names_of_the_columns_are_kept_and_compared():
    X, y, domain, new = stacked()
    names = list("abcdef")
    model = AlignedClassifier(CORAL()).fit(pd.DataFrame(X, columns=names), y, domain)
    part, frame = TargetModel.of(model), pd.DataFrame(new, columns=names)
    np.testing.assert_array_equal(part.predict(frame), part.predict(new))
    with pytest.raises(ValueError, match=r"column 0 is 'f', but was 'a'.*another order"):
        part.predict(frame[names[::-1]])


def test_columns_of_text():
    (source, target), _ = domains()
    colours = np.array(["red", "blue"])[(target[:, 0] > 0).astype(int)]
    rows = np.empty((len(target), 6), dtype=object)
    rows[:, :5], rows[:, 5] = target[:, :5], colours
    steps = make_column_transformer(
        (OneHotEncoder(drop="if_binary"), [5]), remainder=StandardScaler()
    ).fit(rows)
    aligner = CORAL().fit([source, steps.transform(rows).astype(float)])
    model = TargetModel(aligner, one_nn(aligner), preprocessing=steps, text_features=[5])
    np.testing.assert_array_equal(model.transform(rows), aligner.embeddings_[1])
    rows[:, 0] = [repr(float(value)) for value in target[:, 0]]  # numbers as a table has them
    np.testing.assert_array_equal(model.transform(rows), aligner.embeddings_[1])
    missing = rows[:4].copy()
    missing[:, 5] = [None, np.nan, pd.NA, "red"]
    assert model._checked(missing)[:, 5].tolist() == [None, None, None, "red"]
    rows[3, 1] = "n/a"
    assert np.isnan(model._checked(rows)[3, 1])
    rows[3, 1] = "tall"
    with pytest.raises(ValueError, match=r"column 1.*'tall'"):
        model.predict(rows)


REGIONS = np.array(["1", "2", "NA"], dtype=object)


def of_regions():
    """A model with a number and a column of the kinds 1, 2 and NA, and rows of it."""
    rng = np.random.default_rng(0)
    rows = np.empty((45, 2), dtype=object)
    rows[:, 0], rows[:, 1] = rng.normal(size=45), np.repeat(REGIONS, 15)
    fill = SimpleImputer(strategy="most_frequent", missing_values=None)
    coder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    steps = make_column_transformer(
        ("passthrough", [0]), (make_pipeline(fill, coder), [1]), sparse_threshold=0
    ).fit(rows)
    Z = steps.transform(rows).astype(float)
    aligner = CORAL().fit([Z, Z])
    names = ["size", "region"]
    model = TargetModel(
        aligner, one_nn(aligner), preprocessing=steps, feature_names=names, text_features=[1]
    )
    return model, pd.DataFrame(rows, columns=names)


def test_kinds_are_spelled_by_one_rule_however_they_are_read(tmp_path, recwarn):
    model, rows = of_regions()
    expected = model.predict(rows)
    some = rows[rows["region"] != "NA"]
    assert some.assign(region=some["region"].astype(int))["region"].dtype.kind == "i"
    for cells in (some["region"].astype(int), some["region"].astype(float), some["region"] + " "):
        found = model.predict(some.assign(region=cells))
        np.testing.assert_array_equal(found, expected[: len(some)])
    rows.to_csv(tmp_path / "new.csv", index=False)
    as_documented = pd.read_csv(tmp_path / "new.csv", dtype=str, keep_default_na=False)
    np.testing.assert_array_equal(model.predict(as_documented), expected)
    assert not recwarn.list


def test_a_kind_that_the_model_does_not_know_is_told():
    model, rows = of_regions()
    rows.loc[[3, 7], "region"] = ["01", "02"]
    with pytest.warns(UserWarning, match=r"X: column 'region': 2 of 45 .*row 3: '01'.* it knows "):
        model.predict(rows)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: TargetModel(CORAL(), SVC()), NotFittedError, "CORAL instance is not fitted"),
        (lambda: TargetModel(coral(), SVC()), NotFittedError, "SVC instance is not fitted"),
        (lambda: TargetModel(coral()), ValueError, "CORAL has no predict of its own; give a class"),
        (
            lambda: TargetModel(coral(), one_nn(coral()), feature_names=["a"]),
            ValueError,
            "1 names for 6 features",
        ),
        (
            lambda: TargetModel(coral(), one_nn(coral()), text_features=[1]),
            ValueError,
            "need a preprocessing",
        ),
        (lambda: TargetModel(coral(), one_nn(coral()), domain=2), ValueError, "domain 2 does not"),
    ],
)
def test_parts_that_do_not_fit_together(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((2, 5)), "X has 5 features; the model was fitted with 6"),
        (np.full((2, 6), np.nan), "NaN or infinity"),
        ([["a"] * 6], "not a matrix of real numbers"),
    ],
)
def test_samples_that_do_not_fit(X, message):
    with pytest.raises(ValueError, match=message):
        TargetModel.of(fitted()).predict(X)


def test_a_preprocessing_that_does_not_count_its_columns_is_told_them():
    class Doubled:
        def transform(self, X):
            return 2 * X

    aligner = coral()
    with pytest.raises(ValueError, match=r"Doubled does not say how many columns .*n_features"):
        TargetModel(aligner, one_nn(aligner), preprocessing=Doubled())
    width = aligner.n_features_in_[-1]
    made = TargetModel(aligner, one_nn(aligner), preprocessing=Doubled(), n_features=width)
    assert made.n_features_in_ == width
    with pytest.raises(ValueError, match=f"n_features=2, and fitted were {width}; leave it out"):
        TargetModel(aligner, one_nn(aligner), n_features=2)
