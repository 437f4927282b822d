"""The table of an experiment that varies one quantity: settings down, methods across."""

import math
from collections.abc import Iterable

from workflow.lib.config.metrics import METRICS
from workflow.lib.config.outputs import suffixes
from workflow.lib.report.figures.looks import group
from workflow.lib.report.tables.model import Table, TableCell, TableColumn
from workflow.lib.report.tables.setup import search_notes
from workflow.lib.results.curves import PART_WORDS, Curves, Point, chosen_at, curves, parts
from workflow.lib.results.separation import HIGHEST, RULE, not_separated
from workflow.lib.results.text import capitalized, count, listed, number_text, percent
from workflow.lib.results.views import ExperimentView


def curve_table(view: ExperimentView, classifier: str) -> Table:
    """Mean over the tasks, by trial, at every setting; the best complete cell in bold."""
    found, kinds = curves(view, classifier), parts(view)
    return Table(
        name=f"curve{suffixes(view.experiment)[classifier]}",
        caption=_caption(view, classifier, found),
        columns=(
            TableColumn(view.experiment.vary["label"], numeric=True),
            *(
                TableColumn(
                    ", ".join(filter(None, (view.method_label(method), PART_WORDS[part]))),
                    numeric=True,
                    scores=True,
                    title=f"{method}: {view.suite.methods[method].get('paper', '')}".rstrip(": "),
                    kind="baseline" if view.suite.is_baseline(method) else "",
                    group=group(view.suite.methods[method]),
                )
                for method in view.methods
                for part in kinds
            ),
        ),
        rows=tuple(_row(view, found, kinds, setting) for setting in view.settings),
        notes=(
            *filter(None, [undefined_told(view, classifier)]),
            *_notes(view, found, kinds),
            *search_notes(view),
        ),
        methods="columns",
    )


def _row(
    view: ExperimentView, found: Curves, kinds: tuple[str, ...], setting: float
) -> tuple[TableCell, ...]:
    bold = {
        part: not_separated(
            {
                method: point.scores
                for method in view.methods
                if (point := found.points[method, part, setting]).complete
            }
        )
        for part in kinds
    }
    return (
        TableCell(number_text(setting), value=float(setting)),
        *(
            _cell(found.points[method, part, setting], method in bold[part])
            for method in view.methods
            for part in kinds
        ),
    )


def _cell(point: Point, bold: bool) -> TableCell:
    if point.absent:
        return TableCell(point.absent, kind="absent")
    if not point.n_asked:
        return TableCell("–", title=point.reason)
    fraction = f"{point.n_ok}/{point.n_asked}"
    if point.mean is None:
        return TableCell("no score", count=fraction, title=point.reason, kind="failed")
    return TableCell(
        percent(point.mean),
        value=100 * point.mean,
        plus_minus=percent(point.std),
        spread=None if point.std is None else 100 * point.std,
        count="" if point.complete else fraction,
        error=None if point.std is None else 100 * point.std / math.sqrt(point.n_ok),
        bold=bold,
        title=point.reason,
        kind="" if point.complete else "partial",
    )


def _caption(view: ExperimentView, classifier: str, found: Curves) -> str:
    tasks = f"mean over {count(len(found.tasks), 'task')} in each trial, then "
    over = (
        f"mean ± standard deviation over {count(view.n_trials, 'trial')}"
        if view.n_trials > 1
        else "one trial"
    )
    return (
        f"{capitalized(METRICS['accuracy'].words)} (%): "
        f"{tasks if len(found.tasks) > 1 else ''}"
        f"{over}; classifier: {view.classifier_label(classifier)}."
    )


def undefined_told(view: ExperimentView, classifier: str) -> str:
    """Where another way of choosing stands in for one that is undefined; empty if nowhere."""
    others: dict[str, list[str]] = {}
    for setting, name in chosen_at(view, classifier).items():
        if name != classifier:
            others.setdefault(name, []).append(number_text(setting))
    label = view.suite.tuning.get("selectors", {})
    return " ".join(
        f"At {listed(settings)}, {label[classifier]['label']} is undefined for every method; there "
        f"candidates are chosen by {label[name]['label']}."
        for name, settings in others.items()
    )


def _notes(view: ExperimentView, found: Curves, kinds: tuple[str, ...]) -> Iterable[str]:
    if len(kinds) > 1:
        yield (
            "Seen: scored samples that the method was given without their label when it was "
            "aligned. New: scored samples that were not given to it and are embedded afterwards. "
            "A dash: there is no such sample at this setting."
        )
    apart = ", seen and new samples apart" if len(kinds) > 1 else ""
    bold = f"{RULE}; paired over the trials" if view.n_trials > 1 else HIGHEST
    yield f"{bold}{apart}."
    if any(0 < point.n_ok < point.n_asked for point in found.points.values()):
        yield (
            "A number in brackets: trials that count of those asked for; a trial counts where it "
            f"has a score on {'every compared task' if len(found.tasks) > 1 else 'the task'}."
        )
    if len(view.experiment.tasks) > 1 or found.points_left_out or not found.tasks:
        yield _tasks_note(view, found)


def _tasks_note(view: ExperimentView, found: Curves) -> str:
    shown = f"{len(found.tasks)} of {count(len(view.experiment.tasks), 'task')}"
    if not found.tasks:
        return "There is no mean over tasks: no task has a score at every point."
    if not found.tasks_left_out and not found.points_left_out:
        tasks = listed([view.task_label(task) for task in found.tasks])
        return f"Every point is over all tasks of the experiment: {tasks}."
    sentences = [f"Every point is over the same {shown}: those with a score at every point."]
    if found.tasks_left_out:
        left = listed([view.task_label(task) for task in found.tasks_left_out])
        sentences.append(f"Not among them: {left}.")
    if found.points_left_out:
        sentences.append(
            "Left out, with a score on fewer than half of the tasks: "
            f"{listed(_points_left_out(view, found))}."
        )
    return " ".join(sentences)


def _points_left_out(view: ExperimentView, found: Curves) -> list[str]:
    """The points in words; a method that is left out everywhere is named once."""
    words = []
    for method in view.methods:
        label = view.method_label(method)
        missing = [setting for name, setting in found.points_left_out if name == method]
        if len(missing) == len(view.settings):
            words.append(label)
        else:
            words += [f"{label} at {number_text(setting)}" for setting in missing]
    return words
