"""What findings are made of: what was run, and the numbers that it gave."""

import dataclasses
from collections.abc import Iterable

from workflow.lib.results.board import Board
from workflow.lib.results.effects import UncomparableError
from workflow.lib.results.shifts import Shifts
from workflow.lib.results.significance import ALPHA
from workflow.lib.results.views import ExperimentView

# The choice that keeps every method's own settings.
UNTUNED = "default"
# Among what a number is about: the best of all pairs of a method and a way of choosing.
ANY_WAY = "any way"
POINTS, SHARE, CORRELATION, SECONDS = "points", "share", "correlation", "seconds"
# Points of a loss, or of a difference that could be found: no gain, so a plus sign would mislead.
SIZE = "size"
# Among what a gain on one data set is about: what it is beside those on the others.
LARGEST, SMALLEST, MORE, LESS = "largest", "smallest", "surely more", "surely less"
# Boards of the same data sets without and with target labels, and the quick form of the first.
NO_LABELS, FEW_LABELS, QUICK = "no_target_labels", "few_target_labels", "quick"


@dataclasses.dataclass(frozen=True)
class Number:
    """One number behind a finding.

    Attributes
    ----------
    place : str
        Board, or experiment of shifts, by name.
    about : tuple of str
        Methods, ways of choosing, data sets or kinds that it is about, by name.
    value : float
        A fraction where it is an accuracy, a difference of accuracies or a share.
    low, high : float or None
        95 % interval; None where nothing varies that could tell.
    p : float or None
        Two-sided, of a value of 0 or of a share by chance, after Holm's correction; None where
        nothing is tested.
    unit : str
        One of `POINTS`, `SIZE`, `SHARE`, `CORRELATION`, `SECONDS`.
    of : float or None
        What the value is a part of, or a share by chance that it is compared with; in its units.
    counts : tuple of int
        Whatever the finding counts beside it.
    """

    place: str
    about: tuple[str, ...]
    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    unit: str = POINTS
    of: float | None = None
    counts: tuple[int, ...] = ()

    @property
    def surely_above(self) -> bool:
        return self.p is not None and self.p < ALPHA and self.value > 0

    @property
    def surely_below(self) -> bool:
        return self.p is not None and self.p < ALPHA and self.value < 0


@dataclasses.dataclass(frozen=True)
class Finding:
    """An answer to one question.

    Attributes
    ----------
    name : str
        Of the function of this module that finds it.
    holds : bool or None
        Whether its condition, the docstring of that function, holds; None without numbers.
    numbers : tuple of Number
    """

    name: str
    holds: bool | None
    numbers: tuple[Number, ...] = ()


@dataclasses.dataclass(frozen=True)
class Material:
    """What was run.

    Attributes
    ----------
    boards : tuple of Board
        Those on which something can be compared; see `sorted_out`.
    shifts : tuple of Shifts
    curves : tuple of ExperimentView
        Tuned experiments that vary the labels of the target.
    left_out : dict of str to str
        Board to the reason why it is not among them.
    """

    boards: tuple[Board, ...]
    shifts: tuple[Shifts, ...] = ()
    curves: tuple[ExperimentView, ...] = ()
    left_out: dict[str, str] = dataclasses.field(default_factory=dict)

    def board(self, name: str) -> Board | None:
        return next((board for board in self.boards if board.name == name), None)


def sorted_out(
    boards: Iterable[Board],
    shifts: Iterable[Shifts] = (),
    curves: Iterable[ExperimentView] = (),
) -> Material:
    """Boards that say something: the quick form only where what it is a form of was not run."""
    found, left_out = {}, {}
    for board in boards:
        try:
            found[board.name] = board.comparison and board
        except UncomparableError as error:
            left_out[board.name] = str(error)
    if QUICK in found and NO_LABELS in found:
        left_out[QUICK] = "the whole board was run"
        found.pop(QUICK)
    return Material(tuple(found.values()), tuple(shifts), tuple(curves), left_out)
