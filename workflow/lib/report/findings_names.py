"""Numbers of findings in words: their units, their intervals, and what they are about."""

import dataclasses

from workflow.lib.report.tables.board import chooser_in_words
from workflow.lib.report.tables.shifts import words as kind_words
from workflow.lib.results.board import Board
from workflow.lib.results.material import (
    ANY_WAY,
    CORRELATION,
    SECONDS,
    SHARE,
    SIZE,
    UNTUNED,
    Finding,
    Material,
    Number,
)
from workflow.lib.results.power import POWER
from workflow.lib.results.text import count, fixed, interval, listed, number_text, percent, signed
from workflow.lib.results.views import ExperimentView


@dataclasses.dataclass(frozen=True)
class Names:
    """Words of the names in the numbers of findings."""

    material: Material

    def board(self, name: str) -> Board:
        return self.material.board(name)

    def place(self, name: str) -> str:
        """Title of a board or of an experiment."""
        board = self.material.board(name)
        return board.title if board else self.view(name).experiment.title

    def view(self, name: str) -> ExperimentView:
        return next(view for view in self._views if view.name == name)

    @property
    def _views(self) -> list[ExperimentView]:
        """Of experiments that are on no board."""
        return [*(shifts.view for shifts in self.material.shifts), *self.material.curves]

    def choice(self, place: str, name: str) -> str:
        """A way of choosing, on a board or in an experiment."""
        return chooser_in_words(self.board(place) or self.view(place))(name)

    def dataset(self, place: str, name: str) -> str:
        """Label of a data set of a board."""
        return self.board(place).suite.label_of_dataset(name)

    def of(self, name: str, place: str = "") -> str:
        """A method's label, marked where a setting was found by searching, in an experiment or
        anywhere; the name itself of what is no method.
        """
        if place:
            return self.view(place).method_label(name)
        views = [view for board in self.material.boards for view in board.views] + self._views
        known = [view.method_label(name) for view in views if name in view.methods]
        return max(known, key=len, default=name.replace("_", " "))


def value_text(number: Number) -> str:
    """A number in its unit."""
    if number.unit == SECONDS:
        return f"{number.value:.1f} s"
    if number.unit == CORRELATION:
        return signed(number.value, 2)
    if number.unit == SHARE:
        return f"{percent(number.value)} %"
    if number.unit == SIZE:
        return f"{fixed(100 * number.value, 1)} points"
    return f"{signed(100 * number.value)} points"


def interval_text(number: Number) -> str:
    """Its 95 % interval; empty where there is none."""
    if number.unit == SECONDS:
        return "none: timed once"
    if number.low is None:
        return ""
    if number.unit == CORRELATION:
        return interval(number.low, number.high, scale=1, digits=2)
    if number.unit == SHARE:
        return f"{percent(number.low)} to {percent(number.high)}"
    return interval(number.low, number.high, plus=number.unit != SIZE)


def about_text(finding: Finding, number: Number, names: Names) -> str:
    """What a number is about, beside its place."""
    if finding.name in _ABOUT_CHOICES:
        choices = listed(names.choice(number.place, name) for name in number.about)
        return f"lost by {choices}" if number.unit == SIZE else choices
    if finding.name == "shifts_without_remedy":
        kind, method, bar = number.about
        labels = (names.of(name, number.place) for name in (method, bar))
        return f"{kind_words(kind)}: {' over '.join(labels)}"
    if finding.name == "data_sets_differ":
        return _on_data_set(number, names)
    if finding.name == "labels_end_the_gain" and names.board(number.place) is None:
        method, *other = (names.of(number.about[0]), *number.about[1:])
        by = "".join(f", chosen by {names.choice(number.place, name)}" for name in other)
        return f"{method}, labels per class: {labels_of(number)}{by}"
    if finding.name == "untuned_order_differs":
        return f"{names.of(number.about[0])} leads untuned, {names.of(number.about[1])} tuned"
    if finding.name == "tuning_alone_helps":
        tuned, untuned = map(names.of, number.about)
        return f"{tuned}, tuned, over {untuned}, untuned"
    if finding.name == "small_gains_stay_hidden":
        often = f"{100 * POWER:g} % of repetitions"
        return f"gain that would be found in {often}: {names.of(*number.about)}"
    if finding.name == "seconds_buy_accuracy":
        first = "cheapest of the first tier: " if number.about else "seconds and accuracy"
        return first + listed(map(names.of, number.about))
    if ANY_WAY in number.about:
        pair, base = (pair_text(number, names, start) for start in (0, 2))
        return f"{pair} over {base}, of {number.counts[0]} pairs"
    untuned = ", untuned" if UNTUNED in number.about else ""
    return " over ".join(names.of(name) for name in number.about if name != UNTUNED) + untuned


def _on_data_set(number: Number, names: Names) -> str:
    """With its degrees of freedom: an interval of two tasks has one and tells next to nothing."""
    dataset, method, *roles = number.about
    of = [*roles, f"{count(number.counts[2], 'degree')} of freedom"]
    return f"{names.dataset(number.place, dataset)}: {names.of(method)} ({'; '.join(of)})"


def pair_text(number: Number, names: Names, start: int = 0) -> str:
    """A method with its way of choosing, of what a number is about."""
    method, choice = number.about[start : start + 2]
    return f"{names.of(method)} ({names.choice(number.place, choice)})"


_ABOUT_CHOICES = {
    "choice_costs_more_than_alignment_gains",
    "fixed_selector_is_nearest",
    "selectors_below_untuned",
}


def labels_of(number: Number) -> str:
    return number_text(number.counts[0])
