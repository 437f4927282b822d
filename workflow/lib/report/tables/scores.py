"""The tables of scores of an experiment, and writing all its tables.

The accuracy table has the layout of the papers: tasks down, methods across.
"""

import dataclasses
from collections.abc import Iterable, Mapping

import pandas as pd

from workflow.lib.config.metrics import METRICS, Metric, shown_as
from workflow.lib.config.outputs import run_address, suffixes, table_names
from workflow.lib.config.tasks import Task
from workflow.lib.report.figures.looks import group
from workflow.lib.report.study import study_tables
from workflow.lib.report.tables.audit import audit_summary_table, audit_table
from workflow.lib.report.tables.cells import behind, score_cell
from workflow.lib.report.tables.curve import curve_table
from workflow.lib.report.tables.model import (
    EMPTY,
    Table,
    TableCell,
    TableColumn,
    number_cell,
    transposed,
)
from workflow.lib.report.tables.setup import (
    data_table,
    failures_table,
    methods_table,
    search_notes,
    timing_table,
)
from workflow.lib.results import significance
from workflow.lib.results.audit import audit
from workflow.lib.results.records import scores_of
from workflow.lib.results.separation import HIGHEST, HIGHEST_AVERAGE, RULE, not_separated
from workflow.lib.results.standings import compared, task_means
from workflow.lib.results.text import capitalized, count, fixed, listed, p_text, signed
from workflow.lib.results.views import MANY_METHODS, ExperimentView, StudyView


def all_tables(view: ExperimentView | StudyView) -> dict[str, Table]:
    """Every table of an experiment by name, in the order of `table_names`."""
    if isinstance(view, StudyView):
        return study_tables(view)
    tables = []
    for classifier in view.experiment.classifiers:
        tables += _score_tables(view, classifier)
    checked = audit(view)
    if checked:
        tables += [audit_summary_table(checked), audit_table(checked)]
    if view.experiment.timing:
        tables.append(timing_table(view))
    tables += [failures_table(view), methods_table(view), data_table(view)]
    by_name = {table.name: table for table in tables}
    return {name: by_name[name] for name in table_names(view.experiment)}


def _score_tables(view: ExperimentView, classifier: str) -> list[Table]:
    if view.experiment.vary:
        return [curve_table(view, classifier)]
    joint = [sources_table(view, classifier)] if view.experiment.has_joint_sources else []
    return [
        *(accuracy_table(view, classifier, metric.name) for metric in shown_as("table")),
        measures_table(view, classifier),
        tests_table(view, classifier),
        *joint,
    ]


def accuracy_table(view: ExperimentView, classifier: str, measure: str = "accuracy") -> Table:
    """Mean ± standard deviation in percent; bold as `separation.RULE` says."""
    rows = [
        (TableCell(view.task_label(task)), *_task_cells(view, task.name, classifier, measure))
        for task in view.experiment.tasks
    ]
    common = compared(view.records, classifier, view.methods, measure)
    footer, note = _average_row(view, classifier, common)
    table = Table(
        name=f"{measure}{suffixes(view.experiment)[classifier]}",
        caption=_accuracy_caption(view, classifier, measure),
        columns=(
            TableColumn("Task"),
            *(
                TableColumn(
                    view.method_label(method),
                    numeric=True,
                    scores=True,
                    title=f"{method}: {view.suite.methods[method].get('paper', '')}".rstrip(": "),
                    kind="baseline" if view.suite.is_baseline(method) else "",
                    group=group(view.suite.methods[method]),
                )
                for method in view.methods
            ),
        ),
        rows=tuple(rows),
        footer=(footer,) if footer else (),
        notes=(note, _bold_note(view), *_letters(view), *search_notes(view)),
        methods="columns",
    )
    return transposed(table, "Method") if len(view.methods) > MANY_METHODS else table


def _task_cells(view: ExperimentView, task: str, classifier: str, measure: str) -> list[TableCell]:
    """Cells of one task, bold and shaded among its complete ones."""
    cells = {method: view.cell(task, method, classifier, measure) for method in view.methods}
    complete = {method: cell for method, cell in cells.items() if cell.complete}
    bold = not_separated(
        {m: scores_of(view.trials(task, m, classifier), measure) for m in complete}
    )
    heat = _heat({method: cell.mean for method, cell in complete.items()})
    return [
        dataclasses.replace(
            score_cell(cell),
            bold=method in bold,
            heat=heat.get(method),
            # What could not run has no log, and equal cells are joined.
            behind=() if cell.absent else behind(view, task, method, classifier),
        )
        for method, cell in cells.items()
    ]


