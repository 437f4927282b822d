r"""Eigenpairs after a low-rank change: Algorithm 2 of Dernbach & Towsley (2020).

For bases too large for a dense solver: shift-invert Lanczos, whose inverse is cheap because the
change has low rank.
"""

from itertools import count, pairwise

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from domain_alignment.exceptions import AlignmentError
from domain_alignment.utils.eigen import (
    FORMED_ROWS,
    check_residual,
    has_repeats,
    lanczos,
    symmetric_eigenpairs,
)

# Shift below zero, the least eigenvalue. Small against the wanted eigenvalues (of order 0.1 in a
# normalised Laplacian), so that inversion separates them; large enough for 14 accurate digits.
_SHIFT = -1e-2

# Eigenvalues of normalised Laplacians below this count as zero.
ZERO_EIGENVALUE = 1e-10


def block_update(eigenvalues, projected):
    r"""Algorithm 2: eigenpairs of :math:`\Phi \Lambda \Phi^T + A A^T` within the span of Phi.

    .. math:: \Lambda + \Phi^T A A^T \Phi = F L F^T

    Parameters
    ----------
    eigenvalues : ndarray of shape (n,)
        The diagonal of :math:`\Lambda`.
    projected : ndarray of shape (n, n)
        :math:`\Phi^T A A^T \Phi`.

    Returns
    -------
    eigenvalues : ndarray of shape (n,)
        L, ascending.
    rotation : ndarray of shape (n, n)
        F; the new eigenvectors are :math:`\Phi F`.

    Notes
    -----
    Cost: O(n^3). The paper uses a singular value decomposition; for a positive semi-definite matrix
    the symmetric eigendecomposition is equivalent and cheaper, with ascending eigenvalues.

    Examples
    --------
    >>> values, _ = block_update(np.array([0.0, 1.0]), np.array([[2.0, 0.0], [0.0, 0.0]]))
    >>> print(values)
    [1. 2.]
    """
    return symmetric_eigenpairs(np.diag(eigenvalues) + projected)


def complement(vector):
    """Orthonormal basis of the vectors orthogonal to `vector`, shape (n, n - 1)."""
    # A Householder reflection maps the vector to the first axis; its other columns are the basis.
    normal = vector / np.linalg.norm(vector)
    normal[0] += np.copysign(1.0, normal[0])
    reflection = np.eye(vector.size) - np.outer(normal, normal) * (2 / (normal @ normal))
    return reflection[:, 1:]


def _spans(lengths):
    """Consecutive slices of the given lengths."""
    ends = np.cumsum([0, *lengths])
    return [slice(start, stop) for start, stop in pairwise(ends)]


