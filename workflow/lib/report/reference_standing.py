"""What stands in the reference: pages of boards, of kinds of shift and of curves over labels."""

import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path

from workflow.lib.config.outputs import label_curves
from workflow.lib.config.suite import Suite
from workflow.lib.report.shifts_page import TITLE as SHIFTS_TITLE
from workflow.lib.results.reference import BOARD

PAGE, FINDINGS, SHIFTS = "boards.md", "findings.md", "shifts.md"
# A row of the page of boards, with the board's title and folder.
ROW = re.compile(rf"\| \[(?P<title>.*?)\]\((?P<folder>{BOARD}\w+)\)")


@dataclasses.dataclass(frozen=True)
class Listed:
    """A board as the page of boards lists it: its title, its folder, and its run."""

    title: str
    folder: str
    run: str

    @property
    def link(self) -> str:
        return f"[{self.title}]({self.folder})"


def listed_boards(out: Path) -> list[Listed]:
    """The boards of all runs, from the page of boards."""
    page = out / PAGE
    text = page.read_text("utf-8") if page.is_file() else ""
    found = []
    for section in re.split("^## ", text, flags=re.MULTILINE)[1:]:
        run = section.partition("\n")[0].strip()
        rows = ROW.finditer(section)
        found += [Listed(row["title"], row["folder"], run[:1].lower() + run[1:]) for row in rows]
    return found


def standing_pages(suite: Suite, out: Path) -> dict[str, str]:
    """Links to what findings could be of and has a page here, by title."""
    links = {one.title: one.link for one in listed_boards(out)}
    for name in label_curves(suite):
        if (out / name).is_dir():
            title = suite.experiments[name].title
            links[title] = f"[{title}]({name})"
    if (out / SHIFTS).is_file():
        links[SHIFTS_TITLE] = f"[{SHIFTS_TITLE}]({SHIFTS})"
    return links


OTHERS = "Of other runs, and not among these findings: "


def others_words(links: Iterable[str]) -> list[str]:
    """A paragraph on what stands here and findings are not of; or nothing."""
    told = "; ".join(links)
    return [f"{OTHERS}{told}."] if told else []
