"""The page of kinds of shift: figures, tables and a word where there is nothing."""

import pytest

from tests.workflow.shift_example import LOSSES, shift_view
from workflow.lib.config.outputs import shift_tables
from workflow.lib.report.shifts_page import write_shifts

pytestmark = pytest.mark.whole_run


def page(views, tmp_path):
    write_shifts(views, tmp_path / "shifts.html", tmp_path / "shifts_page")
    return (tmp_path / "shifts.html").read_text(encoding="utf-8")


def test_answers_stand_before_figures_and_tables(tmp_path):
    text = page([shift_view()], tmp_path)
    assert text.count("<svg") == 3
    assert text.index("Use SMA") < text.index("<svg") < text.index("<table")
    assert "Bent &lt;data&gt;" in text
    assert 'href="bent/report.html"' in text
    assert "5 trials per shift" in text
    assert "by chance on 18.7 % of the kinds" in text


def test_tables_are_those_that_the_workflow_expects(tmp_path):
    page([shift_view()], tmp_path)
    found = {path.name for path in (tmp_path / "shifts_page").iterdir()}
    assert found == {f"{t}.{e}" for t in shift_tables("bent") for e in ("csv", "md", "tex")}


def test_what_the_mark_means_and_what_was_tried_stand_below(tmp_path):
    text = page([shift_view(found_by_search={"sma": {"alpha": "1 and 2"}})], tmp_path)
    before, _, tried = text.partition("what was tried stands below.</p>")
    assert "† A setting was found by searching" in before
    assert "SMA, alpha = " in tried
    assert "1 and 2" in tried


def test_nothing_to_compare_is_said(tmp_path):
    failed = [("source_only", kind, t) for kind in (*LOSSES, "none") for t in range(5)]
    text = page([shift_view(failed=failed)], tmp_path)
    assert "Nothing could be compared: none of source_only" in text
    assert "<svg" not in text


def test_the_same_page_twice(tmp_path):
    assert page([shift_view()], tmp_path) == page([shift_view()], tmp_path)
