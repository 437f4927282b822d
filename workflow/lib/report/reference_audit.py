"""The audit of the papers in the reference run, to be read on a code host: ``audit.md``.

A run of some of the audited experiments renews their findings, as it renews their rows of the
README; those of others stay with the run that they are of, and those of which nothing was run, or
of which a copy of results has no records, are named as undecided.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.suite import Experiment, Suite
from workflow.lib.report.audit_page import (
    Audited,
    PublishedNames,
    arithmetic_table,
    audited,
    heading,
    order_table,
)
from workflow.lib.report.index import entry
from workflow.lib.report.reference_words import run_words
from workflow.lib.report.tables.model import to_markdown
from workflow.lib.results.audit import Finding
from workflow.lib.results.load import load_view
from workflow.lib.results.records import FILES
from workflow.lib.results.run_log import RunLog

PAGE = "audit.md"
# Last line of a finding: its experiment, as a link to the folder, and its run.
_OF = re.compile(r"\[.*\]\((?P<name>\w+)\), (?:run that ended .*)\.")


def write_audit(suite: Suite, results: Path, out: Path, log: RunLog) -> list[str]:
    """Write the page of findings, of printed means and of the order of difficulty.

    Returns
    -------
    list of str
        Experiments with published numbers and records that have run to their end; without any
        results of such experiments nothing is written.

    Raises
    ------
    CorruptArtifact
        Naming the first file of the records that is damaged.
    """
    asked = [one for one in suite.experiments.values() if one.audit]
    finished = [one.name for one in asked if entry(one, results).finished]
    run = [name for name in finished if (results / name / FILES[0]).is_file()]
    if finished:
        domains = results.parent / "resources/domains"
        views = [load_view(suite, name, results / name, domains) for name in run]
        kept = {place: text for place, text in _kept(out).items() if place[0] not in finished}
        text = page(suite, audited(views), kept, run_words(log), PROJECT / "config")
        out.mkdir(parents=True, exist_ok=True)
        (out / PAGE).write_text(text, encoding="utf-8")
    return run


def _kept(out: Path) -> dict[tuple[str, str], str]:
    return sections((out / PAGE).read_text("utf-8")) if (out / PAGE).is_file() else {}


def page(
    suite: Suite,
    entries: Iterable[Audited],
    kept: Mapping[tuple[str, str], str],
    run: str,
    config: Path,
) -> str:
    """The page in Markdown.

    Parameters
    ----------
    suite : Suite
    entries : iterable of Audited
        Experiments of the run.
    kept : mapping of (str, str) to str
        Findings of earlier runs, by experiment and title, as `sections` gives them.
    run : str
        The run in words.
    config : Path
        Folder that holds ``printed_means.csv`` and ``published``.
    """
    renewed = {entry.view.name: entry for entry in entries}
    decided, undecided = [], []
    for name, experiment in suite.experiments.items():
        for asked in (experiment.audit or {}).get("findings", []):
            if name in renewed:
                decided.append(_finding(renewed[name], asked["title"], run))
            elif (old := kept.get((name, asked["title"]), "")) and _condition(asked["when"]) in old:
                decided.append(old)
            else:
                undecided.append(_undecided(experiment, asked))
    names = PublishedNames(suite)
    tables = (arithmetic_table(config, names), order_table(config, names))
    arithmetic, order = (to_markdown(table).strip() for table in tables)
    parts = [
        "# Audit of the published tables",
        "What the papers print, checked against their own rows and beside the records of this "
        "benchmark. Every finding is decided by a condition on the numbers when this page is made, "
        "and names the run that it is of. The verdict on every published column stands in the "
        "[README](README.md), every number in the folder of its experiment. Made by `make "
        "reference`, not by hand.",
        "## Findings",
        *decided,
        *(["### Undecided: not run", "\n".join(undecided)] if undecided else []),
        "## The papers' own arithmetic",
        arithmetic,
        "## Order of difficulty",
        order,
    ]
    return "\n\n".join(parts) + "\n"


def _finding(entry: Audited, title: str, run: str) -> str:
    finding = next(one for one in entry.audit.findings if one.title == title)
    of = f"[{entry.heading}]({entry.view.name}), {run}."
    return "\n\n".join([f"### {title}", *_told(finding), of])


def _told(finding: Finding) -> list[str]:
    """What holds, or why nothing is said, and the condition."""
    condition = _condition(finding.condition)
    if finding.holds is None:
        lacking = (
            f"Undecided on the records of this run: no result for {', '.join(finding.missing)}."
        )
        return [lacking, f"Condition: {condition}"]
    if not finding.holds:
        return [f"Does not hold on these records. Condition, which is false: {condition}"]
    paragraphs = (" ".join(one.split()) for one in finding.text.strip().split("\n\n"))
    return [*paragraphs, f"Condition, which holds: {condition}"]


def _condition(when: str) -> str:
    return f"`{' '.join(when.split())}`"


def _undecided(experiment: Experiment, asked: Mapping) -> str:
    return (
        f"- {asked['title']}: {heading(experiment)} (`snakemake {experiment.name}`). Condition: "
        f"{_condition(asked['when'])}"
    )


def sections(text: str) -> dict[tuple[str, str], str]:
    """Findings that a page has, by experiment and title."""
    found = {}
    findings = text.partition("\n## Findings\n")[2].partition("\n## ")[0]
    for section in re.split("^### ", findings, flags=re.MULTILINE)[1:]:
        lines = section.strip().splitlines()
        if of := _OF.fullmatch(lines[-1]):
            found[of["name"], lines[0]] = f"### {section.strip()}"
    return found
