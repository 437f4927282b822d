"""Coordinates in which primal, dual and kernel methods on two domains are the same problem.

*Primal* methods find directions in the features of X; *dual* ones find weights w of the samples,
with scores sum_i w_i k(x_i, x), i.e. are primal in the n features k(x_i, .). For a linear kernel
these span min(n, p) dimensions, so the dual problem is no larger than the primal one.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot

from domain_alignment.kernels._pairwise import (
    check_symmetric,
    distances,
    has_gamma,
    kernel_diagonal,
    kernel_matrix,
    median_gamma,
    pair_rounding,
    radial,
)
from domain_alignment.utils._memory import check_room
from domain_alignment.utils._rows import column_products, row_blocks, row_products, times_map
from domain_alignment.utils.gram import pivoted_factor, range_eigenpairs
from domain_alignment.utils.validation import dense

FORMULATIONS = ("primal", "dual")


@dataclass(frozen=True)
class SampleFeatures:
    r"""Coordinates of the training samples, and the map defined by directions in them.

    They are a rotation of the features of the formulation, restricted at most to the span of the
    samples, so norms of directions are preserved.

    Attributes
    ----------
    values : ndarray of shape (n, q)
        The samples in these coordinates.
    X : ndarray or CSR matrix of shape (n, p), or None
        The samples, or the landmarks among them; None if they made room for their coordinates.
    kernel : str or callable, or None
        None if the map is linear in the features.
    gamma : float or None
        gamma of the kernel, None if it has none.
    of_samples : bool
        Whether directions are turned into weights w of the samples, in place of a linear map;
        without a kernel the map is :math:`X^T w`.
    to_features : ndarray of shape (p, q), or None
        Turns directions into a linear map; None for the identity, and for weights.
    to_samples : ndarray of shape (n, q), or None
        Turns directions into weights; None for the identity, and with `pivots`.
    pivots : ndarray of int of shape (q,), or None
        Rows of `values` that are lower triangular: weights of these samples alone solve it.
    landmarks : ndarray of int of shape (l,), or None
        Rows of the landmarks, ascending; None for the exact kernel.
    landmark_error : float or None
        Share of the kernel matrix's trace that landmarks leave out; None without landmarks, and for
        a callable kernel.
    """

    values: np.ndarray
    X: np.ndarray | sparse.csr_matrix | None
    kernel: object = None
    gamma: float | None = None
    of_samples: bool = False
    to_features: np.ndarray | None = None
    to_samples: np.ndarray | None = None
    pivots: np.ndarray | None = None
    landmarks: np.ndarray | None = None
    landmark_error: float | None = None

    @property
    def is_kernel_matrix(self):
        """Whether the values are the kernel matrix of the samples, which is symmetric."""
        return self.of_samples and self.to_samples is None and self.pivots is None

    @classmethod
    def of(
        cls,
        X,
        formulation,
        kernel="linear",
        gamma="median",
        name="the samples of both domains",
        overwrite=False,
        landmarks=None,
        random_state=0,
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
        landmarks : int, optional
            Samples by which kernels other than linear are approximated; see `_of_landmarks`.
        random_state : int or RandomState
            Draws them.

        Returns
        -------
        features : SampleFeatures

        Notes
        -----
        Primal: X; if p > n the factor C of :math:`X X^T = C C^T`, as :math:`X = C Q^T` with
        orthonormal columns of Q. Dual: :math:`K = X X^T`; if p <= n :math:`X C` with
        :math:`X^T X = C C^T`, as :math:`K = X C Q^T`. Kernels other than linear: K. So no
        eigenproblem is solved; C is that of Cholesky with pivots, O(min(n, p)^3 / 3).
        """
        if kernel != "linear" and landmarks is not None:
            return cls._of_landmarks(X, kernel, gamma, name, landmarks, random_state)
        if kernel != "linear":
            return cls._of_kernel(X, kernel, gamma, name)
        if X.shape[1] > X.shape[0]:
            check_room(X.shape[0], X.shape[0], "the products of the samples")
            gram = row_products(X, X)
            if formulation == "dual":
                return cls(gram, X, of_samples=True)
            values, pivots = pivoted_factor(gram, name)
            return cls(values, X, of_samples=True, pivots=pivots)
        if formulation == "primal":
            return cls(dense(X), X)
        to_features, _ = pivoted_factor(column_products(X), name)
        if not overwrite or sparse.issparse(X) or to_features.shape[1] < X.shape[1]:
            return cls(times_map(X, to_features), X, to_features=to_features)
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
            One column per eigenvalue of K above 1e-10 of the largest; X itself, or its primal
            coordinates, if the kernel is linear.
        """
        if kernel == "linear":
            return cls.of(X, "primal", name=name)
        whole = cls._of_kernel(X, kernel, gamma, name)
        values, vectors = range_eigenpairs(whole.values, name)
        roots = np.sqrt(values)
        to_samples = vectors / roots
        return cls(vectors * roots, X, kernel, whole.gamma, True, to_samples=to_samples)

    @classmethod
    def _of_kernel(cls, X, kernel, gamma, name):
        if has_gamma(kernel):
            D = distances(X, X, kernel)
            if gamma == "median":
                gamma = median_gamma(D, pair_rounding(X, kernel), name)
            return cls(radial(D, gamma), X, kernel, gamma, of_samples=True)
        K = kernel_matrix(X, X, kernel)
        check_symmetric(K, name)
        return cls(K, X, kernel, of_samples=True)

    @classmethod
    def _of_landmarks(cls, X, kernel, gamma, name, n_landmarks, random_state):
        r"""Coordinates of the dual of a kernel matrix in Nyström's form.

        With l landmarks, :math:`W = V \Lambda V^T` their kernel matrix and C the kernel of all
        samples with them, :math:`K \approx C W^+ C^T = F F^T` for :math:`F = C V \Lambda^{-1/2}`.
        As of features F, the dual's coordinates are :math:`F R` with :math:`F^T F = R R^T`, and
        directions a are the weights :math:`V \Lambda^{-1/2} R a` of the landmarks.

        What is left out, :math:`K - F F^T`, is positive semi-definite, so that its trace is its
        trace norm: `landmark_error` is its share of the trace of K.
        """
        size = min(n_landmarks, X.shape[0])
        drawn = check_random_state(random_state).choice(X.shape[0], size=size, replace=False)
        rows = np.sort(drawn)
        name = f"{name}, those drawn by landmarks={n_landmarks}"
        among = cls._of_kernel(X[rows], kernel, gamma, name)
        values, vectors = range_eigenpairs(among.values, name)
        inverse_root = vectors / np.sqrt(values)
        F = np.empty((X.shape[0], len(values)))
        for block in row_blocks(F):
            F[block] = kernel_matrix(X[block], among.X, kernel, among.gamma) @ inverse_root
        error = None
        if not callable(kernel):
            error = max(0.0, 1 - np.einsum("ij,ij", F, F) / kernel_diagonal(X, kernel).sum())
        factor, _ = pivoted_factor(F.T @ F, name)
        return cls(
            F @ factor,
            among.X,
            kernel,
            among.gamma,
            of_samples=True,
            to_samples=inverse_root @ factor,
            landmarks=rows,
            landmark_error=error,
        )

    def coefficients(self, directions):
        """Linear map, shape (p, d), or weights of samples or landmarks, shape (n, d) or (l, d)."""
        if not self.of_samples:
            return directions if self.to_features is None else self.to_features @ directions
        weights = self._weights(directions)
        return safe_sparse_dot(self.X.T, weights) if self.kernel is None else weights

    def _weights(self, directions):
        if self.pivots is None:
            return directions if self.to_samples is None else self.to_samples @ directions
        weights = np.zeros((len(self.values), *directions.shape[1:]))
        triangle = self.values[self.pivots]
        weights[self.pivots] = linalg.solve_triangular(
            triangle, directions, trans=1, lower=True, check_finite=False
        )
        return weights

    def scores(self, X, coefficients):
        """Scores of samples, shape (m, d), by the result of :meth:`coefficients`."""
        if self.kernel is not None:
            X = kernel_matrix(X, self.X, self.kernel, self.gamma)
        return safe_sparse_dot(X, coefficients)
