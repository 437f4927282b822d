r"""How much worse than on the source a candidate may be on the target, without target labels.

A critic is trained to agree with the candidate on the source and to contradict it on the target.
If no classifier of the critic's family contradicts it more than the truth does, then ([1]_,
Theorem 3.6)

.. math:: \mathrm{err}_T(h) \le \mathrm{err}_S(h) + \Delta, \quad
          \Delta = P_T[c(z) \ne h(z)] - P_S[c(z) \ne h(z)] .

In the common space of a method that learns from its own predictions of the target, the critic is
misled as the method is; so it is asked in the space of the features as well.

References
----------
.. [1] E. Rosenfeld, S. Garg. (Almost) Provable Error Bounds Under Distribution Shift via
   Disagreement Discrepancy. NeurIPS 2023.
"""

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression

from workflow.lib.trials.fitting import stacked

# Dimensions that the critic sees; more cost time and let it learn the rows by heart.
N_DIMENSIONS = 50
_N_FOLDS = 2
_N_ROUNDS = 2
# Weight of the target's rows against the source's: contradicting must not cost all agreement.
_TARGET_WEIGHT = 0.5


def critic_space(source, target, by_domain: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Both domains as a critic sees them: dense, with few columns of mean 0 and variance 1.

    Parameters
    ----------
    source, target : ndarray or CSR matrix of shape (n_s, d) and (n_t, d)
        Of more than `N_DIMENSIONS` columns the leading singular directions are kept.
    by_domain : bool, default=False
        Whether each domain's columns are standardised by itself, so that a critic of the features
        does not merely recognise the domains.
    """
    both = stacked([source, target])
    if both.shape[1] > N_DIMENSIONS:
        both = TruncatedSVD(N_DIMENSIONS, random_state=0).fit_transform(both)
    elif sparse.issparse(both):
        both = both.toarray()
    if by_domain:
        return _scaled(both[: source.shape[0]]), _scaled(both[source.shape[0] :])
    both = _scaled(both)
    return both[: source.shape[0]], both[source.shape[0] :]


def _scaled(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def disagreement(
    space: tuple[np.ndarray, np.ndarray], source_predicted, target_predicted
) -> np.ndarray | None:
    r"""Shares of rows on which a linear critic contradicts a candidate, on rows held out.

    Parameters
    ----------
    space : (ndarray of shape (n_s, d), ndarray of shape (n_t, d))
        Of `critic_space`; candidates on one embedding share it.
    source_predicted, target_predicted : int ndarray of shape (n_s,) and (n_t,)
        The candidate's classes; -1 for source rows without one, which are left out.

    Returns
    -------
    shares : ndarray of shape (2,), or None
        :math:`P_T[c \ne h]` and :math:`P_S[c \ne h]`; None if fewer than two classes or fewer than
        four rows of a domain are at hand.

    Notes
    -----
    Departs from the paper, whose critic is a network trained with a disagreement loss: here a
    target row's label is the likeliest class other than the candidate's, found anew in every
    round. Every half of the rows is judged by the critic of the other half. Cost: six fits of a
    logistic regression.

    Examples
    --------
    >>> Z = np.random.default_rng(0).normal(size=(200, 2))
    >>> h = (Z[:, 0] > 0).astype(int)
    >>> space = critic_space(Z, Z + [3, 0])
    >>> on_target, on_source = disagreement(space, h, np.ones(200, dtype=int))
    >>> bool(on_target - on_source > 0.1)
    True
    """
    kept = source_predicted >= 0
    known = source_predicted[kept]
    classes = np.unique(known)
    if len(classes) < 2 or min(len(known), len(target_predicted)) < 2 * _N_FOLDS:
        return None
    parts, predicted = (space[0][kept], space[1]), (known, target_predicted)
    # As in a stratified division: rows that are sorted by class are spread over both halves.
    halves = [np.argsort(np.argsort(h, kind="stable"), kind="stable") % _N_FOLDS for h in predicted]
    shares = []
    for fold in range(_N_FOLDS):
        learn = [half != fold for half in halves]
        if len(np.unique(known[learn[0]])) < 2:
            return None
        critic = _critic(parts, predicted, learn)
        rows = zip(parts, predicted, learn, strict=True)
        shares.append([np.mean(critic.predict(Z[~own]) != h[~own]) for Z, h, own in rows])
    return np.mean(shares, axis=0)[::-1]


def _critic(parts, predicted, learn) -> LogisticRegression:
    source, target = (Z[own] for Z, own in zip(parts, learn, strict=True))
    agreed, contradicted = (h[own] for h, own in zip(predicted, learn, strict=True))
    weights = np.repeat(
        [1.0, _TARGET_WEIGHT * len(agreed) / len(target)], list(map(len, (source, target)))
    )
    critic = _fitted(source, agreed, None)
    for _ in range(_N_ROUNDS):
        scores = critic.predict_proba(target)
        scores[critic.classes_ == contradicted[:, None]] = -1.0
        labels = np.concatenate([agreed, critic.classes_[scores.argmax(axis=1)]])
        critic = _fitted(np.vstack([source, target]), labels, weights)
    return critic


def _fitted(Z, y, weights) -> LogisticRegression:
    return LogisticRegression(max_iter=300).fit(Z, y, sample_weight=weights)
