"""Published numbers beside ours, with a verdict by one stated rule.

The experiment file says which published column answers to which method, under which reading of the
protocol, and whether that reading was found by searching. Everything else is computed here from
the records and the published table.
"""

import dataclasses
import math

from workflow.lib.config.suite import Task
from workflow.lib.results.published import read_published
from workflow.lib.results.views import ExperimentView

REPRODUCED = "reproduced"
CLOSE = "close"
NOT_REPRODUCED = "not reproduced"
SEARCHED = "matched after search"
PUBLISHED_ONLY = "published only"
NO_DATA = "data not available"
NOT_APPLICABLE = "not applicable"
INCOMPLETE = "incomplete"
NOT_ASKED = "not in this experiment"
NOT_PUBLISHED = "not published"

REPRODUCED_POINTS = 1.0
REPRODUCED_ERRORS = 2.0
CLOSE_POINTS = 3.0
_ROUNDING = 1e-9

RULE = (
    "Rule, on the difference ours − published in percentage points: at most "
    f"{REPRODUCED_ERRORS:g} standard errors and at most {REPRODUCED_POINTS:g} point is "
    f"“{REPRODUCED}”; otherwise at most {CLOSE_POINTS:g} points is “{CLOSE}”; otherwise "
    f"“{NOT_REPRODUCED}”. The standard error is ours, of the mean over trials; the papers' own "
    "error is not added. With one trial there is none, and the points alone decide. A column's "
    "verdict is the rule on the mean over the tasks that both have, with standard error "
    "√(Σ SE²)/k. Where the reading of the protocol was found by searching against the published "
    f"numbers, both kinds of agreement are only “{SEARCHED}”. Rows with failed trials are not "
    "judged."
)


@dataclasses.dataclass(frozen=True)
class Row:
    """One published number beside ours; percent and percentage points."""

    source: str
    target: str
    published: float | None
    published_std: float | None = None
    ours: float | None = None
    std: float | None = None
    standard_error: float | None = None
    n_ok: int = 0
    n_asked: int = 0
    second: float | None = None
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
    def grade(self) -> str:
        """The rule alone, or an empty text for a row that is not judged."""
        judged = self.verdict in (REPRODUCED, CLOSE, NOT_REPRODUCED, SEARCHED)
        return grade(self.difference, self.standard_error) if judged else ""


@dataclasses.dataclass(frozen=True)
class Column:
    """One published column with its rows, the row of means and the verdict on that."""

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

    def n_rows(self, grade: str) -> int:
        """Number of rows with a grade, whether the reading was searched for or not."""
        return sum(row.grade == grade for row in self.rows)


@dataclasses.dataclass(frozen=True)
class Audit:
    """The audit of one experiment."""

    published_file: str
    measure: str
    second_measure: str | None
    reading: str
    columns: tuple[Column, ...]


def grade(difference: float, standard_error: float | None) -> str:
    """What `RULE` says about a difference in percentage points, searched or not."""
    size = abs(difference) - _ROUNDING
    within_error = standard_error is None or size <= REPRODUCED_ERRORS * standard_error
    if size <= REPRODUCED_POINTS and within_error:
        return REPRODUCED
    return CLOSE if size <= CLOSE_POINTS else NOT_REPRODUCED


def judge(difference: float, standard_error: float | None, found_by_search: bool = False) -> str:
    """Verdict: the grade, but agreement that was searched for is called that."""
    found = grade(difference, standard_error)
    return SEARCHED if found_by_search and found != NOT_REPRODUCED else found


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
    searched = bool(entry.get("found_by_search"))
    if method:
        rows = _compared_rows(view, entry, published)
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
        readings_tried=str(entry.get("readings_tried") or ""),
        note=str(entry.get("note") or ""),
        rows=rows,
        mean=_mean_row(rows, searched),
        published_mean=_average([row["mean"] for row in published]),
    )


def _title(name: str) -> str:
    return name.replace("_", "-").upper()


def _compared_rows(view: ExperimentView, entry: dict, published: list[dict]) -> tuple[Row, ...]:
    """Published rows in their order, then the tasks that the paper does not have."""
    datasets = view.suite.datasets
    tasks = {
        (task.source_label(datasets), task.target_label(datasets)): task
        for task in view.experiment.tasks
    }
    printed = {(row["source"], row["target"]): row for row in published}
    return tuple(
        _row(view, entry, place, printed.get(place), tasks.get(place))
        for place in dict.fromkeys([*printed, *tasks])
    )


def _row(
    view: ExperimentView, entry: dict, place: tuple, printed: dict | None, task: Task | None
) -> Row:
    known = {
        "published": printed["mean"] if printed else None,
        "published_std": printed["std"] if printed else None,
    }
    if task is None:
        return Row(*place, **known, verdict=NOT_ASKED)
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
        standard_error=_points(cell.standard_error),
        n_ok=cell.n_ok,
        n_asked=cell.n_asked,
        second=_points(view.cell(*coordinate, second).mean) if second else None,
    )
    return dataclasses.replace(row, verdict=_row_verdict(row, cell.absent, entry))


def _row_verdict(row: Row, absent: str | None, entry: dict) -> str:
    if absent:
        return absent
    if row.n_ok < row.n_asked:
        return INCOMPLETE
    if row.difference is None:
        return NOT_PUBLISHED
    return judge(row.difference, row.standard_error, bool(entry.get("found_by_search")))


def _mean_row(rows: tuple[Row, ...], searched: bool) -> Row:
    """Mean over the rows that both sides have in full, and the verdict of the column."""
    both = [row for row in rows if row.difference is not None and row.n_ok == row.n_asked]
    if not both:
        return Row("mean", "", _average([row.published for row in rows]), verdict=_no_verdict(rows))
    errors = [row.standard_error for row in both]
    known = all(error is not None for error in errors)
    error = math.sqrt(sum(error**2 for error in errors)) / len(both) if known else None
    seconds = [row.second for row in both]
    mean = Row(
        f"mean of {len(both)}",
        "",
        published=_average([row.published for row in both]),
        ours=_average([row.ours for row in both]),
        standard_error=error,
        n_ok=len(both),
        n_asked=len(rows),
        second=None if None in seconds else _average(seconds),
    )
    return dataclasses.replace(mean, verdict=judge(mean.difference, error, searched))


def _no_verdict(rows: tuple[Row, ...]) -> str:
    """Why a column has no verdict: the reason that its asked-for rows share."""
    reasons = {row.verdict for row in rows} - {NOT_ASKED, NOT_PUBLISHED}
    if len(reasons) == 1:
        return reasons.pop()
    return INCOMPLETE if reasons else NOT_ASKED


def _points(fraction: float | None) -> float | None:
    return None if fraction is None else 100 * fraction


def _average(numbers: list[float | None]) -> float | None:
    present = [number for number in numbers if number is not None]
    return sum(present) / len(present) if present else None