def _heat(means: Mapping[str, float]) -> dict[str, float]:
    """Place of each mean between the lowest, 0, and the highest, 1."""
    if len(means) < 2:
        return {}
    low, high = min(means.values()), max(means.values())
    return {name: (value - low) / (high - low or 1.0) for name, value in means.items()}


def _accuracy_caption(view: ExperimentView, classifier: str, measure: str) -> str:
    what = capitalized(METRICS[measure].words)
    over = (
        f"mean ± standard deviation over {count(view.n_trials, 'trial')}"
        if view.n_trials > 1
        else "one trial"
    )
    return f"{what} (%), {over}; classifier: {view.classifier_label(classifier)}."


def _bold_note(view: ExperimentView) -> str:
    if view.n_trials > 1:
        trials = "the trials of a task, which share samples"
        return f"{RULE}; paired over {trials}, and over the tasks in the average."
    if len(view.experiment.tasks) == 1:
        return f"{HIGHEST}."
    few = "; over two tasks it separates little" if len(view.experiment.tasks) == 2 else ""
    return f"{HIGHEST}; {HIGHEST_AVERAGE}, paired over the tasks{few}."


def _letters(view: ExperimentView) -> Iterable[str]:
    """What the short names of domains stand for, where they are short."""
    refs = dict.fromkeys(ref for task in view.experiment.tasks for ref in task.domains)
    names = {
        ref.domain: view.suite.datasets[ref.dataset]["domains"][ref.domain].get("short")
        for ref in refs
    }
    told = [f"{short} = {name.replace('_', ' ')}" for name, short in names.items() if short]
    if told:
        yield f"Domains: {', '.join(told)}. The source stands before the arrow, the target behind."


def _average_row(
    view: ExperimentView, classifier: str, common: significance.Comparable
) -> tuple[tuple[TableCell, ...], str]:
    if common.means.empty:
        return (), _average_note(view, common)
    averages = {
        method: dataclasses.replace(cell, behind=(("MLflow run", run_address(method, classifier)),))
        for method, cell in _average_cells(common.means).items()
    }
    left_out = TableCell("–", title="complete on fewer than half of the tasks")
    cells = [averages.get(method, left_out) for method in view.methods]
    label = TableCell(f"Average of {len(common.means)}")
    return (label, *cells), _average_note(view, common)


def _average_note(view: ExperimentView, common: significance.Comparable) -> str:
    if common.means.empty:
        return "No average: there is no task on which every method is complete."
    if not common.tasks_left_out and not common.methods_left_out:
        return f"The average is over all {count(len(view.experiment.tasks), 'task')}."
    sentences = [
        f"The average is over the {len(common.means)} of {len(view.experiment.tasks)} tasks on "
        "which every averaged method has a score in every trial."
    ]
    if common.tasks_left_out:
        left = listed([view.task_label(task) for task in common.tasks_left_out])
        sentences.append(f"Not in it: {left}.")
    if common.methods_left_out:
        left = listed([view.method_label(method) for method in common.methods_left_out])
        sentences.append(f"Not averaged, as complete on fewer than half of the tasks: {left}.")
    return " ".join(sentences)


def measures_table(view: ExperimentView, classifier: str) -> Table:
    """Accuracy beside the other measures, each averaged over the tasks of the average row."""
    metrics = [
        METRICS["accuracy"],
        *(metric for metric in shown_as("measures") if _is_known(view, classifier, metric)),
    ]
    means = {
        metric.name: task_means(view.records, classifier, view.methods, metric.name)
        for metric in metrics
    }
    common = compared(view.records, classifier, view.methods)
    columns = [
        _average_cells(means[metric.name].loc[common.means.index, common.means.columns], metric)
        for metric in metrics
    ]
    plain = [metric.title.lower() for metric in metrics if not metric.is_share]
    unit = f"%; {listed(plain)}: no percentage" if plain else "%"
    tasks = count(len(common.means), "task")
    return Table(
        name=f"measures{suffixes(view.experiment)[classifier]}",
        caption=(
            f"Other measures ({unit}), average of {tasks}; classifier: "
            f"{view.classifier_label(classifier)}."
        ),
        columns=(
            TableColumn("Method"),
            *(TableColumn(metric.title, numeric=True) for metric in metrics),
        ),
        rows=tuple(
            (_name_cell(view, method), *(column[method] for column in columns))
            for method in common.means
        ),
        notes=(
            f"{'; '.join(f'{metric.title}: {metric.words}' for metric in metrics)}.",
            _average_note(view, common),
            f"{RULE}; paired over the tasks{_turned(metrics)}.",
        ),
        methods="rows",
    )


