"""Rows on the work of a run and its code, beside those of `reference_words.told`."""

import re

from workflow.lib.report.reference_words import duration
from workflow.lib.results.run_log import PAUSE, RunLog
from workflow.lib.results.text import count

_WORKED = "Time in which some job ran"
# What these rows and those of `reference_words.told` say of the time of a run.
_TOLD = re.compile(
    rf"^\| (?P<row>{_WORKED}|From first to last) \| (?P<number>[\d.]+) (?P<unit>s|min|h)\b",
    re.MULTILINE,
)
_SECONDS = {"s": 1, "min": 60, "h": 3600}


def work_rows(log: RunLog) -> dict[str, str]:
    """Hours without the pauses of a run in several sittings, and the commit that it ran at."""
    rows = {}
    if log.busy_seconds is not None:
        rows[_WORKED] = f"{duration(log.busy_seconds)}, {_sittings(log.sittings)}"
    if log.commit:
        rows["Commit"] = log.commit
    return rows


def _sittings(number: int) -> str:
    if number == 1:
        return "in one sitting"
    return f"in {count(number, 'sitting')}, with more than {PAUSE // 60} min between two jobs"


def seconds_told(section: str) -> float:
    """What a section says that its run took: the time in which some job ran, where it says that."""
    told = _TOLD.finditer(section)
    found = {one["row"]: float(one["number"]) * _SECONDS[one["unit"]] for one in told}
    return found.get(_WORKED, found.get("From first to last", 0.0))
