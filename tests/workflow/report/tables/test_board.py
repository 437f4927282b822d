"""Tables of a board: numbers of its rows, the others named."""

import csv
import dataclasses
import io

import numpy as np
import pytest

from tests.workflow.board_example import GAINS, made_board, tuned_view
from workflow.lib.report.board_page import board_of
from workflow.lib.report.tables.board import (
    board_table,
    datasets_table,
    details_table,
)
from workflow.lib.report.tables.board_selectors import selectors_table
from workflow.lib.report.tables.board_ways import ways_table
from workflow.lib.report.tables.model import to_csv
from workflow.lib.results.effects import compare
from workflow.lib.trials.evaluate import COLUMNS

ALL = range(9)


def lines(table):
    found = list(csv.DictReader(io.StringIO(to_csv(table))))
    return {line[table.columns[0].label]: line for line in found}


def test_one_row_per_method_with_the_numbers_of_the_board():
    board = made_board()
    found = lines(board_table(board))
    details = lines(details_table(board))
    assert len(found) == len(details) == len(GAINS)
    for row in board.rows:
        label = board.label(row.method)
        line = found[label]
        assert float(line["Accuracy"]) == pytest.approx(100 * row.scores["accuracy"])
        assert float(line["Oracle"]) - float(line["Accuracy"]) == pytest.approx(float(line["Gap"]))
        assert int(line["Tier"]) == row.tier
        if row.effect:
            assert float(line["Gain"]) == pytest.approx(100 * row.effect.effect)
            assert float(line["Harms"]) == row.effect.harm
            ends = [float(line[f"Gain 95 % interval {end}"]) for end in ("low", "high")]
            assert ends == pytest.approx([100 * row.effect.low, 100 * row.effect.high])
        average = float(details[label]["Average"])
        assert average == pytest.approx(100 * row.by_choice["average"])
        assert details[label]["Chosen most often"] == row.favourite != ""
        fixed = row.by_choice["fixed_logistic"]
        assert float(details[label]["Log loss"]) == pytest.approx(1 - fixed, abs=1e-3)
        assert float(details[label]["Calibration error"]) == pytest.approx(10 * fixed)


def test_bold_is_the_highest_accuracy_and_no_tier():
    """A tier holds all that few trials do not tell apart, also what is 20 points below."""
    board = made_board(gains=dict.fromkeys(("source_only", "coral", "tca"), 0.0), noise=0.05)
    assert len(board.comparison.tiers[0]) == 3
    bold = [row[2].bold for row in board_table(board).rows]
    assert bold == [True, False, False]
    accuracies = [row[2].value for row in board_table(board).rows]
    assert max(accuracies) == accuracies[0]


def test_what_a_gain_must_not_be_taken_for_is_said_of_the_methods_that_are_there():
    board = made_board()
    here, elsewhere = board.rows[0].method, "hfa"
    assert elsewhere not in [row.method for row in board.rows]
    assert "caution" in board.suite.methods[elsewhere]
    assert not [note for note in board_table(board).notes if "bias" in note]
    board.suite.methods[here]["caution"] = "gains by luck"
    assert f"{board.label(here)} gains by luck." in board_table(board).notes


def test_measures_of_probabilities_stand_there_where_a_method_has_some():
    board = made_board()
    board.records["log_loss"] = np.nan
    found = details_table(board)
    labels = [column.label for column in found.columns]
    assert found.caption.endswith(
        " Calibration error (percent): not as chosen, but untuned, with logistic regression."
    )
    assert "often. Log loss (nats) and Calibration" in details_table(made_board()).caption
    assert "Log loss" not in labels
    assert "Calibration error" in labels
    assert {len(row) for row in found.rows} == {len(labels)}


def test_the_main_table_fits_a_page():
    assert len(board_table(made_board()).columns) <= 11


def test_what_is_left_out_is_named_with_its_reason():
    board = made_board(lacking={("tca", None, None): ALL})
    table = board_table(board)
    assert (
        "Not compared, as the others would be on fewer tasks: TCA †, complete on 0 of 9 tasks."
        in (table.notes)
    )
    assert table.rows[-1][0].title == "not compared: complete on 0 of 9 tasks"
    task = board.views[0].experiment.tasks[0].name
    one = board_table(made_board(lacking={("coral", task, "circular"): [0]}))
    told = (
        "1 task not compared, for want of a score of the methods in brackets: "
        f"{task} (1 of 3 trials failed: CORAL)."
    )
    assert told in one.notes


