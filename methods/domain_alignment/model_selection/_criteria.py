"""The formulas behind the selectors, on plain arrays. Larger is better in all."""

import numpy as np
from scipy import sparse
from scipy.special import xlogy
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.metrics.pairwise import euclidean_distances

from domain_alignment.utils._rows import near_zero

# Entries of a block of pairwise similarities: 256 KB, which stay in cache.
_BLOCK = 2**15


def accuracy(labels, predicted):
    """Share of the rows predicted correctly; NaN without rows."""
    return np.mean(labels == predicted) if len(labels) else np.nan


def balanced_accuracy(labels, predicted):
    """Mean over the classes of the labels of the share predicted correctly; NaN without rows."""
    if not len(labels):
        return np.nan
    _, codes = np.unique(labels, return_inverse=True)
    right = np.bincount(codes, weights=labels == predicted)
    return np.mean(right / np.bincount(codes))


def weighted_mean(values, weights):
    r"""Self-normalised importance sampling, :math:`\sum_i w_i v_i / \sum_i w_i`."""
    return weights @ values / weights.sum() if len(values) else np.nan


def controlled_risk(losses, weights):
    r"""Importance-weighted risk with the weights as control variate.

    .. math:: \bar L + \eta (\bar W - 1), \quad L_i = w_i \ell_i,
              \quad \eta = -\mathrm{Cov}(L, W) / \mathrm{Var}(W) .

    Parameters
    ----------
    losses : ndarray of shape (n,)
    weights : ndarray of shape (n,)
        Density ratios, whose expectation is 1.

    Returns
    -------
    risk : float
        NaN for fewer than two rows. With weights equal up to rounding, eta is 0.
    """
    if len(losses) < 2:
        return np.nan
    weighted, mean = weights * losses, weights.mean()
    (_, covariance), (_, variance) = np.cov(weighted, weights)
    # The mean of n equal weights is rounded by at most n eps of it, and they seem to differ from
    # it by as much: no larger a deviation tells weights apart.
    rounding = (len(weights) * np.finfo(float).eps * mean) ** 2
    eta = -covariance / variance if variance > rounding else 0.0
    return weighted.mean() + eta * (mean - 1)


def row_entropies(P):
    r"""Entropy :math:`-\sum_c p_{ic} \log p_{ic}` of each row, in nats."""
    return -xlogy(P, P).sum(axis=-1)


def mutual_information(P):
    """Entropy of the mean row minus mean entropy of the rows, in nats."""
    return row_entropies(P.mean(axis=0)) - row_entropies(P).mean()


def neighborhood_density(P, temperature=0.05):
    r"""Mean entropy of the rows of a softmax over similarities.

    .. math:: P_{ij} = \frac{\exp(S_{ij} / \tau)}{\sum_k \exp(S_{ik} / \tau)}, \quad
              S_{ij} = \frac{p_i^T p_j}{\|p_i\| \|p_j\|}\ (i \ne j), \quad S_{ii} = -1 .

    Parameters
    ----------
    P : ndarray of shape (n, C)
        Probabilities.
    temperature : float, default=0.05

    Returns
    -------
    density : float
        In nats. Products are computed in blocks of rows: O(n^2 C) time, O(n) memory.
    """
    F = P / np.linalg.norm(P, axis=1, keepdims=True)
    n_rows = len(F)
    step = max(1, _BLOCK // n_rows)
    total = 0.0
    for start in range(0, n_rows, step):
        rows = np.arange(start, min(start + step, n_rows))
        logits = F[rows] @ F.T
        logits[rows - start, rows] = -1.0
        logits /= temperature
        exponentials = np.exp(logits - 1 / temperature)  # at most 1: no overflow
        sums = exponentials.sum(axis=1)
        means = np.einsum("ij,ij->i", exponentials, logits) / sums
        total += np.sum(np.log(sums) + 1 / temperature - means)
    return total / n_rows


def mean_nuclear_norm(P):
    """Sum of the singular values, divided by the number of rows."""
    return np.linalg.svd(P, compute_uv=False).sum() / len(P)


def cluster_agreement(Z, predicted, n_classes):
    """Adjusted mutual information of k-means clusters and predicted classes.

    Parameters
    ----------
    Z : ndarray or CSR matrix of shape (n, d)
    predicted : ndarray of int of shape (n,)
    n_classes : int
        Number of clusters; fewer if fewer rows differ.

    Returns
    -------
    agreement : float
        1 for equal partitions, 0 on average for independent ones; NaN if all rows are equal.
    """
    Z = near_zero(Z, Z)[0]  # distances keep no digit where a common offset is large
    centres = _first_centres(Z, predicted, n_classes)
    if len(centres) < 2 or _all_equal(Z):
        return np.nan
    clusters = KMeans(len(centres), init=centres, n_init=1, random_state=0).fit(Z).labels_
    return adjusted_mutual_info_score(predicted, clusters)


def _all_equal(Z):
    first = np.zeros(Z.shape[0], dtype=int)
    if sparse.issparse(Z):
        return abs(Z - Z[first]).max() == 0
    return np.array_equal(Z, Z[first])


def _first_centres(Z, predicted, n_classes):
    """Mean of each predicted class, then the rows farthest from all centres so far."""
    means = [np.asarray(Z[predicted == c].mean(axis=0)).ravel() for c in np.unique(predicted)]
    centres = np.array(means)
    distances = euclidean_distances(Z, centres).min(axis=1)
    while len(centres) < n_classes and distances.max() > 0:
        row = Z[[distances.argmax()]]
        row = row if isinstance(row, np.ndarray) else row.toarray()
        centres = np.vstack([centres, row])
        distances = np.minimum(distances, euclidean_distances(Z, row)[:, 0])
    return centres


def proxy_distance(source_log_ratios, target_log_ratios):
    r"""Proxy A-distance :math:`2 (1 - 2 \epsilon)` from the log density ratios of held-out rows.

    Epsilon is the mean of both domains' shares of rows that seem to be of the other domain, where a
    ratio of 1 counts half. Above one half the domains cannot be told apart, and the distance is 0.
    """
    if not len(source_log_ratios):
        return np.nan
    wrong = [
        np.mean((1 + sign * np.sign(ratios)) / 2)
        for sign, ratios in ((1, source_log_ratios), (-1, target_log_ratios))
    ]
    error = np.mean(wrong)
    return np.nan if np.isnan(error) else max(0.0, 2 * (1 - 2 * error))
