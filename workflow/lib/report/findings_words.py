"""Findings in sentences: one for each, in the words of the names that it is about."""

from collections.abc import Callable, Sequence

from workflow.lib.report.board_answer import (
    TUNED_OF_A_BASELINE,
    UNTUNED_BASELINE,
    as_few_by_chance,
    detectable_ends,
    detectable_points,
    elsewhere_told,
)
from workflow.lib.report.findings_names import (
    Names,
    about_text,
    labels_of,
    pair_text,
    value_text,
)
from workflow.lib.report.tables.curve import undefined_told
from workflow.lib.report.tables.shifts import words as kind_words
from workflow.lib.results.material import (
    ANY_WAY,
    CORRELATION,
    LARGEST,
    LESS,
    MORE,
    SECONDS,
    SMALLEST,
    UNTUNED,
    Finding,
    Number,
)
from workflow.lib.results.power import POWER
from workflow.lib.results.significance import ALPHA
from workflow.lib.results.text import (
    capitalized,
    count,
    fixed,
    listed,
    percent,
    signed,
    some,
)
from workflow.lib.results.views import ExperimentView

QUESTIONS = {
    "alignment_helps": "Does alignment help, when everything is tuned alike?",
    "tuning_alone_helps": "What does tuning alone give?",
    "labels_end_the_gain": "Does alignment help where some labels of the target are known?",
    "data_sets_differ": "On which data does alignment help?",
    "never_harms": "Which method never harms?",
    "choice_costs_more_than_alignment_gains": "What is lost by choosing?",
    "fixed_selector_is_nearest": "Which selector is nearest to the oracle?",
    "selectors_below_untuned": "Is a selector worse than not tuning?",
    "untuned_order_differs": "Do untuned comparisons name the right method?",
    "seconds_buy_accuracy": "Does cost buy accuracy?",
    "small_gains_stay_hidden": "How small a gain can these trials show?",
    "shifts_without_remedy": "Under which shifts is no method surely above the best baseline?",
}
NOT_DECIDED = "Not decided: what it needs was not run, or has nothing to compare."
# Names that a sentence gives before it counts the others.
_NAMED = 6


def question(finding: Finding) -> str:
    return QUESTIONS[finding.name]


def sentence(finding: Finding, names: Names) -> str:
    """The finding in words; what its condition says decides which."""
    if finding.holds is None:
        return NOT_DECIDED
    return _SENTENCES[finding.name](finding, names)


def _by_place(numbers: Sequence[Number], names: Names, tell: Callable[[Number], str]) -> str:
    """``a (board), b (other board)``; without the board where there is one."""
    if len({number.place for number in numbers}) == 1:
        return "; ".join(map(tell, numbers))
    return "; ".join(f"{tell(number)} ({names.place(number.place)})" for number in numbers)


def _bare(number: Number) -> str:
    return fixed(100 * number.value, 1)


def _boards(numbers: Sequence[Number], true: int, names: Names) -> str:
    """On how many boards something is so, of those that have the numbers on it."""
    told, n_boards = len({n.place for n in numbers}), len(names.material.boards)
    lacking = f" of the {told} that can tell" if told < n_boards else ""
    if not true:
        return f"no board{lacking}"
    if true < told:
        return f"{true} of {told} boards that can tell" if lacking else f"{true} of {told} boards"
    return f"each board{lacking}" if lacking else "every board"


def _alignment_helps(finding: Finding, names: Names) -> str:
    ways = [number for number in finding.numbers if ANY_WAY in number.about]
    untuned = [n for n in finding.numbers if UNTUNED in n.about and n not in ways]
    tuned = [number for number in finding.numbers if number not in (*ways, *untuned)]
    sure = sum(number.counts[2] > 0 for number in tuned)
    told = _by_place(
        tuned,
        names,
        lambda n: (
            f"{names.of(n.about[0])} {value_text(n)}, with {n.counts[2]} of "
            f"{count(n.counts[0], 'method')} surely above and {n.counts[3]} surely below"
        ),
    )
    return (
        "An aligning method is surely above the best tuned baseline on "
        f"{_boards(tuned, sure, names)}. The best: {told}.{_elsewhere(tuned, names)}"
        f"{_with_own_settings(untuned, names)}{_in_any_way(ways, names)}"
    )


