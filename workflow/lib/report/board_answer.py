"""The answer box of a board: the reader's questions, answered from the records alone."""

from workflow.lib.config.tuning import REFERENCES
from workflow.lib.report.tables.board import chooser_in_words
from workflow.lib.report.tables.board_choices import compared_or_why
from workflow.lib.results.best_way import attainable, best_way, pair_of
from workflow.lib.results.board import Board, Row
from workflow.lib.results.effects import ROUNDING, Comparison, Effect, UncomparableError
from workflow.lib.results.material import UNTUNED
from workflow.lib.results.power import POWER
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
    told = (
        f"Over {_places(found)}, aligning methods above the best tuned baseline, {reference}: "
        f"{len(better)} of {len(aligning)}, {len(surely)} surely; surely below it: "
        f"{len(worse)}."
    )
    first = max(aligning, key=lambda r: r.effect.effect)
    return f"{told} The best, {board.label(first.method)}: {_gain_in_words(first.effect)}."


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
        f"{_gain_in_words(effects[0], power=False)} over {board.label(found.reference)}; {sure} of "
        f"{len(effects)} surely above it."
    )


def _places(found: Comparison) -> str:
    tasks, sets = count(found.n_tasks, "task"), count(len(found.by_dataset.columns), "data set")
    return f"{tasks} of {sets}"


def _gain_in_words(effect: Effect, power: bool = True) -> str:
    words = f"{signed(100 * effect.effect)} points"
    if effect.low is None:
        return f"{words} ({NO_INTERVAL})"
    told = f"{interval(effect.low, effect.high)}; p = {p_text(effect.p_holm)}"
    return f"{words} ({told}{_found_in_words(effect.detectable) if power else ''})"


def _found_in_words(detectable: float) -> str:
    """How large a gain such trials find; of few degrees of freedom none that there can be."""
    size = f"{fixed(100 * detectable, 1)} points" if detectable <= 1 else "more than 100 points"
    return f"; a true gain of {size} would be found in {100 * POWER:g} % of repetitions"


def _other_choices(board: Board) -> str:
    """Who is surely above the best baseline where settings are chosen in another way."""
    told, among, label = [], 0, chooser_in_words(board)
    for choice in sorted(board.choices, key=lambda choice: choice not in REFERENCES):
        if choice == board.chosen_by or choice not in attainable(board):
            continue
        if isinstance(found := compared_or_why(board, choice), str):
            continue
        among += 1
        sure = [effect for effect in board.aligning(found) if effect.surely_above]
        if sure:
            more = f" and {len(sure) - 1} more" if len(sure) > 1 else ""
            doubt = ", with a caution below" if board.cautions_of(sure[0].method) else ""
            gain = f"{signed(100 * sure[0].effect)} points{doubt}"
            told.append(f"{board.label(sure[0].method)} {gain}{more} ({label(choice)})")
    ways = count(among, "other way")
    if not among:
        return "Cannot be told: no other way of choosing could be compared."
    if not told:
        none = f"of {ways} of choosing none has an aligning method surely above"
        if any(effect.surely_above for effect in board.aligning()):
            return f"Yes: {none}, as {label(board.chosen_by)} has."
        return f"No: {none}."
    return f"In {len(told)} of {ways} of choosing some are surely above: {some(told, _NAMED)}."


def _best(board: Board) -> str:
    found = best_way(board)
    if found is None:
        return "Cannot be told: no way of choosing has a score of every kind."
    label = chooser_in_words(board)

    def words(effect: Effect) -> str:
        method, choice = pair_of(effect)
        return f"{board.label(method)} ({label(choice)}) {signed(100 * effect.effect)}"

    best, among = found.best, f"{found.n_pairs} pairs of a method and a way"
    ends = interval(best.low, best.high) or NO_INTERVAL
    sure = some((words(effect) for effect in found.sure), _NAMED) if found.sure else "none"
    p = "" if best.p_holm is None else f"; p = {p_text(best.p_holm)} corrected for {among}"
    return (
        f"{words(best)} points ({ends}{p}) over the best baseline, {board.label(found.baseline)} "
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
    return f"{whole}{len(first)} share the first tier, where none is beaten: {listed(told)}."


def _harmless(board: Board, aligning: list[Row]) -> str:
    judged = [row for row in aligning if row.effect.harm is not None]
    if not judged:
        return "Cannot be told: one trial per task has no spread."
    least = min(row.effect.n_harmed for row in judged)
    names = [board.label(row.method) for row in judged if row.effect.n_harmed == least]
    verb = "harms" if len(names) == 1 else "harm"
    of = f"of {count(judged[0].effect.n_judged, 'task')}"
    share = percent(board.comparison.harmed_by_chance)
    chance = f" (by chance {share} % of the tasks, of a method equal to it on every task)"
    if not least:
        told = f"{some(names, _NAMED)}: on none {of} below the baseline by more than the error"
        return f"{told}{chance}."
    return f"None; {some(names, _NAMED)} {verb} least, on {least} {of}{chance}."


def _tuning_alone(board: Board, base: Row) -> str:
    found = tuning_alone(board)
    if found is None:
        return "Cannot be told: no baseline has an untuned score on every task."
    mean, gain = board.mean(found.untuned, UNTUNED), found.effect
    ends = interval(gain.low, gain.high) or NO_INTERVAL
    return (
        f"The best untuned baseline, {board.label(found.untuned)}, has {percent(mean)} %, the best "
        f"tuned one, {board.label(base.method)}, {percent(base.scores['accuracy'])} %: "
        f"{signed(100 * gain.effect)} points ({ends}).{_over_untuned(board, found)} Tuned: "
        f"{TUNED_OF_A_BASELINE}."
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
        f"{_gain_in_words(best, power=False)}."
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
    others = [name for name in (board.chosen_by, "default", "average") if name in effects]
    told_already = (*ties, *nearer, *as_near)
    gaps = [f"{label(n)} {_gap(effects[n])}" for n in others if n not in told_already]
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


def _gap(effect: Effect) -> str:
    return fixed(-100 * effect.effect, 1)
