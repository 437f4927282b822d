"""What a board could have shown: gains that it finds, its best method on other data."""

import numpy as np
import pytest

from tests.workflow.board_example import made_board, tuned_view
from workflow.lib.report.board_page import board_of
from workflow.lib.results.sensitivity import (
    as_few_harmed_by_chance,
    detectable,
    gains_picked_elsewhere,
)


def by_hand(board):
    """From the records alone: means by data set, the best of the others, its gain."""
    records = board.records[board.records["classifier"] == board.chosen_by]
    tasks = records.groupby(["dataset", "task", "method"])["accuracy"].mean()
    means = tasks.groupby(["dataset", "method"]).mean().unstack()
    gains = {}
    for left_out in means.index:
        others = means[means.index != left_out].mean().sort_values()
        best = [m for m in others.index if m not in board.baselines][-1]
        base = [m for m in others.index if m in board.baselines][-1]
        gains[left_out] = means.loc[left_out, best] - means.loc[left_out, base]
    return gains


@pytest.mark.parametrize("lift", [0.0, 0.5])
def test_method_and_baseline_are_those_of_the_other_data_sets(lift):
    gains = {"source_only": 0.0, "pca": -0.01, "coral": -0.05, "tca": -0.1}
    lifted = {("coral", "office_caltech_surf"): lift, ("tca", "mnist_usps"): lift}
    board = made_board(gains=gains, by_dataset=lifted)
    found = gains_picked_elsewhere(board)
    assert found == pytest.approx(by_hand(board))
    if lift:  # what leads is picked by the data sets on which it was lifted
        assert np.mean(list(found.values())) < board.aligning()[0].effect


def test_where_there_is_nothing_to_pick_by():
    assert gains_picked_elsewhere(made_board("no_target_labels", "tuned_no_labels_coil")) == {}
    assert gains_picked_elsewhere(made_board(gains={"source_only": 0.0, "pca": 0.1})) == {}


def test_gains_that_are_found_are_of_all_aligning_methods():
    gains = dict.fromkeys(("source_only", "coral", "tca", "jda"), 0.0)
    board = made_board(gains=gains, noise=0.05)
    found = detectable(board)
    sizes = [min(1.0, effect.detectable) for effect in board.aligning()]
    assert (found.least, found.median, found.most) == tuple(sorted(sizes))
    assert found.median == np.median(sizes)
    of_two = made_board(noise=0.05)
    assert len(of_two.aligning()) == 2
    assert detectable(of_two).median == detectable(of_two).most
    assert detectable(made_board(gains={"source_only": 0.0, "pca": 0.1})) is None


def test_no_gain_above_100_points_is_found():
    board = made_board("no_target_labels", "tuned_no_labels_coil", noise=0.2)
    assert max(effect.detectable for effect in board.aligning()) > 1
    assert detectable(board).most == 1


def test_how_often_one_of_equal_methods_harms_as_little():
    """Drawn: three methods on nine tasks, each harmed with the chance of an equal one."""
    gains = dict.fromkeys(("source_only", "coral", "tca", "jda"), 0.0)
    board = made_board(gains=gains, noise=0.05)
    share = board.comparison.harmed_by_chance
    drawn = np.random.default_rng(0).random((20_000, 3, 9)) < share
    for n_harmed in (0, 2):
        seen = (drawn.sum(axis=2) <= n_harmed).any(axis=1).mean()
        assert as_few_harmed_by_chance(board, n_harmed) == pytest.approx(seen, abs=0.01)
    assert as_few_harmed_by_chance(made_board(trials=1), 0) is None


def test_of_a_method_that_equals_the_reference_nothing_is_found():
    """Without an error a gain of 0.0 points would be."""
    view = tuned_view()
    records, key = view.records, ["task", "classifier", "trial"]
    base = records[records["method"] == "source_only"].set_index(key)["accuracy"]
    twin = records["method"] == "coral"
    places = records.loc[twin, key].itertuples(index=False, name=None)
    records.loc[twin, "accuracy"] = [base[place] for place in places]
    board = board_of("quick", [view])
    assert [e.standard_error for e in board.aligning() if e.method == "coral"] == [0.0]
    assert detectable(board).middle.method == "tca"
    assert detectable(board).least > 0