class RowUpdate:
    r"""Low-rank update of a diagonal matrix and of the identity metric, on a few rows of a basis.

    .. math:: A = \mathrm{diag}(\lambda) + R^T C R, \qquad B = I + R^T \mathrm{diag}(m) R

    where R is block diagonal: block a holds the labelled rows of the basis of domain a. In these
    coordinates :math:`A v = \mu B v` is the joint eigenproblem of all domains.

    Parameters
    ----------
    eigenvalues : ndarray of shape (K,)
        :math:`\lambda \ge 0`.
    rows : list of ndarray of shape (l_a, K_a)
        The blocks of R.
    change : ndarray of shape (l, l)
        C, positive semi-definite.
    mass : ndarray of shape (l,), optional
        m >= 0; B is the identity if None.

    Attributes
    ----------
    size : int
        K.
    shift : float
        :math:`\sigma < 0` of :meth:`shifted_inverse`.
    is_narrow : bool
        Whether Lanczos on A itself takes fewer products than on its shifted inverse.
    n_heavy : int
        How many of the largest eigenvalues of A are to be moved aside before.
    """

    shift = _SHIFT
    is_narrow = False
    n_heavy = 0

    def __init__(self, eigenvalues, rows, change, mass=None):
        self.eigenvalues = eigenvalues
        self.rows = rows
        self.change = change
        self.mass = mass
        self.size = eigenvalues.size
        columns = _spans([block.shape[1] for block in rows])
        changed = _spans([block.shape[0] for block in rows])
        self._blocks = list(zip(rows, columns, changed, strict=True))

    def restrict(self, v):
        """R v, for one vector or several columns."""
        return np.concatenate([block @ v[columns] for block, columns, _ in self._blocks])

    def extend(self, u):
        """R' u."""
        return np.concatenate([block.T @ u[changed] for block, _, changed in self._blocks])

    def apply(self, v):
        """A v."""
        return (self.eigenvalues * v.T).T + self.extend(self.change @ self.restrict(v))

    def apply_metric(self, v):
        """B v."""
        if self.mass is None:
            return v
        return v + self.extend((self.mass * self.restrict(v).T).T)

    def dense(self):
        """A and B as arrays, B None for the identity."""
        R = linalg.block_diag(*self.rows)
        A = np.diag(self.eigenvalues) + R.T @ self.change @ R
        return A, None if self.mass is None else np.eye(len(A)) + (R.T * self.mass) @ R

    def shifted_change(self):
        r""":math:`C_\sigma = C - \sigma\,\mathrm{diag}(m)`."""
        return self.change if self.mass is None else self.change - self.shift * np.diag(self.mass)

    def shifted_inverse(self):
        r"""Function that applies :math:`(A - \sigma B)^{-1}`, by the Woodbury identity.

        With :math:`G = (\mathrm{diag}(\lambda) - \sigma)^{-1}` it is
        :math:`G - G R^T (I + C_\sigma R G R^T)^{-1} C_\sigma R G`, with an l x l solve.
        """
        inverse = 1 / (self.eigenvalues - self.shift)
        change = self.shifted_change()
        scaled = [
            (rows * inverse[columns], columns, place) for rows, columns, place in self._blocks
        ]
        overlap = linalg.block_diag(
            *(rows @ half.T for rows, (half, _, _) in zip(self.rows, scaled, strict=True))
        )
        core = linalg.solve(np.eye(len(change)) + change @ overlap, change, check_finite=False)
        core = (core + core.T) / 2  # Lanczos needs exact symmetry
        coupled = np.empty(len(change))

        def apply(v):
            # Called hundreds of times per fit, hence without temporaries.
            for rows, columns, place in scaled:
                np.dot(rows, v[columns], out=coupled[place])
            answer = inverse * v
            back = core @ coupled
            for rows, columns, place in scaled:
                answer[columns] -= back[place] @ rows
            return answer

        return apply

    def null_space(self):
        """B-orthonormal basis of the null space of A, shape (K, q).

        It lies in the null space before the update, which has one vector per connected component of
        the domains' graphs, so the eigenproblem is small.
        """
        basis = self._null_before()
        if not basis.shape[1]:
            return basis
        small = basis.T @ self.extend(self.change @ self.restrict(basis))
        values, vectors = symmetric_eigenpairs(small)
        basis = basis @ vectors[:, values <= ZERO_EIGENVALUE * max(1.0, values[-1])]
        if self.mass is not None and basis.shape[1]:
            sizes, rotation = symmetric_eigenpairs(basis.T @ self.apply_metric(basis))
            basis = basis @ (rotation / np.sqrt(sizes))
        return basis

    def _null_before(self):
        axes = np.flatnonzero(self.eigenvalues < ZERO_EIGENVALUE)
        basis = np.zeros((self.size, axes.size))
        basis[axes, np.arange(axes.size)] = 1
        return basis


def smallest_eigenpairs(update, n_pairs, trivial=None):
    r"""Smallest eigenpairs of a :class:`RowUpdate`, without a trivial one.

    Parameters
    ----------
    update : RowUpdate
        Of order K.
    n_pairs : int
        At most K, less one if there is a trivial vector.
    trivial : ndarray of shape (K,), optional
        Known eigenvector at eigenvalue zero to exclude; the result is orthogonal to it.

    Returns
    -------
    eigenvalues : ndarray of shape (n_pairs,)
        Ascending.
    vectors : ndarray of shape (K, n_pairs)
        Orthonormal in the metric B.

    Raises
    ------
    AlignmentError
        If Lanczos does not converge and K exceeds 5000, or the residual check fails.

    Notes
    -----
    Lanczos with the null space deflated: it is known exactly, and Lanczos converges poorly at
    multiple eigenvalues. Where it finds equal ones, further copies are looked for. It is
    shift-invert, except for a narrow :class:`GraphUpdate`. Cost: O(K l^2 + l^3) once and O(K (l +
    n_pairs)) per step, for l changed rows. A dense solver, O(K^3), for K up to 400 or more than a
    quarter of the pairs, and up to 5000 where Lanczos does not converge.
    """
    size = update.size
    if size <= 400 or n_pairs > size // 4:
        return _dense_pairs(update, n_pairs, trivial)
    null = wanted_null = update.null_space()
    if trivial is not None:
        share = null.T @ update.apply_metric(trivial)
        if share @ share < (1 - 1e-6) * (trivial @ update.apply_metric(trivial)):
            # Badly scaled features: the trivial eigenvalue is lost in rounding.
            return _dense_pairs(update, n_pairs, trivial)
        wanted_null = null @ complement(share)
    vectors = wanted_null[:, :n_pairs]
    values = np.zeros(vectors.shape[1])
    if values.size < n_pairs:
        try:
            positive, others = _lanczos_pairs(update, n_pairs - values.size, null)
        except AlignmentError:  # not converged, as where samples repeat
            if size > FORMED_ROWS:
                raise
            return _dense_pairs(update, n_pairs, trivial)
        values, vectors = np.concatenate([values, positive]), np.hstack([vectors, others])
    residual = update.apply(vectors) - update.apply_metric(vectors) * values
    check_residual(residual, max(1.0, np.abs(update.change).max()), "joint eigenproblem")
    return values, vectors


