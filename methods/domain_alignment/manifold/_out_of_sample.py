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

Forming G squares a condition number; samples for which that costs too many digits are embedded by
S and the polar factor themselves.
"""

import numpy as np

# Samples embedded at a time; bounds the memory of their q x q matrices.
_BLOCK = 256

# Smallest eigenvalue of G, as a share of the largest, that leaves eight digits to its root.
_WELL_CONDITIONED = 1e-8


def embed_new_samples(embedding, eigenvalues, second_moment, neighbors, weights):
    r"""Embed new samples of one domain, independently of each other.

    Parameters
    ----------
    embedding : ndarray of shape (n, q)
        Training samples :math:`z_i` of the domain.
    eigenvalues : ndarray of shape (q,)
        l, positive.
    second_moment : ndarray of shape (q, q)
        T, the sum over the training samples of all domains.
    neighbors : ndarray of int of shape (m, k)
        Rows of `embedding` that are the neighbours of each new sample.
    weights : ndarray of shape (m, k)
        Non-negative, with positive row sums.

    Returns
    -------
    new : ndarray of shape (m, q)

    Notes
    -----
    Cost: O(m (k q^2 + q^3)) time, one symmetric eigenproblem per sample; another and a singular
    value decomposition where the columns of the embedding are of very different lengths.

    Examples
    --------
    Half-way between its two neighbours, in an embedding contracted by the new edges:

    >>> z = np.array([[-1.0], [1.0], [3.0]])
    >>> one = np.ones(1)
    >>> embed_new_samples(z, one, z.T @ z, np.array([[1, 2]]), np.array([[1.0, 1.0]])).round(3)
    array([[1.155]])
    """
    lengths = np.linalg.eigvalsh(second_moment)
    well = lengths[0] ** 2 > _WELL_CONDITIONED * lengths[-1] ** 2
    embed = _by_eigenpairs if well else by_singular_values
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(neighbors), _BLOCK)]
    links = (scatters(embedding, neighbors[block], weights[block]) for block in blocks)
    return np.concatenate([embed(*own, eigenvalues, second_moment) for own in links])


def _by_eigenpairs(scatter, mean, eigenvalues, second_moment):
    """The last formula of the module, for one sample per matrix of `scatter`."""
    solved = np.linalg.solve(
        np.eye(len(second_moment)) + scatter, np.broadcast_to(second_moment, scatter.shape)
    )
    G = second_moment @ solved
    values, vectors = np.linalg.eigh((G + G.transpose(0, 2, 1)) / 2)
    well = values[:, 0] > _WELL_CONDITIONED * values[:, -1]
    roots = np.sqrt(np.where(well[:, None], values, 1.0))[:, None]
    new = ((mean[:, None] @ solved @ vectors / roots) @ vectors.transpose(0, 2, 1))[:, 0]
    if not well.all():
        new[~well] = by_singular_values(scatter[~well], mean[~well], eigenvalues, second_moment)
    return new


def by_singular_values(scatter, mean, eigenvalues, second_moment):
    """The same without squares, for twice to three times the time."""
    scale = np.sqrt(eigenvalues)
    S = np.diag(eigenvalues) + scale[:, None] * scatter * scale
    values, vectors = np.linalg.eigh(S)
    root = (vectors / np.sqrt(values)[:, None]) @ vectors.transpose(0, 2, 1)
    left, _, right = np.linalg.svd(root @ (scale[:, None] * second_moment))
    return ((mean * scale)[:, None] @ root @ left @ right)[:, 0]


def scatters(embedding, neighbors, weights):
    r"""C of shape (m, q, q) and :math:`\bar z` of shape (m, q) of new samples."""
    linked = embedding[neighbors]
    total = weights.sum(axis=1, keepdims=True)
    mean = np.einsum("mk,mkq->mq", weights / total, linked)
    # Centred sum: the same matrix without cancellation.
    spread = (linked - mean[:, None]) * np.sqrt(weights)[:, :, None]
    return spread.transpose(0, 2, 1) @ spread, mean
