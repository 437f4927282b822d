"""What tuning alone gives: the best of each side, paired on the tasks that the board compares."""

import pytest

from tests.workflow.board_example import GAPS, made_board, tuned_view
from workflow.lib.report.board_answer import answers
from workflow.lib.report.board_page import board_of
from workflow.lib.results.tuning_alone import tuning_alone


def raised(method, points, choice="default"):
    """A board on which one method has more by one way of choosing."""
    view = tuned_view()
    mine = (view.records["method"] == method) & (view.records["classifier"] == choice)
    view.records.loc[mine, "accuracy"] += points
    return board_of("quick", [view])


def test_the_best_untuned_baseline_may_be_another_than_the_best_tuned_one():
    board = raised("pca", 0.1)
    found = tuning_alone(board)
    assert (found.tuned, found.untuned) == ("source_only", "pca")
    gain = board.mean("source_only", board.chosen_by) - board.mean("pca", "default")
    assert found.effect.effect == pytest.approx(gain)
    assert found.effect.surely_below, "its own untuned self would have called that a gain"
    own = board.mean("source_only", board.chosen_by) - board.mean("source_only", "default")
    assert own > 0


def test_where_the_same_is_best_it_is_the_gain_over_itself():
    found = tuning_alone(made_board())
    assert (found.tuned, found.untuned) == ("source_only", "source_only")
    assert found.effect.surely_above
    assert found.effect.low < found.effect.effect < found.effect.high
    assert tuning_alone(made_board(gaps={**GAPS, "default": 0.0})).effect.surely_below


def test_where_tuning_lowers_the_bar_aligning_methods_stand_over_the_higher_one():
    board = raised("pca", 0.1)
    found = tuning_alone(board)
    by_hand = {
        one.method: board.mean(one.method, board.chosen_by) - board.mean("pca", "default")
        for one in board.aligning()
    }
    assert {one.method: one.effect for one in found.aligning} == pytest.approx(by_hand)
    above = sum(gain > 0 for gain in by_hand.values())
    told = dict(answers(board))["What does tuning alone give?"]
    words = f"Over the untuned one, the higher bar, {above} of {len(by_hand)} aligning methods are"
    assert words in told
    assert "the higher bar" not in dict(answers(made_board()))["What does tuning alone give?"]


def test_a_baseline_without_an_untuned_score_is_no_rival():
    task = tuned_view().experiment.tasks[0].name
    found = tuning_alone(made_board(lacking={("source_only", task, "default"): [0]}))
    assert (found.tuned, found.untuned) == ("source_only", "pca")
    gone = {(name, task, "default"): [0] for name in ("source_only", "pca")}
    assert tuning_alone(made_board(lacking=gone)) is None


def test_what_tuning_alone_gives_is_of_the_compared_tasks():
    """The difference of the two means that stand beside it."""
    lacking = {
        (
            "coral",
            next(t.name for t in tuned_view().experiment.tasks if t.target.dataset == "gas_drift"),
            None,
        ): range(9)
    }
    board = made_board(lacking=lacking, noise=0.05)
    assert len(board.comparison.tasks_left_out) == 1
    found = tuning_alone(board)
    gain = board.mean(found.tuned, board.chosen_by) - board.mean(found.untuned, "default")
    assert found.effect.effect == pytest.approx(gain)
