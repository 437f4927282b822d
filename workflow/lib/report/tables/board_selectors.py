"""What to choose settings by: gaps of the ways of choosing, on the whole and one by one."""

from collections.abc import Iterable, Mapping

from domain_alignment.model_selection import SELECTORS

from workflow.lib.report.tables.board import chooser_in_words, method_cell
from workflow.lib.report.tables.model import (
    EMPTY,
    INTERVAL,
    Table,
    TableCell,
    TableColumn,
    ends_of,
    number_cell,
)
from workflow.lib.results.board import Board
from workflow.lib.results.effects import Effect
from workflow.lib.results.selection import Selection
from workflow.lib.results.text import capitalized, count, fixed, interval, listed, some

# Methods or data sets that a note names before it counts the others.
_NAMED = 6


def selectors_table(board: Board) -> Table:
    """One row per way of choosing: how far it is from the best possible, over all methods."""
    found = board.selection
    columns = (
        TableColumn("Chosen by"),
        TableColumn("Labels", title="that the criterion looks at"),
        TableColumn(
            "Tier",
            True,
            title="1 holds all that no other way of choosing beats; without the oracle",
        ),
        TableColumn("Gap to the oracle", True, counts=INTERVAL, title=f"points; {INTERVAL}"),
        *(
            TableColumn(board.suite.label_of_dataset(name), True, title="gap on this data set")
            for name in found.comparison.by_dataset
        ),
        TableColumn(
            "Takes the untuned, %",
            True,
            title="choices that fell on the method's own settings, the first candidate",
        ),
    )
    effects = {effect.method: effect for effect in found.comparison.effects}
    rows = [_selector_row(board, name, effect) for name, effect in effects.items()]
    notes = [
        f"Over {count(found.n_cells, 'pair')} of a method and a task. The oracle reads the scored "
        "labels and is what no choice can exceed; the average candidate is what blind choice "
        "gives. A criterion that finds all candidates equal takes the first, which is untuned."
    ]
    numbers = [found.tier(name) for name in effects]
    if [number for number in numbers if number] != sorted(filter(None, numbers)):
        notes.append(
            "The order is that of the gaps. A tier says who is beaten: of two ways the one whose "
            "gaps scatter more may have the larger gap and the better tier."
        )
    if found.n_left_out:
        pairs = count(found.n_left_out, "further pair")
        named = some(map(board.label, found.methods_left_out), _NAMED)
        whole = f"; of {named} all" if found.methods_left_out else ""
        notes.append(f"{pairs} left out: some criterion is undefined there{whole}.")
    if of_probabilities := [n for n in effects if n in SELECTORS and _reads_probabilities(n)]:
        labels = listed(map(chooser_in_words(board), of_probabilities))
        notes.append(
            f"{capitalized(labels)} read probabilities, which of the classifiers here logistic "
            "regression alone has: they choose among its candidates, and much of what they gain "
            "or lose is that classifier's, as of “untuned, with logistic regression”."
        )
    if found.undefined:
        labels = [board.suite.label_of_classifier(name) for name in found.undefined]
        notes.append(f"Undefined for too many methods to be compared here: {'; '.join(labels)}.")
    return Table(
        name="selectors",
        caption="What chooses best: gap to the oracle, in percentage points of accuracy.",
        columns=columns,
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _reads_probabilities(name: str) -> bool:
    return "target_probabilities" in SELECTORS[name].needs


def _selector_row(board: Board, name: str, effect: Effect) -> tuple[TableCell, ...]:
    entry = board.suite.tuning["selectors"].get(name)
    by_dataset = board.selection.comparison.by_dataset.loc[name]
    return (
        TableCell(board.suite.label_of_classifier(name), kind="" if entry else "baseline"),
        TableCell(entry["sees_labels"] if entry else "–"),
        number_cell(board.selection.tier(name), 0),
        _gap_cell(effect, bold=name == board.chosen_by),
        *(number_cell(-100 * float(gap), 1) for gap in by_dataset),
        number_cell(100 * _untuned_share(board, name), 0) if entry else EMPTY,
    )


def _untuned_share(board: Board, name: str) -> float:
    """Share of the choices of a criterion that are the first candidate."""
    chosen = board.records.loc[board.records["classifier"] == name, "candidate"].dropna()
    return float((chosen == 0).mean())


def _gap_cell(effect: Effect | None, bold: bool = False) -> TableCell:
    """The gap of an effect over the oracle, with its interval."""
    if effect is None:
        return EMPTY
    return TableCell(
        fixed(-100 * effect.effect, 1),
        value=-100 * effect.effect,
        count=interval(effect.high, effect.low, scale=-100, plus=False),
        ends=ends_of(effect.high, effect.low, scale=-100),
        bold=bold,
    )


def selectors_methods_table(board: Board) -> Table:
    """One row per method: the nearest criterion, and the gaps of the board's own, of untuned
    settings and of the average candidate.
    """
    methods = {row.method: method_cell(board, row.method) for row in board.rows}
    of = TableColumn("Tasks", True, title="on which all are compared")
    return _by_each(board, "selectors_methods", "method", methods, of)


def selectors_datasets_table(board: Board) -> Table:
    """The same, one row per data set."""
    labels = {name: TableCell(board.suite.label_of_dataset(name)) for name in board.datasets}
    of = TableColumn("Pairs", True, title="of a method and a task, on which all are compared")
    return _by_each(board, "selectors_datasets", "dataset", labels, of)


_IN_WORDS = {"method": "method", "dataset": "data set"}


def _by_each(
    board: Board, name: str, column: str, firsts: Mapping[str, TableCell], of: TableColumn
) -> Table:
    known, each = board.selections(column), _IN_WORDS[column]
    found = {value: known[value] for value in firsts if value in known}
    others = {board.chosen_by: "The board's own", "default": "Untuned", "average": "Average"}
    words = chooser_in_words(board)
    return Table(
        name=name,
        caption=f"What chooses best for each {each}: gap to the oracle, in percentage points.",
        columns=(
            TableColumn(capitalized(each)),
            TableColumn("Nearest criterion"),
            TableColumn("Its gap", True, counts=INTERVAL, title=f"points; {INTERVAL}"),
            TableColumn("First tier", True, title="criteria that no other way of choosing beats"),
            *(
                TableColumn(head, True, counts=INTERVAL, title=f"gap of {words(way)}; {INTERVAL}")
                for way, head in others.items()
            ),
            of,
        ),
        rows=tuple(
            (firsts[value], *_nearest_cells(board, one, others)) for value, one in found.items()
        ),
        notes=tuple(_notes_by_each(board, each, firsts, found)),
        methods="rows" if column == "method" else "",
    )


def _nearest_cells(board: Board, found: Selection, others: Mapping[str, str]) -> tuple:
    effects = {effect.method: effect for effect in found.comparison.effects}
    nearest, words = found.nearest(board.selectors), chooser_in_words(board)
    return (
        TableCell(capitalized(listed(map(words, nearest)))) if nearest else EMPTY,
        _gap_cell(effects[nearest[0]]) if nearest else EMPTY,
        number_cell(sum(found.tier(name) == 1 for name in board.selectors), 0),
        *(_gap_cell(effects.get(way)) for way in others),
        _counted_cell(found.n_cells, found.n_cells + found.n_left_out),
    )


def _counted_cell(number: int, of: int) -> TableCell:
    return TableCell(f"{number:,}" if number == of else f"{number:,} of {of:,}", value=number)


def _notes_by_each(
    board: Board, each: str, firsts: Mapping[str, TableCell], found: Mapping[str, Selection]
) -> Iterable[str]:
    own = [one.tier(board.chosen_by) for one in found.values()]
    known = [tier for tier in own if tier is not None]
    n_defined = sum(name not in board.selection.undefined for name in board.selectors)
    yield (
        f"The nearest is picked by the scored labels, of {n_defined} criteria: its gap "
        "is rather too small. Not to be beaten is not to be as near: of few tasks hardly anything "
        f"is beaten. The board's own is in the first tier for {known.count(1)} of "
        f"{count(len(known), each)}. Each row is of tasks of its own, those on which every way has "
        "a score in every trial."
    )
    words, undefined = chooser_in_words(board), {}
    for value, one in found.items():
        for way in one.undefined:
            undefined.setdefault(way, []).append(firsts[value].text)
    if undefined:
        told = (f"{words(way)} ({some(names, _NAMED)})" for way, names in undefined.items())
        yield f"Undefined on most tasks: {'; '.join(told)}."
    if gone := [first.text for value, first in firsts.items() if value not in found]:
        yield f"Without a task on which two ways of choosing could be compared: {listed(gone)}."
