"""What the boards and the generated shifts say, as findings: a condition, the numbers behind it.

Every finding is computed anew from the records; where its boards were not run it decides nothing.
"""

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence

import pandas as pd
import scipy.stats

from workflow.lib.config.tuning import REFERENCES
from workflow.lib.results.best_way import best_way, pair_of
from workflow.lib.results.board import Board
from workflow.lib.results.curves import chosen_at, gains
from workflow.lib.results.effects import ROUNDING, Comparison, Effect, UncomparableError, compare
from workflow.lib.results.material import (
    ANY_WAY,
    CORRELATION,
    FEW_LABELS,
    LARGEST,
    LESS,
    MORE,
    NO_LABELS,
    SECONDS,
    SHARE,
    SIZE,
    SMALLEST,
    UNTUNED,
    Finding,
    Material,
    Number,
)
from workflow.lib.results.pairwise import apart
from workflow.lib.results.power import interval_of_detectable
from workflow.lib.results.sensitivity import detectable
from workflow.lib.results.shared_domains import EITHER, shared_by_dataset
from workflow.lib.results.shifts import Shifts
from workflow.lib.results.significance import ALPHA, holm
from workflow.lib.results.statistics import rank_correlation
from workflow.lib.results.tuning_alone import tuning_alone
from workflow.lib.results.views import ExperimentView


def findings(material: Material) -> list[Finding]:
    """All findings, in the order of the page."""
    return [
        finding(find, material)
        for find in (
            alignment_helps,
            tuning_alone_helps,
            labels_end_the_gain,
            data_sets_differ,
            never_harms,
            choice_costs_more_than_alignment_gains,
            fixed_selector_is_nearest,
            selectors_below_untuned,
            untuned_order_differs,
            seconds_buy_accuracy,
            small_gains_stay_hidden,
            shifts_without_remedy,
        )
    ]


Found = tuple[bool, Sequence[Number]]


def finding(find: Callable[[Material], Found], material: Material) -> Finding:
    """One of them: whether its condition holds, and the numbers behind it."""
    return Finding(find.__name__, *_decided(find(material)))


def _decided(found: Found) -> tuple[bool | None, tuple[Number, ...]]:
    holds, numbers = found
    return (holds if numbers else None), tuple(numbers)


def _number(place: str, about: Iterable[str], effect: Effect, *counts: int) -> Number:
    ends = effect.low, effect.high
    return Number(place, tuple(about), effect.effect, *ends, effect.p_holm, counts=counts)


def _gap(place: str, effect: Effect) -> Number:
    """What an effect over the oracle leaves on the table."""
    low, high = (None if end is None else -end for end in (effect.high, effect.low))
    return Number(place, (effect.method,), -effect.effect, low, high, unit=SIZE)


def _each(boards: Iterable[Board], find: Callable[[Board], Sequence[Number]]) -> list[Number]:
    """What is found on every board that has it."""
    found: list[Number] = []
    for board in boards:
        try:
            found += find(board)
        except UncomparableError:
            continue
    return found


def alignment_helps(material: Material) -> Found:
    """On every board some aligning method is surely above the best tuned baseline."""
    numbers = _each(material.boards, lambda board: _best_gain(board, board.comparison))
    untuned = _each(material.boards, _untuned_gain)
    ways = _each(material.boards, _best_in_any_way)
    return all(number.counts[2] for number in numbers), [*numbers, *untuned, *ways]


def _untuned_gain(board: Board) -> list[Number]:
    """The same where every method, baselines too, has its own settings; about them as well."""
    found = _best_gain(board, board.compared_by(UNTUNED), sure_first=True)
    return [dataclasses.replace(number, about=(*number.about, UNTUNED)) for number in found]


def _best_in_any_way(board: Board) -> list[Number]:
    """Of the pairs of a method and a way of choosing the best that is surely above the best such
    pair that adapts nothing, or else the best; about both pairs; counts: pairs, surely above.
    """
    found = best_way(board)
    if found is None:
        return []
    effect = (*found.sure, found.best)[0]
    about = (*pair_of(effect), found.baseline, found.baseline_choice, ANY_WAY)
    return [_number(board.name, about, effect, found.n_pairs, len(found.sure))]


