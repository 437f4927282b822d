"""Published numbers beside ours, with a verdict by one stated rule.

The experiment file says which published column answers to which method, under which reading of the
protocol, and whether that reading was found by searching. Everything else is computed here from
the records and the published table.
"""

import dataclasses
import math

from workflow.lib.config.suite import Task
from workflow.lib.results.equivalence import Error, average, tost, total
from workflow.lib.results.published import read_published
from workflow.lib.results.verdicts import (
    CLOSE_POINTS,
    INCOMPLETE,
    NOT_ASKED,
    NOT_PUBLISHED,
    PUBLISHED_ONLY,
    column_grade,
    grade,
    verdict,
)
from workflow.lib.results.views import Cell, ExperimentView


@dataclasses.dataclass(frozen=True)
class Row:
    """One published number beside ours; percent and percentage points."""

    source: str
    target: str
    published: float | None
    published_std: float | None = None
    ours: float | None = None
    std: float | None = None
    error: Error | None = None
    n_ok: int = 0
    n_asked: int = 0
    second: float | None = None
    grade: str = ""
    verdict: str = PUBLISHED_ONLY

    @property
    def label(self) -> str:
        return f"{self.source}→{self.target}" if self.target else self.source

    @property
    def difference(self) -> float | None:
        if self.ours is None or self.published is None:
            return None
        return self.ours - self.published

    @property
    def p(self) -> float | None:
        """The larger p of the two one-sided tests, where there is an error to test with."""
        if self.difference is None or self.error is None:
            return None
        return tost(self.difference, self.error, CLOSE_POINTS)


@dataclasses.dataclass(frozen=True)
class Column:
    """One published column with its rows, the row of means and the verdict on all of them."""

    name: str
    label: str
    method_label: str
    reason: str
    found_by_search: bool
    readings_tried: str
    note: str
    rows: tuple[Row, ...]
    mean: Row
    published_mean: float | None

    @property
    def verdict(self) -> str:
        return self.mean.verdict

    @property
    def n_printed(self) -> int:
        return sum(row.published is not None for row in self.rows)

    @property
    def judged(self) -> list[Row]:
        """The rows that both sides have in full."""
        return [row for row in self.rows if row.grade]

    @property
    def root_mean_square(self) -> float | None:
        """Of the differences of the judged rows: it cannot cancel, as their mean can."""
        squares = [row.difference**2 for row in self.judged]
        return math.sqrt(math.fsum(squares) / len(squares)) if squares else None

    def n_rows(self, found: str) -> int:
        """Number of rows with a grade, whether the reading was searched for or not."""
        return sum(row.grade == found for row in self.rows)

    def share(self, found: str) -> float:
        """Share of the judged rows that have a grade."""
        return self.n_rows(found) / len(self.judged)


@dataclasses.dataclass(frozen=True)
class Audit:
    """The audit of one experiment."""

    published_file: str
    measure: str
    second_measure: str | None
    reading: str
    columns: tuple[Column, ...]


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
    return Audit(
        published_file=asked["published"],
        measure=asked.get("measure", "accuracy"),
        second_measure=asked.get("second_measure"),
        reading=asked.get("reading", ""),
        columns=columns,
    )


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
        label=entry.get("label") or view.suite.methods.get(name, {}).get("label") or _title(name),
        method_label=view.method_label(method) if method else "",
        reason=str(entry.get("published_only") or ""),
        found_by_search=searched,
        readings_tried=_readings_tried(entry, inherited),
        note=str(entry.get("note") or ""),
        rows=rows,
        mean=_mean_row(rows, searched),
        published_mean=_mean([row["mean"] for row in published]),
    )


def _readings_tried(entry: dict, inherited: list[str]) -> str:
    """Those of the column itself, and of the settings that its method brings along."""
    return " ".join([entry.get("readings_tried", ""), *(f"{reading}." for reading in inherited)])


def _title(name: str) -> str:
    return name.replace("_", "-").upper()


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
    errors = [row.error for row in both]
    seconds = [row.second for row in both]
    mean = Row(
        f"mean of {len(both)}",
        "",
        published=_mean([row.published for row in both]),
        ours=_mean([row.ours for row in both]),
        error=None if None in errors else average(errors),
        n_ok=len(both),
        n_asked=len(rows),
        second=None if None in seconds else _mean(seconds),
    )
    found = column_grade(grade(mean.difference, mean.error), [row.grade for row in both])
    return dataclasses.replace(mean, grade=found, verdict=verdict(found, searched))


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
