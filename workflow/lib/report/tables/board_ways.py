"""A board's methods with fixed classifiers, tuned, and by the oracle; and task by task."""

from workflow.lib.report.tables.board import absent_cell, gain_cell, method_cell, share_cell
from workflow.lib.report.tables.board_choices import compared_or_why
from workflow.lib.report.tables.model import (
    EMPTY,
    INTERVAL,
    Table,
    TableCell,
    TableColumn,
    number_cell,
)
from workflow.lib.results.board import Board, Row
from workflow.lib.results.effects import Comparison

# What the embedding is worth, and what is in the method; between them what a user gets.
_FIXED, _ORACLE = {"fixed_one_nn": "1-NN", "fixed_logistic": "Logistic regression"}, "oracle"


def ways_table(board: Board) -> Table:
    """One row per method: its comparison with fixed classifiers, as chosen, and by the oracle."""
    ways = {**_FIXED, board.chosen_by: "Tuned", _ORACLE: "Oracle"}
    compared = {choice: compared_or_why(board, choice) for choice in ways}
    columns = [TableColumn("Method")]
    for choice, word in ways.items():
        title = board.suite.label_of_classifier(choice)
        columns += [
            TableColumn(word, True, title=f"accuracy in percent; {title}"),
            TableColumn(
                f"{word}: gain", True, counts=INTERVAL, title=_over(board, compared[choice])
            ),
            TableColumn(f"{word}: tier", True),
        ]
    return Table(
        name="board_ways",
        caption="What the embedding is worth (untuned, with classifiers that are the same for all "
        "methods), what a user gets (tuned), and what is in the method (oracle).",
        columns=tuple(columns),
        rows=tuple(
            (
                method_cell(board, row.method, row.left_out),
                *(
                    cell
                    for choice, found in compared.items()
                    for cell in _cells(row, choice, found)
                ),
            )
            for row in board.rows
        ),
        notes=(
            "Gains are points over the best baseline by the same choice: "
            + "; ".join(f"{ways[choice]}, {_named(board, one)}" for choice, one in compared.items())
            + ". The oracle reads the scored labels and is not attainable.",
        ),
        methods="rows",
    )


def _over(board: Board, found: Comparison | str) -> str:
    return f"over {_named(board, found)}; points, {INTERVAL}"


def _named(board: Board, found: Comparison | str) -> str:
    return "undefined" if isinstance(found, str) else board.label(found.reference)


def _cells(row: Row, choice: str, found: Comparison | str) -> tuple[TableCell, ...]:
    known = {} if isinstance(found, str) else {effect.method: effect for effect in found.effects}
    mean = row.by_choice.get(choice)
    if mean is None or isinstance(found, str):
        return EMPTY, EMPTY, EMPTY
    compared = row.method in known or row.method == found.reference
    return (
        share_cell(mean),
        gain_cell(known.get(row.method)),
        number_cell(found.tier(row.method), 0) if compared else EMPTY,
    )


def tasks_table(board: Board) -> Table:
    """One row per method: mean accuracy on every task."""
    tasks = board.tasks
    return Table(
        name="board_tasks",
        caption="Accuracy by task: mean over its trials, in percent.",
        columns=(
            TableColumn("Method"),
            *(TableColumn(board.task_label(place), True) for place in tasks),
        ),
        rows=tuple(
            (
                method_cell(board, row.method),
                *(_task_cell(board, row.method, place) for place in tasks),
            )
            for row in board.rows
        ),
        methods="rows",
    )


def _task_cell(board: Board, method: str, place: tuple[str, str]) -> TableCell:
    mean = board.task_mean(method, place)
    if mean is not None:
        return share_cell(mean)
    return absent_cell(board.absence(method, *place))
