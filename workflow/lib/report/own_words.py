"""The sentences of an answer on data of one's own."""

from workflow.lib.results.accuracy_estimates import Interval
from workflow.lib.results.own_answer import GAIN_OF_INTEREST, KEEP, USE, Candidate
from workflow.lib.results.own_view import Own, hidden_accuracies
from workflow.lib.results.text import count, interval, percent, signed


def interval_words(found: Interval) -> str:
    return f"{percent(found.expected)} % ({percent(found.low)} to {percent(found.high)})"


def headline(own: Own) -> str:
    """The verdict in a few words."""
    answer = own.answer
    if answer.verdict == USE:
        return f"Adapt: use {_label(own, answer.best)}."
    if answer.verdict == KEEP:
        return f"Do not adapt: use {_label(own, answer.baseline)}."
    return "It cannot be told yet whether to adapt."


def sentence(own: Own) -> str:
    """The verdict, what to do, and what is to be expected of it."""
    return f"{headline(own)} {advice(own)} {_expectations(own)}"


def advice(own: Own) -> str:
    """What to do, and why."""
    answer = own.answer
    reason = f"{answer.reason[0].upper()}{answer.reason[1:]}."
    if answer.verdict == USE:
        return f"{reason} Settings: {answer.best.words}."
    if answer.verdict == KEEP:
        return f"{reason} Settings: {answer.baseline.words}."
    guess = "adapt with" if answer.used is answer.best else "do not adapt, take"
    return (
        f"{reason} {_what_would_tell(own)}. Best guess: {guess} {_label(own, answer.used)} "
        f"({answer.used.words})."
    )


def _what_would_tell(own: Own) -> str:
    """How many labels, or that none would."""
    n_more, n_rows = own.answer.n_more, len(own.shown)
    if n_more is None:
        return f"Even labels of all {n_rows:,} target samples would not surely tell"
    if not n_more:
        sought = 100 * GAIN_OF_INTEREST
        return f"A gain of {sought:g} points would have shown with the labels at hand"
    return f"About {count(n_more, 'more target label')}, of samples drawn at random, would tell"


def _expectations(own: Own) -> str:
    """Of the best that adapts and of the best that does not."""
    best, base = own.answer.best, own.answer.baseline
    told = f"On the target, {_label(own, best)}: {accuracy_words(own, best)}; without adaptation"
    return f"{told}, {_label(own, base)}: {accuracy_words(own, base)}."


def accuracy_words(own: Own, one: Candidate) -> str:
    """Accuracy of a candidate on the target, and what it rests on."""
    found, judged = own.answer.accuracy_of(one), one.estimates[0]
    if own.answer.n_labels and judged.n_judged:
        alone = ""
        if judged.n_alone:
            other = "other is" if judged.n_alone == 1 else "others are each"
            alone = f" ({judged.n_alone} {other} the only one of its class and cannot be held out)"
        return (
            f"{judged.n_right} of {judged.n_judged} held-out target labels right{alone}, so "
            f"{percent(found.low)} to {percent(found.high)} % to be expected"
        )
    held_out = "held-out " if (own.shown >= 0).any() else ""
    return f"{interval_words(found)} expected, without a {held_out}target label"


def _label(own: Own, one: Candidate) -> str:
    return own.labels_of[one.method]


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
                f"({found.low:.2f} to {found.high:.2f}; 0.5 where they are alike, 1 where every "
                f"sample shows its domain), accuracy {percent(found.accuracy)} %, A-distance "
                f"{found.a_distance:.2f} of 2.",
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
    kept = f"{_label(own, saved)} ({saved.words}), {accuracy_words(own, saved)}"
    if saved is used:
        return f"{kept}."
    return (
        f"{_label(own, used)} predicts no samples but those that it was fitted on. Kept "
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
        f"{_label(own, answer.best)} is {100 * truth:.1f} % accurate ({inside} its "
        f"interval), no adaptation {100 * found['baseline']:.1f} %."
    )
