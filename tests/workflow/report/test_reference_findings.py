"""Findings in the reference: made anew from what every run left."""

from tests.workflow.report.test_reference_boards import ALONE, FEW, NAME, made, run_of_hour
from workflow.lib.report.findings_page import write_twin
from workflow.lib.results.board import Board
from workflow.lib.results.load import load_view
from workflow.lib.results.material import sorted_out

FEW_NAME = "board_few_target_labels"
SEVERAL_LINK = f"[Several sources]({NAME})"
FEW_LINK = f"[Few target labels]({FEW_NAME})"


def body(text):
    """Findings without their head."""
    return text[text.index("\n## 1. ") :]


def head(text):
    return text[: text.index("\n## 1. ")]


def test_findings_are_of_all_boards_whatever_run_they_are_of(tmp_path):
    run_of_hour(tmp_path, 1, FEW)
    parts = (run_of_hour(tmp_path, 2, ALONE) / "findings.md").read_text()
    whole = (run_of_hour(tmp_path / "at_once", 3, ALONE, FEW) / "findings.md").read_text()
    assert body(parts) == body(whole)
    assert "(Few target labels)" in body(parts)
    hours = {FEW_LINK: 1, SEVERAL_LINK: 2}
    for link, hour in hours.items():
        assert f"{link} (run that ended 1970-01-01 0{hour}:00 UTC)" in head(parts)
        assert f"{link} (run that ended 1970-01-01 03:00 UTC)" in head(whole)


def test_kept_scores_give_the_findings_of_the_records(tmp_path):
    out = run_of_hour(tmp_path, 1, ALONE)
    view = made(tmp_path / "records")
    own = load_view(view.suite, ALONE, tmp_path / "1/results" / ALONE, tmp_path)
    board = Board("several_sources", "Several sources", "labelled_accuracy", [own])
    write_twin(sorted_out([board]), tmp_path / "twin.md", [], "")
    assert body((out / "findings.md").read_text()) == body((tmp_path / "twin.md").read_text())
