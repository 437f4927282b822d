"""Findings in the reference: made from what every run left, be it of one run or of several."""

import dataclasses
import re
import tempfile
from pathlib import Path

import pytest

from tests.workflow.report.test_reference_boards import (
    ALONE,
    FEW,
    FEW_NAME,
    NAME,
    made,
    run_of_hour,
)
from workflow.lib.report.board_page import board_of
from workflow.lib.report.findings_page import write_twin
from workflow.lib.report.reference_findings import renew_findings
from workflow.lib.report.reference_standing import listed_boards
from workflow.lib.results.load import load_view
from workflow.lib.results.material import sorted_out
from workflow.lib.results.reference import REFERENCE

pytestmark = pytest.mark.whole_run

LINKS = {"several_sources": NAME}
SEVERAL_LINK = f"[Several sources]({NAME})"
FEW_LINK = f"[Few target labels]({FEW_NAME})"


def body(text):
    """Findings without their head."""
    return text[text.index("\n## 1. ") :]


def head(text):
    return text[: text.index("\n## 1. ")]


def not_run(text):
    """Titles that the page calls not run."""
    found = re.search(
        r"^Not run on the data of today, so not among them: “(.*)”\.$",
        text,
        flags=re.MULTILINE,
    )
    return found[1].split("”; “") if found else []


def findings_of_hour(tmp_path, hours, *experiments):
    """What `run_of_hour` gives, with the findings of all that stands there then."""
    out = run_of_hour(tmp_path, hours, *experiments)
    renew_findings(usual_suite(), out)
    return out


def usual_suite():
    with tempfile.TemporaryDirectory() as folder:
        return made(Path(folder)).suite


def test_findings_are_of_all_boards_whatever_run_they_are_of(tmp_path):
    run_of_hour(tmp_path, 1, FEW)
    parts = (findings_of_hour(tmp_path, 2, ALONE) / "findings.md").read_text()
    whole = (findings_of_hour(tmp_path / "at_once", 3, ALONE, FEW) / "findings.md").read_text()
    assert body(parts) == body(whole)
    assert "(Few target labels)" in body(parts)
    assert f"\n| {FEW_LINK} | " in body(parts)
    assert f"\n| {SEVERAL_LINK} | " in body(parts)
    hours = {FEW_LINK: 1, SEVERAL_LINK: 2}
    for link, hour in hours.items():
        assert f"{link} (run that ended 1970-01-01 0{hour}:00 UTC)" in head(parts)
        assert f"{link} (run that ended 1970-01-01 03:00 UTC)" in head(whole)


def test_kept_scores_give_the_findings_of_the_records(tmp_path):
    out = findings_of_hour(tmp_path, 1, ALONE)
    view = made(tmp_path / "records")
    own = load_view(view.suite, ALONE, tmp_path / "records/results" / ALONE, tmp_path)
    write_twin(
        sorted_out([board_of("several_sources", [own])]), tmp_path / "twin.md", LINKS, [], ""
    )
    assert body((out / "findings.md").read_text()) == body((tmp_path / "twin.md").read_text())


def test_a_board_whose_scores_are_of_other_cells_is_not_called_not_run(tmp_path):
    out = findings_of_hour(tmp_path, 1, ALONE, FEW)
    suite = made(tmp_path / "records").suite
    asked = suite.experiments[ALONE]
    suite.experiments[ALONE] = dataclasses.replace(asked, tasks=asked.tasks[1:])
    renew_findings(suite, out)
    text = (out / "findings.md").read_text()
    assert f"\n\nOf other runs, and not among these findings: {SEVERAL_LINK}.\n\n" in text
    assert "Several sources" not in not_run(text)
    assert "No target label" in not_run(text)


def test_findings_name_every_board_that_stands_here():
    text = (REFERENCE / "findings.md").read_text("utf-8")
    listed = listed_boards(REFERENCE)
    assert {one.folder for one in listed} == {path.name for path in REFERENCE.glob("board_*")}
    for one in listed:
        assert one.title not in not_run(text)
        if f"{one.link} (" in head(text):  # with the runs of its data sets, the last among them
            assert re.search(rf"{re.escape(one.link)} \([^)]*{one.run}[^)]*\)", head(text))
