"""What an audit comes to, for somebody who has not read the rule: counts, a legend, a sentence."""

from collections.abc import Callable, Iterable, Sequence

from workflow.lib.results.columns import Column
from workflow.lib.results.published import FROM_MEMORY
from workflow.lib.results.text import capitalized, count, some
from workflow.lib.results.verdicts import (
    CLOSE,
    EQUIVALENT,
    INCOMPLETE,
    LOST,
    MOST_ROWS,
    NO_DATA,
    NOT_APPLICABLE,
    NOT_ASKED,
    NOT_REPRODUCED,
    OFF,
    PUBLISHED_ONLY,
    REPRODUCED,
    ROWS_DISAGREE,
    SEARCHED,
)

# What a verdict on a column says, the best first.
LEGEND = {
    REPRODUCED: f"Its mean and {MOST_ROWS} are {OFF[REPRODUCED]}, and of each {EQUIVALENT}; of "
    "one trial the mean alone is tested, over its rows.",
    CLOSE: f"Its mean and {MOST_ROWS} are {OFF[CLOSE]}, without all that “{REPRODUCED}” asks for.",
    SEARCHED: f"“{capitalized(REPRODUCED)}” or “{CLOSE}”, but with a setting or a reading of the "
    "protocol that was found by searching against printed or scored numbers.",
    ROWS_DISAGREE: f"Its mean is {OFF[CLOSE]}, too many of its rows are not, which a mean can "
    "hide.",
    NOT_REPRODUCED: f"Its mean is not {OFF[CLOSE]}.",
    INCOMPLETE: "Trials failed, so there is nothing to judge.",
    LOST: "Its trials were given up, so there is nothing to judge.",
    NO_DATA: "The data could not be had.",
    NOT_APPLICABLE: "The method cannot run on these data.",
    NOT_ASKED: "No task of the experiment is a row of the column.",
    PUBLISHED_ONLY: "Not compared: nobody published an implementation, or the column was measured "
    "in another protocol.",
}
_AGREE = (REPRODUCED, CLOSE)
_JUDGED = (*_AGREE, SEARCHED, ROWS_DISAGREE, NOT_REPRODUCED)
# Columns that a sentence names before it counts the others.
_NAMED = 4


def counts(columns: Iterable[Column]) -> list[tuple[str, int, str]]:
    """Verdicts that occur: the verdict, on how many columns, and what it says."""
    found = [column.verdict for column in columns]
    return [(v, found.count(v), words) for v, words in LEGEND.items() if v in found]


def matches(columns: Sequence[Column]) -> str:
    """Whether the compared columns of one experiment match the paper, with the numbers."""
    compared = [column for column in columns if column.method_label]
    judged = [column for column in compared if column.verdict in _JUDGED]
    if not judged:
        return "Not compared."
    told = [f"{capitalized(group)}." for group in _groups(compared, _means)]
    return " ".join([f"{_head(compared, judged)}.", *told])


def _head(compared: Sequence[Column], judged: Sequence[Column]) -> str:
    searched = sum(column.verdict == SEARCHED for column in judged)
    held = searched + sum(column.verdict in _AGREE for column in judged)
    wanting = any(column.verdict in (INCOMPLETE, LOST) for column in compared)
    if held < len(judged) or wanting or any(map(_on_some_rows, judged)):
        return "Partly" if held else "No"
    if searched == held:
        return "Only after a search"
    return "Yes, some of it only after a search" if searched else "Yes"


def in_one_sentence(columns: Sequence[tuple[Column, str]]) -> str:
    """What holds of a paper: its compared columns, each with the artefact that it is in."""
    places = {id(column): place for column, place in columns}
    compared = [column for column, _ in columns if column.verdict in _JUDGED]
    if not compared:
        return "No column could be compared."
    told = _groups(
        compared, lambda column: f"{column.label} in {places[id(column)]}{_doubts(column)}"
    )
    return f"{count(len(compared), 'column')} compared; {'; '.join(told)}."


_GROUPS = {
    SEARCHED: "matched after a search for the setting",
    ROWS_DISAGREE: "the mean is close, rows are not",
}


def _groups(columns: Sequence[Column], named: Callable[[Column], str]) -> list[str]:
    """Words for each verdict that some columns have, naming these."""
    found = {}
    for verdict in LEGEND:
        if own := [named(column) for column in columns if column.verdict == verdict]:
            found[_GROUPS.get(verdict, verdict)] = own
    return [f"{words}: {some(own, _NAMED, 'column')}" for words, own in found.items()]


def _means(column: Column) -> str:
    mean = column.mean
    if mean.ours is None or mean.published is None:
        return column.label
    memory = f" {FROM_MEMORY}" if column.from_memory else ""
    some = f" over {_rows(column)}" if _on_some_rows(column) else ""
    numbers = f"published {mean.published:.1f}{memory}, ours {mean.ours:.1f}{some}"
    return f"{column.label} ({'; '.join(filter(None, [numbers, column.untested]))})"


def _doubts(column: Column) -> str:
    told = [f"published {FROM_MEMORY}"] if column.from_memory else []
    told += [_rows(column)] if _on_some_rows(column) else []
    told += [column.untested] if column.untested else []
    return f" ({', '.join(told)})" if told else ""


def _on_some_rows(column: Column) -> bool:
    """Whether rows that the paper prints are not in the mean: trials of theirs have no score."""
    return 0 < len(column.judged) < column.n_printed


def _rows(column: Column) -> str:
    return f"{len(column.judged)} of {count(column.n_printed, 'row')}"
