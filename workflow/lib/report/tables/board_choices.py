"""Does a board's answer hang on how settings are chosen? The comparison as chosen in every way."""

import dataclasses

from workflow.lib.report.tables.board import gain_cell
from workflow.lib.report.tables.model import (
    EMPTY,
    INTERVAL,
    Table,
    TableCell,
    TableColumn,
    number_cell,
)
from workflow.lib.results.best_way import attainable
from workflow.lib.results.board import Board
from workflow.lib.results.effects import Comparison, UncomparableError
from workflow.lib.results.text import count, p_text, percent


def choices_table(board: Board) -> Table:
    """One row per way of choosing: the best baseline, and the best alignment over it."""
    return Table(
        name="board_choices",
        caption="The same comparison as chosen in every way: the best baseline that adapts nothing "
        "and the best aligning method, both chosen in that way.",
        columns=(
            TableColumn("Chosen by"),
            TableColumn("Best baseline"),
            TableColumn("Its accuracy", True, title="percent"),
            TableColumn("Best alignment"),
            TableColumn(
                "Gain", True, counts=INTERVAL, title=f"over that baseline; points, {INTERVAL}"
            ),
            TableColumn("p", True, title="two-sided, corrected by Holm within the row"),
            TableColumn("Surely above", True, title="aligning methods"),
            TableColumn("Surely below", True, title="aligning methods"),
            TableColumn("Tasks", True),
        ),
        rows=tuple(_row(board, choice) for choice in board.choices),
        notes=(
            "Bold: the board's own, fixed beforehand. p is corrected within a row alone, and "
            f"{count(len(compared_ways(board)), 'row')} are of ways that a user has: multiply it "
            "by their number before you take one of them for a finding. The oracle reads the "
            "scored labels, and the average candidate is none that is chosen. Without a best "
            "alignment: that way is undefined for methods that align.",
        ),
    )


def _row(board: Board, choice: str) -> tuple[TableCell, ...]:
    found = compared_or_why(board, choice)
    name = TableCell(board.suite.label_of_classifier(choice), bold=choice == board.chosen_by)
    if isinstance(found, str):
        return name, TableCell("undefined", kind="absent", title=found), *[EMPTY] * 7
    effects = board.aligning(found)
    first = effects[0] if effects else None
    scores = board.mean(found.reference, choice)
    return (
        name,
        TableCell(board.label(found.reference)),
        EMPTY if scores is None else TableCell(percent(scores), value=100 * scores),
        TableCell(board.label(first.method)) if first else EMPTY,
        dataclasses.replace(gain_cell(first), bold=False),
        TableCell(p_text(first.p_holm), value=first.p_holm) if first else EMPTY,
        number_cell(sum(effect.surely_above for effect in effects) if effects else None, 0),
        number_cell(sum(effect.surely_below for effect in effects) if effects else None, 0),
        number_cell(found.n_tasks, 0),
    )


def compared_ways(board: Board) -> dict[str, Comparison]:
    """The comparison as chosen in every way that a user has and some aligning method."""
    found = {choice: compared_or_why(board, choice) for choice in attainable(board)}
    return {c: one for c, one in found.items() if not isinstance(one, str) and board.aligning(one)}


def compared_or_why(board: Board, choice: str) -> Comparison | str:
    """The comparison as chosen in one way, or why there is none."""
    try:
        return board.compared_by(choice)
    except UncomparableError as error:
        return str(error)
