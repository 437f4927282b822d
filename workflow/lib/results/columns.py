"""A published column beside ours: its rows, and what they come to."""

import dataclasses
import math

from workflow.lib.results.equivalence import Error, tost
from workflow.lib.results.verdicts import (
    CLOSE_POINTS,
    INCOMPLETE,
    LOST,
    PUBLISHED_ONLY,
    REPRODUCED,
    UNTESTED,
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
    def untested(self) -> str:
        """Said of a row that is reproduced by its points alone."""
        return UNTESTED if self.grade == REPRODUCED and self.error is None else ""

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
    from_memory: bool = False

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
    def failed(self) -> bool:
        """Whether trials of a printed row failed or were lost: what is told of others is a part."""
        printed = (row for row in self.rows if row.published is not None)
        return any(row.verdict in (INCOMPLETE, LOST) for row in printed)

    @property
    def root_mean_square(self) -> float | None:
        """Of the differences of the judged rows: it cannot cancel, as their mean can."""
        squares = [row.difference**2 for row in self.judged]
        return math.sqrt(math.fsum(squares) / len(squares)) if squares else None

    @property
    def untested(self) -> str:
        """What of a reproduced column has no error to be tested with: its mean, or its rows."""
        rows = self.mean.grade == REPRODUCED and any(row.untested for row in self.judged)
        return self.mean.untested or (f"rows {UNTESTED}" if rows else "")

    @property
    def farthest(self) -> Row | None:
        """The judged row with the largest difference of either sign."""
        return max(self.judged, key=lambda row: abs(row.difference), default=None)

    def n_rows(self, found: str) -> int:
        """Number of rows with a grade, whether the reading was searched for or not."""
        return sum(row.grade == found for row in self.rows)

    def share(self, found: str) -> float:
        """Share of the judged rows that have a grade."""
        return self.n_rows(found) / len(self.judged)
