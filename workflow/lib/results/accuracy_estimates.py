r"""How accurate a candidate is on the target, estimated without a scored label.

No estimate without target labels holds under every shift. Two that err on different sides are put
together: an upper one that believes in what the candidate shows (held-out accuracy on the source,
weighted by the density ratio; share of target rows on which it is as certain as on the source rows
that it gets right), and a lower one that believes in nothing but a bound on the difference between
the domains (`workflow.lib.trials.discrepancy`).
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import scipy.stats

from workflow.lib.results.significance import ALPHA
from workflow.lib.trials.protocols import HIDDEN, Trial


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Of one candidate in one trial, fractions; NaN where it is not defined.

    Attributes
    ----------
    weighted, weighted_error : float
        Held-out accuracy on the source by importance weights, and its standard error.
    confident, confident_error : float
        Share of the target rows above the confidence threshold, and its standard error.
    bound, bound_error : float
        Lower bound by the disagreement of a critic, and its standard error.
    n_right, n_judged : int
        Held-out labels of the target: correct, and all.
    n_alone : int
        Labels of the target that were not held out, each the only one of its class.
    """

    weighted: float
    weighted_error: float
    confident: float
    confident_error: float
    bound: float
    bound_error: float
    n_right: int
    n_judged: int
    n_alone: int = 0


def estimate(arrays: Mapping[str, np.ndarray], place: str, trial: Trial) -> Estimate | None:
    """Estimates of a candidate by what its fit left; None if it left no held-out predictions.

    Parameters
    ----------
    arrays : mapping
        As `workflow.lib.trials.tuning` leaves them.
    place : str
        ``"<trial>/<candidate>"``.
    trial : Trial
        Shows the labels.
    """
    if f"{place}/held_out" not in arrays:
        return None
    shown = np.concatenate(trial.labels)
    held_out = arrays[f"{place}/held_out"]
    n_source = sum(map(len, trial.labels[:-1]))
    labelled, answered = shown != HIDDEN, held_out != HIDDEN
    judged = labelled & answered
    right = held_out == shown
    source = np.flatnonzero(judged[:n_source])
    ratios = np.asarray(arrays[f"{place}/log_ratios"][source], dtype=float)
    weighted, weighted_error = weighted_accuracy(right[source], ratios)
    confident = (float("nan"), float("nan"))
    if f"{place}/confidence" in arrays and f"{place}/held_out_confidence" in arrays:
        of_source = arrays[f"{place}/held_out_confidence"][source]
        confident = confident_share(right[source], of_source, arrays[f"{place}/confidence"])
    bound = (float("nan"), float("nan"))
    if f"{place}/disagreement" in arrays:
        n_rows = (len(trial.rows[-1]), len(source))
        critics = arrays[f"{place}/disagreement"]
        bound = min(disagreement_bound(right[source], shares, n_rows) for shares in critics)
    return Estimate(
        weighted,
        weighted_error,
        *confident,
        *bound,
        n_right=int((right & judged)[n_source:].sum()),
        n_judged=int(judged[n_source:].sum()),
        n_alone=int((labelled & ~answered)[n_source:].sum()),
    )


def weighted_accuracy(right: np.ndarray, log_ratios: np.ndarray) -> tuple[float, float]:
    r"""Importance-weighted accuracy and its standard error.

    .. math:: a = \sum_i w_i r_i \Big/ \sum_i w_i, \quad
              s^2 = \sum_i w_i^2 (r_i - a)^2 \Big/ \Big(\sum_i w_i\Big)^2

    (the delta method for a ratio of means; Owen, Monte Carlo theory, 2013, Equation 9.9).
    """
    if not len(right) or not np.isfinite(log_ratios).all():
        return float("nan"), float("nan")
    weights = np.exp(log_ratios - log_ratios.max())
    weights /= weights.sum()
    accuracy = float(weights @ right)
    error = float(np.sqrt(weights**2 @ (right - accuracy) ** 2))
    return accuracy, max(error, _no_error(1 / float(weights @ weights)))


def confident_share(
    right: np.ndarray, of_source: np.ndarray, of_target: np.ndarray
) -> tuple[float, float]:
    """Average thresholded confidence: accuracy and standard error.

    The threshold is such that the share of held-out source rows above it is their accuracy (Garg et
    al., Leveraging unlabeled data to predict out-of-distribution performance, ICLR 2022, Equation
    3); the answer is the share of target rows above it. Where several source rows lie on the
    threshold, as do all that a classifier takes for certain, the share of these that makes up their
    accuracy counts as above, on the target too. The error is that of both shares.
    """
    known = np.isfinite(of_source)
    if not known.any():
        return float("nan"), float("nan")
    right, of_source = right[known], of_source[known]
    n_above = int(right.sum())
    threshold = np.sort(of_source)[::-1][max(n_above - 1, 0)]
    on_it = (n_above - np.sum(of_source > threshold)) / np.sum(of_source == threshold)
    share = float(np.mean(of_target > threshold) + on_it * np.mean(of_target == threshold))
    parts = [(share, len(of_target)), (float(right.mean()), len(right))]
    return share, float(np.sqrt(sum(_variance(p, n) for p, n in parts)))


