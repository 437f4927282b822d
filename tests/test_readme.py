"""Sentences of the README and of the manual that a file of the project can contradict."""

import re
from pathlib import Path

import pytest

from workflow.lib.config.suite import load_suite

ROOT = Path(__file__).parents[1]
SUITE = load_suite(ROOT)
PAGES = ["README.md", *(str(p.relative_to(ROOT)) for p in (ROOT / "reports/manual").rglob("*.md"))]
COMMAND = re.compile(r"^(?:make|snakemake) .*$|`((?:make|snakemake) [^`]*)`", flags=re.MULTILINE)
# In the words of a page, not of the project.
PLACEHOLDERS = {"NAME", "FOLDER", "folder"}


def commands(page):
    """Lines of code and pieces in backticks that call make or snakemake, without their remarks."""
    text = (ROOT / page).read_text("utf-8")
    return [(found[1] or found[0]).partition(" #")[0] for found in COMMAND.finditer(text)]


def targets(file, pattern):
    return set(re.findall(pattern, (ROOT / file).read_text("utf-8"), flags=re.MULTILINE))


@pytest.mark.parametrize("page", PAGES)
def test_targets_of_make_that_a_page_names_exist(page):
    known = targets("Makefile", r"^([a-z-]+):")
    named = {words.split()[1] for words in commands(page) if words.startswith("make ")}
    assert named <= known


@pytest.mark.parametrize("page", PAGES)
def test_experiments_that_a_page_asks_for_exist(page):
    known = {*SUITE.experiments, *targets("Snakefile", r'^    "(\w+)": ')}
    asked = [words for words in commands(page) if words.startswith("snakemake ")]
    words = {w for line in asked for w in re.sub(r"(^| )-\S+( \S+)?", " ", line).split()[1:]}
    named = {w for line in commands(page) for w in re.findall(r"EXPERIMENT=(\w+)", line)}
    assert {w for w in words | named if re.fullmatch(r"[a-z]\w*", w)} - PLACEHOLDERS <= known


def test_what_is_run_again_is_not_called_every_table_and_figure():
    """FMA's Figure 3, VLCS and ten of twelve pairs of DeCAF6 are not: their data are not public."""
    text = " ".join(" ".join((ROOT / page).read_text("utf-8") for page in PAGES).split()).lower()
    assert "every table and figure" not in text
    assert "whose data are public" in (ROOT / "README.md").read_text("utf-8")


def test_the_hours_of_every_method_are_no_part_of_the_papers():
    assert not SUITE.experiments["fma_figure5_all"].answers  # what makes one a part of `papers`
    assert SUITE.experiments["fma_figure5"].answers


def test_the_quick_leaderboard_takes_what_the_reference_run_took():
    boards = (ROOT / "reports/reference/boards.md").read_text("utf-8")
    run = boards.partition("leaderboard_quick`")[2]
    minutes = re.search(r"From first to last \| (\d+) min on 2 cores", run)[1]
    page = (ROOT / "reports/manual/benchmark/index.md").read_text("utf-8")
    (line,) = [line for line in page.splitlines() if " leaderboard_quick " in line]
    assert line.endswith(f": {minutes} minutes on 2 cores")


def test_the_pictures_caption_names_the_search():
    caption = re.search(r"^\*Table 1 of the FMA paper.*\*$", read_readme(), flags=re.MULTILINE)[0]
    assert "†" in caption
    assert "matched after search" in caption


def read_readme():
    return (ROOT / "README.md").read_text("utf-8")
