r"""Out-of-sample embedding of FMA and SMA: the spectral update of section 3.2.

A new sample gets edges of weights :math:`w_j` to its nearest training samples,
:math:`d = \sum_j w_j`; the degrees of the training samples are kept. The basis of the joint problem
(rows :math:`e_i`, in which it is :math:`\mathrm{diag}(l)` and the embedding
:math:`z_i = l^{-1/2} e_i`) is extended by one axis for the new sample. Eliminating that axis gives

.. math:: S = \mathrm{diag}(l) + \sum_j w_j e_j e_j^T - d\, \bar e \bar e^T, \qquad
          \bar e = \frac1d \sum_j w_j e_j,

and the updated embedding has the training samples at :math:`S^{-1/2} e_i` and the new one at
:math:`S^{-1/2} \bar e`, the weighted mean of its neighbours (apart from the extra axis, where only
the new sample is nonzero, :math:`d^{-1/2}`). It is defined up to a rotation Q, chosen to match the
previous embedding: :math:`\min_Q \sum_i \|Q^T S^{-1/2} e_i - z_i\|^2`, the orthogonal Procrustes
problem.

In the coordinates of the embedding, :math:`S = l^{1/2} (I + C)\, l^{1/2}` with the weighted scatter

.. math:: C = \sum_j w_j (z_j - \bar z)(z_j - \bar z)^T, \qquad \bar z = \frac1d \sum_j w_j z_j .

With :math:`T = \sum_i z_i z_i^T` the rotation is the polar factor of
:math:`S^{-1/2} l^{1/2} T`, and what it makes of the new sample needs neither l nor a root of S:

.. math:: \bar e^T S^{-1/2} Q = \bar z^T (I + C)^{-1} T\, G^{-1/2}, \qquad G = T (I + C)^{-1} T .

The root under an integral, :math:`G^{-1/2} = \frac2\pi \int_0^\infty (G + s^2 I)^{-1} ds`, leaves
neither G nor an inverse of :math:`I + C`,

.. math:: \frac2\pi \int_0^\infty \bar z^T \left(T^2 + s^2 (I + C)\right)^{-1} T\, ds,

so that no condition number is squared, and in the axes of T the matrix is diagonal but for C, whose
rank is below the number of neighbours: a system of that size for each node of the quadrature. Its
nodes are those of Hale, Higham & Trefethen (2008), Computing :math:`A^\alpha`, :math:`\log A`, and
related matrix functions by contour integrals, SIAM J. Numer. Anal. 46(5), section 4 (method 3). The
error of N of them falls as :math:`\exp(-2\pi^2 N / (\log\kappa + 3))`, with :math:`\kappa` the
condition number of the pencil of :math:`T^2` and :math:`I + C`.
"""

import numpy as np
from scipy import special

# Samples embedded at a time; bounds the memory of the systems at all nodes.
_BLOCK = 128

# Error of the quadrature, relative.
_TOLERANCE = 1e-15


def embed_new_samples(embedding, second_moment, neighbors, weights):
    r"""Embed new samples of one domain, independently of each other.

    Parameters
    ----------
    embedding : ndarray of shape (n, q)
        Training samples :math:`z_i` of the domain.
    second_moment : ndarray of shape (q, q)
        T, the sum over the training samples of all domains; positive definite.
    neighbors : ndarray of int of shape (m, k)
        Rows of `embedding` that are the neighbours of each new sample.
    weights : ndarray of shape (m, k)
        Non-negative, with positive row sums.

    Returns
    -------
    new : ndarray of shape (m, q)

    Notes
    -----
    Cost: O(m N r^2 (q + r)) time for N nodes (15 to 60) and r = min(k, q).

    Examples
    --------
    Half-way between its two neighbours, in an embedding contracted by the new edges:

    >>> z = np.array([[-1.0], [1.0], [3.0]])
    >>> embed_new_samples(z, z.T @ z, np.array([[1, 2]]), np.array([[1.0, 1.0]])).round(3)
    array([[1.155]])
    """
    lengths, axes = np.linalg.eigh(second_moment)
    lengths = np.maximum(lengths, np.finfo(float).eps * lengths[-1])
    turned = embedding @ axes
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(neighbors), _BLOCK)]
    links = (deviations(turned, neighbors[block], weights[block]) for block in blocks)
    return np.concatenate([_integral(*own, lengths) for own in links]) @ axes.T


