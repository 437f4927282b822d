"""The comparison as chosen in every way: its own baseline, its own leader."""

import csv
import io

import pytest

from tests.workflow.board_example import made_board, tuned_view
from workflow.lib.report.board_answer import _other_choices, answers
from workflow.lib.report.board_page import board_of
from workflow.lib.report.tables.board_choices import choices_table
from workflow.lib.report.tables.model import to_csv
from workflow.lib.results.effects import compare

QUESTION = "Does that hang on the choice of settings?"


def test_every_way_has_the_comparison_of_its_own_scores():
    board = made_board()
    rows = list(csv.DictReader(io.StringIO(to_csv(choices_table(board)))))
    assert [row["Chosen by"] for row in rows] == [
        board.suite.label_of_classifier(choice) for choice in board.choices
    ]
    for choice, row in zip(board.choices, rows, strict=True):
        found = compare(board.scores(choice), board.baselines)
        first = board.aligning(found)[0]
        assert row["Best baseline"] == board.label(found.reference)
        assert row["Best alignment"] == board.label(first.method)
        assert float(row["Gain"]) == pytest.approx(100 * first.effect)
        assert float(row["p"]) == pytest.approx(first.p_holm)
        assert int(row["Surely above"]) == sum(e.surely_above for e in board.aligning(found))


@pytest.mark.whole_run
def test_the_answer_names_who_is_surely_above_by_another_choice():
    board = made_board()
    said = dict(answers(board))[QUESTION]
    others = [one for one in board.choices if one not in (board.chosen_by, "oracle", "average")]
    sure = {
        choice: [e for e in board.aligning(board.compared_by(choice)) if e.surely_above]
        for choice in others
    }
    n_sure = sum(bool(found) for found in sure.values())
    assert n_sure, "the example decides nothing"
    assert said.startswith(f"In part: in {n_sure} of {len(others)} other ways of choosing")
    first = next(found[0] for choice, found in sure.items() if found)
    assert board.label(first.method) in said


def test_a_gain_with_a_caution_says_so():
    board = made_board()
    plain = dict(answers(board))[QUESTION]
    board.suite.methods["coral"]["caution"] = "gains by luck"
    said = dict(answers(board))[QUESTION]
    assert "caution" not in plain
    assert "; with a caution below)" in said


def test_the_oracle_is_no_way_of_choosing():
    """Where it alone has an alignment surely above, no choice that anybody can make has one."""
    view = tuned_view(gains=dict.fromkeys(("source_only", "coral", "tca"), 0.0), noise=0.01)
    mine = (view.records["method"] == "coral") & (view.records["classifier"] == "oracle")
    view.records.loc[mine, "accuracy"] += 0.3
    board = board_of("quick", [view])
    assert any(e.surely_above for e in board.aligning(board.compared_by("oracle")))
    assert _other_choices(board) == (
        f"No: of {len(board.choices) - 3} other ways of choosing none has an aligning method "
        "surely above."
    )


def test_a_way_that_compares_nothing_says_why():
    board = made_board()
    lost = board.records["classifier"] == "oracle"
    board.records.loc[lost, "status"] = "error"
    (row,) = [row for row in choices_table(board).rows if row[0].text == "Oracle"]
    assert row[1].text == "undefined"
    assert "no task" in row[1].title
    assert all(not cell.text for cell in row[2:])
