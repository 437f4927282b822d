"""The answer box of a board: the reader's questions, answered from the records alone."""

from collections.abc import Mapping, Sequence

from workflow.lib.config.tuning import REFERENCES
from workflow.lib.report.tables.board import chooser_in_words
from workflow.lib.report.tables.board_choices import compared_ways
from workflow.lib.results.best_way import best_way, pair_of
from workflow.lib.results.board import Board, Row
from workflow.lib.results.effects import ROUNDING, Comparison, Effect, UncomparableError
from workflow.lib.results.material import UNTUNED
from workflow.lib.results.power import POWER
from workflow.lib.results.sensitivity import (
    as_few_harmed_by_chance,
    detectable,
    gains_picked_elsewhere,
)
from workflow.lib.results.significance import ALPHA
from workflow.lib.results.text import (
    capitalized,
    count,
    fixed,
    interval,
    listed,
    p_text,
    percent,
    signed,
    some,
)
from workflow.lib.results.tuning_alone import TuningAlone, tuning_alone
from workflow.lib.results.untouched import compare_untouched, searched_on

# Methods that a line names before it counts the others.
_NAMED = 6
# A chance of more says nothing.
_NEARLY_ALWAYS = 0.995
UNTUNED_BASELINE = "with its entry's settings and classifier"
NO_INTERVAL = "no interval: some data set has one task and trial, or scores that do not vary"
TUNED_OF_A_BASELINE = (
    "scaling, classifier, and settings of the baseline such as the components of PCA"
)


def answers(board: Board) -> list[tuple[str, str]]:
    """The reader's questions, each with the answer that the records give."""
    found = board.comparison
    base = next(row for row in board.rows if row.method == found.reference)
    rows = [row for row in board.rows if row.effect and row.method not in board.baselines]
    lines = [("Does alignment help, when everything is tuned alike?", _help(board, base, rows))]
    if rows and searched_on(board):
        lines.append(("And on data that no setting was searched on?", _untouched(board)))
    if rows:
        lines.append(("Does that hang on the choice of settings?", _other_choices(board)))
        lines.append(("What is best, however it is chosen without scored labels?", _best(board)))
        lines.append(("Which method?", _which(board)))
        lines.append(("Which never harms?", _harmless(board, rows)))
    lines.append(("What does tuning alone give?", _tuning_alone(board, base)))
    lines.append(("What should choose the settings?", _chooser(board)))
    return lines


def _help(board: Board, base: Row, aligning: list[Row]) -> str:
    found = board.comparison
    reference = f"{board.label(base.method)} ({percent(base.scores['accuracy'])} %)"
    better = [r for r in aligning if r.effect.effect > 0]
    surely = [r for r in aligning if r.effect.surely_above]
    worse = [r for r in aligning if r.effect.surely_below]
    if not aligning:
        return "No aligning method could be compared."
    none = "Surely not" if len(worse) == len(aligning) else "Not shown"
    verdict = "Surely" if surely else none
    told = (
        f"{verdict}: over {_places(found)}, aligning methods above the best tuned baseline, "
        f"{reference}: {len(better)} of {len(aligning)}, {len(surely)} surely; surely below it: "
        f"{len(worse)}."
    )
    first = max(aligning, key=lambda r: r.effect.effect)
    best = f"The best, {board.label(first.method)}: {_gain_in_words(first.effect)}."
    return " ".join(filter(None, [told, best, _elsewhere(board), _found_in_words(board)]))


def _elsewhere(board: Board) -> str:
    """What the best is worth where it was not picked by the scores that judge it."""
    told = elsewhere_told(board)
    where = "Method and baseline picked on the other data sets, on the one left out"
    return f"{where}: {told}." if told else ""


def elsewhere_told(board: Board) -> str:
    """Mean and ends of the gains of what was picked on other data; empty where there are none."""
    gains = gains_picked_elsewhere(board).values()
    if not gains:
        return ""
    least, most = (signed(100 * end) for end in (min(gains), max(gains)))
    mean = signed(100 * sum(gains) / len(gains))
    return f"{mean} points on average (from {least} on one data set to {most} on another)"


def _found_in_words(board: Board) -> str:
    """From which true gain on such trials find it: of the method in the middle, and at the ends."""
    found = detectable(board)
    if found is None:
        return ""
    return (
        f"A true gain is found in {100 * POWER:g} % of repetitions from "
        f"{detectable_points(found.median)} points on, of the method in the middle "
        f"({detectable_ends(board)} over all)."
    )


def detectable_ends(board: Board) -> str:
    """The smallest and the largest gain that is found of some aligning method."""
    found = detectable(board)
    return " to ".join(dict.fromkeys(map(detectable_points, (found.least, found.most))))


def detectable_points(size: float) -> str:
    return "more than 100" if size >= 1 else fixed(100 * size, 1)


