"""Findings of a run before runs left their scores (`reference_findings`).

They cannot be made anew. They stay until every board has left its scores, and their head says which
boards are newer, and which of other runs.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from workflow.lib.config.suite import Suite
from workflow.lib.report.reference_standing import (
    FINDINGS,
    OTHERS,
    Listed,
    listed_boards,
    others_words,
    standing_pages,
)

_OF = re.compile(r"Of the (?P<run>run that ended [^;]*?)(?:; its boards: (?P<boards>.*))?\.")
_NEWER = "**Newer than these findings**: "
_ABSENT, _NOT_RUN = "Not among them: ", re.compile(r"not run: (?P<titles>.*?)\.(?: |$)")


def has_older_findings(out: Path) -> bool:
    """Whether the findings there are of a run that left no scores."""
    return _of(_paragraphs(out / FINDINGS)) is not None


def mark_newer(suite: Suite, out: Path) -> None:
    """Let older findings say which boards are newer, and which of other runs."""
    paragraphs = _paragraphs(out / FINDINGS)
    of = _of(paragraphs)
    listed, own = listed_boards(out), {*(of["boards"] or "").split("; ")}
    newer = [one for one in listed if one.title in own and one.run != of["run"]]
    standing = standing_pages(suite, out)
    others = {title: link for title, link in standing.items() if title in _named(paragraphs) - own}
    kept = [one for one in paragraphs if not one.startswith((_NEWER, OTHERS))]
    kept = [one for one in (_without(one, standing) for one in kept) if one]
    place = kept.index(of[0]) + 1
    kept[place:place] = [*_newer_words(newer), *others_words(others.values())]
    (out / FINDINGS).write_text("\n\n".join(kept) + "\n", encoding="utf-8")


def _paragraphs(page: Path) -> list[str]:
    return page.read_text("utf-8").strip().split("\n\n") if page.is_file() else []


def _of(paragraphs: Iterable[str]) -> re.Match | None:
    return next(filter(None, map(_OF.fullmatch, paragraphs)), None)


def _named(paragraphs: Iterable[str]) -> set[str]:
    """Titles that the findings name as not among them, be it not run or of another run."""
    titles = []
    for one in paragraphs:
        if one.startswith(OTHERS):
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
