"""Tables of cost, failures, methods and data."""

import dataclasses
import itertools
from collections.abc import Collection, Iterable

import numpy as np
import pandas as pd

from workflow.lib.config.outputs import domains_of
from workflow.lib.config.searches import searched_readings
from workflow.lib.report.tables.model import EMPTY, Table, TableCell, TableColumn, number_cell
from workflow.lib.results.records import FAILURES
from workflow.lib.results.text import SEARCH_MARK, count, listed, number_text, ranges, shortened
from workflow.lib.results.views import ABSENT, STATUS_WORDS, ExperimentView, StudyView

_QUIET_LOAD = 0.5
LABELS_SEEN = {"none": "none", "source": "source", "source+target": "source and visible target"}


def timing_table(view: ExperimentView) -> Table:
    """Median and range of the repeats of each timed task and method."""
    rows = [
        _timing_row(view, task, method, list(records))
        for (task, method), records in itertools.groupby(
            timing_records(view), key=lambda record: (record["task"], record["method"])
        )
    ]
    return Table(
        name="timing",
        caption="Cost of one alignment from preprocessed features to embeddings, cold start.",
        columns=(
            TableColumn("Task"),
            TableColumn("Method"),
            TableColumn("Repeats ok"),
            TableColumn("Median, s", True, title="wall-clock seconds"),
            TableColumn("Fastest, s", True),
            TableColumn("Slowest, s", True),
            TableColumn("CPU, s", True, title="median processor seconds"),
            TableColumn("Added, MiB", True, title="memory beyond what was held before the fit"),
            TableColumn("Peak, MiB", True, title="largest resident memory of the repeats"),
            TableColumn("Samples"),
            TableColumn("Features"),
        ),
        rows=tuple(rows),
        notes=tuple(_timing_notes(view)),
    )


def timing_records(view: ExperimentView) -> list[dict]:
    """Timing records in the order of the experiment file."""
    tasks = [task.name for task in view.experiment.tasks]
    return sorted(
        view.timing,
        key=lambda record: (
            tasks.index(record["task"]),
            view.methods.index(record["method"]),
            record["repeat"],
        ),
    )


def _timing_row(
    view: ExperimentView, task: str, method: str, records: list[dict]
) -> tuple[TableCell, ...]:
    good = [record for record in records if record["status"] == "ok"]
    head = (TableCell(view.task_label(task)), TableCell(view.method_label(method)))
    repeats = TableCell(f"{len(good)} / {len(records)}", value=len(good))
    if not good:
        status = records[0]["status"]
        words = TableCell(
            STATUS_WORDS.get(status, status),
            title=shortened(records[0].get("error") or ""),
            kind="absent" if status in ABSENT else "failed",
        )
        return (*head, repeats, words, *[EMPTY] * 7)
    seconds = [record["seconds"] for record in good]
    return (
        *head,
        repeats,
        seconds_cell(np.median(seconds)),
        seconds_cell(min(seconds)),
        seconds_cell(max(seconds)),
        seconds_cell(np.median([record["cpu_seconds"] for record in good])),
        number_cell(max(record["added_mb"] for record in good), 0),
        number_cell(max(record["peak_mb"] for record in good), 0),
        TableCell(_sizes(good[0]["n_samples"])),
        TableCell(_sizes(good[0]["n_features"])),
    )


def _sizes(sizes: list[int]) -> str:
    return " + ".join(f"{size:,}" for size in sizes)


def seconds_cell(seconds: float) -> TableCell:
    """Seconds with three significant digits."""
    # From 999.5 on three digits would be 1.00e+03.
    text = f"{seconds:.0f}" if seconds >= 999.5 else f"{seconds:#.3g}".rstrip(".")
    return TableCell(text, value=float(seconds))


def _timing_notes(view: ExperimentView) -> Iterable[str]:
    records = list(view.timing)
    if not records:
        yield "There is no timing record."
        return
    threads = sorted({record["blas_threads"] for record in records if record.get("blas_threads")})
    if threads:
        yield f"BLAS threads: {listed([str(number) for number in threads])}."
    loads = [r["load_average"] for r in records if r.get("load_average") is not None]
    busy = sum(load > _QUIET_LOAD for load in loads)
    if busy:
        yield (
            f"The machine was not quiet: the load average of the last minute was above "
            f"{_QUIET_LOAD} in {busy} of {count(len(records), 'repeat')} (up to {max(loads):.1f}; "
            "the run's own earlier jobs count). Trust the processor seconds rather than the wall "
            "clock."
        )


