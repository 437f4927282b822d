"""The answer of an experiment that varies a quantity, from its curves."""

from collections.abc import Iterable

from workflow.lib.config.metrics import METRICS
from workflow.lib.results.curves import ALL, NEW, SEEN, Curves, Point, curves, gains, parts
from workflow.lib.results.effects import Effect
from workflow.lib.results.text import count, interval, listed, number_text, percent, signed, some
from workflow.lib.results.views import ExperimentView

# Methods that the answer names before it counts the others.
_NAMED = 4


def curves_told(view: ExperimentView, classifier: str) -> Iterable[tuple[str, str]]:
    """Questions and answers: the gain at each setting, then the highest point of every curve.

    Settings that scores choose are not tested. Of a protocol's, which nobody chooses, the highest
    point says no more than the curve.
    """
    many = len(view.experiment.classifiers) > 1
    where = f" ({view.classifier_label(classifier)})" if many else ""
    found = curves(view, classifier)
    points = found.points
    part = ALL if ALL in parts(view) else parts(view)[-1]
    tops = []
    for method in view.methods:
        line = {s: _complete_mean(points[method, part, s]) for s in view.settings}
        known = {setting: mean for setting, mean in line.items() if mean is not None}
        if known:
            setting = max(known, key=known.get)
            tops.append((known[setting], view.method_label(method), setting))
    if not tops:
        yield (f"What is best?{where}", "Cannot be said: no method has a score in every trial.")
        return
    told = [
        f"{label} {percent(top)} % at {number_text(setting)}"
        for top, label, setting in sorted(tops, reverse=True)
    ]
    if part == NEW:
        yield f"How do new samples fare?{where}", _behind(view, found)
    if view.experiment.vary["of"] == "protocol":
        yield from _gains_told(view, classifier, where)
    quantity = view.experiment.vary["label"]
    highest = some(told, _NAMED, "method")
    of = "" if part == ALL else f"; {METRICS[part].words}"
    n_tasks = len(view.experiment.tasks)
    on = f" ({len(found.tasks)} of {n_tasks} tasks)" if len(found.tasks) < n_tasks else ""
    chosen = " The setting was chosen by these scores, so this is an upper bound."
    yield (
        f"What is best?{where}",
        f"Highest point of each curve over “{quantity}”{on}{of}: {highest}."
        f"{'' if view.experiment.vary['of'] == 'protocol' else chosen}",
    )


def _complete_mean(point: Point) -> float | None:
    """Of all its trials: those that happened to succeed may leave out the hard ones."""
    return point.mean if point.complete else None


def _behind(view: ExperimentView, found: Curves) -> str:
    """Accuracy of new samples less that of seen ones, at the ends of every curve."""
    told = []
    for method in view.methods:
        pairs = {
            s: [_complete_mean(found.points[method, part, s]) for part in (NEW, SEEN)]
            for s in view.settings
        }
        gaps = {s: new - seen for s, (new, seen) in pairs.items() if None not in (new, seen)}
        if gaps:
            ends = dict.fromkeys((min(gaps), max(gaps)))
            points = (f"{signed(100 * gaps[end])} (at {number_text(end)})" for end in ends)
            told.append(f"{view.method_label(method)} {' to '.join(points)}")
    differences = some(told, _NAMED, "method") if told else "none known"
    return f"New samples against those seen, accuracy in percentage points: {differences}."


def _gains_told(view: ExperimentView, classifier: str, where: str) -> Iterable[tuple[str, str]]:
    """Best alignment against the best baseline at each setting, which no score has chosen."""
    baselines = view.baselines
    if not baselines or len(baselines) == len(view.methods):
        return
    found = {s: e for s, e in gains(view, classifier, baselines).items() if e is not None}
    if not found:
        return
    sure = [number_text(setting) for setting, effect in found.items() if effect.surely_above]
    told = [_gain_told(view, setting, effect) for setting, effect in found.items()]
    of_sure = ", of the sure ones where there are such," if sure else ""
    yield (
        f"Where does alignment help?{where}",
        "It is surely above the best method without alignment at "
        f"{len(sure) or 'none'} of {count(len(found), 'value')} of "
        f"“{view.experiment.vary['label']}”{': ' + listed(sure) if sure else ''}. "
        f"The best gains{of_sure} in percentage points with 95 % intervals: {'; '.join(told)}. "
        "The best of several methods gains by chance too.",
    )


def _gain_told(view: ExperimentView, setting: float, effect: Effect) -> str:
    ends = interval(effect.low, effect.high)
    gain = f"{view.method_label(effect.method)} {signed(100 * effect.effect)}"
    return f"at {number_text(setting)}, {gain}" + (f" ({ends})" if ends else "")
