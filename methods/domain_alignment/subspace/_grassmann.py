r"""Subspaces of two domains: bases, principal angles, and the geodesic between them.

Let :math:`P_S, P_T` (p x d) be orthonormal bases and :math:`P_S^T P_T = U \cos\Theta\, V^T` a
singular value decomposition. With

.. math:: A = P_S U, \qquad B_i = (P_T V - A \cos\Theta)_i / \sin\theta_i

the geodesic of the Grassmann manifold is :math:`\Phi(t) = A \cos(t\Theta) + B \sin(t\Theta)`, from
the span of :math:`P_S` at t = 0 to that of :math:`P_T` at t = 1. Any average of the projections
:math:`\Phi(t)\Phi(t)^T` consists of 2 x 2 blocks in the columns :math:`(a_i, b_i)`, and has a
square root of the same form: 2d features for any p.
"""

import numpy as np
from scipy import sparse

from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils._rows import centred_gram
from domain_alignment.utils.eigen import RANK_TOLERANCE, fix_signs, largest_eigenpairs

# Sines below this count as 0: rounding leaves about 1e-15, and an angle contributes no more than
# its square to any average.
_EQUAL_DIRECTIONS = 1e-12

_EPS = np.finfo(float).eps


class PrincipalAxes:
    """Principal component analysis of one domain, computed on first use and cached.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        Sparse data are centred implicitly.
    name : str
        Name of the domain in messages.

    Attributes
    ----------
    mean : ndarray of shape (p,)

    Notes
    -----
    Cost, for m = min(n, p): O(n p m) for the Gram matrix and O(m^3) for its eigenvectors by a dense
    solver, or, of a twentieth of more than 1000, O(m^2) per Lanczos step. Multiple eigenvalues are
    resolved.

    Examples
    --------
    >>> axes = PrincipalAxes(np.array([[3.0, 1.0], [-3.0, 1.0], [0.0, 1.0]]), "domain 0")
    >>> axes.basis(2)  # the second feature does not vary
    array([[1.],
           [0.]])
    """

    def __init__(self, X, name):
        self.X, self.shape, self.name = X, X.shape, name
        self.mean = np.asarray(X.mean(axis=0)).ravel()
        self._bases = {}

    def basis(self, n_components):
        """Orthonormal principal axes in order of decreasing variance.

        Parameters
        ----------
        n_components : int

        Returns
        -------
        basis : ndarray of shape (p, d)
            d is `n_components`, or the rank of the centred data if that is less. Signs by
            :func:`~domain_alignment.utils.eigen.fix_signs`.

        Raises
        ------
        AlignmentError
            If all samples are equal.
        """
        basis = self._leading(n_components)
        if not basis.shape[1]:
            raise AlignmentError(
                f"{self.name}: its {self.X.shape[0]} samples are all equal, so it has no principal "
                "axis; give samples that differ"
            )
        return basis

    def frame(self, n_components):
        """Principal axes, completed to `n_components` orthonormal ones.

        Parameters
        ----------
        n_components : int
            At most min(n, p).

        Returns
        -------
        axes : ndarray of shape (p, n_components)
            :meth:`basis`, extended by arbitrary orthogonal axes if the centred data have a lower
            rank: defined even for a single sample.
        """
        basis = self._leading(n_components)
        rank = basis.shape[1]
        if rank == n_components:
            return basis
        # QR completes the basis, whatever the columns beside it.
        filled = np.linalg.qr(np.hstack([basis, np.eye(len(basis), n_components - rank)]))[0]
        others = filled[:, rank:]
        return np.hstack([basis, others * fix_signs(others)])

    def _leading(self, n_components):
        """The basis; without columns if all samples are equal."""
        if n_components not in self._bases:
            self._bases[n_components] = self._compute(n_components)
        return self._bases[n_components]

    def _compute(self, n_components):
        n_samples, n_features = self.X.shape
        by_samples = n_samples < n_features
        gram = centred_gram(self.X, self.mean, by_samples)
        n_pairs = min(n_components, len(gram))
        variances, vectors = largest_eigenpairs(gram, n_pairs, f"{self.name}: its principal axes")
        if not variances[0] > _noise(self.X):
            return np.empty((n_features, 0))
        kept = variances > RANK_TOLERANCE * variances[0]
        basis = vectors[:, kept]
        if by_samples:
            basis = self.X.T @ basis - np.outer(self.mean, basis.sum(axis=0))
            # Axes of small variance lose digits in the product; QR restores orthogonality.
            basis = np.linalg.qr(basis)[0]
        return basis * fix_signs(basis)


