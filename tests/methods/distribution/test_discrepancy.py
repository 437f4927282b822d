import numpy as np
import pytest
from domain_alignment.distribution._discrepancy import (
    _kernel_constant,
    maximum_mean_discrepancy,
    mean_differences,
    nystrom_error_bound,
)
from domain_alignment.kernel_learning._domain_kernel import DomainKernel, KernelParams
from domain_alignment.kernel_learning._transfer_eigensystem import TransferEigensystem
from domain_alignment.kernels._pairwise import PAIRWISE_KERNELS, kernel_matrix
from scipy import sparse
from scipy.spatial.distance import pdist

RNG = np.random.default_rng(0)
SOURCE, TARGET = RNG.normal(size=(15, 4)), RNG.normal(size=(11, 4)) + 0.4


@pytest.mark.parametrize("kernel", [*PAIRWISE_KERNELS, lambda A, B: (1 + A @ B.T) ** 2])
def test_mmd_is_a_distance_of_means(kernel):
    both = np.vstack([SOURCE, TARGET])
    K = kernel_matrix(both, both, kernel, 0.3)
    signs = np.repeat([1 / 15, -1 / 11], [15, 11])
    found = maximum_mean_discrepancy(SOURCE, TARGET, kernel, 0.3)
    assert found == pytest.approx(np.sqrt(signs @ K @ signs))
    assert maximum_mean_discrepancy(SOURCE, SOURCE, kernel, 0.3) < 1e-7


def test_mmd_of_the_linear_kernel():
    expected = np.linalg.norm(SOURCE.mean(axis=0) - TARGET.mean(axis=0))
    found = maximum_mean_discrepancy(
        sparse.csr_array(SOURCE), sparse.csr_array(TARGET), kernel="linear"
    )
    assert found == pytest.approx(expected)


def test_mmd_sees_a_shift_and_its_median_is_the_targets():
    near = maximum_mean_discrepancy(SOURCE, SOURCE + 0.1)
    far = maximum_mean_discrepancy(SOURCE, SOURCE + 1.0)
    assert near < far
    # Changing the source leaves the width alone, so a scale of both domains does not matter.
    assert maximum_mean_discrepancy(3 * SOURCE, 3 * TARGET) == pytest.approx(
        maximum_mean_discrepancy(SOURCE, TARGET)
    )


@pytest.mark.parametrize("offset", [1e5, 1e9])
def test_mmd_does_not_know_a_common_offset(offset):
    found = maximum_mean_discrepancy(SOURCE + offset, TARGET + offset)
    assert found == pytest.approx(maximum_mean_discrepancy(SOURCE, TARGET), rel=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("shift", [0.0, 1e-3, 0.1, 1.0])
def test_the_bound_holds(kernel, shift):
    source = TARGET[RNG.integers(11, size=15)] + shift * RNG.normal(size=(15, 4))
    first, second = (
        DomainKernel(X, None, KernelParams(kernel, 0.3, None), "") for X in (source, TARGET)
    )
    error = TransferEigensystem.of(first, second, 500).full_nystrom_error
    bound = nystrom_error_bound(source, TARGET, kernel, 0.3)
    assert error <= bound + 1e-12
    if not shift:
        assert bound < 1e-4


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_the_bound_of_linear_kernels(kernel, convert):
    target = RNG.normal(size=(4, 6))
    source = target[RNG.integers(4, size=9)] + 0.05 * RNG.normal(size=(9, 6))
    K, cross, inner = (
        kernel_matrix(A, B, kernel)
        for A, B in ((source, source), (source, target), (target, target))
    )
    error = np.linalg.norm(K - cross @ np.linalg.solve(inner, cross.T))
    assert error <= nystrom_error_bound(convert(source), convert(target), kernel)
    mixed = nystrom_error_bound(source, convert(target), kernel)
    assert mixed == pytest.approx(nystrom_error_bound(source, target, kernel))


@pytest.mark.parametrize("kernel", PAIRWISE_KERNELS)
def test_the_constant_of_a_kernel(kernel):
    # The defining inequality, on many quadruples.
    a, b, c, d = RNG.normal(size=(4, 400, 3))
    c, d = a + 0.3 * c, b + 0.3 * d
    if kernel == "cosine":
        a, b, c, d = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a, b, c, d))
    constant = _kernel_constant(np.vstack([a, c]), np.vstack([b, d]), kernel, 0.7)
    change = np.square(
        kernel_matrix(a, b, kernel, 0.7).diagonal() - kernel_matrix(c, d, kernel, 0.7).diagonal()
    )
    norm = 1 if kernel == "laplacian" else 2
    moved = sum(np.linalg.norm(x - y, ord=norm, axis=1) ** 2 for x, y in ((a, c), (b, d)))
    assert (change <= constant * moved * (1 + 1e-12)).all()


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_the_length_of_rows_does_not_matter_to_the_cosine(convert):
    target = RNG.normal(size=(4, 6))
    short = [convert(1e-19 * X) for X in (RNG.normal(size=(9, 6)), target)]
    unscaled = [1e19 * X for X in short]
    expected = nystrom_error_bound(*unscaled, "cosine")
    assert nystrom_error_bound(*short, "cosine") == pytest.approx(expected)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_one_far_sample_leaves_the_median_alone(kernel):
    target = TARGET.copy()
    target[0, 0] = 1e9
    norm = "sqeuclidean" if kernel == "rbf" else "cityblock"
    gamma = 1 / np.median(pdist(target, norm))
    expected = maximum_mean_discrepancy(SOURCE, target, kernel, gamma)
    assert maximum_mean_discrepancy(SOURCE, target, kernel) == pytest.approx(expected, rel=1e-6)


