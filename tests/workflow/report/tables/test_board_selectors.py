"""Tables of the ways of choosing: the gaps of slow loops, on the whole and one by one."""

import pytest

from tests.workflow.board_example import GAINS, GAPS, made_board
from tests.workflow.report.tables.test_board import ALL, lines
from workflow.lib.config.tuning import REFERENCES
from workflow.lib.report.tables.board_selectors import (
    selectors_datasets_table,
    selectors_methods_table,
    selectors_table,
)
from workflow.lib.results.selection import selections_by


def test_an_order_that_is_not_that_of_the_tiers_is_explained_at_the_table():
    apart = {name: 0.05 * place for place, name in enumerate(["oracle", *made_board().choices])}
    found = []
    for board in (made_board(gaps=apart, noise=0.0), made_board()):
        table = selectors_table(board)
        tiers = [row[2].value for row in table.rows if row[2].value is not None]
        told = any(note.startswith("The order is that of the gaps.") for note in table.notes)
        assert told == (tiers != sorted(tiers))
        found.append(told)
    assert found == [False, True]


def test_how_often_a_criterion_takes_the_first_candidate():
    board = made_board()
    others = (board.records["classifier"] == "bnm") & (board.records["trial"] == 0)
    board.records.loc[others, "candidate"] = 1
    shares = {
        row[0].text: row[-1].text
        for row in selectors_table(board).rows
        if row[0].kind != "baseline"  # no criterion
    }
    n_trials = board.records["trial"].nunique()
    label = board.suite.label_of_classifier
    assert shares.pop(label("bnm")) == f"{100 - 100 / n_trials:.0f}"
    assert set(shares.values()) == {"100"}


def test_selectors_by_their_gap():
    board = made_board()
    found = lines(selectors_table(board))
    gaps = {e.method: -100 * e.effect for e in board.selection.comparison.effects}
    assert len(found) == len(gaps)
    first = next(iter(found.values()))
    assert float(first["Gap to the oracle"]) == pytest.approx(min(gaps.values()))
    few = made_board(lacking={("tca", None, "bnm"): ALL})
    notes = selectors_table(few).notes
    assert "9 further pairs left out: some criterion is undefined there." in notes
    most = made_board(lacking={(m, None, "bnm"): ALL for m in ("source_only", "pca", "coral")})
    assert any(
        note.startswith("Undefined for most methods") for note in selectors_table(most).notes
    )


def slow_gaps(board, column, value, choice):
    """Accuracy of the oracle less that of a choice, trial by trial, averaged over each task."""
    mine = board.records[board.records[column] == value]
    wide = mine.pivot(index=["task", "method", "trial"], columns="classifier", values="accuracy")
    return (wide["oracle"] - wide[choice]).groupby("task").mean()


@pytest.mark.parametrize(
    ("table_of", "column"),
    [(selectors_methods_table, "method"), (selectors_datasets_table, "dataset")],
)
def test_one_by_one_the_gaps_are_those_of_slow_loops(table_of, column):
    board = made_board()
    found = lines(table_of(board))
    labels = {"method": board.label, "dataset": board.suite.label_of_dataset}[column]
    assert len(found) == board.records[column].nunique()
    for value in board.records[column].unique():
        line = found[labels(value)]
        mine = board.records[board.records[column] == value].drop_duplicates("task")
        of_task = mine.set_index("task")["dataset"]
        for head, choice in {
            "The board's own": board.chosen_by, "Untuned": "default", "Average": "average",
        }.items():  # fmt: skip
            gaps = slow_gaps(board, column, value, choice)
            assert float(line[head]) == pytest.approx(100 * gaps.groupby(of_task).mean().mean())
        gaps = {c: slow_gaps(board, column, value, c).groupby(of_task).mean().mean()
                for c in board.selectors}  # fmt: skip
        nearest = min(gaps, key=gaps.get)
        label = board.suite.tuning["selectors"][nearest]["label"]
        assert line["Nearest criterion"].lower() == label.lower()
        assert float(line["Its gap"]) == pytest.approx(100 * gaps[nearest])


def test_as_near_are_the_criteria_of_the_first_tier():
    board = made_board(gaps={**GAPS, "class_ami": 0.04})
    found = selections_by("method", board.records, [*board.selectors, *REFERENCES])
    table = selectors_methods_table(board)
    for row, ordered in zip(table.rows, board.rows, strict=True):
        first = {*found[ordered.method].tiers[0]} & {*board.selectors}
        assert {"circular", "labelled_accuracy", "class_ami"} <= first
        assert len(first) < len(board.selectors)
        assert row[3].text == str(len(first))
    assert table.notes[0].endswith(f"surely beats for {len(GAINS)} of {len(GAINS)} methods.")
    far = made_board(gaps={**GAPS, "circular": 0.2})
    assert selectors_methods_table(far).notes[0].endswith(f"for 0 of {len(GAINS)} methods.")


def test_a_method_without_scores_has_no_row_and_a_criterion_it_lacks_no_gap():
    lacking = {("tca", None, None): ALL, ("pca", None, "circular"): ALL}
    board = made_board(lacking=lacking)
    found = lines(selectors_methods_table(board))
    assert set(found) == {board.label(name) for name in GAINS if name != "tca"}
    assert found[board.label("pca")]["The board's own"] == ""
    assert found[board.label("coral")]["The board's own"] != ""
