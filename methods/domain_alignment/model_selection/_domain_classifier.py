"""Which domain a row comes from: density ratios and domain errors on rows held out."""

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from domain_alignment.utils._rows import stacked
from domain_alignment.utils.validation import dense

_N_FOLDS = 2
# Of the length of the rows: what varies less is rounding of their sums.
_ROUNDING = 1e-12


def log_density_ratios(source, target):
    r"""Logarithm of the density ratio target / source at every row, by classification.

    A logistic regression tells target from source rows; by Bayes' rule its odds give ([1]_, the
    density ratio of DEV)

    .. math:: \log \frac{p_T(z)}{p_S(z)} = \log \frac{P(T \mid z)}{P(S \mid z)}
              + \log \frac{n_S}{n_T} .

    Each half of the rows is evaluated by the classifier of the other half: the ratio at a row that
    trained the classifier is too extreme, the more so the more features there are.

    The classifier is linear and sees where the domains lie, not how they spread: of features that
    were z-scored in each domain, and of linear maps of these, it finds nothing, whatever else
    differs. skada's default is the same; the authors' program trains a network of two hidden
    layers.

    Parameters
    ----------
    source : ndarray or CSR matrix of shape (n_s, d)
    target : ndarray or CSR matrix of shape (n_t, d)

    Returns
    -------
    source_ratios : ndarray of shape (n_s,)
    target_ratios : ndarray of shape (n_t,)
        NaN everywhere if a domain has fewer than two rows.

    Notes
    -----
    All features are divided by one number that makes their total variance 1, then C = 1: the
    result depends neither on the scale of the embedding nor, through the scale, on d. The halves
    are every other row in the order of one fixed projection, so that the order of the rows has no
    effect beyond rounding.

    Cost: two fits by L-BFGS, O((n_s + n_t) d) per iteration, some tens of iterations.

    References
    ----------
    .. [1] K. You, X. Wang, M. Long, M. I. Jordan. Towards Accurate Model Selection in Deep
       Unsupervised Domain Adaptation. ICML 2019.

    Examples
    --------
    >>> Z = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> source_ratios, target_ratios = log_density_ratios(Z, Z + 3)
    >>> bool(target_ratios.mean() > 0 > source_ratios.mean())
    True
    """
    parts = source, target
    ratios = [np.full(Z.shape[0], np.nan) for Z in parts]
    if min(Z.shape[0] for Z in parts) < _N_FOLDS:
        return tuple(ratios)
    parts = _scaled(*parts)
    folds = [_folds(Z) for Z in parts]
    for fold in range(_N_FOLDS):
        kept = [Z[members != fold] for Z, members in zip(parts, folds, strict=True)]
        classifier = _fitted(*kept)
        prior = np.log(kept[0].shape[0] / kept[1].shape[0])
        for Z, members, ratio in zip(parts, folds, ratios, strict=True):
            ratio[members == fold] = classifier.decision_function(Z[members == fold]) + prior
    return tuple(ratios)


def _fitted(source, target):
    """Logistic regression whose second class is the target."""
    is_target = np.repeat([0, 1], [source.shape[0], target.shape[0]])
    # Tighter than the default, which leaves the order of the rows visible in the third digit.
    return LogisticRegression(tol=1e-8, max_iter=1000).fit(stacked([source, target]), is_target)


def _scaled(source, target):
    """Both with total variance 1 together; centred too, and dense, unless both are sparse."""
    n_rows = source.shape[0] + target.shape[0]
    mean = sum(np.asarray(Z.sum(axis=0)).ravel() for Z in (source, target)) / n_rows
    if sparse.issparse(source) and sparse.issparse(target):
        squares = sum(Z.multiply(Z).sum() for Z in (source, target))
        factor = _inverse(np.sqrt(max(squares / n_rows - mean @ mean, 0.0)), squares / n_rows)
        return tuple((Z * factor).tocsr() for Z in (source, target))
    parts = [dense(Z) - mean for Z in (source, target)]
    variance = sum(np.vdot(Z, Z) for Z in parts) / n_rows
    factor = _inverse(np.sqrt(variance), variance + mean @ mean)
    return tuple(Z * factor for Z in parts)


def _inverse(scale, square):
    """1 / scale; 0 for rows that are equal up to rounding, of this mean square."""
    return 1 / scale if scale > _ROUNDING * np.sqrt(square) else 0.0


def _folds(Z):
    """Every other row in the order of a projection in which only equal rows tie."""
    order = np.argsort(Z @ np.cos(1.0 + np.arange(Z.shape[1])), kind="stable")
    folds = np.empty(Z.shape[0], dtype=np.intp)
    folds[order] = np.arange(Z.shape[0]) % _N_FOLDS
    return folds