def disagreement_bound(
    right: np.ndarray, shares: np.ndarray, n_rows: tuple[int, int]
) -> tuple[float, float]:
    r"""Lower bound :math:`a_S - \Delta` of the accuracy and its standard error.

    Parameters
    ----------
    right : bool ndarray
        Whether held-out source rows are predicted correctly.
    shares : ndarray of shape (2,)
        Of target and source rows on which the critic contradicts the candidate.
    n_rows : (int, int)
        Of target and source.
    """
    accuracy = float(np.mean(right))
    bound = accuracy - max(0.0, float(shares[0] - shares[1]))
    parts = [(accuracy, len(right)), *zip(map(float, shares), n_rows, strict=True)]
    return bound, float(np.sqrt(sum(_variance(p, n) for p, n in parts)))


def _variance(share: float, n: float) -> float:
    """Of a share, never below that of half a row: 10 of 10 right is no certainty."""
    return max(share * (1 - share) / n, _no_error(n) ** 2)


def _no_error(n: float) -> float:
    p = 0.5 / (n + 1)
    return float(np.sqrt(p * (1 - p) / n))


@dataclasses.dataclass(frozen=True)
class Interval:
    """An expected share with an interval, fractions."""

    expected: float
    low: float
    high: float


def expected_accuracy(estimates: Sequence[Estimate], n_compared: int) -> Interval:
    """From the lower to the upper estimate, means over trials; the middle is the expectation.

    Without a lower one, as of fewer than four rows of the target, the accuracy may be any below.

    Parameters
    ----------
    estimates : sequence of Estimate
        Of one candidate in every trial, that with all rows first.
    n_compared : int
        Candidates of which this one was chosen by such estimates: the level is shared among them
        (Bonferroni), because the best of many looks better than it is.
    """
    quantile = z_of(n_compared)
    uppers = [max(_known(one.weighted, one.confident, otherwise=1.0)) for one in estimates]
    lowers = [one.bound for one in estimates if np.isfinite(one.bound)]
    first = estimates[0]
    upper = float(np.mean(uppers))
    upper_error = max(_known(first.weighted_error, first.confident_error, otherwise=0.0))
    lower, lower_error = 0.0, 0.0  # without a bound, as of too few rows, nothing is known below
    if lowers:
        lower, lower_error = min(upper, float(np.mean(lowers))), first.bound_error
    low, high = lower - quantile * lower_error, upper + quantile * upper_error
    return Interval(
        expected=min(1.0, max(0.0, (lower + upper) / 2)), low=max(0.0, low), high=min(1.0, high)
    )


def _known(*values: float, otherwise: float) -> list[float]:
    return [value for value in values if np.isfinite(value)] or [otherwise]


def judged_accuracy(found: Estimate, n_compared: int) -> Interval:
    """Accuracy on held-out target labels with a Clopper–Pearson interval (Bonferroni).

    Labels that are the only one of their class are not held out. They are of rare classes, so the
    others are no random sample: the interval is from where all of these would be wrong to where all
    would be right.
    """
    n, alpha = found.n_judged + found.n_alone, ALPHA / n_compared
    low, _ = clopper_pearson(found.n_right, n, alpha)
    _, high = clopper_pearson(found.n_right + found.n_alone, n, alpha)
    return Interval(found.n_right / found.n_judged, low, high)


def clopper_pearson(n_right: int, n: int, alpha: float = ALPHA) -> tuple[float, float]:
    """Exact interval of a share.

    References
    ----------
    .. [1] C. J. Clopper, E. S. Pearson. The use of confidence or fiducial limits illustrated in the
       case of the binomial. Biometrika 1934.

    Examples
    --------
    >>> [round(float(end), 3) for end in clopper_pearson(8, 10)]
    [0.444, 0.975]
    """
    beta = scipy.stats.beta.ppf
    low = 0.0 if n_right == 0 else float(beta(alpha / 2, n_right, n - n_right + 1))
    high = 1.0 if n_right == n else float(beta(1 - alpha / 2, n_right + 1, n - n_right))
    return low, high


def z_of(n_compared: int = 1) -> float:
    """Normal quantile of a two-sided interval, its level shared among some comparisons."""
    return float(scipy.stats.norm.ppf(1 - ALPHA / (2 * n_compared)))
