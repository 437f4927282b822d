"""Containers of embeddings: arrays, or the data frames that set_output asks for."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from domain_alignment import (
    CORAL,
    JDA,
    TCA,
    AlignedClassifier,
    CCAAligner,
    NoAdaptation,
    PCAAligner,
)
from domain_alignment.utils._containers import contained, plain
from scipy import sparse
from sklearn.base import clone

ROWS = pd.Index([f"row {number}" for number in range(20)])


@pytest.fixture
def frames():
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    Xs = [rng.normal(size=(20, 3)) + 4 * y[:, None] + shift for shift in (0, 3)]
    return [pd.DataFrame(X, columns=list("abc"), index=ROWS) for X in Xs], [y, np.full(20, -1)]


def test_arrays_unless_something_else_is_asked_for(frames):
    Xs, ys = frames
    coral = CORAL().fit(Xs, ys)
    assert isinstance(coral.transform(Xs[1], 1), np.ndarray)
    assert all(isinstance(Z, np.ndarray) for Z in CORAL().fit_transform(Xs, ys))


def test_data_frames_with_names_and_index(frames):
    Xs, ys = frames
    tca = TCA(n_components=2).set_output(transform="pandas")
    for Z, embedded in zip(tca.fit_transform(Xs, ys), tca.embeddings_, strict=True):
        assert Z.columns.tolist() == ["tca0", "tca1"]
        assert Z.index.equals(ROWS)
        np.testing.assert_array_equal(Z, embedded)
        assert isinstance(embedded, np.ndarray)
    Z = tca.transform(Xs[1], domain=-1)
    assert Z.columns.tolist() == ["tca0", "tca1"]
    assert clone(tca).fit(Xs, ys).transform(Xs[1], 1).equals(Z)


def test_back_to_arrays(frames):
    coral = CORAL().set_output(transform="pandas").set_output(transform="default")
    assert isinstance(coral.fit_transform(*frames)[0], np.ndarray)


@pytest.mark.parametrize("aligner", [JDA(2), TCA(2), PCAAligner(2), CCAAligner(2)], ids=repr)
def test_answers_do_not_depend_on_the_container(frames, aligner):
    """Nor does a classifier see names of columns that it was not fitted with (a warning)."""
    Xs, ys = frames
    X, y = pd.concat(Xs), np.concatenate(ys)
    domains = np.repeat([1, -2], 20)
    expected = AlignedClassifier(aligner).fit(X, y, domains).predict(Xs[1])
    with sklearn.config_context(transform_output="pandas"):
        model = AlignedClassifier(aligner).fit(X, y, domains)
        np.testing.assert_array_equal(model.predict(Xs[1]), expected)
        assert isinstance(model.transform(X, domains), pd.DataFrame)
        if hasattr(aligner, "predict"):
            fitted = clone(aligner).fit(Xs, ys)
            np.testing.assert_array_equal(fitted.predict(Xs[1]), expected)


def test_a_notebook_shows_the_parameters():
    html = TCA(n_components=2)._repr_html_()
    assert "TCA" in html
    assert "n_components" in html


def test_a_sparse_embedding_is_no_data_frame(frames):
    Xs = [sparse.csr_array(X.to_numpy()) for X in frames[0]]
    same = NoAdaptation()
    with pytest.raises(ValueError, match="sparse"):
        same.set_output(transform="pandas").fit_transform(Xs)
    assert sparse.issparse(plain(same.set_output(transform="default").fit_transform(Xs)[0]))


def test_values_of_any_container(frames):
    Xs, ys = frames
    coral = CORAL().fit(Xs, ys).set_output(transform="pandas")
    framed = contained(coral.embeddings_[0], Xs[0], coral)
    assert isinstance(framed, pd.DataFrame)
    np.testing.assert_array_equal(plain(framed), coral.embeddings_[0])
