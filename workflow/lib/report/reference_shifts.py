"""Kinds of shift in the reference run, to be read on a code host: ``reports/reference/shifts.md``.

Beside the page, a folder per experiment with its pictures and its summary, with which
`results.reference` compares a later run.
"""

import shutil
from pathlib import Path

import pandas as pd

from workflow.lib.config.outputs import shifts as shift_experiments
from workflow.lib.config.suite import Suite
from workflow.lib.report.reference_words import duration
from workflow.lib.report.shifts_answer import answers
from workflow.lib.report.shifts_page import TITLE, drawings
from workflow.lib.report.tables.model import to_markdown
from workflow.lib.report.tables.setup import search_notes
from workflow.lib.report.tables.shifts import NOTES, tables_of
from workflow.lib.results.load import load_view
from workflow.lib.results.records import FAILURES, FILES
from workflow.lib.results.reference import SUMMARY
from workflow.lib.results.shifts import Shifts, why_nothing
from workflow.lib.results.text import count

PAGE = "shifts.md"


def write_shifts(suite: Suite, results: Path, out: Path) -> list[str]:
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
    names = shift_experiments(suite)
    if not names or not all((results / name / FILES[0]).is_file() for name in names):
        return []
    domains = results.parent / "resources/domains"
    shown = [Shifts(load_view(suite, name, results / name, domains)) for name in names]
    if why_nothing(shown):
        return []
    sections = [_section(shifts, results, out) for shifts in shown]
    lines = [
        f"# {TITLE}",
        "Generated data on which the target differs from the source in one known way, more and "
        "more. One classifier for all methods and their settings untuned, so that what differs is "
        "the alignment. Written by `make reference`, not by hand.",
        _trials(shown),
        *sections,
        "## What the numbers mean",
        *NOTES,
        *search_notes(*(shifts.view for shifts in shown)),
    ]
    (out / PAGE).write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    return names


def _trials(shown: list[Shifts]) -> str:
    records = pd.concat([shifts.view.records for shifts in shown])
    failed = records["status"].isin(FAILURES).sum()
    seconds = duration(records["seconds"].astype(float).sum())
    return f"{count(len(records), 'trial')}, {failed} failed; the alignments took {seconds} in all."


def _section(shifts: Shifts, results: Path, out: Path) -> str:
    """One experiment; writes its folder."""
    experiment = shifts.view.experiment
    folder = out / experiment.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(results / experiment.name / SUMMARY, folder)
    pictures = []
    for name, (source, caption) in drawings(shifts).items():
        (folder / f"{name}.svg").write_bytes(source)
        pictures.append(f"![{name}]({experiment.name}/{name}.svg)\n\n{caption}")
    said = [f"- *{question}*: {answer}" for question, answer in answers(shifts)]
    tables = [to_markdown(table).strip() for table in tables_of(shifts)]
    parts = [f"## {experiment.title}", f"*{' '.join(experiment.question.split())}*"]
    return "\n\n".join([*parts, "\n".join(said), *pictures, *tables])