def _best_gain(board: Board, comparison: Comparison, sure_first: bool = False) -> list[Number]:
    """Of the best aligning method, or if asked of the best that is surely above where one is;
    counts: aligning, above, surely above, surely below.
    """
    effects = board.aligning(comparison)
    if not effects:
        return []
    above = [effect for effect in effects if effect.effect > 0]
    sure = sum(e.surely_above for e in effects), sum(e.surely_below for e in effects)
    counts = (len(effects), len(above), *sure)
    best = next((e for e in effects if sure_first and e.surely_above), effects[0])
    return [_number(board.name, (best.method, comparison.reference), best, *counts)]


def tuning_alone_helps(material: Material) -> Found:
    """On every board the best tuned baseline is surely above the best untuned one."""
    numbers = _each(material.boards, _tuning_gain)
    return all(number.surely_above for number in numbers), numbers


def _tuning_gain(board: Board) -> list[Number]:
    """Of the tuned one, as the board's page says it; about both."""
    found = tuning_alone(board)
    return [_number(board.name, (found.tuned, found.untuned), found.effect)] if found else []


def labels_end_the_gain(material: Material) -> Found:
    """With few target labels no aligning method is surely above the best tuned baseline, on the
    tasks that the boards with and without such labels have in common. With no number of labels per
    class that was tried is the best one surely above it.
    """
    boards = _with_and_without_labels(material)
    curves = [number for view in material.curves for number in _gain_by_labels(view)]
    with_few = any(number.counts[2] for number in boards[1:])
    with_more = any(number.surely_above for number in curves)
    return not with_few and not with_more, [*boards, *curves]


def _with_and_without_labels(material: Material) -> list[Number]:
    """Best gains without and with few of them; nothing unless both can be said."""
    boards = [material.board(name) for name in (NO_LABELS, FEW_LABELS)]
    if None in boards:
        return []
    common = _tasks(boards[0]) & _tasks(boards[1])
    numbers = _each(boards, lambda board: _best_gain(board, _on(board, common), sure_first=True))
    return numbers if len(numbers) == len(boards) else []


def _gain_by_labels(view: ExperimentView) -> list[Number]:
    """Best gain with each number of labels per class; about the method, and what chooses where that
    is another criterion than elsewhere; counts: that number.
    """
    (asked,) = view.experiment.classifiers[:1]
    chosen = chosen_at(view, asked)
    return [
        _number(view.name, (effect.method, *({chosen[labels]} - {asked})), effect, labels)
        for labels, effect in gains(view, asked, view.baselines).items()
        if effect is not None
    ]


def _on(board: Board, tasks: set[tuple[str, str]]) -> Comparison:
    kept = _kept(board.scores(board.chosen_by), tasks)
    if kept.empty:
        raise UncomparableError("no task in common")
    return compare(kept, board.baselines)


def _tasks(board: Board) -> set[tuple[str, str]]:
    return {*zip(board.records["dataset"], board.records["task"], strict=True)}


def _kept(scores: pd.DataFrame, tasks: set[tuple[str, str]]) -> pd.DataFrame:
    places = zip(scores["dataset"], scores["task"], strict=True)
    return scores[[place in tasks for place in places]]


def data_sets_differ(material: Material) -> Found:
    """On every board the best aligning method gains surely more on one data set than on another.
    Data sets whose tasks all have one source, or all one target, are not told apart: what that
    domain adds is in no error.
    """
    told = [numbers for board in material.boards if (numbers := _by_dataset(board))]
    sure = (any(MORE in number.about for number in numbers) for numbers in told)
    return all(sure), [*itertools.chain(*told)]


def _by_dataset(board: Board) -> list[Number]:
    """Gains of the best aligning method where it is largest and smallest, and on the two data sets
    that are farthest apart of those that are surely so, corrected for all pairs; about which it is.
    Counts: data sets where it is above 0, all of them, degrees of freedom of the interval.
    """
    effects = board.aligning()
    if not effects:
        return []
    method, reference = effects[0].method, board.comparison.reference
    scores = board.scores(board.chosen_by)
    scores = scores[scores["method"].isin([method, reference])]
    gains = {}
    for name, own in scores.groupby("dataset"):
        if name in board.comparison.by_dataset:
            with contextlib.suppress(UncomparableError):
                (gains[name],) = compare(own, reference).effects
    if len(gains) < 2:
        return []
    ranked = sorted(gains, key=lambda name: (-gains[name].effect, name))
    one_sided = {s.dataset for s in shared_by_dataset(board) if s.role != EITHER}
    p = apart({name: gains[name] for name in ranked if name not in one_sided})
    sure = [pair for pair in p if p[pair] < ALPHA]
    farthest = max(sure, key=lambda pair: gains[pair[0]].effect - gains[pair[1]].effect, default=())
    named = (ranked[0], ranked[-1], *farthest)
    roles = [*zip(named, (LARGEST, SMALLEST, MORE, LESS), strict=False)]
    above = sum(gain.effect > 0 for gain in gains.values())
    numbers = []
    for name in ranked:
        if own := [role for one, role in roles if one == name]:
            counts = above, len(gains), int(gains[name].freedom or 0)
            numbers.append(_number(board.name, (name, method, *own), gains[name], *counts))
    return numbers


