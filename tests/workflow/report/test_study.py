"""Figures and tables of a study: its own, or words that say why there are none."""

import dataclasses

import pytest

from tests.workflow.report.figure_words import words_of
from tests.workflow.report_example import study_view
from workflow.lib.config.outputs import figure_names, table_names
from workflow.lib.report.figures import scores as score_figures
from workflow.lib.report.tables.model import write_tables
from workflow.lib.report.tables.scores import all_tables


def test_a_study_draws_what_it_announces(monkeypatch):
    view = study_view()
    assert list(score_figures.drawings(view)) == figure_names(view.experiment)
    monkeypatch.setitem(view.module.FIGURES, "third", "One more.")
    with pytest.raises(ValueError, match=r"study_example\.py: figures\(\) returns .*third"):
        score_figures.drawings(view)


def test_a_failed_study_says_so_in_its_figures():
    view = study_view("memory", "over 4000 MB\nand stopped")
    for draw in score_figures.drawings(view).values():
        assert "out of memory: over 4000 MB and stopped" in words_of(draw())


def test_a_study_has_its_own_tables_and_its_domains(tmp_path):
    view = study_view()
    tables = all_tables(view)
    assert list(tables) == table_names(view.experiment) == ["smoothness", "data"]
    assert len(tables["smoothness"].rows) == 6
    assert [row[0].text for row in tables["data"].rows] == ["A", "W"]
    assert len(write_tables(all_tables(view).values(), tmp_path)) == 2 * 3


def test_a_setting_that_was_found_by_searching_is_told_below_the_table_with_its_mark(monkeypatch):
    tried = {"n_nodes": "10, 20 and 40, by the printed picture"}
    view = study_view(found_by_search={"fma_i": tried})
    assert not all_tables(view)["smoothness"].notes
    plain = view.module.tables(view.records, view.arrays)["smoothness"]
    marked = dataclasses.replace(plain, caption="Smoothness by FMA-I †.")
    monkeypatch.setattr(view.module, "tables", lambda *found: {"smoothness": marked})
    tables = all_tables(view)
    assert tables["smoothness"].notes == (
        "† Found by searching, against what papers print or against scores, these or others: "
        "FMA-I, n_nodes = 20: 10, 20 and 40, by the printed picture.",
    )
    assert not any("†" in note for note in tables["data"].notes)


def test_a_failed_study_says_so_in_its_tables():
    tables = all_tables(study_view("data_unavailable", "webcam.mat is gone"))
    assert tables["smoothness"].rows[0][0].text == "data not available: webcam.mat is gone"
    assert list(tables) == ["smoothness", "data"]
