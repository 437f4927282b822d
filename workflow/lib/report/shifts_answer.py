"""Which method fits which trouble, answered from the records of generated shifts alone."""

from collections.abc import Container, Iterable, Mapping, Sequence

from workflow.lib.report.tables.shifts import words
from workflow.lib.results.effects import Effect
from workflow.lib.results.shifts import Kind, Shifts, harms
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

# Methods that a line names before it counts the others.
_NAMED = 4


def answers(shifts: Shifts) -> list[tuple[str, str]]:
    """Who helps and harms on most kinds, and a line for each kind of shift."""
    lines = [(capitalized(words(kind.name)), _kind(shifts, kind)) for kind in shifts.kinds]
    return [("Over all kinds", _over_all(shifts)), *lines]


def _kind(shifts: Shifts, kind: Kind) -> str:
    if kind.why:
        return f"Nothing could be compared: {kind.why}."
    harm = _harm(shifts, _aligning(shifts, kind.full))
    return f"{_taken(shifts, kind)} {_bar(shifts, kind)}{_won(shifts, kind)}{harm}"


def _aligning(shifts: Shifts, effects: Iterable[Effect]) -> list[Effect]:
    return [effect for effect in effects if effect.method in shifts.aligning]


def _taken(shifts: Shifts, kind: Kind) -> str:
    if kind.loss is None:
        label = _label(shifts, kind.reference)
        return f"{label} is the reference; there is no unshifted target to compare with."
    return f"{_loser(shifts, kind)} loses {_lost(kind)}{_fall(shifts, kind)}."


def _loser(shifts: Shifts, kind: Kind) -> str:
    return _label(shifts, kind.reference) if _is_one(kind) else "The best without adaptation"


def _is_one(kind: Kind) -> bool:
    """Whether the same method is the best without adaptation at both ends."""
    return kind.unshifted == kind.reference


def _lost(kind: Kind) -> str:
    loss = f"{fixed(100 * kind.loss.effect, 1)} points"
    if kind.loss.effect <= 0:
        gain = fixed(-100 * kind.loss.effect, 1)
        return f"nothing: with the shift it is {gain} points better" if float(gain) else "nothing"
    if kind.hurts is None:
        return f"{loss}, without an error to test it by"
    if kind.hurts:
        return loss
    ends = interval(kind.loss.low, kind.loss.high, plus=False)
    return f"{loss}, not surely ({ends}; p = {p_text(kind.loss.p_holm)})"


def _fall(shifts: Shifts, kind: Kind) -> str:
    """From whom to whom, where another is the best under the full shift."""
    if _is_one(kind):
        return ""
    ends = shifts.curves(kind.name).iloc[[0, -1]]
    first, last = ends[kind.unshifted].iloc[0], ends[kind.reference].iloc[-1]
    return (
        f": {percent(first)} % without the shift ({_label(shifts, kind.unshifted)}), "
        f"{percent(last)} % under all of it ({_label(shifts, kind.reference)})"
    )


def _bar(shifts: Shifts, kind: Kind) -> str:
    """The best baseline and its gain; nothing where no baseline but no adaptation was run."""
    if kind.bar_gain is not None:
        return f"The best baseline, {_label(shifts, kind.bar)}: {_points(kind.bar_gain)}. "
    if len(shifts.view.baselines) == len(shifts.plain):
        return ""
    return f"{'It' if _is_one(kind) else 'The latter'} is the best baseline. "


def _won(shifts: Shifts, kind: Kind) -> str:
    """Who is surely above the best baseline, which alone is a reason to use a method."""
    over = _aligning(shifts, kind.over_bar)
    if not over:
        return "No aligning method could be compared."
    sure = [effect for effect in over if effect.surely_above]
    told = _winners(shifts, kind, sure) if sure else _nobody(shifts, kind, over[0])
    return f"{told}{_no_more(shifts, kind, {effect.method for effect in sure})}"


def _winners(shifts: Shifts, kind: Kind, sure: list[Effect]) -> str:
    first, *others = sure
    gain = kind.effect(first.method)
    over = f" over it, {signed(100 * gain.effect)} over no adaptation" if kind.bar_gain else ""
    told = f"Use {_label(shifts, first.method)}: {_points(first)}{over}{_of_the_loss(kind, gain)}."
    if not others:
        return told
    verbs = ("is surely above it", "are surely above it")
    verb = (verbs if kind.bar_gain else ("surely gains", "surely gain"))[len(others) > 1]
    return f"{told} {_named(shifts, others)} {verb} too."


def _nobody(shifts: Shifts, kind: Kind, best: Effect) -> str:
    what = "surely undoes any of it" if kind.hurts else "surely gains"
    what, over = ("is surely above it", " against it") if kind.bar_gain else (what, "")
    p = "" if best.p_holm is None else f", p = {p_text(best.p_holm)}"
    return f"No method {what}; the best, {_label(shifts, best.method)}: {_points(best)}{over}{p}."


