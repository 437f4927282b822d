"""The answer box: what a reader wants to know first, said from the records alone.

Does it help, by how much, is that certain, where does it lose, does it match the paper, and did
everything run. "Yes" is said only of what is surely above the best method without adaptation and
separated from every other one.
"""

import dataclasses
from collections.abc import Iterable

import numpy as np
import pandas as pd

from workflow.lib.config.metrics import METRICS
from workflow.lib.report.audit_answer import matches
from workflow.lib.report.curve_answer import curves_told
from workflow.lib.report.time_answer import time_told
from workflow.lib.results import significance
from workflow.lib.results.audit import Audit
from workflow.lib.results.effects import AND, Effect, compare
from workflow.lib.results.records import FAILURES
from workflow.lib.results.separation import not_separated
from workflow.lib.results.standings import compared, standings
from workflow.lib.results.statistics import mean_interval
from workflow.lib.results.text import (
    capitalized,
    count,
    interval,
    listed,
    p_text,
    percent,
    signed,
    some,
)
from workflow.lib.results.views import STATUS_WORDS, ExperimentView, StudyView

# It answers to no paper: its first question is whether every stage works.
QUICKSTART = "quickstart"

# Above on average, but not surely above every baseline.
_UNSURE = "On average, but not surely:"
# Above, with what was found by the scores or printed numbers of these very trials.
_YES_SEARCHED = "Yes, after a search for the setting:"
# Half of the last digit of a difference: less is shown as none.
_UNSEEN = 0.0005
# Questions that can wait until the paper has been compared.
_LOSES, _MEASURED = "Where does it lose?", "What is measured?"
# Tasks, methods or findings that a line names before it counts the others.
_NAMED = 4


@dataclasses.dataclass(frozen=True)
class Line:
    """A question and its answer; ``tone`` is ``"alarm"`` where something went wrong."""

    question: str
    answer: str
    tone: str = ""


@dataclasses.dataclass(frozen=True)
class Duel:
    """The best method that aligns against the reference, over the compared tasks.

    ``differences`` are fractions, one per task, or one per trial where there are too few tasks for
    a test over them. ``equals`` are the methods that a paired t test over the tasks does not
    separate from the one with the highest mean; none where the tasks are too few. ``n_candidates``
    is the number of methods of which the best is one, ``n_tests`` that of the tests for which the
    p-value is corrected. ``effect`` is the difference with an error that respects that tasks share
    domains; None where they do not.
    """

    best: str
    reference: str
    means: dict[str, float]
    by_task: pd.Series
    differences: np.ndarray
    unit: str
    equals: tuple[str, ...]
    n_candidates: int
    n_tests: int
    test: significance.SignedRank | None
    no_test: str
    effect: Effect | None

    @property
    def gain(self) -> float:
        return self.means[self.best] - self.means[self.reference]

    @property
    def leader(self) -> str:
        """The method with the highest mean."""
        return max(self.means, key=self.means.get)

    @property
    def least_p(self) -> float:
        """The smallest corrected p that so few tasks can give; 1 without a test."""
        if self.test is None:
            return 1.0
        return min(1.0, 2.0 ** (1 - len(self.by_task)) * self.n_tests)

    @property
    def p(self) -> float:
        """The larger of the corrected p of both tests, where tasks share domains."""
        if self.test is None or self.test.p_holm is None:
            return 1.0
        return max(self.test.p_holm, self.p_of_domains or 0.0)

    @property
    def p_of_domains(self) -> float | None:
        return self.effect and self.effect.p_holm


def answer_lines(view: ExperimentView, checked: Audit | None) -> list[Line]:
    """The lines of an experiment's answer box, the most asked for first."""
    if view.experiment.asks_time:
        lines = [Line("How long, and how much memory?", time_told(view))]
    else:
        told = _curve_lines if view.experiment.vary else _score_lines
        lines = [line for name in view.experiment.classifiers for line in told(view, name)]
    ran = Line("Did everything run?", *_ran(view))
    paper, found = _paper_lines(checked) if checked else ([], [])
    details = [line for line in lines if line.question in (_LOSES, _MEASURED)]
    first = [line for line in lines if line not in details]
    if view.name == QUICKSTART:
        return [dataclasses.replace(ran, question="Does every stage work?"), *first, *details]
    return [*first, *paper, *details, *found, ran]