def failures_table(view: ExperimentView) -> Table:
    """Every trial without a score, grouped by its reason."""
    bad = view.shown[view.shown["status"] != "ok"].assign(
        error=lambda frame: frame["error"].fillna("")
    )
    groups = _by_reason(bad)
    failed = [(key, group) for key, group in groups if key[0] in FAILURES]
    absent = [(key, group) for key, group in groups if key[0] in ABSENT]
    rows = tuple(_failure_row(view, *key, group) for key, group in (*failed, *absent))
    n_bad = len(bad)
    return Table(
        name="failures",
        caption=(f"Records without a score: {n_bad:,} of {view.n_records:,}, grouped by reason."),
        columns=(
            TableColumn("Task"),
            TableColumn("Methods"),
            *([TableColumn("Settings")] if view.experiment.vary else []),
            TableColumn("Status"),
            TableColumn("Records", True),
            TableColumn("Trials"),
            TableColumn("Message"),
            TableColumn("Log"),
        ),
        rows=rows,
        notes=() if rows else ("Every record has a score.",),
    )


def _by_reason(bad: pd.DataFrame) -> list[tuple[tuple[str, str], pd.DataFrame]]:
    """Records by status and message; tasks with the same methods and trials are grouped."""
    joint: dict[tuple, list[pd.DataFrame]] = {}
    for (_, status, error), group in bad.groupby(["task", "status", "error"], sort=False):
        cells = sorted(
            zip(group["method"], group["trial"], group["setting"].astype(str), strict=True)
        )
        joint.setdefault((status, error, tuple(cells)), []).append(group)
    return [((key[0], key[1]), pd.concat(groups)) for key, groups in joint.items()]


def _failure_row(
    view: ExperimentView, status: str, error: str, group: pd.DataFrame
) -> tuple[TableCell, ...]:
    tasks = list(dict.fromkeys(group["task"]))
    methods = list(dict.fromkeys(group["method"]))
    everyone = len(methods) == len(view.methods) > 1
    trials = sorted({int(trial) for trial in group["trial"]})
    folder = tasks[0] if len(tasks) == 1 else "*"
    logs = "*" if everyone else methods[0] if len(methods) == 1 else f"{{{','.join(methods)}}}"
    return (
        TableCell(_tasks_text(view, tasks)),
        TableCell("all" if everyone else listed([view.method_label(method) for method in methods])),
        *([TableCell(settings_text(view, group["setting"]))] if view.experiment.vary else []),
        TableCell(STATUS_WORDS[status], kind="failed" if status in FAILURES else "muted"),
        TableCell(str(len(group)), value=len(group)),
        TableCell(f"all {len(trials)}" if len(trials) == view.n_trials else ranges(trials)),
        TableCell(shortened(error) or "–", kind="text"),
        TableCell(
            f"logs/align/{view.name}/{folder}/{logs}.*.log" if status in FAILURES else "",
            kind="code",
        ),
    )


def _tasks_text(view: ExperimentView, tasks: list[str]) -> str:
    if len(tasks) == len(view.experiment.tasks) > 1:
        return f"all {len(tasks)}"
    return listed([view.task_label(task) for task in tasks])


def settings_text(view: ExperimentView, settings: Iterable[float]) -> str:
    """``4, 8`` or ``all 8`` settings."""
    found = set(settings)
    if len(found) == len(view.settings):
        return f"all {len(found)}"
    return ", ".join(number_text(value) for value in view.settings if value in found)


@dataclasses.dataclass(frozen=True)
class MissingFile:
    """A file without which tasks could not run, and where it is expected."""

    name: str
    dataset: str
    sha256: str
    mirror: str
    why: str


def missing_files(view: ExperimentView) -> list[MissingFile]:
    """Files of the domains of the tasks that have no data, in the order of the experiment."""
    gone = dict.fromkeys(view.records.loc[view.records["status"] == "data_unavailable", "task"])
    refs = dict.fromkeys(ref for name in gone for ref in view.experiment.task(name).domains)
    found = {}
    for ref in refs:
        dataset = view.suite.datasets[ref.dataset]
        messages = " ".join(view.records["error"].dropna().unique())
        for name in dataset["domains"][ref.domain].get("files", dataset.get("files", {})):
            entry = dataset.get("files", {}).get(name, {})
            # Of the files of such a task, those that the reason of its records names.
            if name in messages or not entry.get("sha256"):
                found[ref.dataset, name] = MissingFile(
                    name,
                    ref.dataset,
                    str(entry.get("sha256") or ""),
                    str(entry.get("mirror") or ""),
                    " ".join(str(entry.get("why") or "").split()),
                )
    return list(found.values())


