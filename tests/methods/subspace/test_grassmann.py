import pickle

import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.subspace._grassmann import (
    Geodesic,
    PartialLeastSquares,
    PrincipalAxes,
    flow_averages,
    sampled_averages,
)
from domain_alignment.utils import eigen
from scipy import sparse
from scipy.linalg import subspace_angles
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA

from tests.methods.signs import assert_equal_up_to_sign


def projector(basis):
    return basis @ np.linalg.pinv(basis)


def random_basis(rng, n_features, d):
    return np.linalg.qr(rng.normal(size=(n_features, d)))[0]


@pytest.mark.parametrize("shape", [(40, 8), (8, 40), (9, 9)])
def test_principal_axes_are_those_of_pca(shape):
    X = np.random.default_rng(0).normal(size=shape) * np.arange(1, shape[1] + 1) + 5
    basis = PrincipalAxes(X, "X").basis(4)
    peer = PCA(4, svd_solver="full").fit(X).components_.T
    np.testing.assert_allclose(np.abs(peer.T @ basis), np.eye(4), atol=1e-9)
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 8), (8, 40)])
def test_sparse_samples_have_the_same_axes(shape):
    X = np.random.default_rng(0).poisson(0.7, size=shape).astype(float)
    axes = PrincipalAxes(sparse.csr_array(X), "X")
    np.testing.assert_allclose(axes.basis(5), PrincipalAxes(X, "X").basis(5), atol=1e-9)


def test_axes_end_at_the_rank_and_stay_orthonormal_when_they_are_small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 3)) @ np.diag([1.0, 1e-2, 1e-4]) @ random_basis(rng, 30, 3).T
    basis = PrincipalAxes(X, "X").basis(20)
    assert basis.shape == (30, 3)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(
        projector(basis), projector(np.linalg.svd(X - X.mean(axis=0))[2][:3].T), atol=1e-8
    )


def test_a_multiple_eigenvalue_has_all_its_axes():
    X = np.vstack([np.eye(5), -np.eye(5)])
    np.testing.assert_allclose(projector(PrincipalAxes(X, "X").basis(5)), np.eye(5), atol=1e-12)


def large(sizes, shape):
    """Samples of many dimensions that have these singular values once they are centred."""
    rng = np.random.default_rng(0)
    left = rng.normal(size=(shape[0], len(sizes)))
    left = np.linalg.qr(left - left.mean(axis=0))[0]
    return (left * sizes) @ random_basis(rng, shape[1], len(sizes)).T + rng.normal(size=shape[1])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(480, 420), (420, 480)])
@pytest.mark.parametrize(
    "sizes",
    [
        0.98 ** np.arange(400),
        np.r_[np.repeat([5.0, 4.0, 3.0, 2.0], 5), np.linspace(1, 0.5, 390)],
        np.r_[np.full(20, 1.0), np.sqrt(np.linspace(0.9, 0, 390))],
        np.array([3.0, 2.0, 2.0, 1.0]),
    ],
    ids=["decaying", "multiple", "one", "of rank 4"],
)
def test_few_axes_of_many_dimensions_are_those_of_the_dense_solver(sizes, shape, kind, monkeypatch):
    X = kind(large(sizes, shape))
    with monkeypatch.context() as patch:
        patch.setattr(eigen, "_LANCZOS_ROWS", 400)
        patch.setattr(eigen, "symmetric_eigenpairs", None)
        basis = PrincipalAxes(X, "X").basis(20)
    dense = PrincipalAxes(X, "X").basis(20)
    assert basis.shape == dense.shape == (shape[1], min(20, len(sizes)))
    np.testing.assert_allclose(basis @ basis.T, dense @ dense.T, rtol=0, atol=1e-9)
    if np.unique(sizes).size == sizes.size:
        np.testing.assert_allclose(basis, dense, atol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (1, 4)])
