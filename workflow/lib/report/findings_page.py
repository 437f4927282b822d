"""What the benchmark finds: one page of sentences, each with the numbers and records behind it."""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from workflow.lib.config.outputs import boards, label_curves
from workflow.lib.config.suite import Suite
from workflow.lib.report.board_page import shared_samples
from workflow.lib.report.findings_names import Names, about_text, interval_text, value_text
from workflow.lib.report.findings_words import question, sentence
from workflow.lib.report.html import rendered, written
from workflow.lib.report.shifts_page import TITLE as SHIFTS
from workflow.lib.report.tables.model import (
    Table,
    TableCell,
    TableColumn,
    markdown_text,
    to_html,
    to_markdown,
)
from workflow.lib.report.tables.setup import search_notes
from workflow.lib.results import findings as found_by
from workflow.lib.results.findings import findings
from workflow.lib.results.material import FEW_LABELS, NO_LABELS, Finding, Material, Number
from workflow.lib.results.significance import SURELY

_NO_LINKS: Mapping[str, str] = MappingProxyType({})
TITLE = "What the benchmark finds"
_NEXT_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z])")
NOTES = (
    "Every sentence is made from the scores of the runs when this page is made, and the claim "
    "below it is tested on them; that a claim is not so is an answer too. Gains, losses and gaps "
    "are percentage points of accuracy with the 95 % intervals of the boards. Each interval is for "
    "one method by itself: it may lie above 0 where the gain, corrected, is not sure. The best of "
    "several methods is picked by the same trials that give its gain, so that gain is high by "
    "chance; the best baseline is too, so that “surely below” it is said rather too often. "
    f"{SURELY}.",
    "The interval of a share is that of Clopper and Pearson, and its test against chance the "
    "binomial one, both for independent tasks, which tasks with a domain in common are not; the "
    "interval of a rank correlation is Bonett and Wright's, over the methods. A difference that "
    "such trials find is a multiple of a standard error and has its interval, by chi-squared with "
    "its degrees of freedom, cut at 100 points. Seconds have none: each trial was timed once, "
    "on the machine of its run, and says nothing of another.",
)


@dataclasses.dataclass(frozen=True)
class Shown:
    """One finding as the page prints it: a sentence, and more of it."""

    finding: Finding
    question: str
    sentence: str
    more: str
    condition: str
    numbers: Table | None


def shown(material: Material, links: Mapping[str, str] = _NO_LINKS) -> list[Shown]:
    """All findings in words; ``links`` to boards and experiments are those of the Markdown."""
    names = Names(material)
    return [_shown(finding, names, links) for finding in findings(material)]


def _shown(finding: Finding, names: Names, links: Mapping[str, str]) -> Shown:
    first, *others = _NEXT_SENTENCE.split(sentence(finding, names), maxsplit=1)
    return Shown(
        finding=finding,
        question=question(finding),
        sentence=first,
        more=" ".join(others),
        condition=condition(finding),
        numbers=_numbers(finding, names, links) if finding.numbers else None,
    )


def condition(finding: Finding) -> str:
    """The condition of a finding in words: the docstring of what finds it, without the sentence on
    labels of which nothing was run.
    """
    words = " ".join(getattr(found_by, finding.name).__doc__.split())
    if finding.name != "labels_end_the_gain":
        return words
    with_few, _, with_more = words.partition(". ")
    of_boards = [number.place in (NO_LABELS, FEW_LABELS) for number in finding.numbers]
    told = [f"{with_few}."] * any(of_boards) + [with_more] * (not all(of_boards))
    return " ".join(told) or words


def _numbers(finding: Finding, names: Names, links: Mapping[str, str]) -> Table:
    rows = [
        (
            TableCell(names.place(number.place), markdown=_linked(number, names, links)),
            TableCell(about_text(finding, number, names)),
            TableCell(value_text(number), value=number.value),
            TableCell(interval_text(number)),
        )
        for number in finding.numbers
    ]
    return Table(
        name=finding.name,
        caption=question(finding),
        columns=(
            TableColumn("From"),
            TableColumn("About"),
            TableColumn("Value", True),
            TableColumn("95 % interval"),
        ),
        rows=tuple(rows),
    )


