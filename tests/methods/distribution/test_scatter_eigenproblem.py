import numpy as np
import pytest
from domain_alignment.distribution._scatter_eigenproblem import (
    DensePenalty,
    DiagonalScatter,
    LowRankPenalty,
    Scatter,
    TridiagonalScatter,
    check_components,
    count_above,
    diagonalised,
    largest_components,
    simplified,
    tridiagonalised,
)
from domain_alignment.exceptions import AlignmentError
from scipy import linalg


def problem(n_samples, n_features, n_columns=3, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_samples, n_features)) * np.linspace(2, 0.1, n_features)
    return features, rng.normal(size=(n_features, n_columns))


def centred_gram(features):
    n_samples = len(features)
    H = np.eye(n_samples) - np.ones((n_samples, n_samples)) / n_samples
    return features.T @ H @ features


@pytest.mark.parametrize("shape", [(30, 8), (8, 30), (250, 250), (220, 300)])
def test_scatter_is_the_centred_gram_matrix(shape):
    features, _ = problem(*shape)
    scatter, expected = Scatter.of(features), centred_gram(features)
    assert scatter.order == shape[1]
    # A kernel matrix is multiplied by, not squared.
    assert (scatter.matrix is None) == (shape[1] >= shape[0] > 200)
    v = np.random.default_rng(1).normal(size=(shape[1], 2))
    np.testing.assert_allclose(scatter @ v, expected @ v, atol=1e-9)
    np.testing.assert_allclose(scatter @ v[:, 0], expected @ v[:, 0], atol=1e-9)
    np.testing.assert_allclose(scatter.dense(), expected, atol=1e-9)


