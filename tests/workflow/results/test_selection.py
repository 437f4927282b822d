"""Ways of choosing against the best possible: gaps of slow loops, nothing narrowed in silence."""

import numpy as np
import pytest

from tests.workflow.board_example import GAINS, GAPS, made_board
from tests.workflow.results.test_board import ALL, slow_mean
from workflow.lib.config.tuning import REFERENCES
from workflow.lib.results.selection import compare_selectors, selections_by


def test_gaps_are_those_of_slow_loops():
    board = made_board()
    found = board.selection
    assert found.n_cells == 9 * len(GAINS)
    for effect in found.comparison.effects:
        gaps = [
            slow_mean(board, method, "oracle") - slow_mean(board, method, effect.method)
            for method in GAINS
        ]
        assert -effect.effect == pytest.approx(np.mean(gaps))
    first = next(e.method for e in found.comparison.effects if e.method in board.selectors)
    assert first == min(board.selectors, key=lambda name: GAPS.get(name, 1))


def test_tiers_are_of_what_can_be_attained():
    """The oracle is above every choice by what it reads: no tier is spent on it."""
    found = made_board().selection
    assert found.tier("oracle") is None
    assert {name for tier in found.tiers for name in tier} == {
        effect.method for effect in found.comparison.effects
    }
    best = max(found.comparison.effects, key=lambda effect: effect.effect)
    assert found.tier(best.method) == 1


def test_a_selector_that_most_methods_lack_is_named_and_narrows_nothing():
    lacking = {(method, None, "bnm"): ALL for method in ("source_only", "pca", "coral")}
    found = made_board(lacking=lacking).selection
    assert found.undefined == ("bnm",)
    assert (found.n_cells, found.n_left_out) == (36, 0)
    few = made_board(lacking={("tca", None, "bnm"): ALL}).selection
    assert few.undefined == ()
    assert (few.n_cells, few.n_left_out) == (27, 9)


def test_a_selector_is_defined_by_pairs_of_method_and_task_whatever_their_trials():
    records = made_board().records
    few = records[records["method"].eq("coral") | (records["trial"] == 0)]  # most are of CORAL
    lacking = few["method"].eq("coral") & few["classifier"].eq("bnm")
    assert few["method"].nunique() >= 4
    assert lacking.sum() > 0.25 * few["classifier"].eq("bnm").sum()
    few = few.assign(accuracy=few["accuracy"].mask(lacking))
    found = compare_selectors(few, [*made_board().selectors, *REFERENCES])
    assert found.undefined == ()
    assert found.n_left_out == records["task"].nunique()


def test_a_selector_that_many_methods_have_not_does_not_narrow_the_comparison_to_the_others():
    """Circular validation is undefined for methods that learn from labels of the target."""
    records = made_board().records
    lacking = records["method"].isin(["coral", "tca"]) & records["classifier"].eq("circular")
    some = records.assign(accuracy=records["accuracy"].mask(lacking))
    found = compare_selectors(some, [*made_board().selectors, *REFERENCES])
    assert found.undefined == ("circular",)
    assert found.n_left_out == 0


def test_another_reference_turns_the_sign():
    board = made_board()
    choices = [*board.selectors, *REFERENCES]
    over = compare_selectors(board.records, choices, "default").comparison.effects
    gaps = {effect.method: effect.effect for effect in board.selection.comparison.effects}
    for effect in over:
        if effect.method != "oracle":
            assert effect.effect == pytest.approx(gaps[effect.method] - gaps["default"])


def test_each_method_by_itself_is_what_a_board_of_it_alone_says():
    board = made_board()
    found = selections_by("method", board.records, board.ways)
    assert list(found) == list(GAINS)
    for method, mine in found.items():
        records = board.records[board.records["method"] == method]
        for effect in mine.comparison.effects:
            gaps = [slow_mean(board, method, "oracle") - slow_mean(board, method, effect.method)]
            assert -effect.effect == pytest.approx(np.mean(gaps))
        assert mine.n_cells == records["task"].nunique()


def test_a_method_that_has_no_scores_is_left_out():
    board = made_board(lacking={("tca", None, None): ALL})
    found = selections_by("method", board.records, board.ways)
    assert set(found) == {*GAINS} - {"tca"}


def test_criteria_on_different_tasks_have_nothing_in_common():
    tasks = [task.name for task in made_board().views[0].experiment.tasks]
    lacking = {("pca", name, "bnm"): ALL for name in tasks[:2]}
    lacking |= {("pca", name, "entropy"): ALL for name in tasks[2:]}
    board = made_board(lacking=lacking)
    found = selections_by("method", board.records, board.ways)
    assert found["pca"].undefined == ("entropy",)  # on 7 of 9 tasks bnm is the one that is left
    assert found["pca"].n_cells == len(tasks) - 2


def test_the_nearest_are_all_that_are_equal():
    found = made_board(gaps={**GAPS, "class_ami": 0.04}, noise=0.0).selection
    assert set(found.nearest(["circular", "class_ami", "entropy"])) == {"circular", "class_ami"}
    assert found.nearest(["entropy"]) == ["entropy"]
    assert found.nearest([]) == []


def test_places_are_shared_by_equal_ones_and_none_is_of_what_is_undefined():
    equal = made_board(gaps={**GAPS, "class_ami": 0.04}, noise=0.0).selection
    names = ["circular", "class_ami", "entropy"]
    assert [equal.place(name, names) for name in names] == [(1, 3), (1, 3), (3, 3)]
    undefined = made_board(lacking={(name, None, "bnm"): ALL for name in GAINS}).selection
    assert undefined.place("bnm", ["bnm", "entropy"]) == (0, 1)
