r"""The kernel of one domain: its eigensystem as the target, its matrix as the source.

Both are exact by default. The linear and the cosine kernel are inner products of features F (the
samples, or their unit rows). Of fewer features than samples no n x n matrix is formed, since

.. math:: K_X = F F^T, \qquad F^T F = W \Lambda W^T

have the same eigenvalues that are not zero, and the eigenvectors of the kernel are linear in the
features of any sample: :math:`\Phi_X = F W \Lambda^{-1/2}`, extrapolated as
:math:`k(z, X) \Phi_X \Lambda^{-1} = f(z)^T W \Lambda^{-1/2}`. Squares lose nothing here: the rank
rule is one on eigenvalues of K, which are squares themselves.

With landmarks :math:`\hat X` the kernel is its Nyström approximation within the domain, kept in
factors:

.. math:: K_X \approx G G^T, \qquad G = K_{X\hat X} K_{\hat X}^{-1/2}.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from domain_alignment.exceptions import AlignmentError
from domain_alignment.kernel_learning._source_kernel import DenseKernel, FactoredKernel
from domain_alignment.kernels._pairwise import (
    INNER_PRODUCTS,
    check_symmetric,
    distances,
    has_gamma,
    inner_features,
    kernel_matrix,
    median_gamma,
    pair_rounding,
)
from domain_alignment.utils._memory import check_room
from domain_alignment.utils._rows import row_blocks
from domain_alignment.utils.eigen import (
    RANK_TOLERANCE,
    fix_signs,
    lanczos_with_copies,
    symmetric_eigenpairs,
)
from domain_alignment.utils.validation import dense

# Negative eigenvalues of a kernel down to this share of the largest count as rounding.
_INDEFINITE = -1e-8
# Of a problem of higher order (samples, or features) the first eigenvectors are found by Lanczos,
# if they are at most a tenth of all.
DENSE_SAMPLES = 2000
# With landmarks="auto" the largest exact problem, and how many landmarks a larger one has. Two
# domains of 5000 samples (rbf, zeta = 1.1) take 34 s and 1.4 GB exactly, with matrices of 200 MB
# each, and 4 s and 0.7 GB with 1000 landmarks (on one thread, libraries included).
EXACT_SAMPLES, AUTO_LANDMARKS = 5000, 1000


@dataclass(frozen=True)
class KernelParams:
    """Parameters that a domain's kernel depends on.

    Attributes
    ----------
    kernel : str or callable
    gamma : "median" or float
    landmarks : int, "auto" or None
    """

    kernel: object
    gamma: object
    landmarks: int | str | None


@dataclass(frozen=True, eq=False)
class TargetEigensystem:
    r"""Eigenpairs of the target's kernel and their out-of-sample extension.

    Attributes
    ----------
    eigenvalues : ndarray of shape (q,)
        Descending; those above 1e-10 of the largest, or the first of them.
    vectors : ndarray of shape (n, q)
        :math:`\Phi_X`, orthonormal, signs by :func:`~domain_alignment.utils.eigen.fix_signs`.
    anchors : matrix of shape (l, p), or ndarray of int of shape (l,), or None
        The landmarks, by default all samples, or their columns in a precomputed kernel; None where
        the eigenvectors are linear in the features.
    coefficients : ndarray of shape (l, q) or (p, q)
        :math:`k(z, \hat X)`, or the features of z, times this extrapolates the eigenvectors to z.
    params : KernelParams
    gamma : float or None
    """

    eigenvalues: np.ndarray
    vectors: np.ndarray
    anchors: object
    coefficients: np.ndarray
    params: KernelParams
    gamma: float | None

    def similarities(self, X):
        """Kernel of any samples with the anchors, of shape (n, l), or their features."""
        if self.anchors is None:
            return inner_features(X, self.params.kernel)
        if self.params.kernel == "precomputed":
            return dense(X[:, self.anchors])
        return kernel_matrix(X, self.anchors, self.params.kernel, self.gamma)

    def extrapolate(self, X, n_eigen):
        """The first eigenvectors at any samples, of shape (n, n_eigen)."""
        coefficients = self.coefficients[:, :n_eigen]
        check_room(X.shape[0], coefficients.shape[1], "the eigenvectors")
        vectors = np.empty((X.shape[0], coefficients.shape[1]))
        for rows in row_blocks(X):
            vectors[rows] = self.similarities(X[rows]) @ coefficients
        return vectors


@dataclass(frozen=True, eq=False)
class DomainKernel:
    """Label-free model of one domain; each part is computed on first use and cached.

    A source needs the matrix only, a target the eigenvectors too. A median gamma is the target's.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    rows : ndarray of int, or None
        The landmarks among the rows, ascending; None for all.
    params : KernelParams
    name : str
        For messages.
    """

    X: object
    rows: np.ndarray | None
    params: KernelParams
    name: str

    @property
    def shape(self):
        """Samples and features of the domain."""
        return self.X.shape

    @property
    def by_features(self):
        """Whether the kernel is an inner product of fewer features than there are samples."""
        return self.rows is None and _has_few_features(self.X, self.params.kernel)

    @cached_property
    def features(self):
        """The samples whose inner products are the kernel, of shape (n, p)."""
        return inner_features(self.X, self.params.kernel)

    @cached_property
    def eigensystem(self):
        """:class:`TargetEigensystem` of this domain, with all eigenpairs; O(min(n, p)^3)."""
        return self._solved()

    def finds_alone(self, n_pairs):
        """Whether the first eigenpairs are found without the others: few of a large domain.

        Only of kernels known to be positive semi-definite: of others all eigenvalues are looked at.
        """
        known = not callable(self.params.kernel) and self.params.kernel != "precomputed"
        order = self.X.shape[1] if self.by_features else self.X.shape[0]
        return known and self.rows is None and order > DENSE_SAMPLES and 10 * n_pairs <= order

    def leading(self, n_pairs):
        """The same with the first `n_pairs` at least: alone where they are found alone."""
        if not self.finds_alone(n_pairs):
            return self.eigensystem
        if n_pairs not in self._leading:
            self._leading[n_pairs] = self._solved(n_pairs)
        return self._leading[n_pairs]

    @cached_property
    def _leading(self):
        return {}

    def _solved(self, n_pairs=None):
        if self.by_features:
            gamma, anchors = None, None
            values, vectors, coefficients = self._solved_by_features(n_pairs)
        else:
            gamma, first = self._own_gamma(), self._columns_before_target()
            solve = self._solved_by_samples if self.rows is None else self._solved_by_landmarks
            values, vectors, coefficients = solve(gamma, first, n_pairs)
            anchors = self._anchors(first)
        if not values.size:
            raise AlignmentError(
                f"{self.name} (the target): its kernel is zero; give other features or another "
                "kernel"
            )
        signs = fix_signs(vectors)
        vectors *= signs
        return TargetEigensystem(values, vectors, anchors, coefficients * signs, self.params, gamma)

    def _solved_by_features(self, n_pairs):
        """Eigenvalues, eigenvectors and their coefficients, from the p x p matrix F^T F."""
        values, rotation = self._positive_eigenpairs(self._inner_product.gram, n_pairs)
        coefficients = rotation / np.sqrt(values)
        check_room(self.X.shape[0], values.size, f"{self.name}: the eigenvectors")
        return values, self.features @ coefficients, coefficients

    def _solved_by_samples(self, gamma, first, n_pairs):
        """The same, from the n x n kernel."""
        values, vectors = self._positive_eigenpairs(self._among_landmarks(gamma, first), n_pairs)
        return values, vectors, vectors / values

    def _solved_by_landmarks(self, gamma, first, n_pairs):
        """The same, from the l x l matrix G^T G; always all of them."""
        inverse_root = self._inverse_root(self._among_landmarks(gamma, first))
        factor = self._factor(gamma, first, inverse_root)
        values, rotation = self._positive_eigenpairs(factor.T @ factor)
        rotation /= np.sqrt(values)
        return values, factor @ rotation, inverse_root @ rotation

    @cached_property
    def _inner_product(self):
        check_room(self.X.shape[1], self.X.shape[1], f"{self.name}: the products of its features")
        return FactoredKernel(self.features)

    def as_source(self, target):
        r"""The kernel to approximate, and its similarities with the target's landmarks.

        Parameters
        ----------
        target : TargetEigensystem

        Returns
        -------
        kernel : DenseKernel or FactoredKernel
            With landmarks :math:`K_Z = H H^T` in an orthonormal basis of the columns of H and
            :math:`K_{Z\hat X}`, which are never held: found block by block, O(n l^2).
        similarities : matrix of shape (m, l), (m, p) or (at most 2 l, l)
            :math:`K_{Z\hat X}`, or the features; with landmarks in that basis.
        """
        if self.rows is None:
            similarities = self.features if target.anchors is None else target.similarities(self.X)
            # With more features what is asked of a source costs less by its matrix.
            if self.by_features and 2 * self.X.shape[1] <= self.X.shape[0]:
                return self._inner_product, similarities
            return DenseKernel(self._among_landmarks(target.gamma, first=0)), similarities
        K = self._among_landmarks(target.gamma, first=0)
        inverse_root = self._inverse_root(K)
        triangle = np.empty((0, len(target.coefficients) + inverse_root.shape[1]))
        for rows in row_blocks(self.X):
            factor = self._to_landmarks(self.X[rows], target.gamma, first=0) @ inverse_root
            both = np.hstack([target.similarities(self.X[rows]), factor])
            triangle = np.linalg.qr(np.vstack([triangle, both]), mode="r")
        similarities, factor = np.split(triangle, [len(target.coefficients)], axis=1)
        return FactoredKernel(factor), similarities

    def _factor(self, gamma, first, inverse_root):
        """G, block by block."""
        check_room(self.X.shape[0], inverse_root.shape[1], f"{self.name}: its kernel's factor")
        factor = np.empty((self.X.shape[0], inverse_root.shape[1]))
        for rows in row_blocks(self.X):
            factor[rows] = self._to_landmarks(self.X[rows], gamma, first) @ inverse_root
        return factor

    def _to_landmarks(self, X, gamma, first):
        """Kernel of some of the samples with the landmarks."""
        if self.params.kernel == "precomputed":
            return dense(X[:, self._anchors(first)])
        return kernel_matrix(X, self._anchors(first), self.params.kernel, gamma)

    def _among_landmarks(self, gamma, first):
        """Kernel of the landmarks, by default of all samples."""
        kernel = self.params.kernel
        if has_gamma(kernel):
            return np.exp(-gamma * self._pairs)
        K = self._precomputed(first) if kernel == "precomputed" else self._pairs
        if callable(kernel) or kernel == "precomputed":
            check_symmetric(K, self.name)
        return K

    @cached_property
    def _pairs(self):
        """Distances (radial kernels) or kernel of the landmarks, by default of all samples."""
        kernel, anchors = self.params.kernel, self._anchors(None)
        compare = distances if has_gamma(kernel) else kernel_matrix
        return compare(anchors, anchors, kernel)

    def _precomputed(self, first):
        columns = self._anchors(first)
        return dense((self.X if self.rows is None else self.X[self.rows])[:, columns])

    def _own_gamma(self):
        params = self.params
        if not has_gamma(params.kernel):
            return None
        if params.gamma != "median":
            return float(params.gamma)
        name = self.name if self.rows is None else f"{self.name}, its {self.rows.size} landmarks"
        return median_gamma(self._pairs, pair_rounding(self._anchors(None), params.kernel), name)

    def _anchors(self, first):
        """The landmarks, or their columns in a precomputed kernel, the domain's from `first`."""
        if self.params.kernel == "precomputed":
            rows = np.arange(self.X.shape[0]) if self.rows is None else self.rows
            return first + rows
        return self.X if self.rows is None else self.X[self.rows]

    def _columns_before_target(self):
        return self.X.shape[1] - self.X.shape[0]

    def _positive_eigenpairs(self, K, n_pairs=None):
        """Eigenpairs above the rank tolerance, descending; the first `n_pairs`, or all."""
        if not K.size:  # landmarks whose kernel is zero
            return np.empty(0), K
        solve = symmetric_eigenpairs if n_pairs is None else partial(_largest, n_pairs=n_pairs)
        values, vectors = solve(K)
        if values[0] < _INDEFINITE * max(values[-1], -values[0]):
            raise AlignmentError(
                f"{self.name}: its kernel is indefinite (eigenvalues from {values[0]:.1e} to "
                f"{values[-1]:.1e}); give a positive semi-definite kernel"
            )
        kept = values > RANK_TOLERANCE * max(values[-1], 0)
        return values[kept][::-1].copy(), vectors[:, kept][:, ::-1].copy()

    def _inverse_root(self, K):
        r"""Matrix B with :math:`B B^T = K_{\hat X}^+`."""
        values, vectors = self._positive_eigenpairs(K)
        return vectors / np.sqrt(values)


