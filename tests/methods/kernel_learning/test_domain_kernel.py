import numpy as np
import pytest
from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernel_learning import _domain_kernel
from domain_alignment.kernel_learning._domain_kernel import (
    DomainKernel,
    KernelParams,
    count_landmarks,
    draw_landmarks,
)
from domain_alignment.kernel_learning._transfer_eigensystem import TransferEigensystem
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
    to_anchors = system.similarities(X)
    np.testing.assert_allclose(similarities.T @ similarities, to_anchors.T @ to_anchors, atol=1e-9)


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


def inner_product(kernel):
    """The same kernel as a callable, whose n x n matrix is decomposed."""
    return lambda A, B: kernel_matrix(A, B, kernel)


def domain_of(n_samples, n_features, case):
    rng = np.random.default_rng(2)
    samples = rng.normal(size=(n_samples, n_features)) * np.geomspace(3, 0.01, n_features)
    if case == "dependent features":
        samples[:, -2:] = samples[:, :2] - samples[:, 2:4]
        samples[:, 4] = 0
    elif case == "duplicate samples":
        samples[n_samples // 2 :] = samples[: n_samples - n_samples // 2]
    elif case == "empty samples":
        samples[::7] = 0
    return samples


CASES = ("plain", "dependent features", "duplicate samples", "empty samples")


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("n_samples", "n_features"), [(40, 8), (21, 20), (20, 20), (19, 20)])
@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_fewer_features_than_samples_give_the_eigenpairs_of_the_matrix(
    kernel, n_samples, n_features, case, convert
):
    samples = domain_of(n_samples, n_features, case)
    domain = model(kernel, samples=convert(samples))
    assert domain.by_features == (n_features < n_samples)
    system, expected = domain.eigensystem, model(inner_product(kernel), samples=samples).eigensystem
    largest = expected.eigenvalues[0]
    np.testing.assert_allclose(system.eigenvalues, expected.eigenvalues, atol=1e-14 * largest)
    np.testing.assert_allclose(system.vectors, expected.vectors, atol=1e-8)
    new = np.random.default_rng(3).normal(size=(5, n_features))
    np.testing.assert_allclose(
        system.extrapolate(convert(new), 6), expected.extrapolate(new, 6), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_a_multiple_eigenvalue_has_its_whole_space(convert):
    """Of orthogonal features of equal length every eigenvalue is the same."""
    samples = np.vstack([np.eye(4), -np.eye(4), np.eye(4)]) * 2.0
    system = model("linear", samples=convert(samples)).eigensystem
    np.testing.assert_allclose(system.eigenvalues, np.full(4, 12.0))
    projector = system.vectors @ system.vectors.T
    np.testing.assert_allclose(projector, samples @ samples.T / 12, atol=1e-14)


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_lanczos_on_the_features(kernel, monkeypatch):
    samples = domain_of(60, 50, "plain")
    whole = model(kernel, samples=samples).eigensystem
    monkeypatch.setattr(_domain_kernel, "DENSE_SAMPLES", 40)
    domain = model(kernel, samples=samples)
    assert domain.finds_alone(5)
    assert not domain.finds_alone(6)  # more than a tenth of 50 features
    leading = domain.leading(5)
    np.testing.assert_allclose(leading.eigenvalues, whole.eigenvalues[:5], rtol=1e-12)
    np.testing.assert_allclose(leading.vectors, whole.vectors[:, :5], atol=1e-10)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_no_matrix_of_all_pairs_of_samples(convert, monkeypatch):
    """Nothing of a fit by features has two dimensions of the samples."""
    monkeypatch.setattr(_domain_kernel, "kernel_matrix", None)
    source, target = (convert(domain_of(n, 8, "plain")) for n in (40, 30))
    domains = [model("cosine", samples=samples) for samples in (source, target)]
    system = TransferEigensystem.of(*domains, 500)
    spectrum = system.spectrum(1.1)
    assert system.transfer_error(spectrum) >= 0
    assert system.transform(source, spectrum).shape == (40, 8)
    held = [*vars(system).values(), *vars(system.target).values(), *vars(domains[0]).values()]
    held += [*vars(system.source_kernel).values()]
    assert all(getattr(array, "shape", ())[1:] in [(), (8,)] for array in held)


def test_the_width_is_the_median():
    gaps = [np.sum((x - y) ** 2) for i, x in enumerate(X) for y in X[:i]]
    assert model(gamma="median").eigensystem.gamma == pytest.approx(1 / np.median(gaps))
    assert model("linear").eigensystem.gamma is None


def test_a_sample_far_from_the_others_makes_no_duplicates_of_them():
    samples = X.copy()
    samples[0, 0] = 1e6
    gaps = [np.sum((x - y) ** 2) for i, x in enumerate(samples) for y in samples[:i]]
    found = model(gamma="median", samples=samples).eigensystem.gamma
    assert found == pytest.approx(1 / np.median(gaps))


def test_the_rank_is_cut():
    assert model("linear").eigensystem.eigenvalues.shape == (4,)
    assert model("linear", samples=np.ones((6, 2))).eigensystem.eigenvalues.shape == (1,)


def test_landmarks_are_drawn_once_each():
    rows = draw_landmarks(10, 4, np.random.RandomState(0))
    assert len(set(rows)) == 4
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(draw_landmarks(10, 40, np.random.RandomState(0)), np.arange(10))
    assert draw_landmarks(10, None, None) is None


@pytest.mark.parametrize(
    ("kernel", "shape", "expected"),
    [
        ("rbf", (5000, 3), None),
        ("rbf", (5001, 3), 1000),
        ("cosine", (9000, 5000), None),
        ("cosine", (9000, 5001), 1000),
        ("linear", (5000, 7000), None),
        ("linear", (5001, 7000), 1000),
        ("precomputed", (5001, 9000), 1000),
        (np.dot, (5001, 3), 1000),
    ],
)
def test_landmarks_where_the_exact_problem_is_large(kernel, shape, expected):
    empty = sparse.csr_array(shape)
    assert count_landmarks(empty, KernelParams(kernel, 1.0, "auto")) == expected
    for given in (None, 7):
        assert count_landmarks(empty, KernelParams(kernel, 1.0, given)) == given


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
