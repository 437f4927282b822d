"""Which method fits which trouble, answered from the records of generated shifts alone."""

from workflow.lib.report.tables.shifts import words
from workflow.lib.results.effects import Effect
from workflow.lib.results.shifts import Kind, Shifts, harms
from workflow.lib.results.text import capitalized, count, interval, listed, p_text, signed, some

# Methods that a line names before it counts the others.
_NAMED = 4


def answers(shifts: Shifts) -> list[tuple[str, str]]:
    """Who helps and harms on most kinds, and a line for each kind of shift."""
    lines = [(capitalized(words(kind.name)), _kind(shifts, kind)) for kind in shifts.kinds]
    return [("Over all kinds", _over_all(shifts)), *lines]


def _kind(shifts: Shifts, kind: Kind) -> str:
    if kind.why:
        return f"Nothing could be compared: {kind.why}."
    aligning = [effect for effect in kind.full if effect.method in shifts.aligning]
    return f"{_taken(shifts, kind)} {_won(shifts, kind, aligning)}{_harm(shifts, aligning)}"


def _taken(shifts: Shifts, kind: Kind) -> str:
    label = shifts.view.method_label(kind.reference)
    if kind.loss is None:
        return f"{label} is the reference; there is no unshifted target to compare with."
    loss = f"{100 * kind.loss.effect:.1f} points"
    if kind.hurts is None:
        return f"{label} loses {loss} in one trial."
    if kind.hurts:
        return f"{label} loses {loss}."
    if kind.loss.effect <= 0:
        return f"{label} loses nothing ({signed(-100 * kind.loss.effect)} points)."
    ends = interval(kind.loss.low, kind.loss.high)
    return f"{label} loses {loss}, not surely ({ends}; p = {p_text(kind.loss.p_holm)})."


def _won(shifts: Shifts, kind: Kind, aligning: list[Effect]) -> str:
    if not aligning:
        return "No aligning method could be compared."
    sure = [effect for effect in aligning if effect.surely_above]
    if not sure:
        best = aligning[0]
        what = "undoes any of it" if kind.hurts else "gains"
        label = shifts.view.method_label(best.method)
        p = "" if best.p_holm is None else f", p = {p_text(best.p_holm)}"
        return f"No method surely {what}; the best, {label}: {_points(best)}{p}."
    first, *others = sure
    share = kind.share(first)
    part = ""
    if share is not None:
        part = f", {100 * share:.0f} % of the loss" if share < 1 else ", all of the loss"
    more = ""
    if others:
        labels = [shifts.view.method_label(effect.method) for effect in others]
        more = f" {some(labels, _NAMED)} surely {'gains' if len(labels) == 1 else 'gain'} too."
    return f"Use {shifts.view.method_label(first.method)}: {_points(first)}{part}.{more}"


def _points(effect: Effect) -> str:
    if effect.low is None:
        return f"{signed(100 * effect.effect)} points"
    ends = interval(effect.low, effect.high)
    return f"{signed(100 * effect.effect)} points ({ends})"


def _harm(shifts: Shifts, aligning: list[Effect]) -> str:
    worse = [effect for effect in aligning if harms(effect)]
    if not worse:
        return ""
    labels = [shifts.view.method_label(effect.method) for effect in reversed(worse)]
    return f" {some(labels, _NAMED)} {'harms' if len(labels) == 1 else 'harm'}."


def _over_all(shifts: Shifts) -> str:
    kinds = [kind for kind in shifts.kinds if kind.full]
    found = {
        method: [effect for kind in kinds if (effect := kind.effect(method))]
        for method in shifts.aligning
    }
    tally = {
        method: (sum(e.surely_above for e in effects), sum(map(harms, effects)))
        for method, effects in found.items()
        if effects
    }
    if not tally:
        return "No aligning method could be compared."
    label = shifts.view.method_label
    most = max(helped for helped, _ in tally.values())
    never = [label(method) for method, (_, harmed) in tally.items() if not harmed]
    if most:
        first = listed(label(method) for method, (helped, _) in tally.items() if helped == most)
        told = f"{first} surely {'helps' if ' and ' not in first else 'help'} on most: {most}"
        told = f"{told} of {count(len(kinds), 'kind')}."
    else:
        told = "No method surely helps on any kind."
    if all(not effect.n_judged for effects in found.values() for effect in effects):
        return f"{told} One trial cannot tell harm."
    return (
        f"{told} {some(never, _NAMED)} harm{'s' if len(never) == 1 else ''} on none."
        if never
        else (f"{told} Every method harms on some kind.")
    )
