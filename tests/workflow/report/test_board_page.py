"""The page of a board: every part is there, and one that compares nothing says so."""

import re

import pytest
from markupsafe import escape

from tests.workflow.board_example import made_board, tuned_view
from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.outputs import BOARD_TABLES
from workflow.lib.config.suite import load_suite
from workflow.lib.config.tuning import CANDIDATES_FAILED
from workflow.lib.report.board_page import drawings, how, protocols, rules, tables_of, write_board
from workflow.lib.results.board import Board
from workflow.lib.results.text import listed

pytestmark = pytest.mark.whole_run

ALL = range(9)


def page(board, tmp_path):
    write_board(board, tmp_path / "board.html", tmp_path / "board")
    return (tmp_path / "board.html").read_text(encoding="utf-8")


def test_the_page_holds_answers_tables_figures_and_links(tmp_path):
    board = made_board()
    text = page(board, tmp_path)
    assert text.count("<svg") == 2
    assert text.count('class="drawing"') == 2
    for table in BOARD_TABLES:
        assert f"table-{table.replace('_', '-')}" in text
        for ending in ("csv", "md", "tex"):
            assert (tmp_path / "board" / f"{table}.{ending}").stat().st_size
            assert f"href='board/{table}.{ending}'" in text
    assert 'href="tuned_quick/report.html"' in text
    assert "among 32 candidates" in text
    for rule in rules(board):
        assert str(escape(rule))[:60] in text


def test_the_caption_says_that_intervals_are_cut_at_zero():
    _, caption = drawings(made_board())["selectors"]
    assert caption.endswith(
        "The axis begins at 0, as no gap can be negative: what an interval has below 0 is not "
        "drawn."
    )


def test_the_rules_say_where_the_error_speaks_of_other_targets_alone():
    board = made_board()
    effect, shared, *others = rules(board)
    assert (effect, *others) == board.comparison.rules
    assert shared == (
        "All tasks of Gas sensor drift have the source batch1: there the error speaks of "
        "other targets only, not of other sources"
    )
    coil = made_board("no_target_labels", "tuned_no_labels_coil")
    assert rules(coil) == [*coil.comparison.rules]


def test_the_rules_say_of_which_data_tasks_share_samples():
    board = made_board("no_target_labels", "tuned_no_labels_newsgroups")
    (told,) = [rule for rule in rules(board) if rule.startswith("Of 20 Newsgroups")]
    assert told.endswith(
        "both tasks have the same posts of comp as one of their classes: the error takes them for "
        "independent and is rather too small"
    )


def test_the_sentence_behind_the_mark_leads_to_what_was_tried(tmp_path):
    text = page(made_board(), tmp_path)
    sentence, heading = "below, under “Settings found by searching”.", 'id="searched">'
    assert text.index(sentence) < text.index(heading)
    assert "TCA, n_components = 20: 20 and 30 dimensions" in text.partition(heading)[2]


def test_tables_are_those_that_the_workflow_expects():
    assert tuple(tables_of(made_board())) == BOARD_TABLES


def test_the_same_page_from_the_same_records(tmp_path):
    assert page(made_board(), tmp_path) == page(made_board(), tmp_path)


def test_a_board_with_nothing_comparable_says_so(tmp_path):
    lacking = {("source_only", None, None): ALL, ("pca", None, None): ALL}
    text = page(made_board(lacking=lacking), tmp_path)
    assert "Nothing could be compared: none of pca and source_only has enough" in text
    assert "<svg" not in text
    assert "<table" not in text
    assert not list((tmp_path / "board").glob("*"))


def test_candidates_that_failed_are_told_with_their_number():
    assert "among 32 candidates of its search space." in how(made_board())
    board = made_board()
    board.records["warnings"] = None
    board.records.loc[board.records.index[:99], "warnings"] = f"2 of 32 {CANDIDATES_FAILED}"
    assert "32 candidates (fewer where some failed: see the notes of the tables)" in how(board)


def test_a_board_says_which_samples_are_scored():
    seen, new = made_board(), made_board()
    for view, rows in ((seen.views[0], "seen"), (new.views[0], "test")):
        name = view.experiment.protocol
        view.suite.protocols[name] = {**view.suite.protocols[name], "scored_rows": rows}
    assert "Scored: samples of the target whose labels the methods did not see. Tr" in how(seen)
    both = Board(seen.name, seen.title, seen.chosen_by, [*seen.views, *new.views])
    labels = {d["label"] for name, d in new.suite.datasets.items() if name in named(new)}
    for board in (new, both):
        assert f"did not see; of {listed(sorted(labels))}, new ones. Trials" in how(board)


def test_a_board_says_how_many_trials_a_task_has_and_why_some_have_fewer():
    views = [tuned_view(f"tuned_no_labels_{name}", trials=5) for name in ("coil", "gas")]
    alike = Board("no_target_labels", "", "circular", views)
    assert how(alike).endswith(" Trials of a task: 5.")
    reviews = tuned_view("tuned_no_labels_amazon", trials=3)
    mixed = Board("no_target_labels", "", "circular", [reviews, *views])
    assert how(mixed).endswith(
        " Trials of a task: 5; of Amazon reviews (5,000 words), 3, each scored on all test samples "
        "of the target, which are many more."
    )
    fewer = Board("no_target_labels", "", "circular", [*views, tuned_view(trials=2)])
    assert re.search(r" Trials of a task: 5; of Gas sensor drift, .* and .*, 2\.$", how(fewer))


def test_a_board_tells_every_protocol_of_its_data_sets_once():
    views = [tuned_view("tuned_no_labels_surf"), tuned_view("tuned_no_labels_gas")]
    (told,) = protocols(Board("no_target_labels", "", "circular", views))
    assert "Seeded draws of 20 labelled samples per class of each source" in told
    mixed = Board(
        "no_target_labels", "", "circular", [tuned_view("tuned_no_labels_amazon"), *views]
    )
    usual, other = protocols(mixed)
    assert usual == told
    assert other.startswith("Of Amazon reviews (5,000 words): Seeded draws from the data's own ")


def test_notes_of_experiments_on_boards_are_told_as_they_are():
    """Boards have no records from which a sentence could be made."""
    noted = [one for one in load_suite(PROJECT).experiments.values() if one.tuning and one.notes]
    assert len(noted) > 6
    assert not any("{" in one.notes for one in noted)


def named(board):
    return {task.target.dataset for view in board.views for task in view.experiment.tasks}