def _elsewhere(tuned: Sequence[Number], names: Names) -> str:
    """What the best gains where it is not picked by the scores that judge it."""
    told = {number.place: elsewhere_told(names.board(number.place)) for number in tuned}
    known = [number for number in tuned if told[number.place]]
    if not known:
        return ""
    gains = _by_place(known, names, lambda number: told[number.place])
    return (
        " Where method and baseline are picked on the other data sets, the gain on the one left "
        f"out is {gains}."
    )


def _with_own_settings(untuned: Sequence[Number], names: Names) -> str:
    """Whether the answer is another where nothing is tuned, baselines neither."""
    if not untuned:
        return ""
    above = [number for number in untuned if number.counts[2]]
    told = [f"{names.of(n.about[0])} {value_text(n)} ({names.place(n.place)})" for n in above]
    best = f": {'; '.join(told)}" if told else ""
    return (
        " With the settings that each method has in config/methods.yaml, some of which tune C of a "
        "machine, some method is surely above the best baseline, by p corrected for the methods "
        f"alone, on {_boards(untuned, len(above), names)}{best}."
    )


def _in_any_way(ways: Sequence[Number], names: Names) -> str:
    """Whether it is another where each method may have the way of choosing that is best for it."""
    if not ways:
        return ""
    above = [number for number in ways if number.counts[1]]
    told = [
        f"{pair_text(n, names)} {value_text(n)}, corrected for {n.counts[0]} pairs of a method and "
        f"a way ({names.place(n.place)})"
        for n in above
    ]
    best = f": {'; '.join(told)}" if told else ""
    return (
        " Where every method and baseline may have whichever way of choosing suits it best, of "
        "those that read no scored label, some method is surely above the best baseline on "
        f"{_boards(ways, len(above), names)}{best}."
    )


def _tuning_alone(finding: Finding, names: Names) -> str:
    sure = sum(number.surely_above for number in finding.numbers)
    told = _by_place(
        finding.numbers, names, lambda n: f"{about_text(finding, n, names)}: {value_text(n)}"
    )
    below = sum(number.surely_below for number in finding.numbers)
    harm = f", surely below it on {below}" if below else ""
    return (
        f"The best tuned baseline is surely above the best untuned one ({UNTUNED_BASELINE}) on "
        f"{_boards(finding.numbers, sure, names)}{harm}: {told}. Tuned: {TUNED_OF_A_BASELINE}."
    )


def _labels(finding: Finding, names: Names) -> str:
    boards = [number for number in finding.numbers if names.board(number.place)]
    curve = [number for number in finding.numbers if number not in boards]
    told = [_few_labels(*boards, names)] if boards else []
    if curve:
        told.append(_more_labels(curve, names))
    return " ".join(told)


def _few_labels(without: Number, few: Number, names: Names) -> str:
    gains = f"{names.of(without.about[0])} {value_text(without)} without target labels, "
    gains += f"{names.of(few.about[0])} {value_text(few)} with few"
    if not few.counts[2]:
        before = "as none was without them" if not without.counts[2] else "where some were without"
        return (
            "With few target labels no aligning method is surely above the best tuned baseline, "
            f"{before}: {gains}."
        )
    return (
        f"{count(few.counts[2], 'aligning method')} surely above the best tuned baseline with few "
        f"target labels, {without.counts[2]} without: {gains}."
    )


def _more_labels(curve: Sequence[Number], names: Names) -> str:
    """The best gain with each number of labels."""
    told = [f"{names.of(n.about[0])} {value_text(n)} with {labels_of(n)}" for n in curve]
    sure = [labels_of(number) for number in curve if number.surely_above]
    views = [names.view(place) for place in dict.fromkeys(number.place for number in curve)]
    undefined = [undefined_told(view, view.experiment.classifiers[0]) for view in views]
    first = (
        f"By labels per class of the target, the best gain{_among(views)} is {listed(told)}; it is "
        f"surely above 0 with {listed(sure) or 'none of these numbers'}."
    )
    return " ".join(filter(None, [first, *undefined]))


def _among(views: Sequence[ExperimentView]) -> str:
    """Of how many methods on how much: fewer than on boards."""
    aligning = {m for view in views for m in view.methods if m not in view.baselines}
    tasks = [task for view in views for task in view.experiment.tasks]
    sets = {task.target.dataset for task in tasks}
    return (
        f" of {count(len(aligning), 'aligning method')} on {count(len(tasks), 'task')} of "
        f"{count(len(sets), 'data set')}"
    )


