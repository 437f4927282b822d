"""The quantities of TKL for a pair of domains that do not depend on the damping factor."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from domain_alignment.kernel_learning._domain_kernel import DENSE_SAMPLES, TargetEigensystem
from domain_alignment.kernel_learning._source_kernel import DenseKernel, FactoredKernel
from domain_alignment.kernel_learning._spectrum_qp import solve_eigenspectrum


@dataclass(frozen=True, eq=False)
class TransferEigensystem:
    r"""Target eigenvectors on both domains, and the quadratic program they define.

    Spectra and errors for any damping factor and fewer eigenvectors cost a quadratic program only,
    since the problem of the first k eigenvectors is a leading block.

    Attributes
    ----------
    target : TargetEigensystem
        All eigenpairs, or those that were found alone.
    complete : bool
        Whether all.
    source_kernel : DenseKernel or FactoredKernel
        :math:`K_Z`.
    similarities : matrix of shape (m, l), (m, p) or (at most 2 l, l)
        :math:`K_{Z\hat X}`, of the source with the target's landmarks (by default all samples), or
        its features; with landmarks of the source in the basis that its kernel stands in.
    kernel_vectors : ndarray of shape (m, r) or (at most 2 l, r)
        :math:`\bar\Phi_Z`, the first r eigenvectors extrapolated, in the source kernel's basis.
    source_vectors : ndarray of shape (m, r)
        The same, one row per sample.
    """

    target: TargetEigensystem
    complete: bool
    source_kernel: DenseKernel | FactoredKernel
    similarities: np.ndarray
    kernel_vectors: np.ndarray
    source_vectors: np.ndarray

    @classmethod
    def of(cls, source, target, n_eigen):
        """From the :class:`DomainKernel` of each domain."""
        eigensystem, complete = target.leading(n_eigen), not target.finds_alone(n_eigen)
        kernel, similarities = source.as_source(eigensystem)
        kernel_vectors = similarities @ eigensystem.coefficients[:, :n_eigen]
        vectors = (
            kernel_vectors if source.rows is None else eigensystem.extrapolate(source.X, n_eigen)
        )
        return cls(eigensystem, complete, kernel, similarities, kernel_vectors, vectors)

    @property
    def n_eigen(self):
        """r, the number of eigenvectors: as requested, at most the rank of the target's kernel."""
        return self.source_vectors.shape[1]

    @property
    def vectors(self):
        """The first r eigenvectors at the source's and at the target's samples."""
        return [self.source_vectors, self.target.vectors[:, : self.n_eigen]]

    @property
    def eigenvalues(self):
        """The target's r largest eigenvalues, descending."""
        return self.target.eigenvalues[: self.n_eigen]

    @property
    def traces(self):
        """Of the source's kernel, and of the target's if all eigenpairs were computed."""
        return [self.source_kernel.trace(), float(self.target.eigenvalues.sum())]

    @cached_property
    def quadratic(self):
        r""":math:`Q = (\bar\Phi_Z^T\bar\Phi_Z) \circ (\bar\Phi_Z^T\bar\Phi_Z)`, (r, r)."""
        return np.square(self.kernel_vectors.T @ self.kernel_vectors)

    @cached_property
    def linear(self):
        r""":math:`r = \mathrm{diag}(\bar\Phi_Z^T K_Z \bar\Phi_Z)`, (r,)."""
        return self.source_kernel.quadratic(self.kernel_vectors)

    def spectrum(self, zeta, n_eigen=None, solver="nnls"):
        """Eigenspectrum for a damping factor and the first `n_eigen` vectors (default: all r).

        See :func:`~domain_alignment.kernel_learning.solve_eigenspectrum`.
        """
        k = self._checked(n_eigen)
        return solve_eigenspectrum(self.quadratic[:k, :k], self.linear[:k], zeta, solver)

    def transfer_error(self, spectrum):
        r""":math:`\|\bar\Phi_Z \Lambda \bar\Phi_Z^T - K_Z\|_F` for as many vectors as entries."""
        return self._errors(spectrum)[0]

    def nystrom_error(self, n_eigen=None):
        """The same error with the target's own eigenvalues."""
        return self.transfer_error(self.eigenvalues[: self._checked(n_eigen)])

    def both_errors(self, spectrum):
        """Transfer error of a spectrum and Nyström error of as many vectors, at half the cost."""
        return self._errors(spectrum, self.eigenvalues[: self._checked(len(spectrum))])

    def _errors(self, *spectra):
        vectors = self.kernel_vectors[:, : self._checked(len(spectra[0]))]
        return self.source_kernel.distances(vectors, *spectra)

    @cached_property
    def full_nystrom_error(self):
        r""":math:`\|K_Z - K_{ZX} K_X^+ K_{XZ}\|_F`, from all eigenpairs."""
        if not self.complete:
            raise ValueError(
                f"the error of the whole kernel needs all eigenvectors of the target's "
                f"{len(self.target.vectors)} samples, and {self.n_eigen} were computed; fit on at "
                f"most {DENSE_SAMPLES} of them, or with zeta=1 and n_eigen above a tenth of them"
            )
        values = self.target.eigenvalues
        vectors = self.similarities @ self.target.coefficients
        return self.source_kernel.distances(vectors, values)[0]

    def transform(self, X, spectrum):
        """Feature map of any samples of either domain, one column per entry."""
        return self.target.extrapolate(X, self._checked(len(spectrum))) * np.sqrt(spectrum)

    def embeddings(self, spectrum):
        """Feature maps of the source's and the target's samples, one column per entry."""
        k = self._checked(len(spectrum))
        return [vectors[:, :k] * np.sqrt(spectrum) for vectors in self.vectors]

    def _checked(self, n_eigen):
        if n_eigen is None:
            return self.n_eigen
        if not 1 <= n_eigen <= self.n_eigen:
            raise ValueError(
                f"n_eigen={n_eigen}; this eigensystem holds {self.n_eigen} eigenvectors: "
                "give 1 to that many, or refit with more"
            )
        return n_eigen