def study_lines(view: StudyView) -> list[Line]:
    """The lines of a study: its finding, if its module has one, and whether it ran.

    A module of ``workflow/studies`` may define ``finding(records, arrays)``: one or two sentences
    with numbers that are taken from the records.
    """
    if not view.ok:
        return [Line("Did it run?", f"No: {view.failure}", "alarm")]
    ran = Line("Did it run?", f"Yes: one computation, {count(len(view.records), 'record')}.")
    finding = getattr(view.module, "finding", None)
    if finding is None:
        return [ran]
    return [Line("What is found?", finding(view.records, view.arrays)), ran]


def duel(view: ExperimentView, classifier: str) -> Duel | None:
    """The best aligning method against the reference of the table of tests.

    None if there is nothing to compare.
    """
    found = compared(view.records, classifier, view.methods)
    reference = view.reference(found.means)
    if found.means.empty or reference not in found.means or len(found.means.columns) < 2:
        return None
    standing = standings(view.records, classifier, view.methods)
    means = {method: standing[method].mean for method in found.means}
    others = [method for method in means if method != reference]
    asked = (view.experiment.answers or {}).get("methods") or view.methods
    aligning = [m for m in others if not view.suite.is_baseline(m)]
    candidates = [m for m in aligning if m in asked] or aligning or others
    best = max(candidates, key=means.get)
    tests = significance.wilcoxon_holm(found.means, reference)
    told = isinstance(tests, str)
    by_task = found.means[best] - found.means[reference]
    differences, unit = by_task.to_numpy(), "task"
    enough = len(by_task) >= significance.MIN_TASKS
    if not enough and view.n_trials > 1:
        differences, unit = (
            _by_trial(view, classifier, list(by_task.index), best, reference),
            "trial",
        )
    alike = not_separated({method: found.means[method] for method in means}) if enough else ()
    return Duel(
        best=best,
        reference=reference,
        means=means,
        by_task=by_task,
        differences=differences,
        unit=unit,
        equals=tuple(m for m in means if m in alike),
        n_candidates=len(candidates),
        n_tests=0 if told else sum(test.p is not None for test in tests),
        test=None if told else next(test for test in tests if test.method == best),
        no_test=tests if told else "",
        effect=_effect(view, classifier, found, best, reference),
    )


def _effect(view: ExperimentView, name: str, found, best: str, reference: str) -> Effect | None:
    """Of the best method on the compared tasks, where these share domains."""
    tasks = [task for task in view.experiment.tasks if task.name in found.means.index]
    if len(tasks) < significance.MIN_TASKS:
        return None
    if not significance.shared_domains([task.domains for task in tasks]):
        return None
    rows = view.records[view.records["classifier"] == name]
    rows = rows[rows["method"].isin(found.means.columns) & rows["task"].isin(found.means.index)]
    # As of one data set: the gain beside it is the mean over the tasks.
    sources = {task.name: AND.join(map(str, task.sources)) for task in tasks}
    targets = {task.name: str(task.target) for task in tasks}
    scores = rows.assign(
        dataset="",
        source=rows["task"].map(sources),
        target=rows["task"].map(targets),
        value=rows["accuracy"].astype(float),
    )
    effects = compare(scores, reference, tiered=False).effects
    return next(effect for effect in effects if effect.method == best)


def _by_trial(
    view: ExperimentView, classifier: str, tasks: list[str], best: str, reference: str
) -> np.ndarray:
    """Paired differences, trial by trial, averaged over tasks on which both are complete."""
    accuracies = [
        [view.trials(task, m, classifier)["accuracy"].to_numpy(float) for m in (best, reference)]
        for task in tasks
    ]
    return np.mean([one - other for one, other in accuracies], axis=0)


def _score_lines(view: ExperimentView, classifier: str) -> Iterable[Line]:
    found = duel(view, classifier)
    if found is None:
        why = "Cannot be said: the baseline and another method have no complete tasks in common."
        said = [why, "", "", ""]
    else:
        said = [part(view, found) for part in (_helps, _how_much, _certain, _loses)]
    asked = (_first_question(view), "By how much?", "Is that certain?", _LOSES)
    if len(view.experiment.classifiers) > 1:
        words = " ".join(
            f"{question} {answer}"
            for question, answer in zip(asked[1:], said[1:], strict=True)
            if answer
        )
        yield Line(
            f"With {view.classifier_label(classifier)}: {asked[0][0].lower()}{asked[0][1:]}",
            f"{said[0]} {words}".strip(),
        )
    else:
        yield from (
            Line(question, answer) for question, answer in zip(asked, said, strict=True) if answer
        )
    if found is not None and classifier == view.experiment.classifiers[-1]:
        yield Line(_MEASURED, _measured(view, found, classifier))