def _data_sets(finding: Finding, names: Names) -> str:
    roles = {(n.place, role): n for n in finding.numbers for role in n.about[2:]}
    largest = [number for (_, role), number in roles.items() if role == LARGEST]

    def on(number: Number, told: Sequence[Number] = ()) -> str:
        gain = "" if number in told else f" ({value_text(number)})"
        return f"on {names.dataset(number.place, number.about[0])}{gain}"

    def tell(most: Number) -> str:
        least, more, less = (roles.get((most.place, role)) for role in (SMALLEST, MORE, LESS))
        above = f"above 0 on {most.counts[0] or 'none'} of {count(most.counts[1], 'data set')}"
        parts = [f"largest {on(most)}", f"smallest {on(least)}", above]
        if more:
            pair = (on(number, (most, least)) for number in (more, less))
            parts.append(f"surely larger {' than '.join(pair)}")
        return f"the gain of {names.of(most.about[1])} is {listed(parts)}"

    apart = _boards(finding.numbers, sum(role == MORE for _, role in roles), names)
    told = capitalized(_by_place(largest, names, tell))
    return f"Two data sets are surely apart on {apart}. {told}."


def _harmless(finding: Finding, names: Names) -> str:
    groups: dict[str, list[Number]] = {}
    for number in finding.numbers:
        groups.setdefault(number.place, []).append(number)
    never = sum(not group[0].value for group in groups.values())
    boards = _boards(finding.numbers, never, names)
    told = "; ".join(_harm(group, names) for group in groups.values())
    return (
        f"A method that harms on no task is found on {boards}. Least often: {told}. "
        "Harm: below the best tuned baseline by more than the error. By chance: "
        "the share of a method that is equal to that baseline on every task; one that is equal to "
        "it on average, or to the best of several, is below it far more often."
    )


def _harm(least: Sequence[Number], names: Names) -> str:
    """Of one board: on how many tasks those that harm least do, beside the share by chance."""
    number = least[0]
    harmed, judged = number.counts
    side = "above" if number.value > number.of else "below"
    among = as_few_by_chance(names.board(number.place), harmed)
    more = f"{side}, by a test for independent tasks," if number.p < ALPHA else f"not surely {side}"
    return (
        f"{some((names.of(*one.about) for one in least), _NAMED)} on {harmed or 'none'} of "
        f"{count(judged, 'task')} of {names.place(number.place)} ({value_text(number)}, {more} "
        f"the {percent(number.of)} % by chance{among})"
    )


def _choice(finding: Finding, names: Names) -> str:
    chosen, blind = finding.numbers[::2], finding.numbers[1::2]
    pairs = {id(one): other for one, other in zip(chosen, blind, strict=True)}
    told = _by_place(
        chosen,
        names,
        lambda n: (
            f"{_bare(n)} points by {names.choice(n.place, n.about[0])}, "
            f"{_bare(pairs[id(n)])} by blind choice"
        ),
    )
    return (
        f"Against the oracle, choosing without scored labels loses {told}: "
        f"{_beside_gains(chosen, names)}, compared without a test. Part of the loss is chance: the "
        "oracle is the best by the very labels that score it, as one of equal candidates is too."
    )


def _beside_gains(lost: Sequence[Number], names: Names) -> str:
    """On which boards the choice loses more than the best alignment gains."""
    less = listed(names.place(number.place) for number in lost if not number.counts[0])
    if not less:
        return "more than the best alignment gains"
    more = ", more on every other board" if any(number.counts[0] for number in lost) else ""
    return f"no more than the best alignment gains on {less}{more}"


def _nearest(finding: Finding, names: Names) -> str:
    told = _by_place(
        [number for number in finding.numbers if number.counts],
        names,
        lambda n: (
            f"{names.choice(n.place, n.about[0])}, {_bare(n)} points below the oracle, "
            + _fixed_place(n, names)
        ),
    )
    nearer = [number for number in finding.numbers if not number.counts]
    if not nearer:
        return f"The nearest is {told}."
    without = "; ".join(
        f"{names.choice(n.place, n.about[0])}, {_bare(n)} points ({names.place(n.place)})"
        for n in nearer
    )
    return f"The nearest selector is {told}. Nearer, without any selector: {without}."


def _fixed_place(number: Number, names: Names) -> str:
    chosen_by = names.board(number.place).chosen_by
    label, (place, of) = names.choice(number.place, chosen_by), number.counts
    if not place:
        return f"while {label}, fixed in advance, is undefined for too many methods"
    if number.about[0] == chosen_by:
        return f"the one of {of} that was fixed in advance"
    return f"while {label}, fixed in advance, is number {place} of {of}"