def test_on_a_data_set_failures_are_told_from_what_was_not_asked():
    view = tuned_view(lacking={("tca", None, None): [1]})
    records = view.records
    first = view.experiment.tasks[0].target.dataset
    own = [task.name for task in view.experiment.tasks if task.target.dataset == first]
    no_data = (records["method"] == "pca") & (records["trial"] == 0)
    records.loc[no_data, "status"] = "data_unavailable"
    unasked = (records["method"] == "coral") & records["task"].isin(own)
    table = datasets_table(
        board_of("quick", [dataclasses.replace(view, records=records[~unasked])])
    )
    place = [column.label for column in table.columns].index(view.suite.label_of_dataset(first))
    cells = {row[0].text: row[place] for row in table.rows}
    assert (cells["TCA †"].text, cells["TCA †"].kind) == ("failed", "failed")
    assert cells["TCA †"].title == f"{len(own)} of {3 * len(own)} trials failed"
    assert (cells["CORAL"].text, cells["CORAL"].title) == ("–", "not asked")
    assert cells["PCA"].title == "data not available"
    assert cells["No adaptation (source)"].value is not None


def test_methods_that_apply_nowhere_are_a_note_and_no_rows():
    board = made_board(lacking={("tca", None, None): ALL})
    mine = board.records["method"] == "tca"
    board.records.loc[mine, "status"] = "not_applicable"
    board.records.loc[mine, "error"] = "learns from labels of the target"
    for table in (board_table(board), details_table(board), datasets_table(board)):
        assert "TCA †" not in [row[0].text for row in table.rows]
    notes = board_table(board).notes
    assert "Do not apply here: TCA † (learns from labels of the target)." in notes
    assert not any(note.startswith("Not compared") for note in notes)


def test_of_several_reasons_the_most_frequent_is_told_as_one_of_them():
    view = tuned_view()
    mine = view.records["method"] == "tca"
    first = view.records["task"] == view.experiment.tasks[0].name
    view.records.loc[mine, ["status", "error"]] = "not_applicable", "it has 4096 and 800"
    view.records.loc[mine & first, "error"] = "it has 600 and 800"
    # The same with other numbers is no other reason.
    told = "Do not apply here: TCA † (such as, on one task: it has 4096 and 800)."
    assert told in board_table(board_of("quick", [view])).notes
    view.records.loc[mine & first, "error"] = "it has labels"
    told = (
        "Do not apply here: TCA † (on 8 of 9 tasks, and for other reasons on the others: it has "
        "4096 and 800)."
    )
    assert told in board_table(board_of("quick", [view])).notes


def test_bold_on_each_data_set_is_the_best_there():
    board = made_board(by_dataset={("tca", "gas_drift"): 0.6})
    table = datasets_table(board)
    place = [column.label for column in table.columns].index("Gas sensor drift")
    bold = [row[0].text for row in table.rows if row[place].bold]
    assert bold == ["TCA †"]


def test_bold_too_is_what_the_errors_of_a_data_set_do_not_separate_from_the_best():
    board = made_board(gains={"source_only": 0.0, "coral": 0.1, "pca": 0.1}, noise=0.05)
    scores, table = board.scores(board.chosen_by), datasets_table(board)
    sizes, few = [], 0
    for place, dataset in enumerate(board.datasets, start=1):
        mine = scores[scores["dataset"] == dataset]
        tasks = mine.groupby(["method", "task"])["value"].mean().groupby("method").mean()
        found = compare(mine, tasks.idxmax())
        apart = [e for e in found.effects if e.p < 0.05 or e.freedom < 3]
        expected = {found.reference, *(e.method for e in found.effects if e not in apart)}
        bold = {row[0].text for row in table.rows if row[place].bold}
        assert bold == {board.label(name) for name in expected}
        sizes.append(len(bold))
        few += all(e.freedom < 3 for e in found.effects)
    assert max(sizes) > 1
    assert sizes.count(1) >= few > 0


def test_a_setting_that_was_searched_for_is_marked_and_explained():
    board = made_board(gains={"source_only": 0.0, "fma_i": 0.1})
    table = board_table(board)
    assert [row[0].text for row in table.rows] == ["FMA-I †", "No adaptation (source)"]
    assert any(note.startswith("† A setting was found by searching") for note in table.notes)
    plain = board_table(made_board(gains={"source_only": 0.0, "coral": 0.1}))
    assert not any(note.startswith("†") for note in plain.notes)


def test_failed_candidates_are_counted_and_their_first_reason_is_told():
    view = tuned_view()
    records = view.records.reindex(columns=list(COLUMNS)).astype(COLUMNS)  # as they are read
    mine = (records["method"] == "coral") & (records["trial"] == 1)
    records.loc[mine, "warnings"] = "slow; 3 of 32 candidates failed, the first with: no such thing"
    board = board_of("quick", [dataclasses.replace(view, records=records)])
    table = details_table(board)
    fewer = {method: int(line["Fewer"]) for method, line in lines(table).items()}
    n_tasks = len(view.experiment.tasks)
    assert fewer == {board.label(m): n_tasks * (m == "coral") for m in GAINS}
    assert table.notes == (
        "Fewer: trials in which some candidates failed, so that the choice was among the others: "
        f"CORAL, {n_tasks} (such as: no such thing).",
    )


def test_no_heading_calls_an_interval_a_count_of_trials():
    board = made_board()
    for table in (board_table(board), selectors_table(board), ways_table(board)):
        head = to_csv(table).partition("\n")[0]
        assert "95 % interval" in head
        assert "trials" not in head
