"""The methods of a board by every kind of choice, and task by task."""

import pytest

from tests.workflow.board_example import made_board, tuned_view
from tests.workflow.report.tables.test_board import ALL, lines
from workflow.lib.report.board_page import board_of
from workflow.lib.report.tables.board_ways import tasks_table, ways_table

WAYS = {"1-NN": "fixed_one_nn", "Logistic regression": "fixed_logistic", "Oracle": "oracle"}


def test_every_way_has_its_own_baseline_gains_and_tiers():
    board = made_board()
    table = ways_table(board)
    found = lines(table)
    for word, choice in {**WAYS, "Tuned": board.chosen_by}.items():
        compared = board.compared_by(choice)
        effects = {effect.method: effect for effect in compared.effects}
        for row in board.rows:
            line = found[board.label(row.method)]
            assert float(line[word]) == pytest.approx(100 * board.mean(row.method, choice))
            assert int(line[f"{word}: tier"]) == compared.tier(row.method)
            gain = effects.get(row.method)
            assert (line[f"{word}: gain"] == "") == (gain is None)
            if gain:
                assert float(line[f"{word}: gain"]) == pytest.approx(100 * gain.effect)
        assert board.label(compared.reference) in table.notes[0]


def test_a_way_that_nothing_can_be_chosen_by_is_empty():
    lacking = {(m, None, "fixed_one_nn"): ALL for m in ("source_only", "pca", "coral", "tca")}
    found = lines(ways_table(board_of("quick", [tuned_view(lacking=lacking)])))
    assert {line["1-NN"] for line in found.values()} == {""}
    assert "" not in {line["Tuned"] for line in found.values()}


def test_task_by_task_every_mean_is_over_whole_tasks():
    view = tuned_view(lacking={("tca", "amazon-dslr", None): [1]})
    board = board_of("quick", [view])
    table = tasks_table(board)
    assert len(table.columns) == 1 + len(view.experiment.tasks)
    found = lines(table)
    chosen = board.chosen
    for place in board.tasks:
        mine = chosen[(chosen["task"] == place[1]) & (chosen["method"] == "coral")]
        told = found[board.label("coral")][board.task_label(place)]
        assert float(told) == pytest.approx(100 * mine["accuracy"].astype(float).mean())
    (place,) = [place for place in board.tasks if place[1] == "amazon-dslr"]
    row = next(row for row in table.rows if row[0].text == board.label("tca"))
    cell = row[1 + board.tasks.index(place)]
    assert (cell.text, cell.title) == ("failed", "1 of 3 trials failed")
