"""The head of the reference's README: what every page and run beside it may change.

What the papers' columns and the boards come to stands first; below the runs, links to all pages.
"""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.report.reference_standing import FINDINGS, PAGE
from workflow.lib.report.reference_words import RUNS, row
from workflow.lib.results.text import count, listed
from workflow.lib.results.verdicts import (
    CLOSE,
    NOT_REPRODUCED,
    REPRODUCED,
    ROWS_DISAGREE,
    SEARCHED,
)

# Openings of the paragraphs.
_TALLY = "Of the papers' printed columns "
_FOUND = f"What the boards find ([findings]({FINDINGS})): "
_BESIDE = "Other pages: "
_BOARDS = f"The page of [boards]({PAGE}) has sections of "
_VERDICTS = (REPRODUCED, SEARCHED, CLOSE, ROWS_DISAGREE, NOT_REPRODUCED)
_CELL = re.compile(r"(?<!\\)\|")
_COLUMN, _OURS, _VERDICT = 3, 5, 7


def with_head(text: str, suite: Suite, out: Path) -> str:
    """A README with its head of today, and the rest as it is.

    Parameters
    ----------
    text : str
        The page, with or without a head.
    suite : Suite
    out : Path
        Folder of the reference.
    """
    heads = _TALLY, _FOUND, _BESIDE, _BOARDS
    kept = [part for part in text.rstrip("\n").split("\n\n") if not part.startswith(heads)]
    runs = row(RUNS)
    place = next((n for n, part in enumerate(kept, 1) if part.startswith(runs)), len(kept))
    first = [*_tally(text.splitlines()), *_found(out / FINDINGS)]
    parts = [*kept[:1], *first, *kept[1:place], *_beside(suite, out), *_of_boards(out / PAGE)]
    return "\n\n".join([*parts, *kept[place:]]) + "\n"


def own_questions(suite: Suite) -> list[Experiment]:
    """What asks at which values of a protocol alignment helps, and answers to no paper."""
    every = suite.experiments.values()
    return [one for one in every if one.varies("protocol") and not one.answers]


def _tally(lines: Iterable[str]) -> list[str]:
    """How many of the columns have each verdict; nothing of a page without a column."""
    rows = [[cell.strip() for cell in _CELL.split(line)] for line in lines if line[:2] == "| "]
    columns = [cells for cells in rows if len(cells) > _VERDICT and cells[_COLUMN]]
    judged = Counter(
        verdict
        for cells in columns
        for verdict in _VERDICTS
        if cells[_OURS] and cells[_VERDICT].startswith(verdict)
    )
    if not judged:
        return []
    told = listed(f"{judged[verdict]} {verdict}" for verdict in _VERDICTS if judged[verdict])
    # The heads of the tables have no number below "Ours" that is judged.
    others = sum(not cells[_OURS] for cells in columns)
    without = f"; {count(others, 'other')} have no number of ours, for the reason there" * (
        others > 0
    )
    return [f"{_TALLY}{judged.total()} are compared ([rule](#verdicts)): {told}{without}."]


def _found(page: Path) -> list[str]:
    """The first of the findings: who is above the bar, by how much, and who in any way of choosing.

    Those are its first two sentences and its last.
    """
    text = page.read_text("utf-8") if page.is_file() else ""
    found = re.search(r"^## 1\. .*\n\n(?P<words>(?:.+\n\n)+?)Claim ", text, re.MULTILINE)
    if not found:
        return []
    words = " ".join(found["words"].replace("**", "").split())
    sentences = re.split(r"(?<=\.) (?=[A-Z])", words)
    return [_FOUND + " ".join([*sentences[:2], *sentences[2:][-1:]])]


def _beside(suite: Suite, out: Path) -> list[str]:
    """Links to the pages that this and other targets of the Makefile leave here."""
    pages = {path.name: path.stem for path in out.glob("*.md") if path.name != "README.md"}
    pages |= {one.name: one.name for one in own_questions(suite) if (out / one.name).is_dir()}
    links = [f"[{name}]({address})" for address, name in sorted(pages.items())]
    return [f"{_BESIDE}{', '.join(links)}."] if links else []


def _of_boards(page: Path) -> list[str]:
    """Of how many runs the page of boards has sections, and what it says that these took."""
    text = page.read_text("utf-8") if page.is_file() else ""
    took = re.search("^All boards listed.*: .*", text, re.MULTILINE)
    runs = count(len(re.findall("^## Run that ended ", text, re.MULTILINE)), "run")
    return [f"{_BOARDS}{runs}. {took[0]}"] if took else []