def _dense_pairs(update, n_pairs, trivial):
    A, B = update.dense()
    if trivial is None:
        return symmetric_eigenpairs(A, B, n_pairs=n_pairs)
    basis = complement(update.apply_metric(trivial))
    A = basis.T @ A @ basis
    B = None if B is None else basis.T @ B @ basis
    values, vectors = symmetric_eigenpairs(A, B, n_pairs=n_pairs)
    return values, basis @ vectors


def _lanczos_pairs(update, n_pairs, null):
    def operator(function):
        return LinearOperator((update.size, update.size), matvec=function, dtype=float)

    problem = f"joint eigenproblem of order {update.size}"
    search = (_direct if update.is_narrow else _shift_inverted)(update, null, operator, problem)
    values, vectors = search(n_pairs)
    if has_repeats(values):
        values, vectors = _with_copies(search, values, vectors)
    order = np.argsort(values, kind="stable")
    return values[order], vectors[:, order]


def _with_copies(search, values, vectors):
    """Smaller eigenvalues that Lanczos missed, in place of the largest, until none is left.

    As :func:`~domain_alignment.utils.eigen.all_copies`: they are copies of others, and each is
    looked for from another start vector.
    """
    seeds = count(1)
    while True:
        value, vector = search(1, (values, vectors), seed=next(seeds))
        largest = values.argmax()
        if value[0] >= values[largest] - 1e-9 * max(1.0, abs(values[largest])):
            return values, vectors
        values, vectors = values.copy(), vectors.copy()
        values[largest], vectors[:, largest] = value[0], vector[:, 0]


def _direct(update, null, operator, problem):
    """Search for the smallest pairs outside the null space by Lanczos on I - A.

    Returns
    -------
    search : callable
        ``search(n_pairs, known, seed=seed)``: the pairs but for those that are known.
    """
    basis, moved = _moved_aside(update, null, operator, problem)

    def reversed_spectrum(v):
        # From [0, 1 + ...] to [..., 1]: the smallest become the largest, without the null space.
        return v - update.apply(v) + basis @ (moved * (basis.T @ v))

    def search(n_pairs, known=None, **start):
        # Known eigenvalues become -1, as those of the null space do.
        product = reversed_spectrum if known is None else _less(reversed_spectrum, known, _below)
        values, vectors = lanczos(operator(product), n_pairs, problem, which="LA", **start)
        return 1 - values, vectors

    return search


def _below(values):
    return 2 - values


def _less(product, known, sizes):
    """A product without its part along known eigenvectors, which is `sizes` of the eigenvalues."""
    values, vectors = known
    return lambda v: product(v) - vectors @ (sizes(values) * (vectors.T @ v))


def _moved_aside(update, null, operator, problem):
    """Known eigenvectors, and by how much their eigenvalues of I - A are changed.

    Those of the null space become -1, and those far below the others 0: neither is then found, and
    the rest of the spectrum is narrow.
    """
    moved = np.full(null.shape[1], -2.0)
    if not update.n_heavy:
        return null, moved
    largest, vectors = lanczos(operator(update.apply), update.n_heavy, problem, which="LA")
    return np.hstack([null, vectors]), np.concatenate([moved, largest - 1])


def _shift_inverted(update, null, operator, problem):
    """Search as of :func:`_direct`, by Lanczos on the shifted inverse."""
    inverse = update.shifted_inverse()

    def deflated(v):
        # On the null space the shifted inverse is -1 / shift; subtract it.
        return inverse(v) - null @ (null.T @ v) / -update.shift

    def sizes(values):
        return 1 / (values - update.shift)

    def search(n_pairs, known=None, **start):
        product = deflated if known is None else _less(deflated, known, sizes)
        return lanczos(
            operator(update.apply),
            n_pairs,
            problem,
            M=None if update.mass is None else operator(update.apply_metric),
            sigma=update.shift,
            OPinv=operator(product),
            which="LM",
            **start,
        )

    return search
