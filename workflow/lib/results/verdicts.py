"""The words of a verdict, and the one rule by which rows and columns get them."""

from collections.abc import Sequence

from workflow.lib.results.equivalence import Error, tost
from workflow.lib.results.significance import ALPHA

REPRODUCED = "reproduced"
CLOSE = "close"
NOT_REPRODUCED = "not reproduced"
ROWS_DISAGREE = "rows disagree"
SEARCHED = "matched after search"
PUBLISHED_ONLY = "published only"
NO_DATA = "data not available"
NOT_APPLICABLE = "not applicable"
LOST = "lost (never computed)"
INCOMPLETE = "incomplete"
NOT_ASKED = "not in this experiment"
NOT_PUBLISHED = "not published"
# Beside a grade that has no error to be tested with.
UNTESTED = "untested: one trial"

GRADES = (REPRODUCED, CLOSE, NOT_REPRODUCED)

REPRODUCED_POINTS = 1.0
CLOSE_POINTS = 3.0
SHARE = 0.9
# From whose differences a spread is taken: two that happen to be alike would be sure of anything.
FEWEST_ROWS = 4
_ROUNDING = 1e-9

# Parts of the rule that legends repeat; nothing else words them.
OFF = {
    REPRODUCED: f"at most {REPRODUCED_POINTS:g} point off",
    CLOSE: f"at most {CLOSE_POINTS:g} points off",
}
EQUIVALENT = (
    f"two one-sided t tests (TOST, {100 * ALPHA:g} %) find the means equivalent within a margin of "
    f"{CLOSE_POINTS:g} points"
)
MOST_ROWS = f"at least {100 * SHARE:g} % of its rows"
RULE = (
    f"Rule, on the difference ours − published in percentage points. A row is “{REPRODUCED}” if it "
    f"is {OFF[REPRODUCED]} and {EQUIVALENT}; “{CLOSE}” if it is {OFF[CLOSE]}, which nothing tests; "
    f"otherwise “{NOT_REPRODUCED}”. The standard error is that of our mean over trials and, where "
    "the paper prints a spread, that of its own mean too; a row of one trial has none, so the "
    f"points alone decide, and “{REPRODUCED}” says “{UNTESTED}”. The mean over the tasks that "
    "both have is graded alike, and its row shows the verdict of the column; its error comes from "
    "those of the rows or, with one trial, from the spread of their differences (fewer than "
    f"{FEWEST_ROWS} rows have none), and takes the rows for independent, though they may share "
    "domains and trials. A column "
    f"is “{REPRODUCED}” if its mean and {MOST_ROWS} are; “{CLOSE}” if its mean and {MOST_ROWS} are "
    f"at least that; “{ROWS_DISAGREE}” if only the mean is; otherwise “{NOT_REPRODUCED}”. Errors "
    "that cancel in a mean thus stay in the verdict. Where a setting or the reading of the "
    "protocol was found by searching against printed or scored numbers, both kinds of agreement "
    f"are only “{SEARCHED}”. Rows with failed trials are not judged."
)


def grade(difference: float, error: Error | None) -> str:
    """Grade of a row, or of a mean by itself, in percentage points."""
    size = abs(difference) - _ROUNDING
    equivalent = error is None or tost(difference, error, CLOSE_POINTS) < ALPHA
    if size <= REPRODUCED_POINTS and equivalent:
        return REPRODUCED
    return CLOSE if size <= CLOSE_POINTS else NOT_REPRODUCED


def column_grade(mean: str, rows: Sequence[str]) -> str:
    """Grade of a column from the grade of its mean and those of its rows."""
    enough = SHARE * len(rows) - _ROUNDING
    reproduced = sum(row == REPRODUCED for row in rows)
    near = reproduced + sum(row == CLOSE for row in rows)
    if mean == REPRODUCED and reproduced >= enough:
        return REPRODUCED
    if mean == NOT_REPRODUCED:
        return NOT_REPRODUCED
    return CLOSE if near >= enough else ROWS_DISAGREE


def verdict(found: str, found_by_search: bool) -> str:
    """The grade, but agreement that was searched for is called that."""
    return SEARCHED if found_by_search and found in (REPRODUCED, CLOSE) else found