def _noise(X):
    """Sum of squares that rounding can leave of equal samples once they are centred."""
    if sparse.issparse(X):  # centred after the products
        return 8 * _EPS * X.multiply(X).sum()
    largest = max(X.max(initial=0.0), -X.min(initial=0.0))  # no copy of X, as of its magnitudes
    return X.size * (_EPS * largest) ** 2


class PartialLeastSquares:
    r"""Partial least squares of features on one-hot labels (NIPALS).

    With centred features X and one-hot labels Y, repeatedly: :math:`w` is the leading left
    singular vector of :math:`X^T Y`, :math:`t = X w`, :math:`p = X^T t / t^T t`, and X is deflated
    by :math:`t p^T`. The scores are :math:`T = X W (P^T W)^{-1}`.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    y : ndarray of int of shape (n,)
        All labelled.
    n_components : int
    name : str
        Name of the domain in messages.

    Attributes
    ----------
    mean : ndarray of shape (p,)
    weights : ndarray of shape (p, d)
        W, orthonormal; the largest entry of each column is positive. d is `n_components`, or the
        number of components found before no covariance with the class is left.
    rotation : ndarray of shape (p, d)
        :math:`W (P^T W)^{-1}`.

    Raises
    ------
    ValueError
        If the labels are of fewer than two classes.
    AlignmentError
        If no feature varies with the class.

    Notes
    -----
    The deflated X is never formed: with orthogonal scores :math:`t = X w - T P^T w`,
    :math:`p = X^T t / t^T t`, and :math:`X^T Y` is deflated by :math:`p\, t^T Y`. Cost:
    O(n p d + p C^2 d); sparse samples stay sparse. Centring Y has no effect, since X is centred.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [1.2, -5.0], [3.0, 5.0], [3.2, -5.0]])
    >>> PartialLeastSquares(X, np.array([0, 0, 1, 1]), 1, "domain 0").weights
    array([[1.],
           [0.]])
    """

    def __init__(self, X, y, n_components, name):
        classes = np.unique(y)
        if classes.size < 2:
            raise ValueError(
                f"{name}: its {len(y)} labelled samples are of {classes.size} class(es); partial "
                "least squares needs at least two, so label more"
            )
        self.mean = np.asarray(X.mean(axis=0)).ravel()
        Y = (y[:, None] == classes).astype(float)
        scale = np.sqrt(X.multiply(X).sum() if sparse.issparse(X) else np.vdot(X, X))
        self._extract(X, Y - Y.mean(axis=0), n_components, 8 * _EPS * scale * np.sqrt(len(y)))
        if not self.weights.shape[1]:
            raise AlignmentError(
                f"{name}: no feature varies with the class of its labelled samples, so partial "
                'least squares has no component; use basis="pca" or other features'
            )

    def _extract(self, X, Y, n_components, noise):
        cross = X.T @ Y  # the mean drops out: the columns of Y sum to 0
        start = np.linalg.norm(cross, 2)
        W, P, T = (np.empty((size, 0)) for size in (X.shape[1], X.shape[1], X.shape[0]))
        while W.shape[1] < min(n_components, *X.shape):
            left, values, _ = np.linalg.svd(cross, full_matrices=False)
            if not values[0] > max(RANK_TOLERANCE * start, noise):
                break
            # Reorthogonalisation: w and t are orthogonal to the earlier ones up to rounding.
            w = left[:, 0] - W @ (W.T @ left[:, 0])
            w /= np.linalg.norm(w)
            t = X @ w - self.mean @ w - T @ (P.T @ w)
            t -= T @ ((T.T @ t) / np.einsum("ij,ij->j", T, T))
            p = (X.T @ t - self.mean * t.sum()) / (t @ t)
            cross = cross - np.outer(p, t @ Y)
            W, P, T = (np.column_stack(pair) for pair in ((W, w), (P, p), (T, t)))
        signs = fix_signs(W)
        self.weights = W * signs
        self.rotation = np.linalg.solve(W.T @ P, W.T).T * signs

    def scores(self, X):
        """Scores of samples, of shape (n, d)."""
        return X @ self.rotation - self.mean @ self.rotation


