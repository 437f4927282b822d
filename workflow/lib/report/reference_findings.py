"""The findings of the reference run: ``reports/reference/findings.md``.

They are made from the scores that the runs of boards, kinds of shift and curves over labels left
here, each of its own run.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from workflow.lib.config.outputs import boards, label_curves
from workflow.lib.config.outputs import shifts as shift_experiments
from workflow.lib.config.suite import Suite
from workflow.lib.report.board_page import board_of
from workflow.lib.report.findings_page import titles_not_run, write_twin
from workflow.lib.report.reference_standing import (
    FINDINGS,
    SHIFTS,
    others_words,
    standing_pages,
)
from workflow.lib.report.shifts_page import TITLE as SHIFTS_TITLE
from workflow.lib.results.kept_scores import Kept, kept_scores
from workflow.lib.results.material import Material, sorted_out
from workflow.lib.results.reference import BOARD
from workflow.lib.results.shifts import Shifts
from workflow.lib.results.text import listed

_OF = "Made of what these runs found: "


@dataclasses.dataclass(frozen=True)
class _AtHand:
    """Scores that runs left here: by board, of kinds of shift and of curves over labels."""

    boards: Mapping[str, Sequence[Kept]]
    shifts: Sequence[Kept]
    curves: Sequence[Kept]


def renew_findings(suite: Suite, out: Path) -> None:
    """Make the findings of all that has left its scores, if a board has."""
    at_hand = _at_hand(suite, out)
    if at_hand.boards:
        lacking = _lacking(suite, at_hand)
        elsewhere = {t: link for t, link in standing_pages(suite, out).items() if t in lacking}
        _write(at_hand, [title for title in lacking if title not in elsewhere], elsewhere, out)


def _at_hand(suite: Suite, out: Path) -> _AtHand:
    shifts = kept_scores(suite, shift_experiments(suite), out)
    asked = boards(suite)
    found = {name: kept_scores(suite, own, out) for name, own in asked.items()}
    return _AtHand(
        boards={name: kept for name, kept in found.items() if len(kept) == len(asked[name])},
        shifts=shifts if len(shifts) == len(shift_experiments(suite)) else [],
        curves=kept_scores(suite, label_curves(suite), out),
    )


def _lacking(suite: Suite, at_hand: _AtHand) -> list[str]:
    """Titles of what has left no scores."""
    run = {name: [one.view.name for one in kept] for name, kept in at_hand.boards.items()}
    shifts, curves = ([one.view.name for one in own] for own in (at_hand.shifts, at_hand.curves))
    return titles_not_run(suite, run, shifts, curves)


def _write(
    at_hand: _AtHand, not_run: Sequence[str], elsewhere: Mapping[str, str], out: Path
) -> None:
    material = sorted_out(
        [board_of(name, [one.view for one in kept]) for name, kept in at_hand.boards.items()],
        [Shifts(one.view) for one in at_hand.shifts],
        [one.view for one in at_hand.curves],
    )
    of = [_sources(material, at_hand), *others_words(elsewhere.values())]
    links = {board.name: f"{BOARD}{board.name}" for board in material.boards}
    links |= {one.view.name: one.view.name for one in at_hand.curves}
    links |= dict.fromkeys([one.view.name for one in at_hand.shifts], SHIFTS)
    write_twin(material, out / FINDINGS, links, not_run, "\n\n".join(of))


def _sources(material: Material, at_hand: _AtHand) -> str:
    """What the findings are of, with the run of each."""
    told = {
        f"[{board.title}]({BOARD}{board.name})": at_hand.boards[board.name]
        for board in material.boards
    }
    told |= {f"[{one.view.experiment.title}]({one.view.name})": [one] for one in at_hand.curves}
    if at_hand.shifts:
        told[f"[{SHIFTS_TITLE}]({SHIFTS})"] = at_hand.shifts
    runs = {link: {run for one in kept for run in one.runs} for link, kept in told.items()}
    parts = [f"{link} ({listed(sorted(own))})" for link, own in runs.items()]
    return f"{_OF}{'; '.join(parts)}."
