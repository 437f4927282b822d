"""The table of a varied quantity."""

import pytest

from tests.workflow.report.tables.rows import row_of
from tests.workflow.report_example import shared_curves, undefined_curves, varied_view
from workflow.lib.config.outputs import table_names
from workflow.lib.report.tables.curve import curve_table
from workflow.lib.report.tables.model import write_tables
from workflow.lib.report.tables.scores import all_tables
from workflow.lib.results.curves import parts


def test_the_curve_table_has_settings_down_and_methods_across(varied, tmp_path):
    tables = all_tables(varied)
    assert (
        list(tables) == table_names(varied.experiment) == ["curve", "failures", "methods", "data"]
    )
    table = tables["curve"]
    assert [column.label for column in table.columns] == ["Embedding dimension", "FMA-I", "FMA-F"]
    assert [row[0].text for row in table.rows] == ["4", "8", "12", "20", "40", "60", "80", "100"]
    partial = row_of(table, "20")["FMA-I"]
    assert (partial.count, partial.bold, partial.kind) == ("2/4", False, "partial")
    missing = row_of(table, "100")["FMA-F"]
    assert (missing.text, missing.count) == ("no score", "0/4")
    assert row_of(table, "4")["FMA-F"].bold
    notes = " ".join(table.notes)
    assert "the same 11 of 12 tasks" in notes
    assert "Not among them: C→W." in notes
    assert "fewer than half of the tasks: FMA-F at 100." in notes
    assert len(write_tables(all_tables(varied).values(), tmp_path)) == 4 * 3


def test_seen_and_new_rows_have_columns_of_their_own():
    view = shared_curves(trials=3)
    table = all_tables(view)["curve"]
    assert [column.label for column in table.columns[1:5]] == [
        "No adaptation, seen",
        "No adaptation, new",
        "FMA-I, seen",
        "FMA-I, new",
    ]
    last = row_of(table, "1")
    # With the whole target seen, every scored row was: one accuracy, and no new one.
    chosen = view.records[(view.records["method"] == "fma_i") & (view.records["setting"] == 1)]
    assert last["FMA-I, seen"].value == pytest.approx(100 * chosen["accuracy"].mean())
    assert (last["FMA-I, new"].text, last["FMA-I, new"].count) == ("–", "")
    assert row_of(table, "0.4")["FMA-F, new"].bold
    assert any(note.startswith("Seen:") for note in table.notes)


def test_another_way_of_choosing_is_named_where_it_stands():
    view = undefined_curves()
    table = curve_table(view, "labelled_accuracy")
    assert [row[1].text for row in table.rows] == ["50.1", "70.1"]
    assert table.notes[0] == (
        "At 1, CV accuracy (both) is undefined for every method; there candidates are chosen by CV "
        "accuracy (source)."
    )
    whole = curve_table(undefined_curves(at=()), "labelled_accuracy")
    assert not any("undefined" in note for note in whole.notes)


def test_rows_that_are_all_new_have_one_accuracy():
    vary = {"parameter": "k", "of": "methods", "values": [1, 2], "label": "k"}
    new = {"status": "ok", "accuracy": 0.4, "accuracy_new": 0.4}
    scores = {("amazon-dslr", "plain", value): [new] * 2 for value in (1, 2)}
    view = varied_view(scores, 2, vary, [("amazon", "dslr")])
    assert parts(view) == ("accuracy",)
    assert [row[1].text for row in all_tables(view)["curve"].rows] == ["40.0", "40.0"]


def test_a_method_that_does_not_apply_has_no_failed_curve():
    vary = {"parameter": "k", "of": "methods", "values": [1, 2], "label": "k"}
    absent = {"status": "not_applicable", "error": "needs domains with the same features"}
    scores = {("amazon-dslr", "plain", value): [0.4, 0.5] for value in (1, 2)}
    scores |= {("amazon-dslr", "sma", value): [absent] * 2 for value in (1, 2)}
    view = varied_view(scores, 2, vary, [("amazon", "dslr")])
    for row in all_tables(view)["curve"].rows:
        assert (row[1].text, row[2].text, row[2].kind) == ("45.0", "not applicable", "absent")
