import numpy as np
import pytest
from domain_alignment.baselines._cca import CCAAligner
from domain_alignment.exceptions import AlignmentError
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning


@pytest.fixture
def views():
    """Two views of the same objects: two directions in common, of different strength."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(80, 2))
    return [
        (np.hstack([common, rng.normal(size=(80, p))]) + 0.3 * rng.normal(size=(80, p + 2)))
        @ rng.normal(size=(p + 2, p + 2))
        for p in (2, 3)
    ]


def test_canonical_correlations(views):
    cca = CCAAligner(4, tol=1e-14, max_iter=20_000).fit(views)
    roots = []
    for X in views:
        centred = X - X.mean(axis=0)
        roots.append(np.linalg.svd(centred, full_matrices=False)[0])
    expected = linalg.svdvals(roots[0].T @ roots[1])
    np.testing.assert_allclose(cca.correlations_, expected, atol=1e-6)
    for a in (0, 1):  # scores of different components do not correlate
        np.testing.assert_allclose(np.corrcoef(cca.embeddings_[a].T), np.eye(4), atol=1e-5)
        np.testing.assert_allclose(cca.transform(views[a], a), cca.embeddings_[a])
    assert cca.transform(views[1][:5] + 1, -1).shape == (5, 4)


def test_canonical_correlations_are_those_of_any_basis(views):
    rng = np.random.default_rng(2)
    turned = [X @ rng.normal(size=(X.shape[1],) * 2) + 5 for X in views]
    one, other = (CCAAligner(2, tol=1e-12, max_iter=5000).fit(X) for X in (views, turned))
    np.testing.assert_allclose(one.correlations_, other.correlations_, atol=1e-6)
    order = rng.permutation(80)
    moved = CCAAligner(2, tol=1e-12, max_iter=5000).fit([X[order] for X in views])
    np.testing.assert_allclose(moved.correlations_, one.correlations_, atol=1e-6)


def test_data_that_are_not_paired(views):
    y = np.arange(80) % 4
    CCAAligner(1).fit(views, [y, np.where(y > 1, y, -1)])
    with pytest.raises(ValueError, match="have 80 and 79 samples; CCA needs pairs"):
        CCAAligner(1).fit([views[0], views[1][1:]])
    with pytest.raises(ValueError, match=r"20 of 80 rows have different labels \(first row 3: 3"):
        CCAAligner(1).fit(views, [y, np.where(y == 3, 0, y)])


def test_what_cca_refuses(views):
    with pytest.raises(ValueError, match="domain 1: is sparse; CCA needs"):
        CCAAligner(1).fit([views[0], sparse.csr_array(views[1])])
    with pytest.raises(ValueError, match="domain 0: is sparse; CCA needs"):
        CCAAligner(1).fit(views).transform(sparse.csr_array(views[0]), 0)
    with pytest.raises(AlignmentError, match="domain 1: its samples are all equal"):
        CCAAligner(1).fit([views[0], np.ones((80, 2))])
    with pytest.raises(ValueError, match="CCAAligner aligns at most 2"):
        CCAAligner(1).fit([*views, views[0]])


def test_more_components_than_dimensions(make_domains):
    Xs, _ = make_domains(((30, 6), (25, 6)))
    few = [X[:3] for X in Xs]
    with pytest.warns(ConvergenceWarning, match="3 pairs, which span 2 and 2 dimensions; 2 comp"):
        cca = CCAAligner(4, tol=1e-10).fit(few)
    assert np.isfinite(cca.correlations_).all()
    twice = [np.hstack([X, X]) for X in Xs]  # of rank 6
    with pytest.warns(ConvergenceWarning, match="which span 6 and 6 dimensions; 6 components"):
        CCAAligner(9).fit([X[:20] for X in twice])


def test_units_of_a_feature_cost_no_component():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    Y = X @ rng.normal(size=(3, 3)) + 0.3 * rng.normal(size=(50, 3))
    expected = CCAAligner(3).fit([X, Y]).correlations_
    found = CCAAligner(3).fit([X * [1, 1, 1e15], Y]).correlations_
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_constant_feature_spans_no_dimension():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    Y = X @ rng.normal(size=(3, 3)) + 0.3 * rng.normal(size=(50, 3))
    expected = CCAAligner(3).fit([X, Y]).correlations_
    wider = [np.c_[X, np.full(50, 0.1)], np.c_[Y, np.full(50, 0.7)]]  # centred, rounding is left
    with pytest.warns(ConvergenceWarning, match="span 3 and 3 dimensions"):
        found = CCAAligner(4).fit(wider).correlations_
    np.testing.assert_allclose(found, expected, atol=1e-6)
