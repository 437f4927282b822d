"""Coordinates in which primal, dual and kernel methods on two domains are the same problem.

*Primal* methods find directions in the features of X; *dual* ones find weights w of the samples,
with scores sum_i w_i k(x_i, x), i.e. are primal in the n features k(x_i, .). For a linear kernel
these span min(n, p) dimensions, so the dual problem is no larger than the primal one.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot

from domain_alignment.kernels._pairwise import (
    check_symmetric,
    distances,
    has_gamma,
    kernel_matrix,
    median_gamma,
    radial,
)
from domain_alignment.utils._rows import principal_coordinates, row_blocks
from domain_alignment.utils.eigen import range_eigenpairs
from domain_alignment.utils.validation import dense

FORMULATIONS = ("primal", "dual")


@dataclass(frozen=True)
class SampleFeatures:
    r"""Coordinates of the training samples, and the map defined by directions in them.

    They are a rotation of the features of the formulation, restricted to the span of the samples,
    so norms of directions are preserved.

    Attributes
    ----------
    values : ndarray of shape (n, q)
        The samples in these coordinates.
    X : ndarray or CSR matrix of shape (n, p), or None
        The samples; None if they made room for their coordinates.
    kernel : str or callable, or None
        None if the map is linear in the features.
    gamma : float or None
        gamma of the kernel, None if it has none.
    to_features : ndarray of shape (p, q), or None
        Maps directions to a linear map; None for the identity.
    to_samples : ndarray of shape (n, q), or None
        Maps directions to sample weights w; without a kernel the map is :math:`X^T w`.
    """

    values: np.ndarray
    X: np.ndarray | sparse.csr_matrix | None
    kernel: object = None
    gamma: float | None = None
    to_features: np.ndarray | None = None
    to_samples: np.ndarray | None = None

    @property
    def is_kernel_matrix(self):
        """Whether the values are the kernel matrix of the samples, which is symmetric."""
        return self.kernel is not None and self.to_samples is None

    @classmethod
    def of(
        cls,
        X,
        formulation,
        kernel="linear",
        gamma="median",
        name="the samples of both domains",
        overwrite=False,
    ):
        r"""Coordinates of the stacked samples of both domains.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
        formulation : {"primal", "dual"}
        kernel : {"linear", "cosine", "rbf", "laplacian"} or callable
            Must be "linear" for the primal.
        gamma : "median" or float
            For "rbf" and "laplacian"; see :func:`median_gamma`.
        name : str
            Name of the samples in messages.
        overwrite : bool
            Whether coordinates may take the place of `X`, where no map needs the samples.

        Returns
        -------
        features : SampleFeatures

        Notes
        -----
        With :math:`X = P S Q^T`: primal X, or P S if p > n; dual :math:`K P = P S^2 = X Q S`;
        kernels other than linear: K.
        """
        if kernel != "linear":
            return cls._of_kernel(X, kernel, gamma, name)
        if formulation == "primal" and X.shape[1] <= X.shape[0]:
            return cls(dense(X), X)
        left, singular, right = principal_coordinates(X, name)
        if formulation == "primal":
            return cls(left * singular, X, to_samples=left / singular)
        if right is None:
            return cls(left * singular**2, X, to_samples=left)
        to_features = right * singular
        if not overwrite or sparse.issparse(X) or to_features.shape[1] < X.shape[1]:
            return cls(safe_sparse_dot(X, to_features), X, to_features=to_features)
        for rows in row_blocks(X):
            X[rows] = X[rows] @ to_features
        return cls(X, None, to_features=to_features)

    @classmethod
    def root_of(cls, X, kernel, gamma, name):
        r"""Coordinates R of the samples of one domain in the kernel's feature space, K = R R'.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
        kernel, gamma
            As for :meth:`of`.
        name : str
            Name of the domain in messages.

        Returns
        -------
        features : SampleFeatures
            One column per eigenvalue of K above 1e-10 of the largest; X itself if the kernel is
            linear and p <= n.
        """
        if kernel == "linear":
            return cls.of(X, "primal", name=name)
        whole = cls._of_kernel(X, kernel, gamma, name)
        values, vectors = range_eigenpairs(whole.values, name)
        roots = np.sqrt(values)
        return cls(vectors * roots, X, kernel, whole.gamma, to_samples=vectors / roots)

    @classmethod
    def _of_kernel(cls, X, kernel, gamma, name):
        if has_gamma(kernel):
            D = distances(X, X, kernel)
            gamma = median_gamma(D, name) if gamma == "median" else gamma
            return cls(radial(D, gamma), X, kernel, gamma)
        K = kernel_matrix(X, X, kernel)
        check_symmetric(K, name)
        return cls(K, X, kernel)

    def coefficients(self, directions):
        """Linear map, shape (p, d), or sample weights, shape (n, d), of directions."""
        if self.to_samples is not None:
            weights = self.to_samples @ directions
            return safe_sparse_dot(self.X.T, weights) if self.kernel is None else weights
        return directions if self.to_features is None else self.to_features @ directions

    def scores(self, X, coefficients):
        """Scores of samples, shape (m, d), by the result of :meth:`coefficients`."""
        if self.kernel is not None:
            X = kernel_matrix(X, self.X, self.kernel, self.gamma)
        return safe_sparse_dot(X, coefficients)