def _largest(K, n_pairs):
    """The largest eigenpairs by Lanczos, ascending; O(n^2) per step."""
    problem = f"kernel of {len(K)} samples or features"
    values, vectors = lanczos_with_copies(K, n_pairs, problem)
    return values[::-1], vectors[:, ::-1]


def with_landmarks(domains, random_state):
    """Both domains with landmarks if one has them: "auto" saw each of them alone."""
    if all(domain.rows is None for domain in domains):
        return domains
    return [
        domain
        if domain.rows is not None
        else replace(domain, rows=draw_landmarks(domain.shape[0], AUTO_LANDMARKS, random_state))
        for domain in domains
    ]


def count_landmarks(X, params):
    """Number of landmarks of a domain; None for the exact kernel."""
    if params.landmarks != "auto":
        return params.landmarks
    order = min(X.shape) if _has_few_features(X, params.kernel) else X.shape[0]
    return None if order <= EXACT_SAMPLES else AUTO_LANDMARKS


def _has_few_features(X, kernel):
    inner = not callable(kernel) and kernel in INNER_PRODUCTS
    return inner and X.shape[1] < X.shape[0]


def draw_landmarks(n_samples, n_landmarks, random_state):
    """Rows drawn without replacement, ascending; None for the exact kernel."""
    if n_landmarks is None:
        return None
    size = min(n_landmarks, n_samples)
    return np.sort(random_state.choice(n_samples, size=size, replace=False))