class Geodesic:
    """The geodesic between two subspaces of equal dimension; see the module.

    Parameters
    ----------
    start, end : ndarray of shape (p, d)
        Orthonormal bases; any basis of a subspace gives the same geodesic.

    Attributes
    ----------
    angles : ndarray of shape (d,)
        Principal angles in radians, ascending, from 0 to pi / 2.
    start, direction : ndarray of shape (p, d)
        A, and B with zero columns where the angle is 0.

    Notes
    -----
    Cost: O(p d^2).

    Examples
    --------
    >>> path = Geodesic(np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]]))
    >>> path.angles / np.pi
    array([0.5])
    """

    def __init__(self, start, end):
        left, cosines, right = np.linalg.svd(start.T @ end)
        self.start = start @ left
        rest = end @ right.T - self.start * cosines
        sines = np.linalg.norm(rest, axis=0)
        # The arc cosine is inaccurate near 0, the arc sine near pi / 2.
        self.angles = np.arctan2(sines, cosines)
        turning = sines > _EQUAL_DIRECTIONS
        self.angles[~turning] = 0.0
        self.direction = np.where(turning, rest / np.where(turning, sines, 1.0), 0.0)

    def feature_map(self, cos2, mixed, sin2):
        """The map M with M M' the average of the projections onto the subspaces.

        Parameters
        ----------
        cos2, mixed, sin2 : ndarray of shape (d,)
            Averages over t of cos^2, sin cos and sin^2 of t times the angles.

        Returns
        -------
        M : ndarray of shape (p, 2d)
            [A B] times the symmetric square roots of the 2 x 2 blocks.
        """
        # Square root of a symmetric 2 x 2 matrix by the Cayley-Hamilton theorem.
        det = np.sqrt(np.maximum(cos2 * sin2 - mixed**2, 0.0))
        trace = np.sqrt(cos2 + sin2 + 2 * det)
        first, across, second = (cos2 + det) / trace, mixed / trace, (sin2 + det) / trace
        A, B = self.start, self.direction
        return np.hstack([A * first + B * across, A * across + B * second])


def flow_averages(angles):
    r"""Averages over all t in [0, 1], for :meth:`Geodesic.feature_map`.

    .. math:: \tfrac12 \Bigl(1 + \frac{\sin 2\theta}{2\theta}\Bigr), \quad
              \frac{1 - \cos 2\theta}{4\theta}, \quad
              \tfrac12 \Bigl(1 - \frac{\sin 2\theta}{2\theta}\Bigr)

    Examples
    --------
    >>> [float(average[0]) for average in flow_averages(np.array([0.0]))]
    [1.0, 0.0, 0.0]
    """
    ratio = np.sinc(2 * angles / np.pi)
    # (1 - cos 2x) / 4x without cancellation at small angles.
    mixed = np.sin(angles) * np.sinc(angles / np.pi) / 2
    return (1 + ratio) / 2, mixed, (1 - ratio) / 2


def sampled_averages(angles, n_between):
    """Averages over `n_between` + 2 equidistant t from 0 to 1.

    Examples
    --------
    >>> [float(average[0]) for average in sampled_averages(np.array([np.pi / 2]), 0)]
    [0.5, 0.0, 0.5]
    """
    steps = np.linspace(0, 1, n_between + 2)[:, None] * angles
    cos, sin = np.cos(steps), np.sin(steps)
    # sin(pi / 2) cos(pi / 2) is 6e-17 in floating point; rounding makes it 0.
    return (cos**2).mean(axis=0), (sin * cos).mean(axis=0).round(15), (sin**2).mean(axis=0)
