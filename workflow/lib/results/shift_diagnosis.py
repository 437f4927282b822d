"""In what a source and a target differ: as a whole, in classes, by feature, in their directions.

Nothing here sees a label of the target.
"""

import dataclasses

import numpy as np
import scipy.stats
from scipy.optimize import nnls
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import NearestNeighbors

from workflow.lib.results.significance import ALPHA, holm

N_TREES = 200
N_SHOWN = 10
N_ASKED = 20
# A condition number above which class shares cannot be had from a confusion matrix.
_ILL_CONDITIONED = 1e3


@dataclasses.dataclass(frozen=True)
class Separation:
    """How well a classifier tells the domains apart, on rows held out.

    Attributes
    ----------
    auc, low, high : float
        Area under the ROC curve and its interval; 0.5 for equal domains.
    accuracy : float
        Mean over the domains of the share recognised.
    p : float
        Of a test that the areas are equal (Mann–Whitney, one-sided).
    """

    auc: float
    low: float
    high: float
    accuracy: float
    p: float

    @property
    def a_distance(self) -> float:
        """Proxy A-distance, from 0 to 2 (Ben-David et al. 2007)."""
        return max(0.0, 2 * (2 * self.accuracy - 1))

    @property
    def found(self) -> bool:
        """At the level of one end of the interval, since the test is one-sided."""
        return self.p < ALPHA / 2


def separation(source: np.ndarray, target: np.ndarray, folds: int = 5) -> Separation:
    """Two-sample test by a random forest (Lopez-Paz & Oquab 2017); any kind of difference counts.

    Parameters
    ----------
    source, target : ndarray of shape (n_s, p) and (n_t, p)
    folds : int

    Notes
    -----
    The standard error of the area is that of Hanley & McNeil (Radiology 1982, Equation 1).
    """
    # Trees ask for the order of values alone, and hold them in single precision.
    most = float(np.finfo(np.float32).max) / 2
    X = np.vstack([source, target]).clip(-most, most)
    y = np.repeat([0, 1], [len(source), len(target)])
    forest = RandomForestClassifier(
        N_TREES, min_samples_leaf=3, class_weight="balanced", random_state=0
    )
    splitter = StratifiedKFold(folds, shuffle=True, random_state=0)
    scores = cross_val_predict(forest, X, y, cv=splitter, method="predict_proba")[:, 1]
    auc = float(roc_auc_score(y, scores))
    error = _auc_error(auc, len(target), len(source))
    test = scipy.stats.mannwhitneyu(scores[y == 1], scores[y == 0], alternative="greater")
    accuracy = np.mean([np.mean((scores[y == side] > 0.5) == side) for side in (0, 1)])
    half = scipy.stats.norm.ppf(1 - ALPHA / 2) * error
    return Separation(
        auc, max(0.0, auc - half), min(1.0, auc + half), float(accuracy), float(test.pvalue)
    )


def _auc_error(auc: float, n_one: int, n_other: int) -> float:
    one, other = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc) + (n_one - 1) * (one - auc**2) + (n_other - 1) * (other - auc**2)
    return float(np.sqrt(variance / (n_one * n_other)))


@dataclasses.dataclass(frozen=True)
class ClassShares:
    """Shares of the classes, each of shape (C,); ``target`` is None where it cannot be had."""

    source: np.ndarray
    predicted: np.ndarray
    target: np.ndarray | None
    why_not: str = ""


def class_shares(
    labels: np.ndarray, held_out: np.ndarray, predicted: np.ndarray, n_classes: int
) -> ClassShares:
    r"""Class shares of the target if nothing but they differ from the source.

    Black-box shift estimation (Lipton, Wang & Smola, ICML 2018): the shares q of the target's
    predictions and the joint shares C of prediction and label on held-out source rows give the
    ratios w of the class shares,

    .. math:: \min_{w \ge 0} \|C w - q\|, \quad \text{share of class } y: w_y \, p_S(y).

    Parameters
    ----------
    labels, held_out : int ndarray of shape (n,)
        Of source rows; -1 rows are left out.
    predicted : int ndarray of shape (n_t,)
        Of the target, by the same classifier.
    n_classes : int
    """
    kept = (labels >= 0) & (held_out >= 0)
    labels, held_out = labels[kept], held_out[kept]
    source = np.bincount(labels, minlength=n_classes) / len(labels)
    shares = np.bincount(predicted, minlength=n_classes) / len(predicted)
    joint = np.zeros((n_classes, n_classes))
    np.add.at(joint, (held_out, labels), 1 / len(labels))
    present = source > 0
    condition = np.linalg.cond(joint[:, present])
    if condition > _ILL_CONDITIONED:
        why = f"the confusion matrix is singular (condition {condition:.0e})"
        return ClassShares(source, shares, None, why)
    ratios, _ = nnls(joint[:, present], shares)
    target = np.zeros(n_classes)
    target[present] = ratios * source[present]
    return ClassShares(source, shares, target / target.sum())


