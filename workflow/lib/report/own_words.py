"""The sentences of an answer on data of one's own."""

from workflow.lib.results.accuracy_estimates import Interval
from workflow.lib.results.own_answer import KEEP, USE
from workflow.lib.results.own_view import Own, hidden_accuracies
from workflow.lib.results.text import count, interval, percent, signed


def interval_words(found: Interval) -> str:
    return f"{percent(found.expected)} % ({percent(found.low)} to {percent(found.high)})"


def sentence(own: Own) -> str:
    """What to do, in one sentence."""
    answer = own.answer
    method, words = own.labels_of[answer.best.method], answer.best.words
    if answer.verdict == USE:
        return (
            f"Use {method} with these settings: {words}; expected accuracy "
            f"{interval_words(answer.expected)} on the target, {interval_words(answer.without)} "
            f"without adaptation; evidence: {_evidence(own)}."
        )
    kept = f"{own.labels_of[answer.baseline.method]} ({answer.baseline.words})"
    if answer.verdict == KEEP:
        return (
            f"Do not adapt: {answer.reason}. Use {kept}, expected accuracy "
            f"{interval_words(answer.without)} on the target; the best that adapts is {method}, "
            f"{interval_words(answer.expected)}."
        )
    more = count(answer.n_more, "more target sample")
    guess = f"{method} with {words}" if answer.used is answer.best else f"not to adapt, {kept}"
    return (
        f"Cannot be told from the labels at hand: label about {more}. Best guess: {guess}. "
        f"Expected accuracy: {interval_words(answer.expected)} on the target with {method}, "
        f"{interval_words(answer.without)} without adaptation; {answer.reason}."
    )


def _evidence(own: Own) -> str:
    if own.answer.n_labels:
        return f"{count(own.answer.n_labels, 'held-out target label')}"
    return "no target label, held-out source labels and the shift between the domains"


def points(gain: Interval) -> str:
    return f"{signed(100 * gain.expected)} points ({interval(gain.low, gain.high)})"


def diagnosis(own: Own) -> list[tuple[str, str]]:
    """In what the domains differ: questions and answers."""
    shift, told = own.shift, []
    if shift.separation is None:
        told.append(("Are there two domains?", "They have different features; none to compare."))
    else:
        found = shift.separation
        apart = "tell them apart" if found.found else "not tell them apart"
        told.append(
            (
                "Is there a shift?",
                f"A random forest can {apart}: area under the ROC curve {found.auc:.2f} "
                f"({found.low:.2f} to {found.high:.2f}), accuracy {percent(found.accuracy)} %, "
                f"A-distance {found.a_distance:.2f} of 2.",
            )
        )
    told.append(("Of the classes?", _classes(own)))
    if shift.features is not None:
        n_all = own.features.shape[1]
        some = f" (those of largest variance among {n_all:,})" if shift.n_tested < n_all else ""
        told.append(
            (
                "Of single features?",
                f"{shift.n_shifted} of {shift.n_tested} features differ{some} "
                "(Kolmogorov–Smirnov, Holm, 5 %).",
            )
        )
    told.append(("Of directions?", _directions(own)))
    return told


def _classes(own: Own) -> str:
    found = own.shift.classes
    if found.target is None:
        return f"Class shares of the target cannot be estimated: {found.why_not}."
    change = abs(found.target - found.source).sum() / 2
    return (
        f"If nothing else had changed, {percent(change)} % of the target would belong to other "
        "classes than in the source (black-box shift estimation)."
    )


def _directions(own: Own) -> str:
    found = own.shift.spectrum
    shares = " and ".join(percent(part.sum(), 0) for part in (found.source, found.target))
    words = f"The leading {len(found.source)} principal components hold {shares} % of the variance"
    if found.angles is None:
        return f"{words}."
    return (
        f"{words}; principal angles between them {found.angles[0]:.0f}° to {found.angles[-1]:.0f}°."
    )


def saved_words(own: Own) -> str:
    """Which candidate is kept as a model for new samples, and what to expect of it."""
    used, saved = own.answer.used, own.answer.saved
    label = own.labels_of[saved.method]
    expected = interval_words(own.answer.accuracy_of(saved))
    kept = f"{label} ({saved.words}), expected accuracy {expected}"
    if saved is used:
        return f"{kept}."
    return (
        f"{own.labels_of[used.method]} predicts no samples but those that it was fitted on. Kept "
        f"is the best of those that can: {kept}."
    )


def check_words(own: Own) -> str:
    """What the labels that nobody used say of the answer; empty without any."""
    found = hidden_accuracies(own)
    if found is None:
        return ""
    answer, truth = own.answer, found["method"]
    held = answer.expected.low <= truth <= answer.expected.high
    inside = "inside" if held else "outside"
    n_rows = int((own.hidden >= 0).sum())
    return (
        f"On the {n_rows} target labels that no method and no choice has seen, "
        f"{own.labels_of[answer.best.method]} is {100 * truth:.1f} % accurate ({inside} its "
        f"interval), no adaptation {100 * found['baseline']:.1f} %."
    )
