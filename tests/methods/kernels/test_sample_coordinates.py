import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernels._pairwise import kernel_matrix
from domain_alignment.kernels._sample_coordinates import SampleFeatures
from domain_alignment.utils import _rows
from scipy import sparse

SHAPES = [(30, 6), (12, 40)]


def samples(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("share", [0.02, 0.5])
def test_coordinates_of_sparse_samples_are_the_product(share, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 20)) * (rng.random((90, 20)) < share)
    for cache in (_rows.FEW_IN_CACHE, 60):  # then many values are multiplied dense, in blocks
        monkeypatch.setattr(_rows, "FEW_IN_CACHE", cache)
        features = SampleFeatures.of(sparse.csr_array(X), "dual")
        np.testing.assert_allclose(
            features.values, sparse.csr_array(X) @ features.to_features, rtol=1e-12, atol=1e-13
        )


def directions_of(features, n=3):
    return np.random.default_rng(1).normal(size=(features.values.shape[1], n))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("formulation", ["primal", "dual"])
def test_linear_coordinates_are_a_rotation_of_the_features(shape, stored, formulation):
    X = samples(shape)
    features = SampleFeatures.of(stored(X), formulation)
    original = X if formulation == "primal" else X @ X.T
    assert features.values.shape == (shape[0], min(shape))
    np.testing.assert_allclose(
        features.values @ features.values.T, original @ original.T, atol=1e-8
    )
    D = directions_of(features)
    coefficients = features.coefficients(D)
    assert coefficients.shape == (shape[1], 3)
    np.testing.assert_allclose(features.scores(stored(X), coefficients), features.values @ D)
    if formulation == "primal":  # lengths of directions are kept
        np.testing.assert_allclose(coefficients.T @ coefficients, D.T @ D, atol=1e-10)
    else:  # the map is X'w, and the weights w in the span of X are as long as the directions
        weights = np.linalg.pinv(X.T) @ coefficients
        np.testing.assert_allclose(weights.T @ weights, D.T @ D, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("formulation", ["primal", "dual"])
def test_coordinates_of_dependent_samples_and_features(shape, stored, formulation):
    X = samples((shape[0], 4)) @ samples((4, shape[1]), seed=2)
    X[3] = 0
    features = SampleFeatures.of(stored(X), formulation)
    original = X if formulation == "primal" else X @ X.T
    np.testing.assert_allclose(
        features.values @ features.values.T, original @ original.T, atol=1e-7
    )
    # Only the primal of few features and the dual of few samples are the features themselves.
    whole = (formulation == "primal") == (shape[0] > shape[1])
    assert features.values.shape[1] == (min(shape) if whole else 4)
    D = directions_of(features)
    found = features.scores(stored(X), features.coefficients(D))
    np.testing.assert_allclose(found, features.values @ D, atol=1e-9)
    if not whole:
        coefficients = features.coefficients(D)
        gram = X.T @ X if formulation == "dual" else np.eye(shape[1])
        lengths = coefficients.T @ np.linalg.pinv(gram, rcond=1e-10) @ coefficients
        np.testing.assert_allclose(lengths, D.T @ D, atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine"])
def test_a_kernel_has_its_columns_as_features(kernel):
    X, new = samples((20, 4)), samples((5, 4), seed=2)
    features = SampleFeatures.of(X, "dual", kernel, 0.2)
    np.testing.assert_allclose(features.values, kernel_matrix(X, X, kernel, 0.2))
    D = directions_of(features)
    assert features.coefficients(D) is D
    np.testing.assert_allclose(features.scores(new, D), kernel_matrix(new, X, kernel, 0.2) @ D)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "cosine", lambda A, B: A @ B.T])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_root_of_a_kernel(kernel, shape):
    X, new = samples(shape), samples((5, shape[1]), seed=2)
    features = SampleFeatures.root_of(X, kernel, 0.1, "X")
    K = kernel_matrix(X, X, kernel, 0.1)
    np.testing.assert_allclose(features.values @ features.values.T, K, atol=1e-8)
    D = directions_of(features)
    coefficients = features.coefficients(D)
    np.testing.assert_allclose(features.scores(X, coefficients), features.values @ D, atol=1e-8)
    # Of the new samples' part in the span of the old, which is all that a map can see.
    expected = kernel_matrix(new, X, kernel, 0.1) @ np.linalg.pinv(K, rcond=1e-10)
    np.testing.assert_allclose(
        features.scores(new, coefficients), expected @ features.values @ D, atol=1e-7
    )


