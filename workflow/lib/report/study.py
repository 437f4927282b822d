"""Figures and tables of a study: those of its module, or the reason why there are none."""

import dataclasses
from collections.abc import Callable, Iterable

from matplotlib.figure import Figure

from workflow.lib.config.outputs import domains_of
from workflow.lib.report.figures.style import statement
from workflow.lib.report.tables.model import Table, TableCell, TableColumn
from workflow.lib.report.tables.setup import data_table
from workflow.lib.results.text import SEARCH_MARK, shortened
from workflow.lib.results.views import StudyView


class StudyError(ValueError):
    """A module of workflow/studies does not have the parts that it announces."""


def study_drawings(view: StudyView) -> dict[str, Callable[[], Figure]]:
    """Functions that draw each figure of a study, by name."""
    names = tuple(view.module.FIGURES)
    if not view.ok:
        words = f"There is no figure: the computation has no result ({_why(view, 200)})."
        return {name: lambda: statement(words) for name in names}
    drawn = view.module.figures(view.records, view.arrays)
    _check(view, "FIGURES", "figures()", names, drawn)
    return {name: drawn[name] for name in names}


def study_tables(view: StudyView) -> dict[str, Table]:
    """Tables of a study by name, and the domains that it reads."""
    names = tuple(view.module.TABLES)
    if view.ok:
        made = view.module.tables(view.records, view.arrays)
        _check(view, "TABLES", "tables()", names, made)
        tables = {name: _with_searches(view, made[name]) for name in names}
    else:
        tables = {name: _empty(view, name) for name in names}
    return {**tables, "data": data_table(view)} if domains_of(view.experiment) else tables


def _with_searches(view: StudyView, table: Table) -> Table:
    """A table that shows the mark, with a note on each setting that was found by searching."""
    cells = [cell.text for row in table.rows for cell in row]
    shown = [table.caption, *(column.label for column in table.columns), *cells]
    if not any(SEARCH_MARK in text for text in shown):
        return table
    told = [
        f"{SEARCH_MARK} Found by searching, against what papers print or against scores, these or "
        f"others: {reading}."
        for reading in view.searched
    ]
    return dataclasses.replace(table, notes=(*table.notes, *told))


def _empty(view: StudyView, name: str) -> Table:
    return Table(
        name=name,
        caption=f"{name.replace('_', ' ').capitalize()}: there is no result.",
        columns=(TableColumn("Result"),),
        rows=((TableCell(_why(view), kind="failed"),),),
    )


def _why(view: StudyView, length: int = 400) -> str:
    return shortened(view.failure, length)


def _check(
    view: StudyView, constant: str, function: str, names: Iterable[str], made: Iterable[str]
) -> None:
    if set(names) != set(made):
        raise StudyError(
            f"workflow/studies/{view.experiment.study['module']}.py: {function} returns "
            f"{sorted(made)}, {constant} announces {sorted(names)}; make them the same"
        )