def _linked(number: Number, names: Names, links: Mapping[str, str]) -> str:
    """Where a number is from, as a link in Markdown."""
    title = markdown_text(names.place(number.place))
    return f"[{title}]({links[number.place]})" if number.place in links else title


def places(finding: Finding) -> list[str]:
    """Boards and experiments behind a finding."""
    return list(dict.fromkeys(number.place for number in finding.numbers))


def write_findings(
    material: Material,
    page: Path | str,
    twin: Path | str,
    links: Mapping[str, str],
    not_run: Sequence[str] = (),
) -> None:
    """Write the page, and the same as Markdown.

    Parameters
    ----------
    material : Material
    page, twin : path
        HTML and Markdown.
    links : mapping of str to str
        Page of each board and each experiment, relative to ``page``.
    not_run : sequence of str
        Titles of what the findings would be of too.
    """
    entries = shown(material, links)
    names = Names(material)
    source = rendered(
        "findings.html.j2",
        title=TITLE,
        entries=[
            {
                "shown": entry,
                "table": to_html(entry.numbers) if entry.numbers else "",
                "links": [
                    (links[place], names.place(place))
                    for place in places(entry.finding)
                    if place in links
                ],
            }
            for entry in entries
        ],
        notes=_notes(material, not_run),
    )
    written(source, page)
    written(markdown(entries, not_run, material), twin)


def write_twin(
    material: Material,
    twin: Path | str,
    links: Mapping[str, str],
    not_run: Sequence[str],
    of: str,
) -> None:
    """Write the page as Markdown alone, with a line that says of what run it is."""
    written(markdown(shown(material, links), not_run, material, of), twin)


def titles_not_run(
    suite: Suite,
    run: Mapping[str, Sequence[str]],
    shifted: Sequence[str],
    curves: Sequence[str],
) -> list[str]:
    """Titles of what findings would be of too.

    Parameters
    ----------
    suite : Suite
    run : mapping of str to sequence of str
        Experiments that were run, by board.
    shifted, curves : sequence of str
        Experiments of generated shifts, and over the labels of the target, that were run.
    """
    lacking = [name for name in label_curves(suite) if name not in curves]
    titles = [suite.experiments[name].title for name in lacking]
    for name, experiments in boards(suite).items():
        board = suite.tuning["boards"][name]["title"]
        if name not in run:
            titles.append(board)
            continue
        lacking = [one for one in experiments if one not in run[name]]
        titles += [f"{suite.experiments[one].title} (of {board})" for one in lacking]
    return titles if shifted else [*titles, SHIFTS]


def markdown(
    entries: Iterable[Shown], not_run: Sequence[str], material: Material, of: str = ""
) -> str:
    """The page in Markdown."""
    first = [of] if of else []
    parts = [f"# {TITLE}", *first, *_notes(material, not_run)]
    for number, entry in enumerate(entries, 1):
        parts += [f"## {number}. {entry.question}", f"**{entry.sentence}**"]
        parts += [entry.more] if entry.more else []
        if entry.finding.holds is not None:
            verdict = "is so" if entry.finding.holds else "is not so"
            parts.append(f"Claim that was tested, which {verdict}: {entry.condition}")
        if entry.numbers:
            parts.append(to_markdown(entry.numbers).partition("\n\n")[2].rstrip())
    return "\n\n".join(parts) + "\n"


def _notes(material: Material, not_run: Sequence[str]) -> list[str]:
    views = [view for board in material.boards for view in board.views]
    views += [shifts.view for shifts in material.shifts]
    where = "on the pages of boards, kinds of shift and experiments that are linked here"
    shared = dict.fromkeys(
        f"{words}." for board in material.boards for words in shared_samples(board)
    )
    told = [*NOTES, *shared, *search_notes(*views, *material.curves, where=where)]
    if titles := "; ".join(f"“{title}”" for title in not_run):  # a title may hold any mark
        told.append(f"Not run on the data of today, so not among them: {titles}.")
    return told + [f"Not among them: {name} ({why})." for name, why in material.left_out.items()]