def _integral(spread, mean, lengths):
    """The last formula of the module in the axes of T, whose eigenvalues are `lengths`.

    By Woodbury's identity for ``diag(lengths**2 + t) + t V V'`` at every node t, with the rows of
    `spread` as columns of V: nothing is subtracted but in the last line.
    """
    if spread.shape[1] > spread.shape[2]:
        spread = np.linalg.qr(spread, mode="r")
    m, k, q = spread.shape
    most = 1.0 + np.einsum("mkq,mkq->m", spread, spread).max()
    t, share = _nodes(lengths[0] ** 2 / most, lengths[-1] ** 2)
    inverse = 1.0 / (lengths**2 + t[:, None])
    rows, columns = np.tril_indices(k)
    system = np.empty((k, k, m, len(t)))
    products = (spread[:, rows] * spread[:, columns]).reshape(-1, q) @ inverse.T
    system[rows, columns] = products.reshape(m, -1, len(t)).transpose(1, 0, 2)
    system[np.arange(k), np.arange(k)] += 1.0 / t
    sides = (spread * mean[:, None]).reshape(-1, q) @ inverse.T
    solved = _solve(system, sides.reshape(m, k, -1).transpose(1, 0, 2).copy())
    back = ((solved * share).reshape(-1, len(t)) @ inverse).reshape(k, m, q)
    return lengths * (mean * (share @ inverse) - np.einsum("mkq,kmq->mq", spread, back))


def _nodes(smallest, largest):
    r"""t and their shares: :math:`a^{-1/2} = \sum_j share_j / (a + t_j)` between the two.

    With sn, cn and dn of the parameter 1 - smallest / largest; the upper half of the nodes follows
    from the lower by symmetry, where cn would lose its digits. Accurate to 1e-12 where the two are
    within 1e11, and to 1e-9 beyond.
    """
    ratio = smallest / largest
    period = special.ellipkm1(ratio)
    digits = -np.log(_TOLERANCE) / (2 * np.pi**2)
    half = int(np.ceil((3.0 - np.log(ratio)) * digits / 2))
    sn, cn, dn, _ = special.ellipj((np.arange(half) + 0.5) * period / (2 * half), 1.0 - ratio)
    t = np.concatenate([smallest * (sn / cn) ** 2, largest * (cn / sn)[::-1] ** 2])
    share = np.concatenate([dn / cn**2, (dn / sn**2)[::-1] / np.sqrt(ratio)])
    return t, period * np.sqrt(smallest) / (np.pi * half) * share


def _solve(system, sides):
    """Solutions of symmetric positive definite systems along the first axes; both are overwritten.

    Of `system` (k, k, ...) the lower triangle is read. LDL' over all systems at once: one call of
    LAPACK for each costs more than the few operations of a small one.
    """
    k = len(system)
    for j in range(k):
        factor = system[j + 1 :, j] / system[j, j]
        for i in range(j + 1, k):
            system[i, j + 1 : i + 1] -= factor[i - j - 1] * system[j + 1 : i + 1, j]
        sides[j + 1 :] -= factor * sides[j]
        sides[j] /= system[j, j]
        system[j + 1 :, j] = factor
    for j in range(k - 2, -1, -1):
        sides[j] -= np.einsum("i...,i...->...", system[j + 1 :, j], sides[j + 1 :])
    return sides


def deviations(embedding, neighbors, weights):
    r"""Of new samples, the rows :math:`\sqrt{w_j} (z_j - \bar z)`, (m, k, q), and :math:`\bar z`.

    Centred first: C, the sum of the rows' squares, has no cancellation.
    """
    linked = embedding[neighbors]
    total = weights.sum(axis=1, keepdims=True)
    mean = np.einsum("mk,mkq->mq", weights / total, linked)
    return (linked - mean[:, None]) * np.sqrt(weights)[:, :, None], mean