@dataclasses.dataclass(frozen=True)
class FeatureShift:
    """One feature: the Kolmogorov–Smirnov distance, its Holm-adjusted p, both medians."""

    name: str
    distance: float
    p: float
    source_median: float
    target_median: float


def feature_shifts(
    source: np.ndarray, target: np.ndarray, names: list[str]
) -> tuple[list[FeatureShift], int]:
    """The features that differ most, and how many differ at all (Holm, 5 %).

    Raises
    ------
    ValueError
        If the domains differ in their number of features.
    """
    if source.shape[1] != target.shape[1]:
        raise ValueError(f"{source.shape[1]} and {target.shape[1]} features cannot be compared")
    tests = [
        scipy.stats.ks_2samp(source[:, j], target[:, j], method="asymp")
        for j in range(source.shape[1])
    ]
    adjusted = holm([float(test.pvalue) for test in tests])
    order = np.argsort([-test.statistic for test in tests], kind="stable")
    found = [
        FeatureShift(
            names[j],
            float(tests[j].statistic),
            float(adjusted[j]),
            float(np.median(source[:, j])),
            float(np.median(target[:, j])),
        )
        for j in order[:N_SHOWN]
    ]
    return found, int(np.sum(np.asarray(adjusted) < ALPHA))


@dataclasses.dataclass(frozen=True)
class Spectrum:
    """Shares of variance of the leading components of each domain, and the angles between them.

    Attributes
    ----------
    source, target : ndarray of shape (k,)
    angles : ndarray of shape (k,), or None
        Principal angles in degrees, smallest first; None for domains with different features.
    """

    source: np.ndarray
    target: np.ndarray
    angles: np.ndarray | None


def spectrum(source: np.ndarray, target: np.ndarray, n_components: int = 5) -> Spectrum:
    """Principal components of both domains, of standard columns (each by its own domain)."""
    k = min(n_components, *(min(X.shape[0] - 1, X.shape[1]) for X in (source, target)))
    bases, shares = zip(*(_principal(X, k) for X in (source, target)), strict=True)
    angles = None
    if source.shape[1] == target.shape[1]:
        cosines = np.linalg.svd(bases[0] @ bases[1].T, compute_uv=False)
        angles = np.degrees(np.arccos(np.minimum(cosines, 1.0)))  # rounding above 1
    return Spectrum(*shares, angles)


def _principal(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    centred = X - X.mean(axis=0)
    spread = centred.std(axis=0)
    _, values, directions = np.linalg.svd(
        centred / np.where(spread > 0, spread, 1.0), full_matrices=False
    )
    total = float(np.sum(values**2))
    return directions[:k], values[:k] ** 2 / (total or 1.0)


def worth_labelling(votes: np.ndarray, features: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Rows whose labels would tell most: methods disagree, and other rows are near.

    Parameters
    ----------
    votes : int ndarray of shape (n_methods, n)
        Predicted classes.
    features : ndarray of shape (n, p)
    candidates : bool ndarray of shape (n,)
        Rows without a known label.

    Returns
    -------
    rows : int ndarray
        At most `N_ASKED`, by falling entropy of the votes times density, the inverse mean distance
        to the ten nearest rows (information density: Settles & Craven, EMNLP 2008, Equation 13).
    """
    shares = np.stack([(votes == c).mean(axis=0) for c in np.unique(votes)])
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=0)
    if len(features) < 2:  # no other row is near
        return np.flatnonzero(candidates & (entropy > 0))
    spread = features.std(axis=0)
    X = features / np.where(spread > 0, spread, 1.0)
    k = min(10, len(X) - 1)
    distances = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()[0].mean(axis=1)
    density = 1 / np.maximum(distances, np.finfo(float).tiny)
    value = np.where(candidates, entropy * density / np.median(density), -1.0)
    rows = np.argsort(-value, kind="stable")[:N_ASKED]
    return rows[value[rows] > 0]
