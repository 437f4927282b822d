import numpy as np
import pytest
from domain_alignment.kernel_learning._domain_kernel import DomainKernel, KernelParams
from domain_alignment.kernel_learning._transfer_eigensystem import TransferEigensystem
from domain_alignment.kernels._pairwise import kernel_matrix

RNG = np.random.default_rng(0)
SOURCE, TARGET = RNG.normal(size=(15, 4)), RNG.normal(size=(11, 4)) + 0.4


def model(X):
    return DomainKernel(X, None, KernelParams("rbf", 0.3, None), "domain")


@pytest.fixture(scope="module")
def system():
    return TransferEigensystem.of(model(SOURCE), model(TARGET), 6)


def kernel(A, B):
    return kernel_matrix(A, B, "rbf", 0.3)


def test_the_programme_is_the_squared_error(system):
    values, vectors = np.linalg.eigh(kernel(TARGET, TARGET))
    extrapolated = kernel(SOURCE, TARGET) @ vectors[:, :-7:-1] / values[:-7:-1]
    spectrum = RNG.uniform(size=6)
    error = np.linalg.norm((extrapolated * spectrum) @ extrapolated.T - kernel(SOURCE, SOURCE))
    assert system.transfer_error(spectrum) == pytest.approx(error)
    squared = spectrum @ system.quadratic @ spectrum - 2 * system.linear @ spectrum
    assert squared + system.source_kernel.norm() ** 2 == pytest.approx(error**2)


def test_nystrom_errors(system):
    K, cross = kernel(SOURCE, SOURCE), kernel(SOURCE, TARGET)
    full = np.linalg.norm(K - cross @ np.linalg.solve(kernel(TARGET, TARGET), cross.T))
    assert system.full_nystrom_error == pytest.approx(full)
    all_vectors = TransferEigensystem.of(model(SOURCE), model(TARGET), 500)
    assert all_vectors.nystrom_error() == pytest.approx(full)
    assert all_vectors.nystrom_error(6) == pytest.approx(system.nystrom_error())


@pytest.mark.parametrize("zeta", [1.0, 1.3, 4.0])
def test_grids_are_leading_blocks(system, zeta):
    fewer = TransferEigensystem.of(model(SOURCE), model(TARGET), 4)
    spectrum = system.spectrum(zeta, n_eigen=4)
    np.testing.assert_allclose(spectrum, fewer.spectrum(zeta), rtol=1e-9)
    assert system.transfer_error(spectrum) == pytest.approx(fewer.transfer_error(spectrum))
    for Z, other in zip(system.embeddings(spectrum), fewer.embeddings(spectrum), strict=True):
        np.testing.assert_allclose(Z, other)


def test_new_samples_under_any_spectrum(system):
    spectrum = system.spectrum(1.5, n_eigen=4)
    for X, embedding in zip((SOURCE, TARGET), system.embeddings(spectrum), strict=True):
        np.testing.assert_allclose(system.transform(X[2:5], spectrum), embedding[2:5], atol=1e-9)


def test_transfer_error_grows_with_zeta_and_falls_with_vectors(system):
    errors = [system.transfer_error(system.spectrum(zeta)) for zeta in (1, 1.1, 1.5, 2, 4)]
    assert (np.diff(errors) >= -1e-9).all()
    errors = [system.transfer_error(system.spectrum(1, n_eigen=k)) for k in range(1, 7)]
    assert (np.diff(errors) <= 1e-9).all()
    assert errors[-1] <= system.nystrom_error()


def test_too_many_vectors(system):
    assert system.n_eigen == 6
    with pytest.raises(ValueError, match=r"this eigensystem holds 6 .*or refit with more"):
        system.spectrum(2.0, n_eigen=7)
