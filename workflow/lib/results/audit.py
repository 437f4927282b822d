"""Published numbers beside ours, with a verdict by one stated rule.

The experiment file says which published column answers to which method, under which reading of the
protocol, and whether that reading was found by searching. Everything else is computed here from
the records and the published table.
"""

import dataclasses
import math
from collections.abc import Mapping

from workflow.lib.config.suite import Suite
from workflow.lib.config.tasks import Task
from workflow.lib.results.columns import Column, Row
from workflow.lib.results.equivalence import Error, average, of_sample, total
from workflow.lib.results.published import FROM_MEMORY, read_published
from workflow.lib.results.sentences import Quantities, decide, render
from workflow.lib.results.verdicts import (
    FEWEST_ROWS,
    INCOMPLETE,
    NOT_ASKED,
    NOT_PUBLISHED,
    column_grade,
    grade,
    verdict,
)
from workflow.lib.results.views import Cell, ExperimentView, StudyView


@dataclasses.dataclass(frozen=True)
class Finding:
    """A sentence of judgement, and whether the records still say so; None if they cannot."""

    title: str
    text: str
    condition: str
    holds: bool | None
    missing: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Audit:
    """The audit of one experiment."""

    published_file: str
    measure: str
    second_measure: str | None
    reading: str
    columns: tuple[Column, ...]
    findings: tuple[Finding, ...] = ()


def audit(view: ExperimentView) -> Audit | None:
    """Audit an experiment; None if its file asks for none."""
    asked = view.experiment.audit
    if not asked:
        return None
    published = read_published(view.root / "config/published" / asked["published"])
    entries = {**dict.fromkeys(row["method"] for row in published), **asked.get("columns", {})}
    columns = tuple(
        _column(view, name, entry or {"published_only": "not compared in this experiment"}, rows)
        for name, entry in entries.items()
        if (rows := [row for row in published if row["method"] == name])
    )
    by_name = {column.name: column for column in columns}
    return Audit(
        published_file=asked["published"],
        measure=asked.get("measure", "accuracy"),
        second_measure=asked.get("second_measure"),
        reading=_reading(view, by_name),
        columns=tuple(_with_its_note(view, column, by_name) for column in columns),
        findings=tuple(_finding(view, finding, by_name) for finding in asked.get("findings", [])),
    )


def notes(view: ExperimentView | StudyView) -> str:
    """The notes of an experiment file, with what they take from the records."""
    checked = None if isinstance(view, StudyView) else audit(view)
    columns = {column.name: column for column in checked.columns} if checked else {}
    return render(_place(view, "notes"), view.experiment.notes, Quantities(view, columns))


def _reading(view: ExperimentView, columns: dict[str, Column]) -> str:
    asked = view.experiment.audit.get("reading", "")
    return render(_place(view, "audit.reading"), asked, Quantities(view, columns))


def _with_its_note(view: ExperimentView, column: Column, columns: dict[str, Column]) -> Column:
    where = _place(view, f"audit.columns.{column.name}.note")
    return dataclasses.replace(column, note=render(where, column.note, Quantities(view, columns)))


def _finding(view: ExperimentView, asked: dict, columns: dict[str, Column]) -> Finding:
    where = _place(view, f"audit.findings: {asked['title']}")
    tested = Quantities(view, columns)
    holds = decide(where, asked["when"], tested)
    text = render(where, asked["text"], Quantities(view, columns))
    missing = tuple(dict.fromkeys(tested.missing))
    return Finding(asked["title"], text, asked["when"], holds, missing)


def _place(view: ExperimentView | StudyView, key: str) -> str:
    return f"{view.suite.file_of('experiments', view.name)}: {key}"


def _column(view: ExperimentView, name: str, entry: dict, published: list[dict]) -> Column:
    method = entry.get("method")
    inherited = view.searched(method) if method else []
    searched = bool(entry.get("found_by_search") or inherited)
    if method:
        rows = _compared_rows(view, entry, published, searched)
    else:
        rows = tuple(
            Row(row["source"], row["target"], row["mean"], row["std"]) for row in published
        )
    return Column(
        name=name,
        label=label_of_column(view.suite, name, entry),
        method_label=view.method_label(method) if method else "",
        reason=str(entry.get("published_only") or ""),
        found_by_search=searched,
        readings_tried=_readings_tried(entry, inherited),
        note=str(entry.get("note") or ""),
        rows=rows,
        mean=_mean_row(rows, searched),
        published_mean=_mean([row["mean"] for row in published]),
        from_memory=any(row["entered"] == FROM_MEMORY for row in published),
    )


