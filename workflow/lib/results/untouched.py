"""What aligning gains on data that no setting was searched on."""

from workflow.lib.results.board import Board
from workflow.lib.results.effects import Comparison, compare

# Whose scores or printed numbers settings of `config/methods.yaml` were searched by, as
# `found_by_search` says there: Office–Caltech10, in places without saying which of its features.
SEARCHED_ON = ("office_caltech_surf", "office_caltech_decaf6")


def searched_on(board: Board) -> list[str]:
    """The data sets of a board that settings were searched on."""
    return [name for name in board.datasets if name in SEARCHED_ON]


def compare_untouched(board: Board) -> Comparison:
    """The comparison of a board without these data sets, with the best baseline there.

    Raises
    ------
    UncomparableError
        If nothing is left that could be compared.
    """
    scores = board.scores(board.chosen_by)
    return compare(scores[~scores["dataset"].isin(SEARCHED_ON)], board.baselines)
