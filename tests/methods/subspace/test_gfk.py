import numpy as np
import pytest
from domain_alignment.subspace._gfk import GFK
from domain_alignment.subspace._grassmann import PartialLeastSquares
from scipy.linalg import null_space
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from tests.methods.office_caltech import needs_surf, shares


def paper_kernel(start, end):
    """G as printed (Eqs. 3 and 5 there), with the complement of the source's basis."""
    rest = null_space(start.T)
    left, cos, right = np.linalg.svd(start.T @ end)
    angles = np.arccos(np.clip(cos, -1, 1))
    # R' P_T = -U_2 Sigma V', so that U_2 follows from the angles.
    second = -(rest.T @ end @ right.T) / np.sin(angles)
    l1 = 1 + np.sin(2 * angles) / (2 * angles)
    l2 = (np.cos(2 * angles) - 1) / (2 * angles)
    l3 = 1 - np.sin(2 * angles) / (2 * angles)
    columns = np.hstack([start @ left, rest @ second])
    blocks = np.block([[np.diag(l1), np.diag(l2)], [np.diag(l2), np.diag(l3)]])
    return columns @ blocks @ columns.T / 2


@pytest.mark.parametrize("d", [1, 3])
def test_the_kernel_of_the_paper(make_domains, d):
    Xs, _ = make_domains()
    gfk = GFK(d).fit(Xs)
    start, end = (PCA(d, svd_solver="full").fit(X).components_.T for X in Xs)
    G = paper_kernel(start, end)
    np.testing.assert_allclose(gfk.map_ @ gfk.map_.T, G, atol=1e-12)
    assert gfk.n_components_ == 2 * d
    for one, Z in zip(Xs, gfk.embeddings_, strict=True):
        for other, Y in zip(Xs, gfk.embeddings_, strict=True):
            np.testing.assert_allclose(Z @ Y.T, one @ G @ other.T, atol=1e-10)


def test_the_kernel_is_the_integral_over_the_flow(make_domains):
    Xs, ys = make_domains()
    seen = ys[0] >= 0
    gfk = GFK(3, basis="pls").fit(Xs, ys)
    start = PartialLeastSquares(Xs[0][seen], ys[0][seen], 3, "X").weights
    end = PCA(3, svd_solver="full").fit(Xs[1]).components_.T
    left, cos, right = np.linalg.svd(start.T @ end)
    angles = np.arccos(cos)
    A = start @ left
    B = (end @ right.T - A * cos) / np.sin(angles)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    G = np.zeros((8, 8))
    for t, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        point = A * np.cos(t * angles) + B * np.sin(t * angles)
        G += weight * point @ point.T
    np.testing.assert_allclose(gfk.map_ @ gfk.map_.T, G, atol=1e-12)
    np.testing.assert_allclose(gfk.angles_, angles, atol=1e-9)


def test_equal_subspaces_give_the_projection(make_domains):
    Xs, _ = make_domains()
    gfk = GFK(3).fit([Xs[0], 2 * Xs[0] + 1])
    axes = PCA(3, svd_solver="full").fit(Xs[0]).components_.T
    np.testing.assert_allclose(gfk.map_ @ gfk.map_.T, axes @ axes.T, atol=1e-7)
    np.testing.assert_allclose(gfk.angles_, 0, atol=1e-7)


def test_all_dimensions_give_the_linear_kernel(make_domains):
    Xs, _ = make_domains()
    gfk = GFK(8).fit(Xs)
    np.testing.assert_allclose(gfk.map_ @ gfk.map_.T, np.eye(8), atol=1e-12)


def test_orthogonal_subspaces():
    rng = np.random.default_rng(0)
    Xs = [rng.normal(size=(20, 4)) * [3, 2, 0, 0], rng.normal(size=(20, 4)) * [0, 0, 3, 2]]
    gfk = GFK(2).fit(Xs)
    np.testing.assert_allclose(gfk.angles_, np.pi / 2)
    # At right angles both ends weigh half, and cross terms are 1 / pi in size.
    G = gfk.map_ @ gfk.map_.T
    np.testing.assert_allclose(G[:2, :2], np.eye(2) / 2, atol=1e-12)
    np.testing.assert_allclose(np.linalg.svd(G[:2, 2:])[1], 1 / np.pi)


def test_unit_rows_are_unit_rows(make_domains):
    Xs, _ = make_domains()
    plain, unit = GFK(3).fit(Xs), GFK(3, unit_rows=True).fit(Xs)
    for one, other in zip(plain.embeddings_, unit.embeddings_, strict=True):
        np.testing.assert_allclose(normalize(one), other)
    np.testing.assert_array_equal(unit.transform(np.zeros((1, 8)), -1), np.zeros((1, 6)))


def test_short_rows_are_unit_rows_too(make_domains):
    Xs, _ = make_domains()
    before = GFK(2, unit_rows=True).fit(Xs)
    after = GFK(2, unit_rows=True).fit([2.0**-54 * X for X in Xs])
    for Z, F in zip(before.embeddings_, after.embeddings_, strict=True):
        np.testing.assert_allclose(F, Z, atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(F, axis=1), 1)


@pytest.mark.parametrize(
    "params", [{"n_components": 0}, {"basis": "lda"}, {"unit_rows": "yes"}, {"source_rows": "some"}]
)
def test_wrong_parameters(make_domains, params):
    with pytest.raises(ValueError, match=next(iter(params))):
        GFK(**params).fit(make_domains()[0])


def test_one_class_or_no_label_for_partial_least_squares(make_domains):
    Xs, ys = make_domains()
    with pytest.raises(ValueError, match=r"domain 0: its 12 labelled samples are of 1 class"):
        GFK(3, "pls").fit(Xs, [np.minimum(ys[0], 0), None])
    with pytest.raises(ValueError, match="none of its 60 samples is labelled"):
        GFK(3, "pls").fit(Xs)


@needs_surf
@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, {"AC": 40.2, "CD": 41.4, "DW": 84.4, "WA": 31.8}),
        ({"n_components": 10, "basis": "pls"}, {"AC": 41.9, "CD": 43.3, "DW": 85.4, "WA": 32.8}),
        (
            {"n_components": 10, "basis": "pls", "unit_rows": True},
            {"AC": 43.2, "CD": 42.7, "DW": 87.8, "WA": 34.2},
        ),
    ],
)
def test_office_caltech_with_all_of_the_source(params, expected):
    """Independent prototypes and, for the first, the authors' GFK.m gave these."""
    found = {}
    for source, target in expected:
        (X, y), (X_target, y_target) = shares(source), shares(target)
        Z, Z_target = GFK(**params).fit_transform([X, X_target], [y, None])
        squares = np.sum(Z**2, axis=1) - 2 * Z_target @ Z.T
        found[source + target] = 100 * np.mean(y[squares.argmin(axis=1)] == y_target)
    assert found == pytest.approx(expected, abs=0.06)
