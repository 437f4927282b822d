"""Findings that are older than boards beside them.

Where a board was run before runs left their scores here, findings cannot be made anew
(`reference_findings`). They stay, and their head says which boards are newer, and which of other
runs.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from workflow.lib.config.outputs import label_curves
from workflow.lib.config.suite import Suite
from workflow.lib.report.shifts_page import TITLE as SHIFTS_TITLE
from workflow.lib.results.reference import BOARD

PAGE, FINDINGS, SHIFTS = "boards.md", "findings.md", "shifts.md"
# A row of the page of boards, with the board's title and folder.
ROW = re.compile(rf"\| \[(?P<title>.*?)\]\((?P<folder>{BOARD}\w+)\)")
_OF = re.compile(r"Of the (?P<run>run that ended [^;]*?)(?:; its boards: (?P<boards>.*))?\.")
_NEWER = "**Newer than these findings**: "
_OTHERS = "Of other runs, and not among these findings: "
_ABSENT, _NOT_RUN = "Not among them: ", re.compile(r"not run: (?P<titles>.*?)\.(?: |$)")


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


def mark_newer(suite: Suite, out: Path) -> None:
    """Let the findings that are there say which boards are newer, and which of other runs."""
    paragraphs = _paragraphs(out / FINDINGS)
    of = _of(paragraphs)
    if of is None:
        return
    listed, own = listed_boards(out), {*(of["boards"] or "").split("; ")}
    newer = [one for one in listed if one.title in own and one.run != of["run"]]
    standing = standing_pages(suite, listed, out)
    others = {title: link for title, link in standing.items() if title in _named(paragraphs) - own}
    kept = [one for one in paragraphs if not one.startswith((_NEWER, _OTHERS))]
    kept = [one for one in (_without(one, standing) for one in kept) if one]
    place = kept.index(of[0]) + 1
    kept[place:place] = [*_newer_words(newer), *others_words(others)]
    (out / FINDINGS).write_text("\n\n".join(kept) + "\n", encoding="utf-8")


def _paragraphs(page: Path) -> list[str]:
    return page.read_text("utf-8").strip().split("\n\n") if page.is_file() else []


def _of(paragraphs: Iterable[str]) -> re.Match | None:
    return next(filter(None, map(_OF.fullmatch, paragraphs)), None)


def standing_pages(suite: Suite, listed: Iterable[Listed], out: Path) -> dict[str, str]:
    """Links to what findings could be of and has a page here, by title."""
    links = {one.title: one.link for one in listed}
    for name in label_curves(suite):
        if (out / name).is_dir():
            title = suite.experiments[name].title
            links[title] = f"[{title}]({name})"
    if (out / SHIFTS).is_file():
        links[SHIFTS_TITLE] = f"[{SHIFTS_TITLE}]({SHIFTS})"
    return links


def _named(paragraphs: Iterable[str]) -> set[str]:
    """Titles that the findings name as not among them, be it not run or of another run."""
    titles = []
    for one in paragraphs:
        if one.startswith(_OTHERS):
            titles += re.findall(r"\[(.*?)\]\(", one)
        elif found := one.startswith(_ABSENT) and _NOT_RUN.search(one):
            titles += found["titles"].split("; ")
    return set(titles)


def _without(paragraph: str, standing: Mapping[str, str]) -> str:
    """The paragraph of what is absent without what has a page here; any other as it is."""
    found = paragraph.startswith(_ABSENT) and _NOT_RUN.search(paragraph)
    if not found:
        return paragraph
    left = [title for title in found["titles"].split("; ") if title not in standing]
    told = f"not run: {'; '.join(left)}. " if left else ""
    rest = paragraph[found.end() :]
    return f"{_ABSENT}{told}{rest}".strip() if told or rest else ""


def _newer_words(newer: Iterable[Listed]) -> list[str]:
    by_run: dict[str, list[str]] = {}
    for one in newer:
        by_run.setdefault(one.run, []).append(one.link)
    if not by_run:
        return []
    told = "; ".join(f"{', '.join(links)} ({run})" for run, links in by_run.items())
    return [
        f"{_NEWER}{told}. These boards were run again since: their pages are the newer ones, and "
        "what is said of them here is of the older run."
    ]


def others_words(others: Mapping[str, str]) -> list[str]:
    return [f"{_OTHERS}{'; '.join(others.values())}."] if others else []