def test_equal_samples_have_no_axis(kind, shape):
    X = kind(np.tile(np.random.default_rng(0).normal(size=shape[1]) + 1000, (shape[0], 1)))
    with pytest.raises(AlignmentError, match=r"domain 1: its .* samples are all equal"):
        PrincipalAxes(X, "domain 1").basis(2)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("shape", "rank"), [((9, 5), 2), ((4, 12), 3), ((1, 6), 0), ((6, 1), 0)])
def test_a_frame_has_as_many_axes_as_are_asked_for(kind, shape, rank):
    rng = np.random.default_rng(0)
    X = np.tile(rng.normal(size=shape[1]), (shape[0], 1))
    X += rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1]))
    axes = PrincipalAxes(kind(X), "X")
    for size in range(1, min(shape) + 1):
        frame = axes.frame(size)
        np.testing.assert_allclose(frame.T @ frame, np.eye(size), atol=1e-12)
        if rank:
            basis = axes.basis(size)
            assert basis.shape[1] == min(size, rank)
            np.testing.assert_array_equal(frame[:, :rank], basis)
    assert axes.frame(min(shape)).shape == (shape[1], min(shape))


def test_axes_are_computed_once_and_can_be_pickled():
    axes = PrincipalAxes(np.random.default_rng(0).normal(size=(20, 4)), "X")
    assert axes.basis(2) is axes.basis(2)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(axes)).basis(3), axes.basis(3))


def nipals(X, Y, d):
    """Slow and as printed: X loses every component."""
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    W, P = [], []
    for _ in range(d):
        w = np.linalg.svd(X.T @ Y)[0][:, 0]
        t = X @ w
        p = X.T @ t / (t @ t)
        X = X - np.outer(t, p)
        W.append(w)
        P.append(p)
    return np.array(W).T, np.array(P).T


@pytest.mark.parametrize("shape", [(60, 12), (15, 40)])
def test_partial_least_squares_is_nipals(shape):
    rng = np.random.default_rng(0)
    y = np.arange(shape[0]) % 4 * 3
    X = rng.normal(size=shape) + np.eye(13, shape[1])[y] + 2
    pls = PartialLeastSquares(X, y, 6, "X")
    W, P = nipals(X, (y[:, None] == [0, 3, 6, 9]).astype(float), 6)
    signs = np.sign(np.sum(W * pls.weights, axis=0))
    np.testing.assert_allclose(pls.weights, W * signs, atol=1e-8)
    np.testing.assert_allclose(pls.rotation, W @ np.linalg.inv(P.T @ W) * signs, atol=1e-7)
    np.testing.assert_allclose(pls.weights.T @ pls.weights, np.eye(6), atol=1e-12)
    scores = pls.scores(X)
    inner = scores.T @ scores
    np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-8 * inner.max())


def test_partial_least_squares_of_scikit_learn():
    rng = np.random.default_rng(1)
    y = np.arange(50) % 3
    X = rng.normal(size=(50, 8)) + 2 * np.eye(3, 8)[y]
    # Its own scores are those of one-hot labels too, with tolerance in place of an SVD.
    peer = PLSRegression(4, scale=False, tol=1e-14, max_iter=10_000)
    peer.fit(X, (y[:, None] == np.arange(3)).astype(float))
    scores = PartialLeastSquares(X, y, 4, "X").scores(X)
    assert_equal_up_to_sign(scores, peer.transform(X), atol=1e-4)


def test_partial_least_squares_of_sparse_samples_and_other_names_of_classes():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.6, size=(30, 9)).astype(float), np.arange(30) % 3
    one = PartialLeastSquares(X, y, 5, "X")
    for other in (
        PartialLeastSquares(sparse.csr_array(X), y, 5, "X"),
        PartialLeastSquares(X, np.array([7, 2, 5])[y], 5, "X"),
        PartialLeastSquares(X[::-1], y[::-1], 5, "X"),
    ):
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-9)
        np.testing.assert_allclose(one.rotation, other.rotation, atol=1e-9)