def _readings_tried(entry: dict, inherited: list[str]) -> str:
    """Those of the column itself, and of the settings that its method brings along."""
    return " ".join([entry.get("readings_tried", ""), *(f"{reading}." for reading in inherited)])


def label_of_column(suite: Suite, name: str, entry: Mapping) -> str:
    """Name of a published column: that of its entry, else of the method of its name."""
    known = entry.get("label") or suite.methods.get(name, {}).get("label")
    return known or name.replace("_", "-").upper()


def _compared_rows(
    view: ExperimentView, entry: dict, published: list[dict], searched: bool
) -> tuple[Row, ...]:
    """Published rows in their order, then the tasks that the paper does not have."""
    datasets = view.suite.datasets
    tasks = {
        (task.source_label(datasets), task.target_label(datasets)): task
        for task in view.experiment.tasks
    }
    printed = {(row["source"], row["target"]): row for row in published}
    return tuple(
        _judged(*_row(view, entry, place, printed.get(place), tasks.get(place)), searched)
        for place in dict.fromkeys([*printed, *tasks])
    )


def _row(
    view: ExperimentView, entry: dict, place: tuple, printed: dict | None, task: Task | None
) -> tuple[Row, str | None]:
    """A row that is not judged yet, and why it cannot be, if nothing could run."""
    known = {
        "published": printed["mean"] if printed else None,
        "published_std": printed["std"] if printed else None,
    }
    if task is None:
        return Row(*place, **known), NOT_ASKED
    asked = view.experiment.audit
    classifier = asked.get("classifier", view.experiment.classifiers[0])
    coordinate = (task.name, entry["method"], classifier)
    cell = view.cell(*coordinate, asked.get("measure", "accuracy"))
    second = asked.get("second_measure")
    row = Row(
        *place,
        **known,
        ours=_points(cell.mean),
        std=_points(cell.std),
        error=_error(cell, known["published_std"], asked.get("printed_spread")),
        n_ok=cell.n_ok,
        n_asked=cell.n_asked,
        second=_points(view.cell(*coordinate, second).mean) if second else None,
    )
    return row, cell.absent


def _error(cell: Cell, printed: float | None, spread: dict | None) -> Error | None:
    """Error of the difference: ours, and the paper's where it says what its ± is."""
    if cell.standard_error is None:
        return None
    ours = Error(_points(cell.standard_error), cell.n_ok - 1)
    if printed is None or spread is None:
        return ours
    size = math.sqrt(spread["trials"]) if spread["is"] == "standard deviation" else 1
    return total([ours, Error(printed / size, spread["trials"] - 1)])


def _judged(row: Row, absent: str | None, searched: bool) -> Row:
    if absent:
        return dataclasses.replace(row, verdict=absent)
    if row.n_ok < row.n_asked:
        return dataclasses.replace(row, verdict=INCOMPLETE)
    if row.difference is None:
        return dataclasses.replace(row, verdict=NOT_PUBLISHED)
    found = grade(row.difference, row.error)
    return dataclasses.replace(row, grade=found, verdict=verdict(found, searched))


def _mean_row(rows: tuple[Row, ...], searched: bool) -> Row:
    """Mean over the rows that both sides have in full, and the verdict of the column."""
    both = [row for row in rows if row.grade]
    if not both:
        return Row("mean", "", _mean([row.published for row in rows]), verdict=_no_verdict(rows))
    seconds = [row.second for row in both]
    mean = Row(
        f"mean of {len(both)}",
        "",
        published=_mean([row.published for row in both]),
        ours=_mean([row.ours for row in both]),
        error=_mean_error(both),
        n_ok=len(both),
        n_asked=len(rows),
        second=None if None in seconds else _mean(seconds),
    )
    found = column_grade(grade(mean.difference, mean.error), [row.grade for row in both])
    return dataclasses.replace(mean, grade=found, verdict=verdict(found, searched))


def _mean_error(rows: list[Row]) -> Error | None:
    """Of the mean difference; of one trial from the spread of the rows, which have no errors."""
    errors = [row.error for row in rows]
    if None not in errors:
        return average(errors)
    return of_sample([row.difference for row in rows]) if len(rows) >= FEWEST_ROWS else None


def _no_verdict(rows: tuple[Row, ...]) -> str:
    """Why a column has no verdict: the reason that its asked-for rows share."""
    reasons = {row.verdict for row in rows} - {NOT_ASKED, NOT_PUBLISHED}
    if len(reasons) == 1:
        return reasons.pop()
    return INCOMPLETE if reasons else NOT_ASKED


def _points(fraction: float | None) -> float | None:
    return None if fraction is None else 100 * fraction


def _mean(numbers: list[float | None]) -> float | None:
    present = [number for number in numbers if number is not None]
    return sum(present) / len(present) if present else None