def _untouched(board: Board) -> str:
    """The same without the data sets that settings of its methods were searched on."""
    labels = listed(board.suite.label_of_dataset(name) for name in searched_on(board))
    whose = f"{labels}, on which settings of methods were searched, here or to match a paper"
    try:
        found = compare_untouched(board)
    except UncomparableError:
        return f"Cannot be told: all that could be compared is of {whose}."
    effects = board.aligning(found)
    if not effects:
        return f"Cannot be told: no aligning method could be compared without {whose}."
    sure = sum(effect.surely_above for effect in effects)
    return (
        f"Without {whose}: over {_places(found)} the best, {board.label(effects[0].method)}: "
        f"{_gain_in_words(effects[0])} over {board.label(found.reference)}; {sure} of "
        f"{len(effects)} surely above it."
    )


def _places(found: Comparison) -> str:
    tasks, sets = count(found.n_tasks, "task"), count(len(found.by_dataset.columns), "data set")
    return f"{tasks} of {sets}"


def _gain_in_words(effect: Effect) -> str:
    words = f"{signed(100 * effect.effect)} points"
    if effect.low is None:
        return f"{words} ({NO_INTERVAL})"
    return f"{words} ({interval(effect.low, effect.high)}; p = {p_text(effect.p_holm)})"


def _other_choices(board: Board) -> str:
    """Who is surely above the best baseline where settings are chosen in another way."""
    label, ways = chooser_in_words(board), compared_ways(board)
    others = sorted(ways, key=lambda choice: choice not in REFERENCES)
    others = [choice for choice in others if choice != board.chosen_by]
    if not others:
        return "Cannot be told: no other way of choosing could be compared."
    sure = {way: [e for e in board.aligning(ways[way]) if e.surely_above] for way in others}
    sure = {way: effects for way, effects in sure.items() if effects}
    own = any(effect.surely_above for effect in board.aligning())
    among = count(len(others), "other way")
    if not sure:
        none = f"of {among} of choosing none has an aligning method surely above"
        return f"Yes: {none}, as {label(board.chosen_by)} has." if own else f"No: {none}."
    also = sum(_p_of_all(effects, len(ways)) < ALPHA for effects in sure.values())
    if own:
        verdict = "No" if len(sure) == len(others) else "In part"
    else:
        verdict = "Yes" if also else "Not surely"
    told = [_one_way(board, way, effects, len(ways)) for way, effects in sure.items()]
    return (
        f"{verdict}: in {len(told)} of {among} of choosing some are surely above, "
        f"each way by itself, in {also or 'none'} also corrected for all {len(ways)} ways: "
        f"{some(told, _NAMED)}."
    )


def _p_of_all(sure: Sequence[Effect], n_ways: int) -> float:
    """Smallest p of effects that are surely above in one way, by Bonferroni for all ways."""
    return min(1.0, n_ways * min(effect.p_holm for effect in sure))


def _one_way(board: Board, choice: str, sure: Sequence[Effect], n_ways: int) -> str:
    """The largest gain that is sure in one way, p there and for all ways, and what to mind."""
    first, more = sure[0], f" and {len(sure) - 1} more" if len(sure) > 1 else ""
    bar = board.mean(board.comparison.reference, board.chosen_by)
    notes = [
        chooser_in_words(board)(choice),
        f"p = {p_text(first.p_holm)}, for all ways {p_text(_p_of_all(sure[:1], n_ways))}",
    ]
    if (mean := board.mean(first.method, choice)) is not None and mean < bar:
        notes.append("yet below the board's own bar")
    if board.cautions_of(first.method):
        notes.append("with a caution below")
    gain = f"{signed(100 * first.effect)} points"
    return f"{board.label(first.method)} {gain}{more} ({'; '.join(notes)})"


def _best(board: Board) -> str:
    found = best_way(board)
    if found is None:
        return "Cannot be told: no way of choosing has a score of every kind."
    label = chooser_in_words(board)

    def words(effect: Effect) -> str:
        method, choice = pair_of(effect)
        return f"{board.label(method)} ({label(choice)}) {signed(100 * effect.effect)}"

    best, among = found.best, f"{found.n_pairs} pairs of a method and a way"
    ends = interval(best.low, best.high)
    alone = f"{ends} for it alone" if ends else NO_INTERVAL
    sure = some((words(effect) for effect in found.sure), _NAMED) if found.sure else "none"
    p = "" if best.p_holm is None else f"; p = {p_text(best.p_holm)}, corrected for {among}"
    return (
        f"{words(best)} points ({alone}{p}) over the best baseline, {board.label(found.baseline)} "
        f"({label(found.baseline_choice)}). Surely above that baseline: {sure}. Both are the best "
        "by these very scores."
    )


def _which(board: Board) -> str:
    first = board.comparison.tiers[0]
    if len(first) == 1:
        return f"{board.label(first[0])}: it alone is in the first tier."
    aligning = [board.label(method) for method in first if method not in board.baselines]
    baselines = [board.label(method) for method in first if method in board.baselines]
    told = [f"{len(aligning)} that align ({some(aligning, _NAMED)})"] if aligning else []
    if baselines:
        told.append(f"{count(len(baselines), 'baseline')} ({some(baselines, _NAMED)})")
    whole = "Cannot be told: all " if len(board.comparison.tiers) == 1 else ""
    return (
        f"{whole}{len(first)} share the first tier, where none is shown to be worse than another: "
        f"{listed(told)}.{_span(board, first)}"
    )


