"""What to choose settings by: gaps of the ways of choosing, on the whole and one by one."""

from collections.abc import Callable, Mapping

from workflow.lib.config.tuning import REFERENCES
from workflow.lib.report.tables.board import method_cell
from workflow.lib.report.tables.model import (
    EMPTY,
    INTERVAL,
    Table,
    TableCell,
    TableColumn,
    number_cell,
)
from workflow.lib.results.board import Board
from workflow.lib.results.effects import Effect
from workflow.lib.results.selection import Selection, selections_by
from workflow.lib.results.text import capitalized, count, fixed, interval


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
        notes.append(f"{pairs} left out: some criterion is undefined there.")
    if found.undefined:
        labels = [board.suite.label_of_classifier(name) for name in found.undefined]
        notes.append(f"Undefined for most methods here: {'; '.join(labels)}.")
    return Table(
        name="selectors",
        caption="What chooses best: gap to the oracle, in percentage points of accuracy.",
        columns=columns,
        rows=tuple(rows),
        notes=tuple(notes),
    )


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
        bold=bold,
    )


def selectors_methods_table(board: Board) -> Table:
    """One row per method: the nearest criterion, and the gap of the board's own and of none."""
    found = selections_by("method", board.records, [*board.selectors, *REFERENCES])
    rows = [row.method for row in board.rows if row.method in found]
    ordered = {name: found[name] for name in rows}
    return _nearest_table(board, "method", ordered, lambda name: method_cell(board, name))


def selectors_datasets_table(board: Board) -> Table:
    """The same, one row per data set."""
    found = selections_by("dataset", board.records, [*board.selectors, *REFERENCES])
    label = board.suite.label_of_dataset
    return _nearest_table(board, "data set", found, lambda name: TableCell(label(name)))


def _nearest_table(
    board: Board,
    each: str,
    found: Mapping[str, Selection],
    cell: Callable[[str], TableCell],
) -> Table:
    others = {board.chosen_by: "The board's own", "default": "Untuned", "average": "Average"}
    label = board.suite.label_of_classifier
    n_own = sum(one.tier(board.chosen_by) == 1 for one in found.values())
    return Table(
        name=f"selectors_{each.replace(' ', '')}s",
        caption=f"What chooses best for each {each}: gap to the oracle, in percentage points.",
        columns=(
            TableColumn(capitalized(each)),
            TableColumn("Nearest criterion"),
            TableColumn("Its gap", True, counts=INTERVAL, title=f"points; {INTERVAL}"),
            TableColumn("As near", True, title="criteria that no way of choosing surely beats"),
            *(
                TableColumn(word, True, counts=INTERVAL, title=f"gap; {label(way)}")
                for way, word in others.items()
            ),
            TableColumn("Pairs", True, title="of a method and a task"),
        ),
        rows=tuple(
            (cell(name), *_nearest_cells(board, one, others)) for name, one in found.items()
        ),
        notes=(
            "The nearest is picked by the scored labels, of "
            f"{len(board.selectors)} criteria: its gap is rather too small, "
            "and where several are as near, chance picks one. The board's own is among those that "
            f"no way of choosing surely beats for {n_own} of {count(len(found), each)}.",
        ),
        methods="rows" if each == "method" else "",
    )


def _nearest_cells(board: Board, found: Selection, others: Mapping[str, str]) -> tuple:
    effects = {effect.method: effect for effect in found.comparison.effects}
    nearest = next((name for name in effects if name in board.selectors), None)
    first = {name for name in board.selectors if found.tier(name) == 1}
    return (
        TableCell(_criterion(board, nearest)) if nearest else EMPTY,
        _gap_cell(effects.get(nearest)),
        number_cell(len(first), 0),
        *(_gap_cell(effects.get(way)) for way in others),
        number_cell(found.n_cells, 0),
    )


def _criterion(board: Board, name: str) -> str:
    return capitalized(board.suite.tuning["selectors"][name]["label"])
