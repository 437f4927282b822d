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


def test_another_reference_turns_the_sign():
    board = made_board()
    choices = [*board.selectors, *REFERENCES]
    over = compare_selectors(board.records, choices, "default").comparison.effects
    gaps = {effect.method: effect.effect for effect in board.selection.comparison.effects}
    for effect in over:
        if effect.method != "oracle":
            assert effect.effect == pytest.approx(gaps[effect.method] - gaps["default"])


def test_each_method_by_itself_is_what_the_board_of_it_alone_says():
    board = made_board()
    choices = [*board.selectors, *REFERENCES]
    found = selections_by("method", board.records, choices)
    assert list(found) == list(dict.fromkeys(board.records["method"]))
    for method, mine in found.items():
        alone = compare_selectors(board.records[board.records["method"] == method], choices)
        assert mine.comparison.effects == alone.comparison.effects
        assert mine.n_cells == 9


def test_a_method_that_has_no_scores_is_left_out():
    lacking = {("tca", None, None): ALL}
    board = made_board(lacking=lacking)
    found = selections_by("method", board.records, [*board.selectors, *REFERENCES])
    assert set(found) == {*GAINS} - {"tca"}