def test_the_median_width():
    X = samples((20, 4))
    apart = np.square(X[:, None] - X).sum(axis=2)[np.triu_indices(20, 1)]
    assert SampleFeatures.of(X, "dual", "rbf").gamma == pytest.approx(1 / np.median(apart))
    with pytest.raises(AlignmentError, match="both domains: all are equal"):
        SampleFeatures.of(np.ones((5, 2)), "dual", "rbf")


def test_errors_name_the_samples():
    with pytest.raises(ValueError, match="both domains: the kernel of its samples is not symm"):
        SampleFeatures.of(samples((5, 2)), "dual", lambda A, B: A @ np.diag([1, 2]) @ B[::-1].T)
    with pytest.raises(AlignmentError, match="both domains: all features are zero"):
        SampleFeatures.of(np.zeros((5, 2)), "dual")


def test_samples_make_room_for_coordinates_that_need_none_of_them(monkeypatch):
    X = np.random.default_rng(0).normal(size=(9, 4))
    expected = SampleFeatures.of(X, "dual")
    monkeypatch.setattr(_rows, "BLOCK_VALUES", 2 * X.shape[1])
    mine = X.copy()
    found = SampleFeatures.of(mine, "dual", overwrite=True)
    assert found.values is mine
    assert found.X is None
    np.testing.assert_allclose(found.values, expected.values, atol=1e-12)
    np.testing.assert_array_equal(found.to_features, expected.to_features)
    for formulation, kernel in (("dual", "rbf"), ("primal", "linear")):
        kept = SampleFeatures.of(X.copy(), formulation, kernel, overwrite=True)
        np.testing.assert_array_equal(kept.X, X)
    flat = np.column_stack([X, X[:, 0]])  # coordinates of another shape
    np.testing.assert_array_equal(SampleFeatures.of(flat, "dual", overwrite=True).X, flat)


def test_equal_landmarks_are_blamed_and_not_all_samples():
    X = samples((30, 6))
    with pytest.raises(AlignmentError, match="those drawn by landmarks=1: all are equal"):
        SampleFeatures.of(X, "dual", "rbf", landmarks=1)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine"])
def test_landmarks_are_the_dual_of_a_kernel_in_the_form_of_nystroem(kernel):
    X, new = samples((60, 5)), samples((7, 5), seed=1)
    features = SampleFeatures.of(X, "dual", kernel, landmarks=20)
    L = X[features.landmarks]
    among = kernel_matrix(L, L, kernel, features.gamma)
    C, c = (kernel_matrix(Z, L, kernel, features.gamma) for Z in (X, new))
    inverse = np.linalg.pinv(among, rcond=1e-10, hermitian=True)
    K = C @ inverse @ C.T
    # Weights of all samples: scores K w, norm w'w.
    np.testing.assert_allclose(features.values @ features.values.T, K @ K, atol=1e-9)
    coefficients = features.coefficients(directions_of(features))
    assert coefficients.shape[0] == 20
    scores = features.values @ directions_of(features)
    np.testing.assert_allclose(features.scores(X, coefficients), scores, atol=1e-9)
    weights = np.linalg.pinv(K, rcond=1e-10, hermitian=True) @ scores
    np.testing.assert_allclose(features.scores(new, coefficients), c @ inverse @ C.T @ weights,
                               atol=1e-7)  # fmt: skip
    whole = kernel_matrix(X, X, kernel, features.gamma)
    assert features.landmark_error == pytest.approx(1 - np.trace(K) / np.trace(whole), abs=1e-12)
    left_out = np.linalg.eigvalsh(whole - K)
    assert left_out.min() > -1e-9
