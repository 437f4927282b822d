"""What aligning gains on data that no setting was searched on."""

from workflow.lib.config.searches import SEARCHED_ON, searches
from workflow.lib.results.board import Board
from workflow.lib.results.effects import Comparison, compare


def searched_on(board: Board) -> list[str]:
    """The data sets of a board that a setting of one of its methods was searched on, be it in an
    experiment whose setting the board does not take over. Studies have no tasks, and none of their
    searches was on data of a board but Office–Caltech10.
    """
    found = {*SEARCHED_ON}
    for methods, datasets in searches(board.suite):
        if {*methods} & {*board.methods}:
            found |= {*datasets}
    return [name for name in board.datasets if name in found]


def compare_untouched(board: Board) -> Comparison:
    """The comparison of a board without these data sets, with the best baseline there.

    Raises
    ------
    UncomparableError
        If nothing is left that could be compared.
    """
    scores = board.scores(board.chosen_by)
    return compare(scores[~scores["dataset"].isin(searched_on(board))], board.baselines)
