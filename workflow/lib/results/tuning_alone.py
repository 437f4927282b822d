"""What tuning gives without any alignment: the best tuned baseline over the best untuned one."""

import dataclasses

import pandas as pd

from workflow.lib.results.board import Board
from workflow.lib.results.effects import Effect, compare
from workflow.lib.results.material import UNTUNED


@dataclasses.dataclass(frozen=True)
class TuningAlone:
    """The best baseline as the board's selector tunes it, and the best that nothing tunes.

    Attributes
    ----------
    tuned, untuned : str
        These baselines, which need not be the same.
    effect : Effect
        Gain of the first over the second, trial by trial on the tasks that the board compares.
    """

    tuned: str
    untuned: str
    effect: Effect


def tuning_alone(board: Board) -> TuningAlone | None:
    """Compare the two; None where no baseline has an untuned score in every compared trial."""
    means = {method: board.mean(method, UNTUNED) for method in sorted(board.baselines)}
    known = {method: mean for method, mean in means.items() if mean is not None}
    if not known:
        return None
    tuned, untuned = board.comparison.reference, max(known, key=known.get)
    scores = [_of(board, tuned, board.chosen_by), _of(board, untuned, UNTUNED)]
    (effect,) = compare(pd.concat(scores, ignore_index=True), UNTUNED).effects
    return TuningAlone(tuned, untuned, effect)


def _of(board: Board, method: str, choice: str) -> pd.DataFrame:
    """Scores of one method on the compared tasks, under the name of how it was chosen."""
    scores = board.scores(choice)
    mine = scores[scores["method"] == method]
    places = zip(mine["dataset"], mine["task"], strict=True)
    compared = [place not in board.comparison.tasks_left_out for place in places]
    return mine[compared].assign(method=choice)
