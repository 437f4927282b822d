"""The page of findings and its twin: the same sentences, numbers, links, what was not run."""

import dataclasses
import re

import pytest

from tests.workflow.board_example import made_board
from tests.workflow.report_example import shared_curves
from tests.workflow.results.test_findings import HARMS, HELPS, labelled, one
from tests.workflow.shift_example import shift_view
from workflow.lib.report.findings_page import TITLE, condition, shown, write_findings
from workflow.lib.results.findings import findings
from workflow.lib.results.material import Material, sorted_out
from workflow.lib.results.shifts import Shifts

pytestmark = pytest.mark.whole_run

BENT = r"| [Bent \<data\>](shifts.html) |"
LINKS = {"quick": "board_quick.html", "bent": "shifts.html"}


def written(tmp_path, material, not_run=()):
    write_findings(material, tmp_path / "f.html", tmp_path / "f.md", LINKS, not_run)
    return [(tmp_path / name).read_text(encoding="utf-8") for name in ("f.html", "f.md")]


def full():
    return Material((made_board(),), (Shifts(shift_view()),))


def test_page_and_twin_hold_every_sentence(tmp_path):
    material = full()
    page, twin = written(tmp_path, material)
    for entry in shown(material):
        assert entry.question in page
        assert entry.question in twin
        assert entry.sentence in twin
        if entry.finding.numbers:
            assert f'id="{entry.finding.name}"' in page
            assert 'href="#' + entry.finding.name in page
    assert page.count("board_quick.html") >= 10
    assert "shifts.html" in page
    assert twin.startswith(f"# {TITLE}")
    for line in twin.splitlines():
        if line.startswith("| ") and "95 % interval" not in line and "---" not in line:
            assert line.startswith(("| [No target label, quick form](board_quick.html) |", BENT))
    assert page.count("<section id=") == sum(bool(f.numbers) for f in findings(material))


def test_a_finding_is_one_sentence_and_what_is_more_stands_below_it(tmp_path):
    twin = written(tmp_path, full())[1]
    found = shown(full())
    assert len(found) <= 12
    assert any(entry.more for entry in found)
    for entry in found:
        assert ". " not in re.sub(r"et al\. |vs\. ", "", entry.sentence)
        assert entry.sentence.endswith(".")
        assert f"**{entry.sentence}**\n" in twin
        assert not entry.more or f"\n{entry.more}\n" in twin


def test_the_mark_is_explained_on_the_linked_pages(tmp_path):
    for text in written(tmp_path, full()):
        note = text.partition("† A setting was found by searching")[2]
        assert "what was tried stands on the pages of boards, kinds of shift and exp" in note


def test_what_was_not_run_is_named(tmp_path):
    page, twin = written(tmp_path, Material(()), ["Few target labels"])
    for text in (page, twin):
        assert "Not run on the data of today, so not among them: “Few target labels”." in text
    assert page.count("Not decided") == twin.count("Not decided") == 12
    assert "<table" not in page


def test_what_is_left_out_is_named_with_its_reason(tmp_path):
    lacking = {("source_only", None, None): range(9), ("pca", None, None): range(9)}
    page, twin = written(tmp_path, sorted_out([made_board(lacking=lacking)]))
    for text in (page, twin):
        assert "none of pca and source_only" in text


def test_a_claim_that_is_not_so_reads_as_no_failed_test(tmp_path):
    page, twin = written(tmp_path, full())
    decided = [entry.finding.holds for entry in shown(full())]
    for holds, words in ((True, "is so"), (False, "is not so")):
        claim = f"Claim that was tested, which {words}: "
        assert page.count(claim) == twin.count(claim) == decided.count(holds) > 0


def test_conditions_are_sentences():
    for finding in findings(full()):
        words = condition(finding)
        assert words[0].isupper()
        assert words.endswith(".")
        assert "\n" not in words


def test_the_condition_on_labels_speaks_of_what_was_run_alone():
    boards, curves = labelled(HELPS, HARMS), (shared_curves(trials=5),)
    name = "labels_end_the_gain"
    with_few = condition(one(name, boards))
    with_more = condition(one(name, Material((), (), curves)))
    assert with_few.startswith("With few target labels no aligning")
    assert "tried" not in with_few
    assert with_more.startswith("With no number of labels per class that was tried")
    both = condition(one(name, dataclasses.replace(boards, curves=curves)))
    assert both == f"{with_few} {with_more}"


def test_the_same_files_twice(tmp_path):
    assert written(tmp_path, full()) == written(tmp_path, full())
