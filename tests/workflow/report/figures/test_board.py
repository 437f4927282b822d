"""Figures of a board: dots at the gains, hollow marks at the oracle's."""

import dataclasses

import pytest

from tests.workflow.board_example import made_board
from workflow.lib.report.figures.board import gain_figure, selectors_figure
from workflow.lib.report.figures.style import render


def points(axes, marker):
    return [float(line.get_xdata()[0]) for line in axes.get_lines() if line.get_marker() == marker]


def test_dots_are_gains_and_diamonds_the_oracles():
    board = made_board()
    rows = [row for row in board.rows if row.effect]
    (axes,) = gain_figure(board).axes
    assert points(axes, "o") == pytest.approx([100 * row.effect.effect for row in rows])
    base = next(row for row in board.rows if row.effect is None).scores["accuracy"]
    oracle = [100 * (row.by_choice["oracle"] - base) for row in rows]
    assert points(axes, "D") == pytest.approx(oracle)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [board.label(row.method) for row in rows]


def test_gaps_of_the_ways_of_choosing():
    board = made_board()
    (axes,) = selectors_figure(board).axes
    effects = board.selection.comparison.effects
    assert points(axes, "o") == pytest.approx([-100 * effect.effect for effect in effects])
    assert axes.get_xlim()[0] == 0


def test_nothing_to_compare_is_said():
    board = made_board()
    board.__dict__["rows"] = [dataclasses.replace(row, effect=None) for row in board.rows]
    assert b"<svg" in render(lambda: gain_figure(board), "svg")
    assert "No method" in gain_figure(board).texts[0].get_text()


@pytest.mark.whole_run
def test_the_same_bytes_twice():
    first, second = (render(lambda: gain_figure(made_board()), "svg") for _ in range(2))
    assert first == second
