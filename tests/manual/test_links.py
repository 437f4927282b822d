"""Relative links of the project's own Markdown: each leads to a file, a folder or a heading."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What runs and tools leave; it is no part of the project.
LEFT_BY_RUNS = ("results", "resources", "logs")
FOLDERS = [
    path
    for path in ROOT.iterdir()
    if path.is_dir() and path.name not in LEFT_BY_RUNS and not path.name.startswith(".")
]
PAGES = sorted([*ROOT.glob("*.md"), *(page for one in FOLDERS for page in one.rglob("*.md"))])
CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)|\b(?:src|href)=\"([^\"]+)\"")


def links(text):
    """Addresses within the project that a page links to, not those that it shows as code."""
    found = (match[1] or match[2] for match in LINK.finditer(CODE.sub("", text)))
    return [address for address in found if not re.match(r"[a-z]+:|//", address)]


def headings(page):
    """Anchors that a code host gives the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", CODE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def test_links_are_found_and_code_is_not():
    text = 'See [a](b.md#c), `[no](x)` <img src="d.svg"> and [site](https://e.f).\n'
    assert links(f"{text}```\n[none](y)\n```\n") == ["b.md#c", "d.svg"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page):
    lost = []
    for link in links(page.read_text("utf-8")):
        address, _, heading = link.partition("#")
        place = page.parent / address if address else page
        if not place.exists() or (heading and heading not in headings(place)):
            lost.append(link)
    assert not lost