def never_harms(material: Material) -> Found:
    """On every board some aligning method is on no task below the best tuned baseline by more than
    its error.
    """
    numbers = []
    for board in material.boards:
        found = [_harmed(board, effect) for effect in board.aligning() if effect.n_judged]
        p = holm([number.p for number in found])  # each board has a chance of its own
        numbers += [dataclasses.replace(n, p=p) for n, p in zip(found, p, strict=True)]
    fewest = {
        place: min(number.value for number in numbers if number.place == place)
        for place in dict.fromkeys(number.place for number in numbers)
    }
    return not any(fewest.values()), [n for n in numbers if n.value == fewest[n.place]]


def _harmed(board: Board, effect: Effect) -> Number:
    """Share of the tasks that a method harms, of that by chance; counts: harmed, judged."""
    chance = board.comparison.harmed_by_chance
    test = scipy.stats.binomtest(effect.n_harmed, effect.n_judged, chance)
    ends = test.proportion_ci(1 - ALPHA)
    return Number(
        place=board.name,
        about=(effect.method,),
        value=effect.harm,
        low=ends.low,
        high=ends.high,
        p=test.pvalue,
        unit=SHARE,
        of=chance,
        counts=(effect.n_harmed, effect.n_judged),
    )


def choice_costs_more_than_alignment_gains(material: Material) -> Found:
    """On every board the choice among candidates loses more than the best alignment gains."""
    numbers = _each(material.boards, _lost_by_choice)
    return all(number.counts[0] for number in numbers[::2]), numbers


def _lost_by_choice(board: Board) -> list[Number]:
    """Gaps of the board's selector and of blind choice, averaged over the methods; counts of the
    first: 1 if it is more than the best alignment gains.
    """
    gain = _best_gain(board, board.comparison)
    effects = {effect.method: effect for effect in board.selection.comparison.effects}
    if not gain or board.chosen_by not in effects or "average" not in effects:
        return []
    chosen, blind = (_gap(board.name, effects[name]) for name in (board.chosen_by, "average"))
    more = int(chosen.value > gain[0].value)
    return [dataclasses.replace(chosen, counts=(more,)), blind]


def fixed_selector_is_nearest(material: Material) -> Found:
    """On every board the selector that was fixed in advance is the nearest to the oracle."""
    numbers = _each(material.boards, _nearest)
    return all(number.counts[0] == 1 for number in numbers if number.counts), numbers


def _nearest(board: Board) -> list[Number]:
    """Gaps of the nearest selector and of what is nearer without one; counts of the first: place of
    the fixed one (0: undefined), selectors.
    """
    effects = board.selection.comparison.effects
    ranked = [effect for effect in effects if effect.method in board.selectors]
    if not ranked:
        return []
    place = board.selection.place(board.chosen_by, board.selectors)
    first = dataclasses.replace(_gap(board.name, ranked[0]), counts=place)
    nearer = ranked[0].effect + ROUNDING
    without = [e for e in effects if e.method in REFERENCES and e.effect > nearer]
    return [first, *(_gap(board.name, effect) for effect in without)]


def selectors_below_untuned(material: Material) -> Found:
    """On some board some selector chooses surely worse than the methods' own settings."""
    pairs = [pair for board in material.boards for pair in _each([board], _below_untuned)]
    below = [number for number in pairs if number.counts[0]]
    return bool(below), below or pairs


def _below_untuned(board: Board) -> list[Number]:
    """Selectors surely below no tuning, or else the worst one; counts: 1 if surely below."""
    effects = board.selection_over_untuned.comparison.effects
    ranked = [effect for effect in effects if effect.method in board.selectors]
    below = [effect for effect in ranked if effect.surely_below]
    shown = below[::-1] or ranked[-1:]
    return [_number(board.name, (e.method,), e, int(e in below)) for e in shown]


def untuned_order_differs(material: Material) -> Found:
    """On every board the method that leads with untuned settings is below the first tier with tuned
    ones.
    """
    numbers = _each(material.boards, _order)
    return all(number.counts[2] > 1 for number in numbers), numbers


