"""New samples that are far from those of the fit: which column, how many, from which row on."""

from types import SimpleNamespace

import numpy as np
import pytest
from domain_alignment.cli._ranges import _numbers, empty_columns, far_out
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler

RNG = np.random.default_rng(0)
X = RNG.normal([5.0, 100.0], [1.0, 20.0], size=(50, 2))
NEW = np.array([[5.0, 90.0], [5.0, 9000.0], [np.nan, 9500.0]])


def model(preprocessing, n_features=2):
    return SimpleNamespace(preprocessing=preprocessing, n_features_in_=n_features)


@pytest.mark.parametrize(
    "steps",
    [
        StandardScaler(),
        make_pipeline(StandardScaler()),
        make_pipeline(SimpleImputer(), StandardScaler(), PCA(1)),
    ],
)
def test_a_column_far_out_is_named_with_its_first_row(steps):
    (told,) = far_out(model(steps.fit(X)), NEW, ["age", "weight"])
    assert told.startswith("column 'weight': 2 of 3 values are more than 10 standard deviations")
    assert "first in row 1: 9000" in told
    assert far_out(model(steps), X, ["age", "weight"]) == []
    (unnamed,) = far_out(model(steps), NEW, None)
    assert unnamed.startswith("column number 2: ")


@pytest.mark.parametrize(
    "steps",
    [
        None,
        make_pipeline(PCA(2), StandardScaler()),
        make_pipeline(Normalizer(), StandardScaler()),
        make_pipeline(SimpleImputer()),
        make_pipeline(FunctionTransformer(np.log), StandardScaler()),
        StandardScaler(with_mean=False, with_std=False),
    ],
)
def test_without_a_scaler_of_the_columns_nothing_is_known(steps):
    fitted = steps if steps is None else steps.fit(X)
    assert far_out(model(fitted), NEW, ["age", "weight"]) == []


def test_columns_beside_texts_are_found_by_their_features():
    rows = np.empty((50, 3), dtype=object)
    rows[:, 0] = X[:, 0]
    rows[:, 1] = ["red" if at % 2 else "blue" for at in range(50)]
    rows[:, 2] = X[:, 1]
    coder = ColumnTransformer(
        [
            ("first", SimpleImputer(), [0]),
            ("text", OneHotEncoder(sparse_output=False), [1]),
            ("last", SimpleImputer(), [2]),
        ]
    )
    steps = make_pipeline(coder, StandardScaler()).fit(rows)
    new = rows[:4].copy()
    new[3, 2] = 9000.0
    new[0, 1] = "green"
    (told,) = far_out(model(steps, 3), new, ["age", "colour", "weight"])
    assert told.startswith("column 'weight': 1 of 4 values")
    assert far_out(model(steps, 3), rows, ["age", "colour", "weight"]) == []


def test_columns_of_slices_masks_and_one_alone_are_known():
    table = np.c_[np.arange(40.0), np.arange(40.0) % 7, np.arange(40.0) % 3]
    for columns in (slice(0, 2), [True, True, False], [0, 1]):
        parts = [("numbers", FunctionTransformer(), columns)]
        coder = ColumnTransformer(parts).fit(table)
        assert _numbers(coder, 3, 2) == [(0, 0), (1, 1)]


def test_a_scaler_of_other_features_than_the_columns_tells_nothing():
    assert _numbers(SimpleImputer().fit(np.ones((3, 2))), 3, 2) == []


def test_columns_without_a_value_are_named():
    texts = np.array([[1.5, None], [None, None]], dtype=object)
    assert empty_columns(texts, ["a", "b"]) == ["column 'b': all 2 cells are empty"]
    (unnamed,) = empty_columns(np.full((3, 1), np.nan), None)
    assert unnamed == "column number 1: all 3 cells are empty"
    assert empty_columns(NEW, ["age", "weight"]) == []
