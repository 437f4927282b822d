"""The page of generated kinds of shift: which method fits which trouble."""

from collections.abc import Iterable
from pathlib import Path

from workflow.lib.report.figures.shifts import curves_figure, heat_figure
from workflow.lib.report.figures.style import render
from workflow.lib.report.html import rendered, written
from workflow.lib.report.page import Picture, inline_svg
from workflow.lib.report.shifts_answer import answers
from workflow.lib.report.tables.model import with_downloads, write_tables
from workflow.lib.report.tables.setup import search_notes, search_readings
from workflow.lib.report.tables.shifts import notes as table_notes
from workflow.lib.report.tables.shifts import tables_of
from workflow.lib.results.audit import notes
from workflow.lib.results.shifts import Shifts, why_nothing
from workflow.lib.results.views import ExperimentView

TITLE = "Kinds of shift"
_CAPTIONS = {
    "full": "Gain over no adaptation at full severity, in percentage points: blue gains, orange "
    "losses, shaded up to 30 points. Bold: surely above. Framed, with ▾: harms, which means below "
    "by more than the error. –: does not apply or is incomplete. PCA and Kernel PCA, where they "
    "have rows, align nothing: the best baseline is the bar that the answers take.",
    "all": "The same, mean over all severities above 0.",
    "curves": "Accuracy over severity; black: no adaptation. A severity of 0 is a new sample of "
    "the source's own distribution.",
}


def write_shifts(views: Iterable[ExperimentView], page: Path | str, folder: Path | str) -> None:
    """Write the page, and every table as CSV, Markdown and LaTeX into a folder.

    Parameters
    ----------
    views : iterable of ExperimentView
        Experiments over generated shifts.
    page, folder : path
        In ``results``.
    """
    shown = [Shifts(view) for view in views]
    own = [shifts.view for shifts in shown]
    tables = [table for shifts in shown for table in tables_of(shifts)]
    write_tables(tables, folder)
    source = rendered(
        "shifts.html.j2",
        title=TITLE,
        why=why_nothing(shown),
        sections=[_section(shifts, Path(folder).name) for shifts in shown],
        notes=[*table_notes(shown), *search_notes(*own, where="below"), *search_readings(*own)],
    )
    written(source, page)


def _section(shifts: Shifts, folder: str) -> dict:
    return {
        "name": shifts.view.name,
        "title": shifts.view.experiment.title,
        "question": shifts.view.experiment.question,
        "notes": notes(shifts.view),
        "n_trials": shifts.view.n_trials,
        "answers": answers(shifts),
        "pictures": _pictures(shifts),
        "tables": [with_downloads(table, folder) for table in tables_of(shifts)],
    }


def drawings(shifts: Shifts) -> dict[str, tuple[bytes, str]]:
    """The figures as SVG, with their captions, by name."""
    drawn = {
        "full": lambda: heat_figure(shifts),
        "all": lambda: heat_figure(shifts, overall=True),
        "curves": lambda: curves_figure(shifts),
    }
    return {name: (render(draw, "svg"), _CAPTIONS[name]) for name, draw in drawn.items()}


def _pictures(shifts: Shifts) -> list[Picture]:
    return [
        Picture(inline_svg(source, f"{shifts.view.name}-{name}"), caption)
        for name, (source, caption) in drawings(shifts).items()
    ]
