"""Optimal transport between the Gaussians of two domains, a linear map."""

from typing import ClassVar, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from domain_alignment.base import Aligner, Capabilities
from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._params import POSITIVE
from domain_alignment.utils._rows import centred_gram, map_rows, row_basis, row_blocks, times_map
from domain_alignment.utils.eigen import RESIDUAL_TOLERANCE, probes, symmetric_eigenpairs
from domain_alignment.utils.validation import dense


class PreparedDomain:
    """Samples of a domain; as a source it keeps what its transport to a target needs of any ridge.

    That is a :class:`_Pair`, found at the first transport and kept for the latest target, with the
    samples of that; a pickle leaves it out.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    """

    def __init__(self, X):
        self.X, self.shape = X, X.shape
        self._kept = None, None

    def __getstate__(self):
        return {**vars(self), "_kept": (None, None)}

    def beside(self, target):
        """The pair of this domain and a target, another :class:`PreparedDomain`."""
        kept = self._kept
        if kept[0] is not target:
            self._kept = kept = target, _Pair.of(self.X, target.X)
        return kept[1]


class _Pair(NamedTuple):
    """Source and target without a ridge, in an orthonormal basis of their rows where they are few.

    Attributes
    ----------
    basis : ndarray of shape (p, q) or None
        None where the samples are as many as the features, or more.
    inner : ndarray or CSR matrix of shape (n_S, q)
        Samples of the source in the basis.
    means : tuple of two ndarrays of shape (q,)
    covariances : tuple of two ndarrays of shape (q, q)
    """

    basis: np.ndarray | None
    inner: object
    means: tuple
    covariances: tuple

    @classmethod
    def of(cls, source, target):
        basis = row_basis((source, target), limit=np.inf)
        inner = [X if basis is None else times_map(X, basis) for X in (source, target)]
        means = tuple(np.asarray(X.mean(axis=0)).ravel() for X in inner)
        covariances = tuple(
            centred_gram(X, mean, by_samples=False) / X.shape[0]
            for X, mean in zip(inner, means, strict=True)
        )
        return cls(basis, inner[0], means, covariances)


class LinearOT(Aligner):
    r"""Optimal transport of one source to one target, each taken for a Gaussian.

    The map that moves :math:`N(m_S, C_S)` to :math:`N(m_T, C_T)` at the least mean squared distance
    ([1]_; [2]_, section 2.6), for covariances with a ridge,
    :math:`C_a = \tfrac1{n_a} \sum_i (x_i - m_a)(x_i - m_a)^T + \lambda I`:

    .. math:: z = m_T + A (x - m_S), \qquad
              A = C_S^{-1/2} (C_S^{1/2} C_T C_S^{1/2})^{1/2} C_S^{-1/2} .

    The target stays.

    Parameters
    ----------
    ridge : float, default=1.0
        :math:`\lambda > 0`, in squared feature units; 1 equals the variances of z-scored features.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_a, p)
        The target's are its features.
    map_ : ndarray of shape (p, p)
        A, symmetric and positive definite. Formed on access.
    n_components_ : int
        p.
    n_features_in_ : list of int

    Raises
    ------
    ValueError
        If the domains differ in their number of features or are not two.
    AlignmentError
        If rounding spoils the map: the variances differ too much for the ridge, by a factor of 1e13
        or so.

    Notes
    -----
    *One eigenproblem.* A is the only symmetric positive definite solution of
    :math:`A\,C_S\,A = C_T`. With the Cholesky factors :math:`C_S = L L^T` and
    :math:`C_T = K K^T` it is

    .. math:: A = L^{-T} (M^T M)^{1/2} L^{-1} , \qquad M = K^T L ,

    in which no root of a covariance and no inverse is formed. The root comes from an eigenproblem,
    or, where the squares in :math:`M^T M` cost too many digits, from the singular values of M. A
    is checked by what defines it: :math:`K^{-1} A L` is orthogonal.

    *Few samples.* What is orthogonal to all samples stays, so n < p samples in all are mapped in an
    orthonormal basis of their rows: q = min(n, p) coordinates.

    *Cost.* ``prepare``: deferred; the basis and the covariances, O(n p q) time and O(p q + n_S q)
    memory, are computed at the first fit and kept for those of other ridges. Fit: O(n p q + q^3)
    time and O(n p + p q) memory, with dense embeddings and the basis. New samples: O(p q) each;
    moving back: O(q^3) once per call besides.

    *Equal* to POT's ``LinearTransport`` of the same `reg`. Unlike CORAL's, the map aligns means
    too, and is the symmetric positive definite one of those that take one ridged covariance to the
    other.

    References
    ----------
    .. [1] R. Flamary, K. Lounici, A. Ferrari. Concentration bounds for linear Monge mapping
       estimation and optimal transport domain adaptation. arXiv:1905.10155, 2019.
    .. [2] G. Peyré, M. Cuturi. Computational Optimal Transport. Foundations and Trends in Machine
       Learning 11(5-6), 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from domain_alignment import LinearOT
    >>> rng = np.random.default_rng(0)
    >>> source, target = rng.normal(size=(300, 2)) * [5, 1], rng.normal(size=(300, 2)) + 3
    >>> Z, _ = LinearOT(ridge=1e-6).fit([source, target]).embeddings_
    >>> bool(np.allclose(np.cov(Z.T), np.cov(target.T), atol=1e-4))
    True
    >>> bool(np.allclose(Z.mean(axis=0), target.mean(axis=0)))
    True
    """

    _parameter_constraints: ClassVar[dict] = {"ridge": POSITIVE}
    unmoved_domains = (1,)  # the target
    _model_type = PreparedDomain
    _features_reason = "their covariances must be of equal order"

    def __init__(self, ridge=1.0):
        self.ridge = ridge

    @property
    def capabilities(self):
        """What this method can do."""
        return Capabilities(labels="none", invertible=True)

    @property
    def map_(self):
        """A, of shape (p, p)."""
        check_is_fitted(self, "embeddings_")
        if self._basis is None:
            return self._inner_map.copy()
        change = self._inner_map - np.eye(len(self._inner_map))
        return np.eye(len(self._basis)) + self._basis @ change @ self._basis.T

    def _prepare(self, X, name):
        return PreparedDomain(X)

    def _fit(self, Xs, ys, models):
        pair = models[0].beside(models[1])
        self._basis = pair.basis
        self._inner_map = gaussian_transport(*map(self._ridged, pair.covariances))
        self._offset = pair.means[1] - pair.means[0] @ self._inner_map
        # Of other samples than those that were prepared the coordinates are not known.
        known = self._basis is not None and Xs[0] is models[0].X
        source = self._fitted(Xs[0], pair.inner) if known else self._transform(Xs[0], 0)
        return [source, self._transform(Xs[1], 1)]

    def _fitted(self, X, inner):
        """Samples after the move, whose coordinates in the basis are known."""
        moved = (self._move(inner) - inner) @ self._basis.T
        for rows in row_blocks(X):
            moved[rows] += dense(X[rows])
        return moved

    def _ridged(self, covariance):
        covariance = covariance.copy()
        covariance[np.diag_indices_from(covariance)] += self.ridge
        return covariance

    def _move(self, rows):
        """Coordinates of source samples, moved."""
        moved = times_map(rows, self._inner_map)
        moved += self._offset
        return moved

    def _transform(self, X, domain):
        return dense(X) if domain else self._moved(X, self._move)

    def _inverse_transform(self, Z, domain):
        if domain:
            return dense(Z)
        factor = linalg.cho_factor(self._inner_map, check_finite=False)
        return self._moved(
            Z, lambda rows: linalg.cho_solve(factor, (rows - self._offset).T, check_finite=False).T
        )

    def _moved(self, X, move):
        """Rows after a move of their coordinates in the basis, if there is one."""
        if self._basis is None:
            return map_rows(lambda rows: np.asarray(move(rows)), X)

        def changed(rows):
            inner = times_map(rows, self._basis)
            return dense(rows) + (move(inner) - inner) @ self._basis.T

        return map_rows(changed, X)


