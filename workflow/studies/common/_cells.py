"""Table cells that several studies use."""

from collections.abc import Sequence

import numpy as np

from workflow.lib.report.tables.model import TableCell
from workflow.lib.results.text import fixed


def word(text: str) -> TableCell:
    """A cell of words."""
    return TableCell(text, kind="text")


def spread_cell(values: Sequence[float], digits: int) -> TableCell:
    """Mean ± standard deviation (with n - 1) of the values that are numbers."""
    known = np.array([value for value in values if value is not None and np.isfinite(value)])
    if not known.size:
        return TableCell("no value", kind="absent")
    mean = float(known.mean())
    if known.size == 1:
        return TableCell(fixed(mean, digits), value=mean, count="1")
    spread = float(known.std(ddof=1))
    return TableCell(
        fixed(mean, digits),
        value=mean,
        plus_minus=fixed(spread, digits),
        spread=spread,
        count="" if known.size == len(values) else f"{known.size} of {len(values)}",
    )
