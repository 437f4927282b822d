"""The best method with the best way of choosing, over the best of those that adapt nothing."""

import pytest

from tests.workflow.board_example import GAINS, GAPS, made_board, tuned_view
from workflow.lib.report.board_page import board_of
from workflow.lib.results import findings
from workflow.lib.results.best_way import attainable, best_way, pair_of


def test_it_is_the_best_of_all_pairs_that_a_user_has():
    board = made_board()
    found = best_way(board)
    means = {
        (method, choice): board.mean(method, choice)
        for method in GAINS
        for choice in attainable(board)
    }
    aligning = {pair: mean for pair, mean in means.items() if pair[0] not in board.baselines}
    assert means[pair_of(found.best)] == max(aligning.values())
    others = [mean for pair, mean in means.items() if pair[0] in board.baselines]
    assert means[found.baseline, found.baseline_choice] == max(others)
    assert found.best.effect == pytest.approx(max(aligning.values()) - max(others))
    assert found.n_pairs == len(aligning)
    assert found.sure, "CORAL is 10 points above"
    assert all(effect.p_holm >= effect.p for effect in found.sure)
    assert {pair_of(effect)[0] for effect in found.sure} == {"coral"}


def test_what_reads_scored_labels_or_chooses_blindly_is_no_way():
    board = made_board(gaps={**GAPS, "average": 0.0})
    assert not {"oracle", "average"} & {*attainable(board)}
    assert pair_of(best_way(board).best)[1] not in ("oracle", "average")


def test_of_equal_ways_it_is_the_untuned_one():
    """A criterion that finds all candidates equal takes the first, and has chosen nothing."""
    view = tuned_view()
    for classifier in ("default", "a_distance"):
        mine = (view.records["method"] == "coral") & (view.records["classifier"] == classifier)
        other = (view.records["method"] == "coral") & (view.records["classifier"] == "bnm")
        view.records.loc[mine, "accuracy"] = view.records.loc[other, "accuracy"].to_numpy() + 0.4
    assert pair_of(best_way(board_of("quick", [view])).best) == ("coral", "default")


def test_both_sides_may_choose_in_different_ways():
    view = tuned_view()
    mine = (view.records["method"] == "coral") & (view.records["classifier"] == "entropy")
    view.records.loc[mine, "accuracy"] += 0.4
    base = (view.records["method"] == "pca") & (view.records["classifier"] == "bnm")
    view.records.loc[base, "accuracy"] += 0.2
    found = best_way(board_of("quick", [view]))
    assert pair_of(found.best) == ("coral", "entropy")
    assert (found.baseline, found.baseline_choice) == ("pca", "bnm")


def test_without_a_method_that_aligns_there_is_no_answer():
    assert best_way(made_board(gains={"source_only": 0.0, "pca": -0.02})) is None


def test_a_method_that_the_board_leaves_out_is_not_the_best():
    """Complete on the compared tasks alone, which are fewer than half of all."""
    gains = {"source_only": 0.0, "pca": 0.0, "coral": 0.1, "jda": 0.1, "gfk": 0.1, "tca": 0.4}
    tasks = [task for _, task in made_board(gains=gains).tasks]
    lacks = {"tca": tasks[4:], "coral": tasks[5:], "jda": tasks[5:]}
    lacks |= {"gfk": [tasks[0], *tasks[6:]], "pca": [tasks[0], *tasks[6:]]}
    lacking = {(method, task, None): range(9) for method, own in lacks.items() for task in own}
    board = made_board(gains=gains, lacking=lacking)
    assert "tca" in board.comparison.methods_left_out
    assert pair_of(best_way(board).best)[0] != "tca"
    (number,) = findings._order(board)
    assert "tca" not in number.about