def test_a_singular_target_has_no_bound():
    assert nystrom_error_bound(SOURCE, np.repeat(TARGET, 2, axis=0)) == np.inf


def test_wrong_arguments():
    with pytest.raises(ValueError, match="unknown 'gauss'; known: linear, cosine, rbf, laplacian"):
        maximum_mean_discrepancy(SOURCE, TARGET, "gauss")
    with pytest.raises(ValueError, match="unknown 'precomputed'"):
        maximum_mean_discrepancy(SOURCE, TARGET, "precomputed")
    with pytest.raises(ValueError, match='gamma=-1; give "median" or a number above 0'):
        maximum_mean_discrepancy(SOURCE, TARGET, gamma=-1)
    with pytest.raises(ValueError, match="gamma='mean'"):
        nystrom_error_bound(SOURCE, TARGET, gamma="mean")
    with pytest.raises(ValueError, match="domain 1: has 3 features, domain 0 has 4; one kernel"):
        nystrom_error_bound(SOURCE, TARGET[:, :3])
    with pytest.raises(ValueError, match="unknown for a callable; give one of linear"):
        nystrom_error_bound(SOURCE, TARGET, kernel=np.dot)


def test_products_with_the_mean_differences():
    """Classes that one domain lacks, samples without a class, and numbers with a gap."""
    y, pseudo = np.array([2, 2, 7, -1, 5] * 3), np.array([2, 7, 7, 9, -1, 2, 2, 7, 2, 2, 7])
    classes = np.array([2, 5, 7, 9])
    found = np.vstack([SOURCE, TARGET]).T @ mean_differences(y, pseudo, classes)
    expected = [SOURCE.mean(axis=0) - TARGET.mean(axis=0)]
    for label in classes:
        sides = [X[labels == label] for X, labels in ((SOURCE, y), (TARGET, pseudo))]
        means = [side.mean(axis=0) if len(side) else np.zeros(4) for side in sides]
        expected.append(means[0] - means[1])
    np.testing.assert_allclose(found.T, expected, atol=1e-12)


def test_the_overall_mean_difference_is_the_linear_discrepancy():
    weights = mean_differences(np.zeros(15, int), np.full(11, -1), np.array([0]))
    norm = np.linalg.norm(np.vstack([SOURCE, TARGET]).T @ weights[:, 0])
    assert norm == pytest.approx(maximum_mean_discrepancy(SOURCE, TARGET, kernel="linear"))


def test_a_common_offset_does_not_change_the_distance_of_means():
    source, target = RNG.normal(size=(30, 4)), RNG.normal(size=(25, 4)) + 1
    exact = np.linalg.norm(source.mean(axis=0) - target.mean(axis=0))
    for offset in (0, 1e6, 1e8):
        found = maximum_mean_discrepancy(source + offset, target + offset, kernel="linear")
        assert found == pytest.approx(exact, rel=1e-7)


@pytest.mark.parametrize("gamma", [None, [1.0], np.inf, np.nan, 0.0, "mean"])
def test_a_gamma_that_is_none_is_refused(gamma):
    with pytest.raises(ValueError, match=r'give "median" or a number above 0'):
        maximum_mean_discrepancy([[0.0], [1.0]], [[2.0], [3.0]], gamma=gamma)