def test_partial_least_squares_ends_when_nothing_is_left():
    y = np.arange(20) % 2
    X = np.column_stack([y, 3 * y, np.zeros(20)]).astype(float)
    assert PartialLeastSquares(X, y, 5, "X").weights.shape == (3, 1)
    with pytest.raises(ValueError, match=r"domain 0: its 20 labelled samples are of 1 class"):
        PartialLeastSquares(X, np.zeros(20, int), 2, "domain 0")
    with pytest.raises(AlignmentError, match="domain 0: no feature varies with the class"):
        PartialLeastSquares(np.full((20, 3), 1 / 3), y, 2, "domain 0")


def point(path, t):
    """A basis of the subspace at t, as printed."""
    return path.start * np.cos(t * path.angles) + path.direction * np.sin(t * path.angles)


@pytest.mark.parametrize(("p", "d"), [(12, 4), (7, 4), (5, 5), (9, 1)])
def test_the_geodesic_joins_the_subspaces(p, d):
    rng = np.random.default_rng(0)
    start, end = random_basis(rng, p, d), random_basis(rng, p, d)
    path = Geodesic(start, end)
    # SciPy gives an angle of 0 as 1.5e-8.
    np.testing.assert_allclose(path.angles, subspace_angles(start, end)[::-1], atol=1e-7)
    np.testing.assert_allclose(projector(point(path, 0)), projector(start), atol=1e-12)
    np.testing.assert_allclose(projector(point(path, 1)), projector(end), atol=1e-12)
    for t in (0.2, 0.7):
        basis = point(path, t)
        np.testing.assert_allclose(basis.T @ basis, np.eye(d), atol=1e-12)
        # On a geodesic the angles grow in proportion to t.
        angles = subspace_angles(start, basis)[::-1]
        np.testing.assert_allclose(angles, t * path.angles, atol=1e-7)


def test_angles_of_zero_and_a_right_angle():
    start, end = np.eye(4)[:, [0, 1]], np.eye(4)[:, [0, 2]]
    path = Geodesic(start, end)
    np.testing.assert_allclose(path.angles, [0, np.pi / 2], atol=1e-15)
    np.testing.assert_array_equal(path.direction[:, 0], 0)
    M = path.feature_map(*flow_averages(path.angles))
    expected = np.diag([1.0, 0.5, 0.5, 0.0])
    expected[1, 2] = expected[2, 1] = np.sign(path.start[1, 1] * path.direction[2, 1]) / np.pi
    np.testing.assert_allclose(M @ M.T, expected, atol=1e-15)


@pytest.mark.parametrize("angle", [1e-13, 1e-9, 1e-5, 1e-3])
def test_small_angles_lose_no_digits(angle):
    start = np.eye(3)[:, :1]
    end = np.array([[np.cos(angle)], [np.sin(angle)], [0.0]])
    path = Geodesic(start, end)
    np.testing.assert_allclose(path.angles, angle if angle > 1e-12 else 0, rtol=1e-6)
    M = path.feature_map(*flow_averages(path.angles))
    expected = np.diag([1 - angle**2 / 3, angle**2 / 3, 0])
    expected[0, 1] = expected[1, 0] = angle / 2 - angle**3 / 6
    np.testing.assert_allclose(M @ M.T, expected, atol=2e-13)


def test_averages_are_integrals():
    angles = np.array([0.0, 1e-8, 0.3, 1.2, np.pi / 2])
    nodes, weights = np.polynomial.legendre.leggauss(40)
    t, weights = (nodes[:, None] + 1) / 2, weights / 2
    cos, sin = np.cos(t * angles), np.sin(t * angles)
    for average, integrand in zip(flow_averages(angles), (cos**2, sin * cos, sin**2), strict=True):
        np.testing.assert_allclose(average, weights @ integrand, atol=1e-15)
    for average, limit in zip(sampled_averages(angles, 20_000), flow_averages(angles), strict=True):
        np.testing.assert_allclose(average, limit, atol=1e-4)