def methods_table(view: ExperimentView) -> Table:
    """What was run: estimator, parameters with this experiment's overrides, labels seen."""
    rows = []
    for method in view.methods:
        entry = view.suite.method(view.name, method)
        rows.append(
            (
                TableCell(view.method_label(method), title=method),
                TableCell(entry["estimator"], kind="code"),
                TableCell(_method_parameters(view, entry), kind="code"),
                TableCell(LABELS_SEEN.get(entry["sees_labels"], entry["sees_labels"])),
                TableCell(_classifier(view, method)),
                TableCell(entry.get("paper") or "–", kind="text"),
            )
        )
    headings = ("Method", "Estimator", "Parameters", "Labels seen", "Classifier", "Paper")
    return Table(
        name="methods",
        caption="Methods, with the parameters of this experiment.",
        columns=tuple(TableColumn(heading) for heading in headings),
        rows=tuple(rows),
        notes=(*search_notes(view), *search_readings(view)),
    )


def search_notes(
    *views: ExperimentView,
    where: str = "on the experiment's page, below the table of methods",
    methods: Collection[str] = (),
) -> list[str]:
    """What the mark behind the name of a method means, if any method has it.

    ``where`` says where a page has the `search_readings`, of the same methods.
    """
    if not search_readings(*views, methods=methods):
        return []
    return [mark_told(where)]


def mark_told(where: str) -> str:
    """What the mark means, and where it stands what was tried."""
    return (
        f"{SEARCH_MARK} A setting was found by searching against printed or scored numbers, these "
        f"or others; what was tried stands {where}."
    )


def search_readings(*views: ExperimentView, methods: Collection[str] = ()) -> list[str]:
    """One sentence for each setting that was searched for, and the methods that have it.

    Of the methods that are named; of all by default.
    """
    found: dict[str, dict[str, None]] = {}
    for view in views:
        for method in filter(lambda method: not methods or method in methods, view.methods):
            for reading in [*view.searched(method), *_reading(view, method)]:
                found.setdefault(reading, {})[view.suite.methods[method]["label"]] = None
    return [f"{listed(labels)}, {reading}." for reading, labels in found.items()]


def _reading(view: ExperimentView, method: str) -> list[str]:
    found = searched_readings(view.experiment)
    if method not in found:
        return []
    return [f"the reading of its published column: {found[method].strip().removesuffix('.')}"]


def _method_parameters(view: ExperimentView, entry: dict) -> str:
    varied = view.experiment.varies("methods")
    if not varied:
        return parameters(entry.get("params", {}))
    others = {k: v for k, v in entry.get("params", {}).items() if k != varied["parameter"]}
    return ", ".join([f"{varied['parameter']} varied", *([parameters(others)] if others else [])])


def _classifier(view: ExperimentView, method: str) -> str:
    rows = view.classifier_rows(method).replace("+", " and ")
    if view.asks_own:
        return f"{view.own_classifier(method)}, on the labelled {rows}"
    return f"on the labelled {rows}"


def parameters(params: dict) -> str:
    """``k=12, level='instance'`` in the order of the configuration."""
    return ", ".join(f"{name}={value!r}" for name, value in params.items()) or "defaults"


def data_table(view: ExperimentView | StudyView) -> Table:
    """Domains of the experiment: sizes, source, terms, and which files are unavailable."""
    rows = []
    for ref in domains_of(view.experiment):
        dataset = view.suite.datasets[ref.dataset]
        domain = dataset["domains"][ref.domain]
        size = getattr(view, "sizes", {}).get(str(ref), {}) | domain
        rows.append(
            (
                TableCell(domain.get("short", ref.domain)),
                TableCell(str(ref), kind="code"),
                _size(size.get("samples")),
                _size(size.get("features")),
                _size(dataset.get("classes")),
                TableCell(dataset.get("source") or "–", kind="text"),
                TableCell(dataset.get("terms") or "–", kind="text"),
                TableCell(_availability(dataset, domain), kind="text"),
            )
        )
    headings = ("Label", "Domain", "Samples", "Features", "Classes", "Source", "Terms", "Remarks")
    numeric = ("Samples", "Features", "Classes")
    return Table(
        name="data",
        caption="Domains of this experiment.",
        columns=tuple(TableColumn(heading, heading in numeric) for heading in headings),
        rows=tuple(rows),
    )


def _size(number: int | None) -> TableCell:
    return TableCell("–") if number is None else TableCell(f"{number:,}", value=number)


def _availability(dataset: dict, domain: dict) -> str:
    files = dataset.get("files") or {}
    missing = {
        name: files[name].get("why", "")
        for name in domain.get("files", [])
        if name in files and "path" not in files[name] and not files[name].get("sha256")
    }
    return " ".join(f"{name} is unavailable: {why}".rstrip(": ") for name, why in missing.items())