def test_a_large_mean_does_not_drown_the_scatter():
    features, _ = problem(30, 4)
    shifted = Scatter.of(features + 1e6).dense()
    np.testing.assert_allclose(shifted, Scatter.of(features).dense(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("ridge", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("n_columns", [1, 4, 12])
def test_the_closed_inverse_root(ridge, n_columns):
    _, V = problem(20, 9, n_columns)
    B, penalty = V @ V.T + ridge * np.eye(9), LowRankPenalty(V, ridge)
    root = penalty.inverse_root(np.eye(9))
    np.testing.assert_allclose(root @ B @ root, np.eye(9), atol=1e-9)
    np.testing.assert_allclose(root, root.T, atol=1e-12)
    np.testing.assert_allclose(penalty @ np.eye(9), B, atol=1e-12)
    np.testing.assert_allclose(penalty.inverse_root(B[:, 0]), root @ B[:, 0])
    assert penalty.size >= np.abs(B).max() - 1e-12


def test_a_penalty_of_zero_columns_is_the_ridge():
    penalty = LowRankPenalty(np.zeros((5, 2)), 4.0)
    np.testing.assert_allclose(penalty.inverse_root(np.eye(5)), np.eye(5) / 2)


def test_the_cholesky_root():
    _, V = problem(20, 9)
    B = V @ V.T + 0.3 * np.eye(9)
    penalty = DensePenalty(B)
    root = penalty.inverse_root(np.eye(9))
    np.testing.assert_allclose(root.T @ B @ root, np.eye(9), atol=1e-10)
    np.testing.assert_allclose(penalty.inverse_root_transposed(np.eye(9)), root.T, atol=1e-12)
    with pytest.raises(AlignmentError, match="penalty of order 2 is not positive definite"):
        DensePenalty(np.diag([1.0, -1.0]))


@pytest.mark.parametrize("shape", [(60, 12), (400, 260), (240, 240)])
@pytest.mark.parametrize("dense", [False, True])
def test_components_are_those_of_the_dense_solver(shape, dense):
    features, V = problem(*shape)
    B = V @ V.T + 0.7 * np.eye(shape[1])
    penalty = DensePenalty(B) if dense else LowRankPenalty(V, 0.7)
    ratios, directions = largest_components(Scatter.of(features), penalty, 6, "test")
    values, vectors = linalg.eigh(centred_gram(features), B)
    np.testing.assert_allclose(ratios, values[::-1][:6], rtol=1e-10)
    np.testing.assert_allclose(
        np.abs(np.sum(directions * (B @ vectors[:, ::-1][:, :6]), axis=0)), 1, atol=1e-8
    )
    np.testing.assert_allclose(directions.T @ B @ directions, np.eye(6), atol=1e-9)


@pytest.mark.parametrize("simplify", [diagonalised, tridiagonalised])
@pytest.mark.parametrize("n_features", [12, 260])
def test_simpler_coordinates_solve_the_same(n_features, simplify):
    features, V = problem(300, n_features)
    scatter = Scatter.of(features)
    simple, rotation = simplify(scatter)
    assert simple.order == n_features
    back = rotation @ (rotation @ simple.dense()).T
    np.testing.assert_allclose(back, scatter.dense(), atol=1e-9)
    expected, _ = largest_components(scatter, LowRankPenalty(V, 0.7), 5, "test")
    rotated_penalty = LowRankPenalty(rotation.transpose() @ V, 0.7)
    ratios, rotated = largest_components(simple, rotated_penalty, 5, "test")
    np.testing.assert_allclose(ratios, expected, rtol=1e-10)
    check_components(scatter, LowRankPenalty(V, 0.7), ratios, rotation @ rotated, "test")
    with pytest.raises(AlignmentError, match="test: eigenvectors leave a residual"):
        check_components(scatter, LowRankPenalty(V, 0.7), 2 * ratios, rotation @ rotated, "test")


@pytest.mark.parametrize("shape", [(220, 300), (300, 260)])
def test_tridiagonal_coordinates_are_a_rotation(shape):
    scatter = Scatter.of(problem(*shape)[0])
    before = scatter.dense().copy()
    simple, rotation = simplified(scatter)
    assert isinstance(simple, TridiagonalScatter)
    order = simple.order
    Q = rotation @ np.eye(order)
    np.testing.assert_allclose(Q.T @ Q, np.eye(order), atol=1e-12)
    np.testing.assert_allclose(rotation.transpose() @ np.eye(order), Q.T, atol=1e-12)
    v = np.random.default_rng(1).normal(size=(order, 3))
    np.testing.assert_allclose(simple @ v, simple.dense() @ v, atol=1e-9)
    np.testing.assert_allclose(simple @ v[:, 0], (simple @ v)[:, 0], rtol=1e-14)
    np.testing.assert_allclose(simple.eigenvalues, linalg.eigvalsh(before), atol=1e-9)
    shifted = simple.dense() - 0.3 * np.eye(order)
    np.testing.assert_allclose(shifted @ simple.solve_shifted(0.3, v), v, atol=1e-8)
    np.testing.assert_array_equal(scatter.dense(), before)


def test_small_scatters_are_diagonalised():
    assert isinstance(simplified(Scatter.of(problem(30, 8)[0]))[0], DiagonalScatter)


@pytest.mark.parametrize("tridiagonal", [False, True])
def test_counting_is_that_of_the_spectrum(tridiagonal):
    rng = np.random.default_rng(0)
    scatter, penalty = (
        DiagonalScatter(rng.uniform(0, 5, 40)),
        LowRankPenalty(rng.normal(size=(40, 6)), 0.5),
    )
    if tridiagonal:
        scatter = tridiagonalised(Scatter.of(rng.normal(size=(50, 40)) / 4))[0]
    values = linalg.eigvalsh(scatter.dense(), penalty @ np.eye(40))
    for level in (*rng.uniform(0, 10, 20), values[-1] * 1.01, values[-3] * 0.999):
        assert count_above(scatter, penalty, level) == np.count_nonzero(values > level)
    # On a pole it does not tell.
    assert count_above(scatter, penalty, scatter.eigenvalues[3] / 0.5) is None
    assert count_above(Scatter.of(np.eye(3)), penalty, 1.0) is None


@pytest.mark.parametrize("form", ["features", "diagonal", "tridiagonal"])
def test_multiple_eigenvalues_keep_all_their_copies(form):
    values = np.concatenate([np.full(5, 9.0), [7.0], np.linspace(2, 1, 294)])
    features = np.vstack([np.diag(np.sqrt(values / 2)), -np.diag(np.sqrt(values / 2))])
    scatter = DiagonalScatter(values) if form == "diagonal" else Scatter.of(features)
    if form == "tridiagonal":
        mixed = features @ np.linalg.qr(np.random.default_rng(0).normal(size=(300, 300)))[0]
        scatter, _ = tridiagonalised(Scatter.of(mixed))
    penalty = LowRankPenalty(np.zeros((300, 1)), 1.0)
    ratios, directions = largest_components(scatter, penalty, 6, "test")
    np.testing.assert_allclose(ratios, [9, 9, 9, 9, 9, 7], rtol=1e-10)
    np.testing.assert_allclose(directions.T @ directions, np.eye(6), atol=1e-9)


@pytest.mark.parametrize("size", [30, 240])
def test_directions_without_scatter_are_left_out(size):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(50, 4)) @ rng.normal(size=(4, size))
    penalty = LowRankPenalty(rng.normal(size=(size, 1)), 1.0)
    ratios, directions = largest_components(Scatter.of(features), penalty, 9, "test")
    assert ratios.shape == (4,)
    assert directions.shape == (size, 4)


def test_no_scatter_is_an_error():
    with pytest.raises(AlignmentError, match="test: there is no scatter"):
        largest_components(
            DiagonalScatter(np.zeros(3)), LowRankPenalty(np.ones((3, 1)), 1.0), 1, "test"
        )


def test_of_a_symmetric_matrix_half_is_read():
    features, _ = problem(250, 250)
    kernel = features @ features.T
    scatter, v = Scatter.of(kernel, symmetric=True), np.random.default_rng(1).normal(size=250)
    np.testing.assert_allclose(scatter @ v, centred_gram(kernel) @ v, rtol=1e-10, atol=1e-6)
    np.testing.assert_allclose(scatter @ v, (scatter @ v[:, None])[:, 0], rtol=1e-10, atol=1e-6)
    expected = scatter @ v
    half = Scatter(np.where(np.tri(250, dtype=bool), kernel, np.nan), None, symmetric=True)
    np.testing.assert_array_equal(half @ v, expected)
