import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernel_learning._domain_kernel import (
    DenseKernel,
    DomainKernel,
    FactoredKernel,
    KernelParams,
    draw_landmarks,
)
from domain_alignment.kernels._pairwise import kernel_matrix
from scipy import sparse

X = np.random.default_rng(0).normal(size=(12, 4))


def model(kernel="rbf", gamma=0.2, landmarks=None, samples=X, seed=0):
    rows = draw_landmarks(samples.shape[0], landmarks, np.random.RandomState(seed))
    return DomainKernel(samples, rows, KernelParams(kernel, gamma, landmarks), "domain 1")


@pytest.mark.parametrize("landmarks", [None, 12, 5])
@pytest.mark.parametrize("kernel", ["linear", "cosine", "rbf", "laplacian"])
def test_eigensystem_of_the_kernel_or_of_its_approximation(kernel, landmarks):
    domain = model(kernel, landmarks=landmarks)
    system = domain.eigensystem
    rows = np.arange(12) if landmarks is None else domain.rows
    K = kernel_matrix(X, X, kernel, 0.2)
    approximation = K[:, rows] @ np.linalg.pinv(K[np.ix_(rows, rows)], rcond=1e-10) @ K[rows]
    rebuilt = (system.vectors * system.eigenvalues) @ system.vectors.T
    np.testing.assert_allclose(rebuilt, approximation, atol=1e-9)
    np.testing.assert_allclose(
        system.vectors.T @ system.vectors, np.eye(len(system.eigenvalues)), atol=1e-8
    )
    assert (np.diff(system.eigenvalues) <= 0).all()
    # Extrapolating to the samples themselves gives the eigenvectors back.
    np.testing.assert_allclose(system.extrapolate(X, 3), system.vectors[:, :3], atol=1e-9)
    source, similarities = domain.as_source(system)
    np.testing.assert_allclose(source.norm(), np.linalg.norm(approximation), rtol=1e-9)
    np.testing.assert_allclose(similarities.T @ similarities, K[rows] @ K[:, rows], atol=1e-9)


@pytest.mark.parametrize("samples", [X, sparse.csr_array(np.where(abs(X) > 0.5, X, 0))])
@pytest.mark.parametrize("kernel", ["cosine", "rbf"])
def test_landmarks_in_blocks_of_rows(samples, kernel, monkeypatch):
    whole, blocks = (model(kernel, landmarks=5, samples=samples) for _ in range(2))
    (kept, similar), system = whole.as_source(whole.eigensystem), whole.eigensystem
    monkeypatch.setattr("domain_alignment.utils._rows.BLOCK_VALUES", 3 * samples.shape[1])
    np.testing.assert_allclose(blocks.eigensystem.vectors, system.vectors, atol=1e-12)
    np.testing.assert_allclose(system.extrapolate(samples, 2), system.vectors[:, :2], atol=1e-12)
    other, others = blocks.as_source(system)
    assert len(others) == similar.shape[1] + kept.factor.shape[1] < samples.shape[0]
    np.testing.assert_allclose(others.T @ other.factor, similar.T @ kept.factor, atol=1e-12)
    np.testing.assert_allclose(other.factor.T @ other.factor, kept.factor.T @ kept.factor)


def test_a_factored_kernel_is_the_dense_one():
    rng = np.random.default_rng(1)
    factor, V, values = rng.normal(size=(9, 3)), rng.normal(size=(9, 4)), rng.uniform(size=4)
    dense, factored = DenseKernel(factor @ factor.T), FactoredKernel(factor)
    np.testing.assert_allclose(factored.quadratic(V), dense.quadratic(V))
    assert factored.distance(V, values) == pytest.approx(dense.distance(V, values), rel=1e-12)
    assert factored.norm() == pytest.approx(dense.norm(), rel=1e-12)
    # Equal kernels: no digits are lost to a difference of squares.
    assert factored.distance(factor, np.ones(3)) < 1e-13 * dense.norm()


def test_the_width_is_the_median():
    gaps = [np.sum((x - y) ** 2) for i, x in enumerate(X) for y in X[:i]]
    assert model(gamma="median").eigensystem.gamma == pytest.approx(1 / np.median(gaps))
    assert model("linear").eigensystem.gamma is None


def test_the_rank_is_cut():
    assert model("linear").eigensystem.eigenvalues.shape == (4,)
    assert model("linear", samples=np.ones((6, 2))).eigensystem.eigenvalues.shape == (1,)


def test_landmarks_are_drawn_once_each():
    rows = draw_landmarks(10, 4, np.random.RandomState(0))
    assert len(set(rows)) == 4
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(draw_landmarks(10, 40, np.random.RandomState(0)), np.arange(10))
    assert draw_landmarks(10, None, None) is None


def test_precomputed_columns_depend_on_the_role():
    K = kernel_matrix(X, X, "rbf", 0.2)
    source, target = (model("precomputed", samples=part) for part in (K[:5], K[5:]))
    kept, similarities = source.as_source(target.eigensystem)
    np.testing.assert_array_equal(kept.matrix, K[:5, :5])
    np.testing.assert_array_equal(similarities, K[:5, 5:])
    expected = model(samples=X[5:]).eigensystem
    np.testing.assert_allclose(target.eigensystem.eigenvalues, expected.eigenvalues)
    np.testing.assert_array_equal(target.eigensystem.anchors, np.arange(5, 12))
    stored_sparsely = model("precomputed", samples=sparse.csr_array(K[:5]))
    kept, _ = stored_sparsely.as_source(target.eigensystem)
    np.testing.assert_array_equal(kept.matrix, K[:5, :5])


@pytest.mark.parametrize("landmarks", [None, 5])
def test_kernels_without_an_answer(landmarks):
    with pytest.raises(AlignmentError, match=r"domain 1 \(the target\): its kernel is zero"):
        model("linear", landmarks=landmarks, samples=np.zeros((6, 2))).eigensystem  # noqa: B018
    indefinite = model(lambda A, B: -(A @ B.T), landmarks=landmarks)
    with pytest.raises(AlignmentError, match=r"domain 1: its kernel is indefinite .*; give a pos"):
        indefinite.eigensystem  # noqa: B018
    lopsided = model(lambda A, B: A @ np.ones((4, 1)) + 0 * (A @ B.T), landmarks=landmarks)
    with pytest.raises(ValueError, match="domain 1: the kernel of its samples is not symmetric"):
        lopsided.as_source(model().eigensystem)