def _order(board: Board) -> list[Number]:
    """Correlation of ranks; about the leaders untuned and tuned; counts: methods, the first one's
    place and its tier when tuned, and that tier's methods."""
    pairs = {
        row.method: (row.by_choice["default"], row.scores["accuracy"])
        for row in board.rows
        if row.tier is not None and row.by_choice.get("default") is not None
    }
    if len(pairs) < 2:
        return []
    untuned, tuned = (sorted(pairs, key=lambda m: (-pairs[m][k], m)) for k in (0, 1))
    found = rank_correlation(*zip(*pairs.values(), strict=True))
    tier = board.comparison.tier(untuned[0])
    in_tier = sum(row.tier == tier for row in board.rows)
    counts = (len(pairs), tuned.index(untuned[0]) + 1, tier, in_tier)
    about = untuned[0], tuned[0]
    return [Number(board.name, about, *found, unit=CORRELATION, counts=counts)]


def seconds_buy_accuracy(material: Material) -> Found:
    """On every board aligning methods that take longer are surely more accurate."""
    numbers = _each(material.boards, _cost)
    correlations = [number for number in numbers if number.unit == CORRELATION]
    return all(number.surely_above for number in correlations), numbers


def _cost(board: Board) -> list[Number]:
    """Correlation of seconds and accuracy, and the cheapest of the first tier."""
    rows = [row for row in board.rows if row.effect and row.method not in board.baselines]
    pairs = [(row.seconds, row.scores["accuracy"]) for row in rows if row.seconds is not None]
    if len(pairs) < 2:
        return []
    found = rank_correlation(*zip(*pairs, strict=True))
    first = [row for row in board.rows if row.tier == 1 and row.seconds is not None]
    cheap = min(first, key=lambda row: (row.seconds, row.method), default=None)
    told = [Number(board.name, (), *found, unit=CORRELATION, counts=(len(pairs),))]
    if cheap is None:
        return told
    return [*told, Number(board.name, (cheap.method,), cheap.seconds, unit=SECONDS)]


def small_gains_stay_hidden(material: Material) -> Found:
    """On every board the best alignment gains less than such trials find in 80 % of repetitions, of
    itself and of the method in the middle.
    """
    numbers = _each(material.boards, _detectable)
    return all(number.value > number.of and number.counts[0] for number in numbers), numbers


def _detectable(board: Board) -> list[Number]:
    """Of the method in the middle, of the best one's gain; counts: 1 if that is below its own."""
    if (found := detectable(board)) is None:
        return []
    best, number = board.aligning()[0], _size(board.name, found.middle)
    own = int(best.effect < (best.detectable or 0.0))
    return [dataclasses.replace(number, of=best.effect, counts=(own,))]


def _size(place: str, effect: Effect) -> Number:
    ends = interval_of_detectable(effect.detectable, effect.freedom)
    return Number(place, (effect.method,), min(effect.detectable, 1), *ends, unit=SIZE)


def shifts_without_remedy(material: Material) -> Found:
    """Some kind of shift surely hurts, and no aligning method is surely above the best baseline."""
    numbers = [number for shifts in material.shifts for number in _remedies(shifts)]
    if not numbers:
        losses = [number for shifts in material.shifts for number in _doubtful_losses(shifts)]
        known = losses and len(losses) == sum(len(shifts.kinds) for shifts in material.shifts)
        return False, [max(losses, key=lambda number: number.value)] if known else []
    lost = [number for number in numbers if not number.counts[0]]
    hardest = sorted(numbers, key=lambda number: number.value / number.of)[:1]
    return bool(lost), lost or hardest


def _doubtful_losses(shifts: Shifts) -> list[Number]:
    """What the full shift takes, where it surely takes nothing; about the kind and the classifier
    without adaptation.
    """
    return [
        _number(shifts.view.name, (kind.name, kind.reference), kind.loss)
        for kind in shifts.kinds
        if kind.hurts is False
    ]


def _remedies(shifts: Shifts) -> list[Number]:
    """Best gain over the best baseline under each kind that surely hurts, of the loss; about the
    kind, the method and that baseline; counts: how many are surely above it.
    """
    found = []
    for kind in shifts.kinds:
        effects = [effect for effect in kind.over_bar if effect.method in shifts.aligning]
        if kind.hurts and effects:
            about = (kind.name, effects[0].method, kind.bar)
            sure = sum(effect.surely_above for effect in effects)
            number = _number(shifts.view.name, about, effects[0], sure)
            found.append(dataclasses.replace(number, of=kind.loss.effect))
    return found
