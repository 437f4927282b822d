"""Kinds of shift in the reference run, to be read on a code host: ``reports/reference/shifts.md``.

Beside the page, a folder per experiment with its pictures and its summary, with which
`results.reference` compares a later run.
"""

import dataclasses
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from workflow.lib.config.outputs import shifts as shift_experiments
from workflow.lib.config.suite import Suite
from workflow.lib.report.reference_words import run_words, searched, told, whence
from workflow.lib.report.run_rows import work_rows
from workflow.lib.report.shifts_answer import answers
from workflow.lib.report.shifts_page import TITLE, drawings
from workflow.lib.report.tables.model import to_markdown
from workflow.lib.report.tables.setup import search_notes
from workflow.lib.report.tables.shifts import notes as table_notes
from workflow.lib.report.tables.shifts import tables_of
from workflow.lib.results.audit import notes
from workflow.lib.results.kept_scores import keep_scores, kept_scores
from workflow.lib.results.load import load_view
from workflow.lib.results.records import FAILURES, FILES
from workflow.lib.results.reference import SUMMARY
from workflow.lib.results.run_log import RunLog
from workflow.lib.results.shifts import Shifts, why_nothing

PAGE = "shifts.md"


def write_shifts(suite: Suite, results: Path, out: Path, log: RunLog) -> list[str]:
    """Write the page and the folders of the experiments over generated shifts.

    Returns
    -------
    list of str
        Their names; nothing is written unless all were run and something can be compared.

    Raises
    ------
    CorruptArtifact
        Naming the first file of the records that is damaged.
    """
    shown = shifts_of(suite, results)
    if why_nothing(shown):
        return []
    head = [
        f"# {TITLE}",
        "Generated data on which the target differs from the source in one known way, more and "
        "more. One classifier for all methods and no tuning, so that what differs is the "
        "alignment.",
        whence(log),
        told(log, {**work_rows(log), "Failed records of shifts": _failed(shown)}),
    ]
    _write(shown, head, results, out)
    keep_scores([shifts.view for shifts in shown], out, run_words(log), log.commit)
    return [shifts.view.name for shifts in shown]


def renew_shifts(suite: Suite, out: Path) -> None:
    """Make the page that stands here anew of its scores, with the run as it is told there.

    So it says what today's code says, and has the marks of today's configuration.
    """
    names, page = shift_experiments(suite), out / PAGE
    kept = kept_scores(suite, names, out) if page.is_file() else []
    shown = [Shifts(one.view) for one in kept]
    if len(shown) == len(names) and not why_nothing(shown):
        head, *_ = page.read_text("utf-8").partition("\n## ")
        mixed = {
            one.view.name: f"Methods of several runs: {one.run}."
            for one in kept
            if len(one.runs) > 1
        }
        _write(shown, [head.rstrip()], out, out, mixed)


def _write(
    shown: list[Shifts],
    head: list[str],
    summaries: Path,
    out: Path,
    mixed: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write the page and the folders; summaries are those of the results, or of the folders.

    ``mixed`` says of experiments whose methods are of several runs which these are.
    """
    views = [shifts.view for shifts in shown]
    lines = [
        *head,
        *[_section(s, summaries, out, mixed.get(s.view.name, "")) for s in shown],
        "## What the numbers mean",
        *table_notes(shown),
        *search_notes(*views, where="below"),
        *searched(views),
    ]
    (out / PAGE).write_text("\n\n".join(lines) + "\n", encoding="utf-8")


def shifts_of(suite: Suite, results: Path) -> list[Shifts]:
    """The experiments over generated shifts; none unless all were run."""
    names = shift_experiments(suite)
    if not all((results / name / FILES[0]).is_file() for name in names):
        return []
    domains = results.parent / "resources/domains"
    return [Shifts(load_view(suite, name, results / name, domains)) for name in names]


def _failed(shown: list[Shifts]) -> str:
    """Failed records, of those that could run."""
    statuses = pd.concat([shifts.view.records["status"] for shifts in shown])
    ran = statuses[statuses != "not_applicable"]
    return f"{ran.isin(FAILURES).sum():,} of {len(ran):,}"


def _section(shifts: Shifts, summaries: Path, out: Path, mixed: str) -> str:
    """One experiment; writes its folder."""
    experiment = shifts.view.experiment
    folder = out / experiment.name
    summary = (summaries / experiment.name / SUMMARY).read_bytes()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / SUMMARY).write_bytes(summary)
    pictures = []
    for name, (source, caption) in drawings(shifts).items():
        (folder / f"{name}.svg").write_bytes(source)
        pictures.append(f"![{name}]({experiment.name}/{name}.svg)\n\n{caption}")
    said = [f"- *{question}*: {answer}" for question, answer in answers(shifts)]
    # Their notes are the same for all, and stand once, at the end of the page.
    tables = [to_markdown(dataclasses.replace(t, notes=())).strip() for t in tables_of(shifts)]
    question = " ".join(experiment.question.split())
    setting = " ".join(notes(shifts.view).split())
    parts = [f"## {experiment.title}", f"*{question}*", mixed, "\n".join(said), setting]
    return "\n\n".join(filter(None, [*parts, *pictures, *tables]))
