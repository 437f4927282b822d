"""What a board could have shown: the gains that it finds, what chance does, other data's best."""

import dataclasses

import scipy.stats

from workflow.lib.results.board import Board
from workflow.lib.results.effects import Effect
from workflow.lib.results.statistics import highest


@dataclasses.dataclass(frozen=True)
class Detectable:
    """True gains that trials find in `power.POWER` of repetitions, over the aligning methods.

    Attributes
    ----------
    middle : Effect
        The method in the middle; of two the one of which less is found.
    median, least, most : float
        Of that method, and over all; at most 1, as no gain is larger.
    """

    middle: Effect
    least: float
    most: float

    @property
    def median(self) -> float:
        return min(self.middle.detectable, 1.0)


def detectable(board: Board) -> Detectable | None:
    """Over the aligning methods whose gain has an error; None without one.

    The best method's alone says little of a board: errors have few degrees of freedom.
    """
    # One that is equal to the reference in every trial has no error to find anything beside.
    known = [effect for effect in board.aligning() if effect.standard_error]
    if not known:
        return None
    ranked = sorted(known, key=lambda effect: (effect.detectable, effect.method))
    ends = (min(ranked[place].detectable, 1.0) for place in (0, -1))
    return Detectable(ranked[len(ranked) // 2], *ends)


def as_few_harmed_by_chance(board: Board, n_harmed: int) -> float | None:
    """How often one of as many methods, all equal to the reference, harms on so few tasks.

    For methods and tasks that are independent of each other, which they are not. None where trials
    have no spread.
    """
    effects, share = board.aligning(), board.comparison.harmed_by_chance
    if not effects or share is None:
        return None
    one = scipy.stats.binom.cdf(n_harmed, effects[0].n_judged, share)
    return float(1 - (1 - one) ** len(effects))


def gains_picked_elsewhere(board: Board) -> dict[str, float]:
    """On each data set the gain of the method, over the baseline, that are best on the others.

    Both are picked without the scores that they are compared by: the largest of several gains is
    high by chance, and these are not, as far as one data set says nothing of another's chance (some
    are other features of the same images). Empty where the board has one data set or no aligning
    method.
    """
    found = board.comparison
    compared = [found.reference, *(effect.method for effect in found.effects)]
    aligning = [method for method in compared if method not in board.baselines]
    baselines = [method for method in compared if method in board.baselines]
    means = board.dataset_means(board.chosen_by, "accuracy").dropna(how="all")
    if len(means) < 2 or not aligning:
        return {}
    gains = {}
    for name in means.index:
        others = means.drop(index=name).mean()
        best, base = (highest(dict(others[kind])) for kind in (aligning, baselines))
        gains[name] = float(means.at[name, best] - means.at[name, base])
    return gains
