"""Whether to adapt to a target, with what, and what to expect: without a scored label.

Three verdicts: `USE` a method, `KEEP` (do not adapt), `UNKNOWN` (the labels at hand cannot tell).
"""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import scipy.stats

from workflow.lib.results.accuracy_estimates import (
    ALPHA,
    Estimate,
    Interval,
    clopper_pearson,
    expected_accuracy,
    judged_accuracy,
    z_of,
)
from workflow.lib.results.power import POWER

USE, KEEP, UNKNOWN = "use", "keep", "unknown"
# Gain below which nobody would mind which of two candidates is used.
GAIN_OF_INTEREST = 0.05
# Labels of the target for which the held-out accuracy on the source stands.
SOURCE_IN_LABELS = 50
# The estimate of an accuracy that believes in nothing but a bound on the shift.
CRITIC = "bound"


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One way of classifying the target.

    Attributes
    ----------
    method : str
    number : int
        Among the method's candidates.
    is_baseline : bool
        Whether it adapts nothing.
    words : str
        Its settings.
    estimates : tuple of Estimate
        One per trial, that with all rows first.
    predicted : int ndarray of shape (n_t,)
        Classes of all target rows, in that trial.
    confidence : ndarray of shape (n_t,), optional
        Where that trial shows all of the target, else None.
    held_out : int ndarray
        Held-out predictions of the target's visible rows in that trial, -1 where there is none.
    source_held_out : int ndarray
        Of the sources' visible rows.
    selector : float or None
        Score of the criterion on shown target labels, mean over trials: the mean of the held-out
        accuracies on source and target.
    on_source : float or None
        The held-out accuracy on the source, mean over trials. In its place, of a classifier that
        learns from the target alone, the mean over all candidates of that on the target: by its
        few labels the luckiest of many would be ahead of those whose error the source halves.
    embeds : bool
        Whether it predicts samples that it was not fitted on.
    """

    method: str
    number: int
    is_baseline: bool
    words: str
    estimates: tuple[Estimate, ...]
    predicted: np.ndarray
    confidence: np.ndarray | None = None
    held_out: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=int))
    source_held_out: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=int))
    selector: float | None = None
    on_source: float | None = None
    embeds: bool = True

    @property
    def bound(self) -> float:
        """Mean lower bound over the trials; minus infinity where one trial has none."""
        found = float(np.mean([one.bound for one in self.estimates]))
        return found if np.isfinite(found) else -math.inf

    @property
    def on_labels(self) -> float:
        r"""What chooses where there are labels of the target; minus infinity without any.

        .. math:: w a_T + (1 - w) a_S, \quad w = \max(1 / 2, n / (n + 50))

        of the held-out accuracies on target and source. Of few labels the target's has a large
        error, which the source's halves; of many, what the source says is beside the point: a
        classifier of the target's labels alone may be bad there.
        """
        if self.selector is None or self.on_source is None:
            return -math.inf if self.selector is None else self.selector
        n = self.estimates[0].n_judged
        weight = max(0.5, n / (n + SOURCE_IN_LABELS))
        on_target = 2 * self.selector - self.on_source
        return weight * on_target + (1 - weight) * self.on_source


@dataclasses.dataclass(frozen=True)
class Answer:
    """What to do, and the numbers behind it; fractions.

    Attributes
    ----------
    verdict : {USE, KEEP, UNKNOWN}
    best, baseline : Candidate
        The best that adapts, and the best that does not.
    expected, without : Interval
        Accuracy of both on the target.
    gain : Interval
    differing : float
        Share of the target rows on which the two differ: no gain can be larger.
    n_labels : int
        Shown target labels that judged them; 0 if none did.
    n_more : int or None
        Target labels that would tell, beyond those at hand; for `UNKNOWN`. 0 where those would have
        told a gain of interest, and None where all samples of the target are too few.
    reason : str
    n_compared : int
        Candidates among which the level of the intervals is shared.
    saved : Candidate
        Kept as a model for new samples: `used`, or where that predicts none the best that does.
    """

    verdict: str
    best: Candidate
    baseline: Candidate
    expected: Interval
    without: Interval
    gain: Interval
    differing: float
    n_labels: int
    n_more: int | None
    reason: str
    n_compared: int
    saved: Candidate

    @property
    def used(self) -> Candidate:
        """Whose predictions to take; where nothing can be told, of whom more is expected."""
        return self.best if _adapts(self.verdict, self.gain) else self.baseline

    def accuracy_of(self, one: Candidate) -> Interval:
        """What to expect of a candidate on the target."""
        return _accuracy(one, self.n_labels, self.n_compared)


class NothingToCompareError(ValueError):
    """No method that adapts, or none that does not, gave an answer in every trial."""


def decide(candidates: Sequence[Candidate], shown: np.ndarray, shift_found: bool) -> Answer:
    """Choose a candidate and weigh it against the best that adapts nothing.

    Parameters
    ----------
    candidates : sequence of Candidate
    shown : int ndarray
        Shown labels of the target's visible rows, -1 where hidden, as of ``Candidate.held_out``.
    shift_found : bool
        Whether a classifier can tell the domains apart.

    Raises
    ------
    NothingToCompareError
        If there is nothing on one of the two sides.
    """
    n_shown = int(np.sum(shown >= 0))
    by_labels = n_shown > 0 and any(one.selector is not None for one in candidates)
    adapting = [one for one in candidates if not one.is_baseline]
    others = [one for one in candidates if one.is_baseline]
    if not adapting or not others:
        raise NothingToCompareError("no candidate of one side gave an answer in every trial")
    best, baseline = _best(adapting, by_labels), _best(others, by_labels)
    differing = float(np.mean(best.predicted != baseline.predicted))
    n_judged = best.estimates[0].n_judged if by_labels else 0
    expected, without = (_accuracy(one, n_judged, len(candidates)) for one in (best, baseline))
    if n_judged:
        gain = paired_gain(best.held_out, baseline.held_out, shown, len(adapting))
        # Fits without some labels differ more than those that predict in the end.
        gain = Interval(*(_possible(end, differing) for end in dataclasses.astuple(gain)))
    else:
        gain = unseen_gain(best, baseline, differing, len(adapting))
    verdict, reason = _verdict(gain, differing, shift_found, n_judged, n_shown)
    n_more = None
    if verdict == UNKNOWN:
        parting = differing
        if n_judged:  # where the two part on more of the labels at hand, so they would on others
            won, lost, _ = _parted(best.held_out, baseline.held_out, shown)
            parting = max(differing, (won + lost) / n_judged)
        n = labels_to_tell(gain.expected, parting, len(adapting))
        # One that cannot be held out takes from what another tells.
        n_telling = max(0, 2 * n_judged - n_shown) if n_judged else 0
        n_more = max(0, n - n_telling) if n <= len(best.predicted) else None
    return Answer(
        verdict,
        best,
        baseline,
        expected,
        without,
        gain,
        differing,
        n_judged,
        n_more,
        reason,
        len(candidates),
        _saved(*(adapting, others) if _adapts(verdict, gain) else (others, adapting), by_labels),
    )


def _adapts(verdict: str, gain: Interval) -> bool:
    return verdict == USE or (verdict == UNKNOWN and gain.expected > 0)


def _saved(wanted: Sequence[Candidate], others: Sequence[Candidate], by_labels: bool) -> Candidate:
    """The best of those wanted that predicts new samples; of the others where none does."""
    for part in (wanted, others):
        if able := [one for one in part if one.embeds]:
            return _best(able, by_labels)
    raise NothingToCompareError("no candidate predicts new samples")


def _best(candidates: Sequence[Candidate], by_labels: bool) -> Candidate:
    return max(candidates, key=lambda one: rank(one, by_labels))  # the first among ties


def rank(one: Candidate, by_labels: bool) -> tuple[float, float]:
    """What the best candidate has most of: right labels where there are, then the bound."""
    return (one.on_labels if by_labels else one.bound, one.bound)


def _accuracy(one: Candidate, n_judged: int, n_compared: int) -> Interval:
    found = one.estimates[0]
    if n_judged and found.n_judged:
        return judged_accuracy(found, n_compared)
    return expected_accuracy(one.estimates, n_compared)


def paired_gain(
    best: np.ndarray, baseline: np.ndarray, labels: np.ndarray, n_compared: int
) -> Interval:
    """Gain on held-out target labels, with a conservative interval (Bonferroni).

    The gain is s (2 q - 1) for the share s of rows that one alone gets right, and the share q of
    these that the first gets right. Both have Clopper–Pearson intervals at half the level: an
    unseen row may be one on which the two part, however few of those at hand are. The level is
    shared among the candidates that adapt. The baseline is the best of several by the same labels
    too, which makes gains rather too small: against that only the lower end is safe.

    Labels that were not held out, each the only one of its class, are no gain to the expectation;
    the lower end takes all of them for lost, the upper end for won.
    """
    won, lost, n_judged = _parted(best, baseline, labels)
    n = int(np.sum(labels >= 0))
    n_alone, alpha = n - n_judged, _level(n_compared)
    low, _ = _ends(won, lost + n_alone, n, alpha)
    _, high = _ends(won + n_alone, lost, n, alpha)
    return Interval((won - lost) / n, low, high)


def _ends(won: int, lost: int, n: int, alpha: float) -> tuple[float, float]:
    """Of the gain where of n rows some are won and some lost."""
    shares = clopper_pearson(won + lost, n, alpha)
    lowest, highest = (2 * end - 1 for end in clopper_pearson(won, won + lost, alpha))
    return min(share * lowest for share in shares), max(share * highest for share in shares)


def _parted(best: np.ndarray, baseline: np.ndarray, labels: np.ndarray) -> tuple[int, int, int]:
    """Rows that the first alone gets right, those that the second alone does, and all judged."""
    judged = (labels >= 0) & (best >= 0) & (baseline >= 0)
    best, baseline, labels = best[judged], baseline[judged], labels[judged]
    won = int(np.sum((best == labels) & (baseline != labels)))
    lost = int(np.sum((best != labels) & (baseline == labels)))
    return won, lost, len(labels)


def _level(n_compared: int) -> float:
    """Of each of the two intervals behind that of a paired gain."""
    return ALPHA / (2 * n_compared)


def unseen_gain(
    best: Candidate, baseline: Candidate, differing: float, n_compared: int
) -> Interval:
    """Gain without labels, from three estimates of both accuracies.

    An estimate whose interval holds zero cannot tell the two apart, as that by weights on the
    source where no source row lies near the target's. So where the critic's is separated from zero,
    the only one that doubts a candidate, and no other is so on the other side, those that are
    separated say the gain. Else it is from the least to the most that any of them says.

    The standard error of one is the larger of that over the trials and the paired binomial one; no
    gain is larger than the share of rows on which the two differ.
    """
    found = {
        name: gain
        for name in (CRITIC, "confident", "weighted")
        if (gain := _gain_by(name, best, baseline, differing, n_compared)) is not None
    }
    if not found:
        return Interval(0.0, -differing, differing)
    apart = {name: one for name, one in found.items() if one.low > 0 or one.high < 0}
    if CRITIC in apart and len({one.low > 0 for one in apart.values()}) == 1:
        found = apart
    gains = [one.expected for one in found.values()]
    low, high = min(one.low for one in found.values()), max(one.high for one in found.values())
    return Interval((min(gains) + max(gains)) / 2, low, high)


def _gain_by(
    name: str, best: Candidate, baseline: Candidate, differing: float, n_compared: int
) -> Interval | None:
    """Gain by one of the estimates; None where a trial lacks it."""
    pairs = [
        getattr(mine, name) - getattr(theirs, name)
        for mine, theirs in zip(best.estimates, baseline.estimates, strict=True)
    ]
    if not np.isfinite(pairs).all():
        return None
    gain = _possible(float(np.mean(pairs)), differing)
    error = float(np.std(pairs, ddof=1) / np.sqrt(len(pairs))) if len(pairs) > 1 else 0.0
    paired = math.sqrt(max(0.0, differing - gain**2) / len(best.predicted))
    half = z_of(n_compared) * max(error, paired)
    return Interval(gain, _possible(gain - half, differing), _possible(gain + half, differing))


def _possible(gain: float, differing: float) -> float:
    """No gain is larger than the share of rows that two candidates give different classes."""
    return min(differing, max(-differing, gain))


def _verdict(
    gain: Interval, differing: float, shift_found: bool, n_judged: int, n_shown: int
) -> tuple[str, str]:
    if differing <= GAIN_OF_INTEREST:
        return KEEP, (
            f"the best method that adapts gives {100 * differing:.1f} % of the target's samples "
            "another class than no adaptation, so that it cannot gain more than that"
        )
    if n_shown and not n_judged:
        return UNKNOWN, (
            "with a single label of a class, none can be held out to compare methods by"
        )
    if not n_judged and not shift_found:
        return KEEP, (
            "a random forest does not tell these samples of the two domains apart: no shift is "
            "seen that could be undone"
        )
    if gain.low > 0:
        return USE, "the gain is separated from zero"
    if n_judged:
        if gain.high <= GAIN_OF_INTEREST:
            return KEEP, "the labels leave room for no gain of interest"
        return UNKNOWN, "the gain is not separated from zero by the labels at hand"
    if gain.high <= GAIN_OF_INTEREST:
        return KEEP, "no estimate sees a gain of interest"
    return UNKNOWN, "estimates without target labels do not agree that there is a gain"


def labels_to_tell(gain: float, differing: float, n_compared: int = 1) -> int:
    r"""Target labels, drawn at random, with which `paired_gain` would separate a gain from zero.

    It does so where of the rows on which two candidates part significantly more than half are won:
    an exact binomial test. With a share d of such rows and a gain g, a row of them is won with
    probability (1 + g / d) / 2. The number is one with which that test is passed in `POWER`
    of draws, and with one less it is not; as the power of an exact test goes up and down a little,
    some smaller ones may do. The search begins at the number of its normal form (Connor, Sample
    size for testing differences in proportions for the paired-sample design, Biometrics 1987),

    .. math:: n = (z_{1 - \alpha / 2} \sqrt d + z_{power} \sqrt{d - g^2})^2 / g^2 .

    Parameters
    ----------
    gain : float
        Accuracy of one minus that of the other. A smaller one than `GAIN_OF_INTEREST` is not looked
        for.
    differing : float
        Share of the rows on which they part.
    n_compared : int, default=1
        Candidates among which the level is shared.

    Examples
    --------
    >>> labels_to_tell(0.1, 0.2), labels_to_tell(0.1, 0.2, n_compared=300)
    (196, 450)
    """
    gain = max(abs(gain), GAIN_OF_INTEREST)
    differing = min(1.0, max(differing, gain))
    z_level = scipy.stats.norm.ppf(1 - _level(n_compared) / 2)
    z_power = scipy.stats.norm.ppf(POWER)
    n = (z_level * math.sqrt(differing) + z_power * math.sqrt(differing - gain**2)) ** 2 / gain**2
    low, high = 1, max(2, math.ceil(n))
    while _power(high, gain, differing, n_compared) < POWER:
        low, high = high, math.ceil(1.1 * high) + 1
    while high - low > 1:
        middle = (low + high) // 2
        enough = _power(middle, gain, differing, n_compared) >= POWER
        low, high = (low, middle) if enough else (middle, high)
    return high


def _power(n: int, gain: float, differing: float, n_compared: int) -> float:
    """Share of draws of n labels that separate a gain from zero."""
    parted = np.arange(1, n + 1)
    chance = scipy.stats.binom.pmf(parted, n, differing)
    likely = chance > 1e-9
    parted, chance = parted[likely], chance[likely]
    # The least number of wins whose upper tail under a fair coin is at most half the level.
    wins = scipy.stats.binom.isf(_level(n_compared) / 2, parted, 0.5) + 1
    return float(chance @ scipy.stats.binom.sf(wins - 1, parted, (1 + gain / differing) / 2))
