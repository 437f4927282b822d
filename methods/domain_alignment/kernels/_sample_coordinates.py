"""Coordinates in which a linear, dual or kernel method on two domains is one and the same problem.

A method that looks for directions a in the features of X is *primal*; one that looks for weights w
of the samples, so that a sample x scores sum_i w_i k(x_i, x), is *dual*, and is the primal method
on the n features k(x_i, .). With a linear kernel these n features lie in a space of dimension
min(n, p), where the dual problem has the size of the primal one.
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
)
from domain_alignment.utils._rows import principal_coordinates
from domain_alignment.utils.eigen import range_eigenpairs
from domain_alignment.utils.validation import dense

FORMULATIONS = ("primal", "dual")


@dataclass(frozen=True)
class SampleFeatures:
    r"""Features of the samples of a fit, and the way from directions in them to a map.

    The coordinates are a rotation of the features of the formulation, restricted to the span of
    the samples, so lengths of directions are those of the formulation.

    Attributes
    ----------
    values : ndarray of shape (n, q)
        The samples in these coordinates.
    X : ndarray or CSR matrix of shape (n, p)
        The samples themselves.
    kernel : str or callable, or None
        None if the map is linear in the features.
    gamma : float or None
        Of the kernels that have one.
    to_features : ndarray of shape (p, q), or None
        Takes directions to a linear map; None for the identity.
    to_samples : ndarray of shape (n, q), or None
        Takes directions to weights w of samples; without a kernel the map is :math:`X^T w`.
    """

    values: np.ndarray
    X: np.ndarray | sparse.csr_matrix
    kernel: object = None
    gamma: float | None = None
    to_features: np.ndarray | None = None
    to_samples: np.ndarray | None = None

    @classmethod
    def of(
        cls, X, formulation, kernel="linear", gamma="median", name="the samples of both domains"
    ):
        r"""Coordinates of the stacked samples of both domains.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
        formulation : {"primal", "dual"}
        kernel : {"linear", "cosine", "rbf", "laplacian"} or callable
            "linear" for the primal.
        gamma : "median" or float
            Of "rbf" and "laplacian"; see :func:`median_gamma`.
        name : str
            What messages call the samples.

        Returns
        -------
        features : SampleFeatures

        Notes
        -----
        With :math:`X = P S Q^T`: the primal has the features X, or P S if p > n; the dual has
        :math:`K P = P S^2`, in other words :math:`X Q S`. Another kernel has K.
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
        return cls(safe_sparse_dot(X, to_features), X, to_features=to_features)

    @classmethod
    def root_of(cls, X, kernel, gamma, name):
        r"""Coordinates R of the samples of one domain in the space of the kernel, K = R R'.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
        kernel, gamma
            As for :meth:`of`.
        name : str
            What messages call the domain.

        Returns
        -------
        features : SampleFeatures
            Of as many columns as K has eigenvalues above 1e-10 of the largest; of X itself if the
            kernel is linear and p <= n.
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
            apart = distances(X, X, kernel)
            gamma = median_gamma(apart, name) if gamma == "median" else gamma
            return cls(np.exp(-gamma * apart), X, kernel, gamma)
        K = kernel_matrix(X, X, kernel)
        check_symmetric(K, name)
        return cls(K, X, kernel)

    def coefficients(self, directions):
        """The linear map, shape (p, d), or the samples' weights, shape (n, d), of directions."""
        if self.to_samples is not None:
            weights = self.to_samples @ directions
            return safe_sparse_dot(self.X.T, weights) if self.kernel is None else weights
        return directions if self.to_features is None else self.to_features @ directions

    def scores(self, X, coefficients):
        """Scores of any samples, shape (m, d), under what :meth:`coefficients` returned."""
        if self.kernel is not None:
            X = kernel_matrix(X, self.X, self.kernel, self.gamma)
        return safe_sparse_dot(X, coefficients)
