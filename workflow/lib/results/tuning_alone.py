"""What tuning gives without any alignment: the best tuned baseline over the best untuned one."""

import dataclasses

import pandas as pd

from workflow.lib.results.board import Board
from workflow.lib.results.effects import Effect, compare
from workflow.lib.results.material import UNTUNED
from workflow.lib.results.statistics import highest


@dataclasses.dataclass(frozen=True)
class TuningAlone:
    """The best baseline as the board's selector tunes it, and the best that nothing tunes.

    Attributes
    ----------
    tuned, untuned : str
        These baselines, which need not be the same.
    effect : Effect
        Gain of the first over the second, trial by trial on the tasks that the board compares.
    aligning : tuple of Effect
        Of the methods that align, tuned, over the untuned baseline, the best first.
    """

    tuned: str
    untuned: str
    effect: Effect
    aligning: tuple[Effect, ...]


def tuning_alone(board: Board) -> TuningAlone | None:
    """Compare the two; None where no baseline has an untuned score in every compared trial."""
    means = {method: board.mean(method, UNTUNED) for method in sorted(board.baselines)}
    known = {method: mean for method, mean in means.items() if mean is not None}
    if not known:
        return None
    tuned, untuned = board.comparison.reference, highest(known)
    scores = [
        board.compared_scores(tuned, board.chosen_by, "tuned"),
        board.compared_scores(untuned, UNTUNED, "untuned"),
    ]
    (effect,) = compare(pd.concat(scores, ignore_index=True), "untuned").effects
    names = [one.method for one in board.aligning()]
    scores[:1] = [board.compared_scores(name, board.chosen_by, name) for name in names]
    both = pd.concat(scores, ignore_index=True)
    aligning = compare(both, "untuned", tiered=False).effects if names else ()
    return TuningAlone(tuned, untuned, effect, tuple(aligning))