def _no_more(shifts: Shifts, kind: Kind, above: Container[str]) -> str:
    """Who surely gains over no adaptation, and no more than the best baseline."""
    gaining = [e for e in _aligning(shifts, kind.full) if e.surely_above and e.method not in above]
    if not gaining or not kind.bar_gain:
        return ""
    over = {effect.method: effect.effect for effect in kind.over_bar}
    higher = [effect for effect in gaining if over.get(effect.method, 0) > 0]
    verb = "gains" if len(gaining) == 1 else "gain"
    told = f" {_named(shifts, gaining)} surely {verb} over no adaptation"
    if not higher:
        return f"{told}; none of them is above the best baseline."
    if len(higher) == len(gaining):
        return f"{told}, not surely over the best baseline."
    verb = "is" if len(higher) == 1 else "are"
    return f"{told}; above the best baseline, not surely, {verb} {_named(shifts, higher)} alone."


def _of_the_loss(kind: Kind, gain: Effect) -> str:
    share = kind.share(gain)
    if share is None:
        return ""
    return f", {100 * share:.0f} % of the loss" if share < 1 else ", all of the loss"


def _label(shifts: Shifts, method: str) -> str:
    return shifts.view.method_label(method)


def _named(shifts: Shifts, effects: Iterable[Effect]) -> str:
    return some([_label(shifts, effect.method) for effect in effects], _NAMED)


def _points(effect: Effect) -> str:
    if effect.low is None:
        return f"{signed(100 * effect.effect)} points"
    ends = interval(effect.low, effect.high)
    return f"{signed(100 * effect.effect)} points ({ends})"


def _harm(shifts: Shifts, aligning: list[Effect]) -> str:
    """Who is surely below no adaptation, and who by more than the error alone; worst first."""
    worse = [effect for effect in reversed(aligning) if harms(effect)]
    sure, doubtful = ([e for e in worse if e.surely_below == which] for which in (True, False))
    told = ""
    if sure:
        told += f" {_named(shifts, sure)} surely harm{_s(sure)}."
    if doubtful:
        told += f" {_named(shifts, doubtful)} harm{_s(doubtful)}, not surely."
    return told


def _s(subjects: Sequence) -> str:
    """Ending of their verb."""
    return "s" if len(subjects) == 1 else ""


def _over_all(shifts: Shifts) -> str:
    """Who is above the best baseline on most kinds, who harms on none, and how high the bar is."""
    kinds = [kind for kind in shifts.kinds if kind.full]
    found = {
        method: [effect for kind in kinds if (effect := kind.effect(method))]
        for method in shifts.aligning
    }
    found = {method: effects for method, effects in found.items() if effects}
    if not found:
        return "No aligning method could be compared."
    helped = {method: sum(kind.clears(method) for kind in kinds) for method in found}
    most = max(helped.values())
    if most:
        first = [_label(shifts, method) for method, times in helped.items() if times == most]
        verb, end = ("is", "") if len(first) == 1 else ("are", " each")
        told = f"{listed(first)} {verb} surely above the best baseline on {most} of "
        told += f"{count(len(kinds), 'kind')}{end}, more than any other method."
    else:
        told = "No method is surely above the best baseline on any kind."
    return " ".join(filter(None, [told, _harm_over_all(shifts, found), _lower_bar(shifts)]))


def _harm_over_all(shifts: Shifts, found: Mapping[str, list[Effect]]) -> str:
    if all(not effect.n_judged for effects in found.values() for effect in effects):
        return "One trial cannot tell harm."
    n_kinds = max(map(len, found.values()))
    never = [m for m, effects in found.items() if not any(map(harms, effects))]
    whole = [_label(shifts, m) for m in never if len(found[m]) == n_kinds]
    parts = [f"{_label(shifts, m)} ({len(found[m])})" for m in never if len(found[m]) < n_kinds]
    told = [f"{some(whole, _NAMED)} harm{_s(whole)} on none."] if whole else []
    if parts:
        kinds = f"the kinds on which {'it' if len(parts) == 1 else 'they'} could be compared"
        told.append(f"{some(parts, _NAMED)} harm{_s(parts)} on none of {kinds}.")
    if told:
        return " ".join(told)
    sure = [m for m, effects in found.items() if any(e.surely_below for e in effects)]
    if len(sure) == len(found):
        return "Every method is surely below no adaptation on some kind."
    return (
        "Every method is below no adaptation by more than the error on some kind (by chance alone "
        f"on {percent(shifts.harmed_by_chance)} % of them); surely below on some: "
        f"{_of_all(shifts, sure, found)}."
    )


def _of_all(shifts: Shifts, some_of: Sequence[str], methods: Iterable[str]) -> str:
    """Some of the methods by name, or the others where these are fewer."""
    others = [_label(shifts, method) for method in methods if method not in some_of]
    if len(others) < len(some_of):
        return f"all but {some(others, _NAMED)}"
    return some([_label(shifts, method) for method in some_of], _NAMED) or "none"


def _lower_bar(shifts: Shifts) -> str:
    """Which baselines of the boards were not run, without which the bar is lower."""
    labels = shifts.labels_not_run
    if not labels:
        return ""
    verb = "was" if len(labels) == 1 else "were"
    return (
        f"{listed(labels)} {verb} not run here: the best baseline is the best that adapts nothing, "
        "a lower bar than that of the boards."
    )
