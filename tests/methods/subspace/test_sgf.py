import numpy as np
import pytest
from domain_alignment.subspace._gfk import GFK
from domain_alignment.subspace._grassmann import Geodesic, PartialLeastSquares
from domain_alignment.subspace._sgf import SGF
from sklearn.decomposition import PCA

from tests.methods.subspace.test_grassmann import point


def concatenation(Xs, d, n_between):
    """The projections as printed, side by side."""
    start, end = (PCA(d, svd_solver="full").fit(X).components_.T for X in Xs)
    path = Geodesic(start, end)
    bases = [point(path, k / (n_between + 1)) for k in range(n_between + 2)]
    return [np.hstack([X @ basis for basis in bases]) / np.sqrt(n_between + 2) for X in Xs]


@pytest.mark.parametrize("n_between", [0, 1, 8])
def test_inner_products_are_those_of_the_concatenated_projections(make_domains, n_between):
    Xs, _ = make_domains()
    Z = np.vstack(SGF(3, n_between, "pca", None).fit(Xs).embeddings_)
    long = np.vstack(concatenation(Xs, 3, n_between))
    assert Z.shape[1] == 6
    np.testing.assert_allclose(Z @ Z.T, long @ long.T, atol=1e-10)


@pytest.mark.parametrize("n_between", [1, 8])
def test_scores_are_those_of_partial_least_squares_on_the_concatenation(make_domains, n_between):
    Xs, ys = make_domains()
    seen = ys[0] >= 0
    long = concatenation(Xs, 3, n_between)
    pls = PartialLeastSquares(long[0][seen], ys[0][seen], 4, "X")
    sgf = SGF(3, n_between, "pca", 4).fit(Xs, ys)
    for Z, other in zip(sgf.embeddings_, long, strict=True):
        np.testing.assert_allclose(np.abs(Z), np.abs(pls.scores(other)), atol=1e-9)
        inner = Z @ sgf.embeddings_[0].T
        np.testing.assert_allclose(inner, pls.scores(other) @ pls.scores(long[0]).T, atol=1e-9)


def test_it_is_gfk_by_a_rectangle_rule(make_domains):
    Xs, _ = make_domains()
    exact = np.vstack(GFK(3).fit(Xs).embeddings_)
    exact = exact @ exact.T
    errors = []
    for n_between in (1, 10, 100, 1000):
        Z = np.vstack(SGF(3, n_between, "pca", None).fit(Xs).embeddings_)
        errors.append(np.linalg.norm(Z @ Z.T - exact) / np.linalg.norm(exact))
    # The rule counts both ends fully: its error falls like 1 / N.
    assert errors[3] < 1e-3
    np.testing.assert_allclose(errors[2] / errors[3], 10, rtol=0.1)


def test_labels_are_read_only_where_they_are_used(make_domains):
    Xs, _ = make_domains()
    assert SGF(basis="pca", n_scores=None).capabilities.labels == "none"
    for params in ({}, {"basis": "pca"}, {"n_scores": None}, {"source_rows": "labelled"}):
        assert SGF(**params).capabilities.labels == "source"
        with pytest.raises(ValueError, match="none of its 60 samples is labelled"):
            SGF(**{"n_components": 3, **params}).fit(Xs)


def test_scores_end_where_nothing_varies_with_the_class():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = np.outer(y - 0.5, np.ones(4))
    sgf = SGF(1, basis="pca", n_scores=10).fit([X, rng.normal(size=(20, 4))], [y, None])
    assert sgf.n_components_ == 1


@pytest.mark.parametrize("params", [{"n_between": -1}, {"n_scores": 0}, {"basis": "lda"}])
def test_wrong_parameters(make_domains, params):
    with pytest.raises(ValueError, match=next(iter(params))):
        SGF(**params).fit(*make_domains())