def _first_question(view: ExperimentView) -> str:
    return "Does it help?" if view.baselines else "What is best?"


def _helps(view: ExperimentView, found: Duel) -> str:
    head = _head(view, found)
    over = count(len(found.by_task), "task")
    if head == _UNSURE and found.least_p >= significance.ALPHA:
        over += " (too few for a test)"
    best, bar = (percent(found.means[method]) for method in (found.best, found.reference))
    level = f"{view.method_label(found.best)} reaches {best} % over {over}, "
    level += f"{_bar(view, found)} {bar} %."
    told = [head, level, _above(view, found), _level_with(view, found), _in_the_paper(view, found)]
    if head == _UNSURE:
        told.append(_why_unsure(found))
    return " ".join(filter(None, told))


def _why_unsure(found: Duel) -> str:
    """What is against a gain that the test over tasks alone calls sure, as the tables have it."""
    sure = found.test is not None and found.test.p_holm is not None
    if not sure or found.test.p_holm >= significance.ALPHA or found.p < significance.ALPHA:
        return ""
    return (
        "The test over tasks alone would call that sure; by a jackknife over the domains that "
        f"tasks share, p = {p_text(found.p_of_domains)}."
    )


def _above(view: ExperimentView, found: Duel) -> str:
    """The method with the highest mean, where the question is about others."""
    leader = found.leader
    if leader == found.best or view.suite.is_baseline(leader):
        return ""
    return f"The highest of all, {view.method_label(leader)}, has {percent(found.means[leader])} %."


def _head(view: ExperimentView, found: Duel) -> str:
    if not view.baselines:
        return ""
    if found.gain <= 0:
        return "No:"
    if found.p >= significance.ALPHA or _rivals(view, found):
        return _UNSURE
    return _YES_SEARCHED if view.searched_here(found.best) else "Yes:"


def _rivals(view: ExperimentView, found: Duel) -> list[str]:
    """Baselines that are above the method, or not separated from it."""
    level = found.means[found.best]
    return [
        method
        for method, mean in found.means.items()
        if view.suite.is_baseline(method) and (mean >= level or method in found.equals)
    ]


def _bar(view: ExperimentView, found: Duel) -> str:
    """The reference, called the best baseline where it was chosen among several."""
    label = view.method_label(found.reference)
    return f"the best baseline, {label}," if _was_chosen(view, found) else label


def _was_chosen(view: ExperimentView, found: Duel) -> bool:
    return view.seeks_reference and sum(view.suite.is_baseline(m) for m in found.means) > 1


def _level_with(view: ExperimentView, found: Duel) -> str:
    """What the scores do not separate from the highest mean, if that is the method or its bar."""
    leader = found.leader
    alike = sorted({*found.equals} - {leader}, key=found.means.get, reverse=True)
    if not alike:
        return ""
    whom = "it" if leader == found.best else view.method_label(leader)
    labels = [view.method_label(method) for method in alike]
    return f"By a t test not separated from {whom}: {some(labels, _NAMED, 'method')}."


def _in_the_paper(view: ExperimentView, found: Duel) -> str:
    """Our numbers of the baselines that the paper compares with, if they are not the bar."""
    others = [m for m in view.papers_baselines if m in found.means and m != found.reference]
    told = [f"{view.method_label(m)} (here {percent(found.means[m])} %)" for m in others]
    return f"The paper compares with {listed(told)}." if told else ""


def _how_much(view: ExperimentView, found: Duel) -> str:
    over = f"over {count(len(found.differences), found.unit)}"
    ends = interval(*mean_interval(found.differences))
    if found.effect is not None and found.effect.low is not None:
        over += ", which share domains"
        ends = interval(found.effect.low, found.effect.high)
    sure = f", 95 % interval {ends} {over}" if ends else ""
    return f"{_points(found.gain)} against {view.method_label(found.reference)}{sure}."


def _points(fraction: float) -> str:
    return f"{signed(100 * fraction)} percentage points"


