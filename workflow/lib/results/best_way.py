"""The best method with the best way of choosing its settings, no scored label read."""

import dataclasses

import pandas as pd

from workflow.lib.results.board import Board
from workflow.lib.results.effects import Effect, UncomparableError, compare


@dataclasses.dataclass(frozen=True)
class BestWay:
    """The best pair that aligns over the best pair that adapts nothing.

    Attributes
    ----------
    method, choice : str
    baseline, baseline_choice : str
    accuracy, baseline_accuracy : float
    effect : Effect
        Of the first over the second; ``p_holm`` is corrected for all `n_pairs`.
    n_pairs : int
        Aligning methods times ways of choosing, among which the first was found.
    """

    method: str
    choice: str
    baseline: str
    baseline_choice: str
    accuracy: float
    baseline_accuracy: float
    effect: Effect
    n_pairs: int


def attainable(board: Board) -> list[str]:
    """Ways of choosing that a user has: selectors, and settings fixed beforehand."""
    return [name for name in board.choices if name not in ("oracle", "average")]


def best_way(board: Board) -> BestWay | None:
    """Compare the two; None where there is no such pair of either kind.

    Both were found among many, the second too, which makes the gain smaller and never larger.
    """
    compared = [board.comparison.reference, *(e.method for e in board.comparison.effects)]
    means = {
        (method, choice): mean
        for choice in attainable(board)
        for method in compared
        if (mean := board.mean(method, choice)) is not None
    }
    aligning = [pair for pair in means if pair[0] not in board.baselines]
    others = [pair for pair in means if pair[0] in board.baselines]
    if not aligning or not others:
        return None
    best, base = (max(sorted(pairs), key=means.get) for pairs in (aligning, others))
    try:
        scores = [board.compared_scores(*best, "best"), board.compared_scores(*base, "base")]
        (found,) = compare(pd.concat(scores), "base").effects
    except UncomparableError:
        return None
    p = None if found.p is None else min(1.0, len(aligning) * found.p)
    effect = dataclasses.replace(found, p_holm=p)
    return BestWay(*best, *base, means[best], means[base], effect, len(aligning))