def _span(board: Board, methods: Sequence[str]) -> str:
    """How far apart methods of one tier are, which few trials do not tell apart."""
    means = {method: board.mean(method, board.chosen_by) for method in methods}
    last = min(sorted(means), key=means.get)
    ends = percent(max(means.values())), percent(means[last])
    if ends[0] == ends[1]:
        return f" All have {ends[0]} %."
    return f" Their accuracies go from {ends[0]} to {ends[1]} % ({board.label(last)})."


def _harmless(board: Board, aligning: list[Row]) -> str:
    judged = [row for row in aligning if row.effect.harm is not None]
    if not judged:
        return "Cannot be told: one trial per task has no spread."
    least = min(row.effect.n_harmed for row in judged)
    names = [board.label(row.method) for row in judged if row.effect.n_harmed == least]
    verb = "harms" if len(names) == 1 else "harm"
    of = f"of {count(judged[0].effect.n_judged, 'task')}"
    share = percent(board.comparison.harmed_by_chance)
    among = as_few_by_chance(board, least)
    harmed = percent(least / judged[0].effect.n_judged)
    chance = f" ({harmed} %; by chance {share} %, of a method equal to it on every task{among})"
    if not least:
        told = f"{some(names, _NAMED)}: on none {of} below the baseline by more than the error"
        return f"{told}{chance}."
    return f"None; {some(names, _NAMED)} {verb} least, on {least} {of}{chance}."


def as_few_by_chance(board: Board, n_harmed: int) -> str:
    """How often one of so many equal methods harms at most so often; empty where it nearly
    always does.
    """
    share = as_few_harmed_by_chance(board, n_harmed)
    if share is None or share > _NEARLY_ALWAYS:
        return ""
    told = f"one of {len(board.aligning())} such methods, were they independent, does as well in"
    return f"; {told} {percent(share)} % of repetitions"


def _tuning_alone(board: Board, base: Row) -> str:
    found = tuning_alone(board)
    if found is None:
        return "Cannot be told: no baseline has an untuned score on every task."
    mean, gain = board.mean(found.untuned, UNTUNED), found.effect
    ends = interval(gain.low, gain.high) or NO_INTERVAL
    return (
        f"The best untuned baseline ({UNTUNED_BASELINE}), {board.label(found.untuned)}, has "
        f"{percent(mean)} %, the best tuned one, {board.label(base.method)}, "
        f"{percent(base.scores['accuracy'])} %: {signed(100 * gain.effect)} points ({ends})."
        f"{_over_untuned(board, found)} Tuned: {TUNED_OF_A_BASELINE}."
    )


def _over_untuned(board: Board, found: TuningAlone) -> str:
    """Where tuning lowers the bar, what is above the higher one."""
    if found.effect.effect >= 0 or not found.aligning:
        return ""
    above = [effect for effect in found.aligning if effect.effect > 0]
    sure = sum(effect.surely_above for effect in above)
    best = found.aligning[0]
    return (
        f" Over the untuned one, the higher bar, {len(above)} of {len(found.aligning)} aligning "
        f"methods are above, {sure} surely; the best, {board.label(best.method)}: "
        f"{_gain_in_words(best)}."
    )


def _chooser(board: Board) -> str:
    effects = {e.method: e for e in board.selection.comparison.effects}
    ties = board.selection.nearest(board.selectors)
    if not ties:
        return "No selector is defined for enough methods here."
    label = chooser_in_words(board)
    first = effects[ties[0]]
    over = {name: effects[name].effect - first.effect for name in effects}
    nearer = [name for name in over if name in REFERENCES and over[name] > ROUNDING]
    as_near = [name for name in over if name in REFERENCES and abs(over[name]) <= ROUNDING]
    told_already = (*ties, *nearer, *as_near)
    others = [n for n in (board.chosen_by, "default", "average") if n not in told_already]
    gaps = [
        _farther(board, effects, n)
        for n in sorted((n for n in others if n in effects), key=lambda n: -effects[n].effect)
    ]
    of = "of the selectors " if nearer or as_near else ""
    verb = "is" if len(ties) == 1 else "are"
    told = [
        f"{of}{some(map(label, ties), _NAMED)} {verb} nearest to the oracle, {_gap(first)} points "
        "below"
    ]
    if nearer:
        without = listed(f"{label(name)} {_gap(effects[name])}" for name in nearer)
        told.append(f"nearer, without any selector: {without}")
    if as_near:
        told.append(f"as near, without any selector: {listed(map(label, as_near))}")
    if gaps:
        told.append(f"farther: {listed(gaps)}")
    return f"{'. '.join(map(capitalized, told))}."


def _farther(board: Board, effects: Mapping[str, Effect], name: str) -> str:
    """A way of choosing and its gap; of the board's own its place among the selectors too."""
    words = f"{chooser_in_words(board)(name)} {_gap(effects[name])}"
    if name != board.chosen_by:
        return words
    place, of = board.selection.place(name, board.selectors)
    return f"{words} (the board's own, number {place} of {of})"


def _gap(effect: Effect) -> str:
    return fixed(-100 * effect.effect, 1)