def gaussian_transport(source, target):
    r"""Matrix A of the optimal transport between Gaussians, :math:`A\,C_S\,A = C_T`.

    Parameters
    ----------
    source, target : ndarray of shape (p, p)
        Covariances :math:`C_S` and :math:`C_T`, symmetric positive definite.

    Returns
    -------
    A : ndarray of shape (p, p)
        Symmetric positive definite.

    Raises
    ------
    AlignmentError
        If a covariance is not positive definite up to rounding, or A does not solve its equation.

    Notes
    -----
    Cost: O(p^3), one eigenproblem; a singular value decomposition too where variances differ much.

    Examples
    --------
    >>> gaussian_transport(np.diag([4.0, 1.0]), np.diag([1.0, 9.0]))
    array([[0.5, 0. ],
           [0. , 3. ]])
    """
    scales = [_power_of_two(C) for C in (source, target)]
    try:
        L, K = (
            linalg.cholesky(C / scale, lower=True, check_finite=False)
            for C, scale in zip((source, target), scales, strict=True)
        )
    except linalg.LinAlgError as error:
        raise AlignmentError(_TOO_DIFFERENT) from error
    for root_of_square in (_by_eigenpairs, _by_singular_values):
        values, vectors = root_of_square(K.T @ L)
        root = _solve(L, vectors * np.sqrt(values), trans="T")
        A = root @ root.T
        if _is_transport(A, L, K):
            return A * np.sqrt(scales[1] / scales[0])
    raise AlignmentError(_TOO_DIFFERENT)


def _by_eigenpairs(M):
    """Singular values of a square matrix and right vectors, small ones to half of the digits."""
    squares, vectors = symmetric_eigenpairs(M.T @ M)
    return np.sqrt(np.maximum(squares, 0.0)), vectors


def _by_singular_values(M):
    """The same to all digits, for up to twice the time."""
    _, values, vectors = linalg.svd(M, check_finite=False)
    return values, vectors.T


def _is_transport(A, L, K):
    """Whether K^-1 A L is orthogonal, so that A takes L L' to K K' in the units of the latter."""
    seen = probes(len(A))
    image = _solve(K, A @ (L @ (L.T @ (A @ _solve(K, seen, trans="T")))))
    # Written so that NaN fails too.
    return bool(linalg.norm(image - seen, axis=0).max() <= RESIDUAL_TOLERANCE)


def _solve(triangle, right, trans="N"):
    return linalg.solve_triangular(triangle, right, lower=True, trans=trans, check_finite=False)


def _power_of_two(covariance):
    """Near the largest variance, so that products of two covariances are within floating point."""
    return 2.0 ** np.frexp(covariance.diagonal().max())[1]


_TOO_DIFFERENT = (
    "domains 0 and 1: linear map between their covariances: lost in rounding, as variances differ "
    "too much for the ridge; standardise the features or raise ridge"
)
