"""Findings of a run that kept no scores say which boards are newer."""

import re
import shutil

import pytest

from tests.workflow.report.test_reference_boards import ALONE, FEW, run_of_hour
from tests.workflow.report.test_reference_findings import FEW_LINK, SEVERAL_LINK, head
from workflow.lib.report.reference_standing import listed_boards
from workflow.lib.results.reference import REFERENCE


def older(out, of, told="Something."):
    """Findings of a run that kept no scores."""
    shutil.rmtree(out / "scores")
    text = f"# What the benchmark finds\n\n{of}\n\nNotes.\n\n## 1. Something?\n\n{told}\n"
    (out / "findings.md").write_text(text)


def test_findings_that_are_older_than_a_board_say_so(tmp_path):
    out = run_of_hour(tmp_path, 1, ALONE, FEW)
    boards = "its boards: Few target labels; Several sources"
    of = f"Of the run that ended 1970-01-01 01:00 UTC; {boards}."
    older(out, of)
    before = (out / "findings.md").read_text()
    for hours in (2, 3):  # the same words once, of the last run
        run_of_hour(tmp_path, hours, ALONE)
        assert (out / "findings.md").read_text() == before.replace(
            of,
            f"{of}\n\n**Newer than these findings**: {SEVERAL_LINK} (run that ended "
            f"1970-01-01 0{hours}:00 UTC). These boards were run again since: their pages are the "
            "newer ones, and what is said of them here is of the older run.",
        )
    run_of_hour(tmp_path, 4, FEW)  # now each has left its scores
    text = (out / "findings.md").read_text()
    assert "Newer" not in text
    assert f"{FEW_LINK} (run that ended 1970-01-01 04:00 UTC)" in text


def test_the_older_findings_that_are_kept_say_which_boards_are_newer():
    text = (REFERENCE / "findings.md").read_text("utf-8")
    of = re.search(r"^Of the (run .*?); its boards: (.*)\.$", text, re.MULTILINE)
    if of is None:
        pytest.skip("the findings that are kept are made of scores")
    for one in listed_boards(REFERENCE):
        if one.run != of[1]:
            assert one.link in head(text)
            assert (f"({one.run})" in text) == (one.title in of[2].split("; "))
