"""Findings in the reference: of what run they are, beside boards of other runs."""

import re

from tests.workflow.report.test_reference_boards import ALONE, FEW, NAME, run_of_hour
from workflow.lib.report.reference_findings import listed_boards
from workflow.lib.results.reference import REFERENCE


def test_findings_that_are_older_than_a_board_say_so(tmp_path):
    found = run_of_hour(tmp_path, 1, ALONE, FEW) / "findings.md"
    fresh = found.read_text()
    boards = "its boards: Few target labels; Several sources"
    of = f"Of the run that ended 1970-01-01 01:00 UTC; {boards}."
    assert f"\n\n{of}\n\n" in fresh
    assert "Newer" not in fresh
    for hours in (2, 3):  # the same words once, of the last run
        run_of_hour(tmp_path, hours, ALONE)
        assert found.read_text() == fresh.replace(
            of,
            f"{of}\n\n**Newer than these findings**: [Several sources]({NAME}) (run that ended "
            f"1970-01-01 0{hours}:00 UTC). These boards were run again since: their pages are the "
            "newer ones, and what is said of them here is of the older run.",
        )


def test_findings_do_not_call_a_board_not_run_that_has_a_page(tmp_path):
    found = run_of_hour(tmp_path, 1, ALONE) / "findings.md"
    assert "; Few target labels;" in found.read_text()
    for hours in (2, 3):
        run_of_hour(tmp_path, hours, FEW)
        text = found.read_text()
        assert "its boards: Several sources." in text
        (absent,) = re.findall("^Not among them: not run: (.*)$", text, flags=re.MULTILINE)
        assert "Few target labels;" not in absent
        assert "No target label;" in absent
        other = "[Few target labels](board_few_target_labels)"
        assert f"\n\nOf other runs, and not among these findings: {other}.\n\n" in text


def test_a_board_of_another_run_does_not_keep_older_findings(tmp_path):
    run_of_hour(tmp_path, 1, ALONE)
    run_of_hour(tmp_path, 2, FEW)
    text = (run_of_hour(tmp_path, 3, ALONE) / "findings.md").read_text()
    assert "Of the run that ended 1970-01-01 03:00 UTC; its boards: Several sources." in text
    assert "Newer" not in text
    assert "Of other runs, and not among these findings: [Few target labels]" in text


def test_the_findings_that_are_kept_say_which_boards_are_newer():
    text = (REFERENCE / "findings.md").read_text("utf-8")
    (run, told) = re.search(r"^Of the (run .*?); its boards: (.*)\.$", text, re.MULTILINE).groups()
    (absent,) = re.findall(r"^Not among them: (.*)$", text, flags=re.MULTILINE) or [""]
    listed = listed_boards(REFERENCE)
    assert {one.folder for one in listed} == {path.name for path in REFERENCE.glob("board_*")}
    for one in listed:
        assert f"{one.title};" not in f"{absent};"
        if one.run != run:
            assert one.link in text.partition("\n## ")[0]
            assert (f"({one.run})" in text) == (one.title in told.split("; "))
