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
"""

import numpy as np

# Samples embedded at a time; bounds the memory of their q x q matrices.
_BLOCK = 256


def embed_new_samples(embedding, eigenvalues, second_moment, neighbors, weights):
    r"""Embed new samples of one domain, independently of each other.

    Parameters
    ----------
    embedding : ndarray of shape (n, q)
        Training samples :math:`z_i` of the domain.
    eigenvalues : ndarray of shape (q,)
        l, positive.
    second_moment : ndarray of shape (q, q)
        :math:`\sum_i z_i z_i^T` over the training samples of all domains.
    neighbors : ndarray of int of shape (m, k)
        Rows of `embedding` that are the neighbours of each new sample.
    weights : ndarray of shape (m, k)
        Non-negative, with positive row sums.

    Returns
    -------
    new : ndarray of shape (m, q)

    Notes
    -----
    Cost: O(m (k q^2 + q^3)) time.

    Examples
    --------
    Half-way between its two neighbours, in an embedding contracted by the new edges:

    >>> z = np.array([[-1.0], [1.0], [3.0]])
    >>> one = np.ones(1)
    >>> embed_new_samples(z, one, z.T @ z, np.array([[1, 2]]), np.array([[1.0, 1.0]])).round(3)
    array([[1.155]])
    """
    blocks = [
        _embed_block(
            embedding, eigenvalues, second_moment, neighbors[start : start + _BLOCK],
            weights[start : start + _BLOCK],
        )
        for start in range(0, len(neighbors), _BLOCK)
    ]  # fmt: skip
    return np.concatenate(blocks)


def _embed_block(embedding, eigenvalues, second_moment, neighbors, weights):
    root, mean = updated_basis(embedding, eigenvalues, neighbors, weights)
    # Polar factor of sum_i S^{-1/2} e_i z_i'.
    left, _, right = np.linalg.svd(root @ (np.sqrt(eigenvalues)[:, None] * second_moment))
    return (mean[:, None] @ root @ left @ right)[:, 0]


def updated_basis(embedding, eigenvalues, neighbors, weights):
    r""":math:`S^{-1/2}` of shape (m, q, q) and :math:`\bar e` of shape (m, q) of new samples."""
    linked = embedding[neighbors] * np.sqrt(eigenvalues)
    total = weights.sum(axis=1, keepdims=True)
    mean = np.einsum("mk,mkq->mq", weights / total, linked)
    # Centred sum: the same matrix without cancellation.
    spread = (linked - mean[:, None]) * np.sqrt(weights)[:, :, None]
    values, vectors = np.linalg.eigh(np.diag(eigenvalues) + spread.transpose(0, 2, 1) @ spread)
    return (vectors / np.sqrt(values)[:, None]) @ vectors.transpose(0, 2, 1), mean
