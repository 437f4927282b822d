"""The findings of the reference run: ``reports/reference/findings.md``.

They are made anew from the scores that the runs of boards, shifts and curves over labels left here,
where every board that has a folder left some. Else the page stays as it is, and its head says which
boards are newer than it.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from workflow.lib.config.outputs import boards, label_curves
from workflow.lib.config.outputs import shifts as shift_experiments
from workflow.lib.config.suite import Suite
from workflow.lib.report.board_page import board_of
from workflow.lib.report.findings_page import titles_not_run, write_twin
from workflow.lib.report.reference_older_findings import (
    FINDINGS,
    SHIFTS,
    mark_newer,
    others_words,
    standing_pages,
)
from workflow.lib.report.shifts_page import TITLE as SHIFTS_TITLE
from workflow.lib.results.board import Board
from workflow.lib.results.kept_scores import Kept, kept_scores
from workflow.lib.results.material import QUICK, sorted_out
from workflow.lib.results.reference import BOARD
from workflow.lib.results.shifts import Shifts
from workflow.lib.results.text import listed

_OF_BOARDS = "Of the boards here, each of its own run: "


@dataclasses.dataclass(frozen=True)
class _AtHand:
    """Scores that runs left here: by board, of kinds of shift and of curves over labels."""

    boards: Mapping[str, Sequence[Kept]]
    shifts: Sequence[Kept]
    curves: Sequence[Kept]


def write_findings(suite: Suite, out: Path) -> None:
    """Make the findings anew; where that cannot be, let them say which boards are newer."""
    if not made_anew(suite, out):
        mark_newer(suite, out)


def made_anew(suite: Suite, out: Path) -> bool:
    """Make the findings anew, if the scores of every board here are at hand; whether they were."""
    at_hand = _at_hand(suite, out)
    standing = {path.name.removeprefix(BOARD) for path in out.glob(f"{BOARD}*")}
    if not at_hand.boards or not standing - {QUICK} <= set(at_hand.boards):
        return False
    _write_anew(suite, at_hand, out)
    return True


def _at_hand(suite: Suite, out: Path) -> _AtHand:
    shifts = kept_scores(suite, shift_experiments(suite), out)
    found = {name: kept_scores(suite, own, out) for name, own in boards(suite).items()}
    return _AtHand(
        boards={
            name: kept for name, kept in found.items() if kept and (out / f"{BOARD}{name}").is_dir()
        },
        shifts=shifts if len(shifts) == len(shift_experiments(suite)) else [],
        curves=kept_scores(suite, label_curves(suite), out),
    )


def _write_anew(suite: Suite, at_hand: _AtHand, out: Path) -> None:
    made = [board_of(name, [one.view for one in kept]) for name, kept in at_hand.boards.items()]
    shifts = [Shifts(one.view) for one in at_hand.shifts]
    curves = [one.view for one in at_hand.curves]
    run = {board.name: [view.name for view in board.views] for board in made}
    lacking = titles_not_run(
        suite, run, [one.view.name for one in shifts], [c.name for c in curves]
    )
    standing = standing_pages(suite, (), out)
    elsewhere = {title: link for title, link in standing.items() if title in lacking}
    of = [_of_boards(made, at_hand), *others_words(elsewhere)]
    write_twin(
        sorted_out(made, shifts, curves),
        out / FINDINGS,
        [title for title in lacking if title not in elsewhere],
        "\n\n".join(of),
    )


def _of_boards(made: Sequence[Board], at_hand: _AtHand) -> str:
    """What the findings are of, with the run of each."""
    links = {board.name: f"[{board.title}]({BOARD}{board.name})" for board in made}
    told = {links[name]: kept for name, kept in at_hand.boards.items()}
    told |= {f"[{one.view.experiment.title}]({one.view.name})": [one] for one in at_hand.curves}
    if at_hand.shifts:
        told[f"[{SHIFTS_TITLE}]({SHIFTS})"] = at_hand.shifts
    parts = [f"{link} ({listed(sorted({one.run for one in kept}))})" for link, kept in told.items()]
    return f"{_OF_BOARDS}{'; '.join(parts)}."
