"""The best method with the best way of choosing its settings, no scored label read."""

import dataclasses
from collections.abc import Mapping

import pandas as pd

from workflow.lib.results.board import Board
from workflow.lib.results.effects import ROUNDING, Effect, UncomparableError, compare
from workflow.lib.results.material import UNTUNED
from workflow.lib.results.remembered import remembered
from workflow.lib.results.statistics import highest

# Of a method and a way of choosing, in the names that are compared here.
_BETWEEN = "\n"


@dataclasses.dataclass(frozen=True)
class BestWay:
    """Pairs that align, of a method and a way of choosing, over the best that adapts nothing.

    Attributes
    ----------
    baseline, baseline_choice : str
        That pair; it was found among many too, which makes gains smaller and never larger.
    best : Effect
        The largest; methods of effects are names of pairs, see `pair_of`.
    sure : tuple of Effect
        Those that are surely above it, the largest first; p is corrected for all pairs.
    n_pairs : int
    """

    baseline: str
    baseline_choice: str
    best: Effect
    sure: tuple[Effect, ...]
    n_pairs: int


def attainable(board: Board) -> list[str]:
    """Ways of choosing that a user has: selectors, and settings fixed beforehand."""
    return [name for name in board.choices if name not in ("oracle", "average")]


@remembered  # its answers and the findings ask for the same
def best_way(board: Board) -> BestWay | None:
    """Compare all pairs with the best that adapts nothing; None without a pair of either kind."""
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
    base = _untuned_if_equal(highest({pair: means[pair] for pair in others}), means)
    scores = [board.compared_scores(*pair, _BETWEEN.join(pair)) for pair in [base, *aligning]]
    try:
        found = compare(pd.concat(scores), _BETWEEN.join(base), tiered=False)
    except UncomparableError:
        return None
    sure = tuple(effect for effect in found.effects if effect.surely_above)
    by_pair = {pair_of(effect): effect for effect in found.effects}
    best = by_pair[_untuned_if_equal(pair_of(found.effects[0]), means)]
    return BestWay(*base, best, sure, len(found.effects))


def _untuned_if_equal(pair: tuple[str, str], means: Mapping) -> tuple[str, str]:
    """A criterion that finds all candidates equal takes the untuned, and has chosen nothing."""
    untuned = pair[0], UNTUNED
    same = untuned in means and means[untuned] > means[pair] - ROUNDING
    return untuned if same else pair


def pair_of(effect: Effect) -> tuple[str, str]:
    """The method and the way of choosing that an effect is of."""
    method, _, choice = effect.method.partition(_BETWEEN)
    return method, choice