def _name_cell(view: ExperimentView, method: str) -> TableCell:
    kind = "baseline" if view.suite.is_baseline(method) else ""
    entry = view.suite.methods[method]
    return TableCell(view.method_label(method), kind=kind, group=group(entry))


def _turned(metrics: Iterable[Metric]) -> str:
    names = [metric.title.lower() for metric in metrics if metric.lower_is_better]
    return f" (of {listed(names)}: the lowest)" if names else ""


def _is_known(view: ExperimentView, classifier: str, metric: Metric) -> bool:
    """Whether a metric has its column: not where no record has one."""
    known = view.records.loc[view.records["classifier"] == classifier, metric.name].notna()
    return bool(known.any())


def _average_cells(
    means: pd.DataFrame, metric: Metric = METRICS["accuracy"]
) -> dict[str, TableCell]:
    """Mean over the tasks of each method; empty without a score on every task."""
    averages = means.mean(skipna=False).dropna().to_dict()
    sign = -1 if metric.lower_is_better else 1
    bold = not_separated({method: sign * means[method] for method in averages})
    heat = _heat({method: sign * value for method, value in averages.items()})
    digits = 1 if metric.is_share else 3
    return {
        method: TableCell(
            fixed(metric.scale * averages[method], digits),
            value=metric.scale * averages[method],
            bold=method in bold,
            heat=heat.get(method),
        )
        if method in averages
        else EMPTY
        for method in means
    }


def tests_table(view: ExperimentView, classifier: str) -> Table:
    """Mean ranks and Wilcoxon's test of each method against the reference."""
    common = compared(view.records, classifier, view.methods)
    against = view.reference(common.means)
    tests = significance.wilcoxon_holm(common.means, against)
    ranks = significance.friedman_nemenyi(common.means)
    by_method = {} if isinstance(tests, str) else {test.method: test for test in tests}
    mean_ranks = {} if isinstance(ranks, str) else ranks.mean_ranks
    reference = view.method_label(against)
    return Table(
        name=f"tests{suffixes(view.experiment)[classifier]}",
        caption=(
            f"Comparison over {count(len(common.means), 'task')} against {reference}; "
            f"classifier: {view.classifier_label(classifier)}."
        ),
        columns=(
            TableColumn("Method"),
            TableColumn("Average", True, title="mean accuracy over the compared tasks (%)"),
            TableColumn("Mean rank", True, title="1 is best; ties share their rank"),
            TableColumn("Better / equal / worse", title=f"tasks, against {reference}"),
            TableColumn("Median difference", True, title="percentage points"),
            TableColumn("W", True, title="Wilcoxon's signed-rank statistic, two-sided"),
            TableColumn("p", True),
            TableColumn("p (Holm)", True, title="corrected for the number of methods"),
            TableColumn("Distribution"),
        ),
        rows=tuple(
            (
                _name_cell(view, method),
                number_cell(100 * common.means[method].mean(), 1),
                number_cell(mean_ranks.get(method), 2),
                *_test_cells(by_method.get(method)),
            )
            for method in common.means
        ),
        notes=tuple(_tests_notes(view, common, tests, ranks)),
        methods="rows",
    )


def _test_cells(test: significance.SignedRank | None) -> list[TableCell]:
    if test is None:
        return [EMPTY] * 6
    return [
        TableCell(f"{test.better} / {test.equal} / {test.worse}", value=test.better),
        TableCell(signed(100 * test.median_difference), value=100 * test.median_difference),
        number_cell(test.statistic, 1),
        TableCell(p_text(test.p), value=test.p),
        TableCell(
            p_text(test.p_holm),
            value=test.p_holm,
            bold=test.p_holm is not None and test.p_holm < significance.ALPHA,
        ),
        TableCell(test.how),
    ]


