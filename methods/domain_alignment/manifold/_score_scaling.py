r"""Standardisation and sign matching of scores.

Done by the KEMA toolbox, not mentioned in its paper: each column is standardised per domain by the
mean and the (n - 1) standard deviation of the training samples, and sign-flipped per domain to
match the class means of the first domain.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from domain_alignment.utils.validation import domain_name

# Columns with a standard deviation below this fraction of their largest value in any domain are
# constant up to rounding, which standardisation would amplify.
CONSTANT = 1e-11


@dataclass(frozen=True)
class ScoreScale:
    """Affine map from the scores of one domain to its coordinates.

    Attributes
    ----------
    mean, factor : ndarray of shape (k,)
        A coordinate is ``(score - mean) * factor``; the factor includes the sign.
    """

    mean: np.ndarray
    factor: np.ndarray

    def __call__(self, scores):
        """Coordinates of scores of shape (n, k)."""
        return (scores - self.mean) * self.factor

    def undone(self, Z):
        """Scores whose scaled form is Z."""
        return Z / self.factor + self.mean

    def flipped(self, signs):
        """The same map for scores with columns multiplied by `signs`."""
        return ScoreScale(self.mean * signs, self.factor)


def identity_scales(scores):
    """Identity scales, one per domain."""
    n_columns = scores[0].shape[1]
    return [ScoreScale(np.zeros(n_columns), np.ones(n_columns)) for _ in scores]


def standard_scales(scores, rows, groups):
    r"""Scales that standardise each domain and match the signs of its columns to domain 1.

    With the class means :math:`m^a_{cj}` of the standardised labelled scores, column j of domain a
    is sign-flipped if

    .. math:: \sum_c |m^1_{cj} - m^a_{cj}| > \sum_c |m^1_{cj} + m^a_{cj}|,

    summing over the classes of both domains (the toolbox's library; its toy script takes the
    maximum over c). A domain that shares no class with domain 1 is matched to the first domain with
    a class in common whose signs are known.

    Parameters
    ----------
    scores : list of ndarray of shape (n_a, k)
    rows : list of ndarray of int
        Labelled samples of each domain.
    groups : list of ndarray of int
        Their classes; negative means none.

    Returns
    -------
    scales : list of ScoreScale

    Warns
    -----
    ConvergenceWarning
        If a column is constant in a domain; it is only centred there.

    Examples
    --------
    >>> scores = [np.array([[0.0], [2.0]]), np.array([[5.0], [1.0]])]
    >>> rows = groups = [np.array([0, 1])] * 2
    >>> first, second = standard_scales(scores, rows, groups)
    >>> first(scores[0]).ravel().round(3), second(scores[1]).ravel().round(3)
    (array([-0.707,  0.707]), array([-0.707,  0.707]))
    """
    means = [Z.mean(axis=0) for Z in scores]
    spreads = _spreads(scores)
    classes = [
        _class_means((Z[at] - mean) / spread, group)
        for Z, at, mean, spread, group in zip(scores, rows, means, spreads, groups, strict=True)
    ]
    signs = _signs(classes, scores[0].shape[1])
    return [
        ScoreScale(mean, sign / spread)
        for mean, sign, spread in zip(means, signs, spreads, strict=True)
    ]


def _spreads(scores):
    size = np.max([np.abs(Z).max(axis=0) for Z in scores], axis=0)
    spreads = []
    for domain, Z in enumerate(scores):
        spread = Z.std(axis=0, ddof=1) if len(Z) > 1 else np.zeros(Z.shape[1])
        constant = spread <= CONSTANT * size
        if constant.any():
            remedy = "scale the domains alike" if constant.all() else "ask for fewer components"
            warnings.warn(
                f"{domain_name(domain)}: columns {np.flatnonzero(constant).tolist()} of the "
                f"embedding are constant and only centred; {remedy}",
                ConvergenceWarning,
                stacklevel=3,
            )
        spreads.append(np.where(constant, 1.0, spread))
    return spreads


def _class_means(scores, groups):
    return {
        group: scores[groups == group].mean(axis=0) for group in np.unique(groups) if group >= 0
    }


def _signs(classes, n_columns):
    """Signs per domain and column, decided domain by domain."""
    signs = {0: np.ones(n_columns)}
    waiting = list(range(1, len(classes)))
    while waiting:
        comparable = [
            (domain, reference)
            for domain in waiting
            for reference in sorted(signs)
            if classes[domain].keys() & classes[reference].keys()
        ]
        domain, reference = comparable[0] if comparable else (waiting[0], None)
        signs[domain] = np.ones(n_columns)
        if reference is not None:
            flipped = _is_opposite(classes[reference], classes[domain], signs[reference])
            signs[domain][flipped] = -1
        waiting.remove(domain)
    return [signs[domain] for domain in range(len(classes))]


def _is_opposite(reference, means, sign):
    shared = sorted(reference.keys() & means.keys())
    first = sign * np.array([reference[group] for group in shared])
    second = np.array([means[group] for group in shared])
    return np.abs(first - second).sum(axis=0) > np.abs(first + second).sum(axis=0)