def _certain(view: ExperimentView, found: Duel) -> str:
    if found.test is None:
        return found.no_test
    p, n_tests = found.test.p_holm, found.n_tests
    if p is None:
        return "No test: the two are equal on every task."
    if found.least_p >= significance.ALPHA:
        return (
            f"Cannot be told: {count(len(found.by_task), 'task')} are too few for "
            f"{count(n_tests, 'comparison')}; the smallest possible corrected p is "
            f"{p_text(found.least_p)}."
        )
    verdict = "Yes" if found.p < significance.ALPHA else "No"
    return (
        f"{verdict}, at 5 %: p = {p_text(p)} after Holm's correction for "
        f"{count(n_tests, 'comparison')}, {p_text(found.test.p)} before (Wilcoxon's test over the "
        f"tasks){_by_domains(found)}.{_picked(view, found)}{_but(view, found)}"
    )


def _picked(view: ExperimentView, found: Duel) -> str:
    """Which of the two were chosen by the scores that are compared."""
    chosen = ["method"] if found.n_candidates > 1 else []
    chosen += ["baseline"] if _was_chosen(view, found) else []
    if not chosen:
        return ""
    words = " and the ".join(chosen)
    return f" The {words} {'are each' if len(chosen) > 1 else 'is'} the best by these very scores."


def _by_domains(found: Duel) -> str:
    if found.p_of_domains is None:
        return ""
    return (
        f". That takes tasks for independent, and they share domains; by a jackknife over domains "
        f"p = {p_text(found.p_of_domains)} after the correction"
    )


def _but(view: ExperimentView, found: Duel) -> str:
    """Baselines that take the certainty away."""
    others = [view.method_label(m) for m in _rivals(view, found)]
    if found.p >= significance.ALPHA or found.gain <= 0 or not others:
        return ""
    verb = "is" if len(others) == 1 else "are"
    return f" But {listed(others)} {verb} not separated from it by a t test."


def _loses(view: ExperimentView, found: Duel) -> str:
    worse = found.by_task[found.by_task < -_UNSEEN].sort_values()
    total = count(len(found.by_task), "task")
    if worse.empty:
        return f"On none of {total}."
    named = [f"{view.task_label(task)} ({signed(100 * d)})" for task, d in worse.items()]
    return f"On {len(worse)} of {total}: {some(named, _NAMED, 'task')}."


def _measured(view: ExperimentView, found: Duel, classifier: str) -> str:
    scored = capitalized(METRICS["accuracy"].words)
    other = METRICS["accuracy_entire_target"]
    second = standings(view.records, classifier, view.methods, other.name)[found.best].mean
    if second is None or abs(second - found.means[found.best]) < 1e-12:
        return f"{scored}."
    if view.shows_target_labels:
        return (
            f"{scored}: the entire target would count samples whose label the methods were shown "
            f"({view.method_label(found.best)}: {percent(second)} % there)."
        )
    which = "saw" if view.protocol.get("scored_rows") == "seen" else "did not see"
    return f"{scored}: those that the methods {which} (entire target: {percent(second)} %)."


def _curve_lines(view: ExperimentView, classifier: str) -> list[Line]:
    return [Line(*told) for told in curves_told(view, classifier)]


def _paper_lines(checked: Audit) -> tuple[list[Line], list[Line]]:
    """Whether the columns match, and the findings that hold."""
    held = [finding.title for finding in checked.findings if finding.holds]
    found = [Line("What did the audit find?", f"{'; '.join(held)}.")] if held else []
    return [Line("Does it match the paper?", matches(checked.columns))], found


def _ran(view: ExperimentView) -> tuple[str, str]:
    total, counts = view.n_records, view.counts
    could_not = {
        "data_unavailable": "without data",
        "lost": "never computed",
        "not_applicable": "not applicable",
    }
    missing = [f"{counts[s]:,} {words}" for s, words in could_not.items() if counts[s]]
    absent = f" {capitalized(listed(missing))}." if missing else ""
    if view.n_failures:
        kinds = ", ".join(f"{STATUS_WORDS[s]}: {counts[s]:,}" for s in FAILURES if counts[s])
        text = f"No: {view.n_failures:,} of {count(total, 'record')} failed ({kinds}).{absent}"
        return text, "alarm"
    if counts["data_unavailable"] or counts["lost"]:
        text = f"No: {counts['ok']:,} of {count(total, 'record')} have a score.{absent}"
        return text, "alarm"
    return (
        f"Yes: {counts['ok']:,} of {count(total, 'record')} have a score, none failed.{absent}",
        "",
    )
