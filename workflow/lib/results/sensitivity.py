"""What a board could have shown: the gains that it finds, and its best method on other data."""

import dataclasses

import numpy as np

from workflow.lib.results.board import Board
from workflow.lib.results.statistics import highest


@dataclasses.dataclass(frozen=True)
class Detectable:
    """True gains that trials find in `power.POWER` of repetitions, over the aligning methods.

    Attributes
    ----------
    median, least, most : float
        At most 1, as no gain is larger.
    """

    median: float
    least: float
    most: float


def detectable(board: Board) -> Detectable | None:
    """Of every aligning method whose gain has an error; None without one.

    The best method's alone says little of a board: errors have few degrees of freedom.
    """
    known = [e.detectable for e in board.aligning() if e.detectable is not None]
    if not known:
        return None
    sizes = np.minimum(known, 1.0)
    return Detectable(float(np.median(sizes)), float(sizes.min()), float(sizes.max()))


def gain_picked_elsewhere(board: Board) -> float | None:
    """Mean gain on each data set of the method, over the baseline, that are best on the others.

    Both are picked without the scores that they are compared by, as by a user with data of another
    kind: the largest of several gains is high by chance, this one is not. None where the board has
    one data set, no aligning method or no baseline to pick among.
    """
    found = board.comparison
    compared = [found.reference, *(effect.method for effect in found.effects)]
    aligning = [method for method in compared if method not in board.baselines]
    baselines = [method for method in compared if method in board.baselines]
    means = board.dataset_means(board.chosen_by, "accuracy").dropna(how="all")
    if len(means) < 2 or not aligning:
        return None
    gains = []
    for name in means.index:
        others = means.drop(index=name).mean()
        best, base = (highest(dict(others[kind])) for kind in (aligning, baselines))
        gains.append(means.at[name, best] - means.at[name, base])
    return float(np.mean(gains))