def _tests_notes(
    view: ExperimentView,
    common: significance.Comparable,
    tests: list | str,
    ranks: significance.Ranks | str,
) -> Iterable[str]:
    n_baselines = sum(view.suite.is_baseline(method) for method in common.means)
    if view.seeks_reference and n_baselines > 1:
        yield (
            f"{view.method_label(view.reference(common.means))}, with which the others are "
            f"compared, is the best of {n_baselines} baselines by these very scores."
        )
    if isinstance(tests, str):
        yield tests
    else:
        yield (
            f"Wilcoxon's signed-rank test on {count(len(common.means), 'task mean')}, two-sided, "
            "zero differences dropped; Holm's correction; p below 0.05 in bold. The smallest p "
            f"that {count(len(common.means), 'task')} can give is "
            f"{p_text(2.0 ** (1 - len(common.means)))}."
        )
    if isinstance(ranks, str):
        yield ranks
    else:
        yield (
            f"Friedman's test: χ² = {ranks.statistic:.2f} with "
            f"{len(ranks.mean_ranks) - 1} degrees of freedom, p = {p_text(ranks.p)}."
        )
        if ranks.is_shown:
            yield (
                "Nemenyi's critical difference of mean ranks at 5 %: "
                f"{ranks.critical_difference:.2f}."
            )
    yield _tests_tasks(view, common)
    domains = [task.domains for task in view.experiment.tasks if task.name in common.means.index]
    if significance.shared_domains(domains):
        yield (
            "Tasks share domains, so they are not independent and the p-values are a description, "
            "not a guarantee."
        )


def _tests_tasks(view: ExperimentView, common: significance.Comparable) -> str:
    used = (
        f"Compared on {len(common.means)} of {count(len(view.experiment.tasks), 'task')}: those "
        "on which every compared method has a score in every trial."
    )
    tasks = [view.task_label(task) for task in common.tasks_left_out]
    methods = [view.method_label(method) for method in common.methods_left_out]
    if tasks:
        used += f" Left out: {listed(tasks)}."
    if methods:
        used += f" Methods left out, as complete on fewer than half: {listed(methods)}."
    return used


def sources_table(view: ExperimentView, classifier: str) -> Table:
    """One row per task with several sources and method, beside the same method's best pair."""
    joint = [task for task in view.experiment.tasks if len(task.sources) > 1]
    return Table(
        name=f"sources{suffixes(view.experiment)[classifier]}",
        caption=(
            "Several sources at once beside the best single one of the same target (%); "
            f"classifier: {view.classifier_label(classifier)}."
        ),
        columns=(
            TableColumn("Task"),
            TableColumn("Method"),
            TableColumn("All at once", numeric=True, scores=True),
            TableColumn("Best single", numeric=True, scores=True),
            TableColumn("Its source"),
            TableColumn("Difference", True, title="all at once − best single, percentage points"),
        ),
        rows=tuple(
            _source_row(view, task, method, classifier) for task in joint for method in view.methods
        ),
        notes=(
            "The best single source is chosen by the scores themselves: nobody knows it "
            "beforehand, so it is an upper bound for choosing one.",
        ),
    )


def _source_row(
    view: ExperimentView, task: Task, method: str, classifier: str
) -> tuple[TableCell, ...]:
    cell = view.cell(task.name, method, classifier)
    singles = {
        other.source_label(view.suite.datasets): view.cell(other.name, method, classifier)
        for other in view.experiment.tasks
        if len(other.sources) == 1 and other.target == task.target
    }
    scored = {source: single for source, single in singles.items() if single.complete}
    first = (TableCell(view.task_label(task)), TableCell(view.method_label(method)))
    if not (cell.complete and scored):
        return (*first, score_cell(cell), TableCell("–"), TableCell("–"), TableCell("–"))
    source, best = max(scored.items(), key=lambda item: item[1].mean)
    difference = 100 * (cell.mean - best.mean)
    return (
        *first,
        score_cell(cell),
        score_cell(best),
        TableCell(source),
        TableCell(signed(difference), value=difference),
    )