def _below_untuned(finding: Finding, names: Names) -> str:
    told = _by_place(
        finding.numbers,
        names,
        lambda n: f"{names.choice(n.place, n.about[0])} {value_text(n)}",
    )
    if finding.holds:
        return f"Surely worse than leaving every method as it is: {told}."
    return f"None surely. The worst against leaving every method as it is: {told}."


def _order(finding: Finding, names: Names) -> str:
    def tell(number: Number) -> str:
        leader, (of, place, tier, in_tier) = names.of(number.about[0]), number.counts
        others = "alone" if in_tier == 1 else f"with {count(in_tier - 1, 'other')}"
        return (
            f"{leader} leads untuned and is number {place} of {of} tuned, in tier {tier} {others}, "
            f"rank correlation {value_text(number)}"
        )

    below = _boards(finding.numbers, sum(number.counts[2] > 1 for number in finding.numbers), names)
    told = _by_place(finding.numbers, names, tell)
    return (
        "With tuned settings the method that leads untuned is below the first tier on "
        f"{below}: {told}."
    )


def _cost(finding: Finding, names: Names) -> str:
    correlations = [number for number in finding.numbers if number.unit == CORRELATION]
    seconds = [number for number in finding.numbers if number.unit == SECONDS]
    sure = sum(number.surely_above for number in correlations)
    told = _by_place(correlations, names, value_text)
    cheap = _by_place(seconds, names, lambda n: _cheap(n, names))
    first = (
        " The cheapest of the first tier, seconds of all candidates of a trial and gain over the "
        f"best baseline: {cheap}."
    )
    return (
        f"Slower aligning methods are more accurate, by a test over methods, on "
        f"{_boards(correlations, sure, names)} (rank correlation {told}).{first if cheap else ''}"
    )


def _cheap(number: Number, names: Names) -> str:
    """The method, its seconds and its gain; none of the best baseline itself."""
    (method,), rows = number.about, names.board(number.place).rows
    effect = next(row.effect for row in rows if row.method == method)
    gain = f"{signed(100 * effect.effect)} points" if effect else "that baseline itself"
    return f"{names.of(method)}, {value_text(number)}, {gain}"


def _hidden(finding: Finding, names: Names) -> str:
    told = _by_place(
        finding.numbers,
        names,
        lambda n: (
            f"{detectable_points(n.value)} points ({detectable_ends(names.board(n.place))} over "
            f"all), where the best has {signed(100 * n.of)}"
        ),
    )
    end = "; the best gains are smaller" if finding.holds else ""
    return (
        f"To be found in {100 * POWER:g} % of repetitions, at {100 * ALPHA:g} % divided by the "
        f"number of methods, a true gain of the method in the middle would have to be {told}{end}."
    )


def _remedies(finding: Finding, names: Names) -> str:
    if not finding.numbers[0].counts:
        (most,) = finding.numbers
        return (
            f"No kind of shift surely takes anything from {names.of(most.about[1], most.place)}; "
            f"most is under {kind_words(most.about[0])}, {value_text(most)}."
        )
    told = _by_place(
        finding.numbers,
        names,
        lambda n: (
            f"{kind_words(n.about[0])} (the best, {names.of(n.about[1], n.place)}: "
            f"{value_text(n)} against {names.of(n.about[2], n.place)}; {fixed(100 * n.of, 1)} lost)"
        ),
    )
    if finding.holds:
        first = f"No aligning method is surely above the best baseline under {told}."
    else:
        first = f"Under each some method is surely above the best baseline; least under {told}."
    return f"{first}{_lower_bars(names)}"


def _lower_bars(names: Names) -> str:
    """Where baselines of the boards were not run, so that the bar is lower."""
    told = [
        f"{listed(shifts.labels_not_run)} ({shifts.view.experiment.title})"
        for shifts in names.material.shifts
        if shifts.not_run
    ]
    return f" Not run, and so not among the baselines: {'; '.join(told)}." if told else ""


_SENTENCES = {
    "alignment_helps": _alignment_helps,
    "tuning_alone_helps": _tuning_alone,
    "labels_end_the_gain": _labels,
    "data_sets_differ": _data_sets,
    "never_harms": _harmless,
    "choice_costs_more_than_alignment_gains": _choice,
    "fixed_selector_is_nearest": _nearest,
    "selectors_below_untuned": _below_untuned,
    "untuned_order_differs": _order,
    "seconds_buy_accuracy": _cost,
    "small_gains_stay_hidden": _hidden,
    "shifts_without_remedy": _remedies,
}
