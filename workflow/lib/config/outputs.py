"""Names of the files of an experiment, known before anything has run."""

from collections.abc import Iterable

from workflow.lib.config.addresses import study_module
from workflow.lib.config.metrics import shown_as
from workflow.lib.config.suite import Experiment, Suite, block_trials
from workflow.lib.config.tasks import DomainRef

# Tables and figures of every classifier, where nothing is varied and where something is.
_SCORE_TABLES = (*(metric.name for metric in shown_as("table")), "measures", "tests")
_SCORE_FIGURES = ("accuracy", "critical_difference", "trials")
_CURVE_TABLES = ("curve",)
# Tables of a board, below ``results/board_<name>``.
BOARD_TABLES = (
    *("board", "board_ways", "board_details", "board_datasets", "board_tasks"),
    *("selectors", "selectors_datasets", "selectors_methods", "board_choices"),
)
# Loader of domains with a ``kind`` and a ``severity``.
SHIFTS = "shifts:load"


def boards(suite: Suite) -> dict[str, list[str]]:
    """Experiments of every board that has some, in the order of ``config/tuning.yaml``."""
    found: dict[str, list[str]] = {name: [] for name in suite.tuning["boards"]}
    for name, experiment in suite.experiments.items():
        if experiment.tuning and experiment.tuning["board"]:
            found[experiment.tuning["board"]].append(name)
    return {name: experiments for name, experiments in found.items() if experiments}


def shifts(suite: Suite) -> list[str]:
    """Experiments whose targets are all generated kinds of shift (``loaders/shifts.py``)."""
    return [
        name
        for name, experiment in suite.experiments.items()
        if experiment.tasks
        and all(suite.datasets[t.target.dataset]["loader"] == SHIFTS for t in experiment.tasks)
    ]


def label_curves(suite: Suite) -> list[str]:
    """Tuned experiments that vary how many labels of the target are seen."""
    return [name for name, experiment in suite.experiments.items() if is_label_curve(experiment)]


def is_label_curve(experiment: Experiment) -> bool:
    """Whether it is tuned and varies how many labels of the target are seen."""
    varied = (experiment.vary or {}).get("parameter")
    return bool(experiment.tuning) and varied == "target_per_class"


def shift_tables(name: str) -> list[str]:
    """Tables of an experiment over kinds of shift, below ``results/shifts_page``."""
    return [f"{name}_{table}" for table in ("full", "all", "losses")]


def audit_tables(suite: Suite) -> list[str]:
    """Tables of the audit of all papers, below ``results/audit``."""
    files = {e.audit["published"]: None for e in suite.experiments.values() if e.audit}
    return ["overview", "arithmetic", "order", *map(rows_table, files)]


def rows_table(published: str) -> str:
    """Name of the table with every row of a file of ``config/published``."""
    return f"rows_{published.removesuffix('.csv')}"


def run_address(*names: str) -> str:
    """Place of a run on the page of an experiment's runs in MLflow, from beside its report.

    The names are those of the run's cell: task, method and classifier; without the task, all tasks.
    """
    return f"mlflow.html#{run_place(*names)}"


def run_place(*names: str) -> str:
    return ".".join(names)


def log_address(suite: Suite, experiment: str, task: str, method: str) -> str:
    """Log of a method on a task, from beside the report; the folder if it ran in several blocks."""
    folder = f"../../logs/align/{experiment}/{task}/"
    blocks = suite.blocks(experiment)
    return f"{folder}{method}.{blocks[0]}.log" if len(blocks) == 1 else folder


def domains_of(experiment: Experiment) -> list[DomainRef]:
    """Every domain that an experiment reads, in the order of its file."""
    if experiment.study:
        return [DomainRef.parse(text) for text in experiment.study.get("domains", [])]
    return list(dict.fromkeys(ref for task in experiment.tasks for ref in task.domains))


def suffixes(experiment: Experiment) -> dict[str, str]:
    """Suffix of file names by classifier; empty when there is only one classifier."""
    if len(experiment.classifiers) == 1:
        return {experiment.classifiers[0]: ""}
    return {classifier: f"_{classifier}" for classifier in experiment.classifiers}


def table_names(experiment: Experiment) -> list[str]:
    """Names of an experiment's tables, without extension."""
    if experiment.study:
        read = ["data"] if domains_of(experiment) else []
        return [*study_module(experiment.study["module"]).TABLES, *read]
    names = [] if experiment.asks_time else _of_classifiers(experiment, _tables(experiment))
    if experiment.audit:
        names += ["audit_summary", "audit"]
    if experiment.timing:
        names.append("timing")
    return [*names, "failures", "methods", "data"]


def _of_classifiers(experiment: Experiment, names: Iterable[str]) -> list[str]:
    """Tables or figures of scores, of each classifier."""
    return [f"{name}{suffix}" for suffix in suffixes(experiment).values() for name in names]


def _tables(experiment: Experiment) -> tuple[str, ...]:
    if experiment.vary:
        return _CURVE_TABLES
    return (*_SCORE_TABLES, "sources") if experiment.has_joint_sources else _SCORE_TABLES


def figure_names(experiment: Experiment) -> list[str]:
    """Names of an experiment's figures, without extension."""
    if experiment.study:
        return list(study_module(experiment.study["module"]).FIGURES)
    scores = _curve_figures(experiment) if experiment.vary else _SCORE_FIGURES
    names = [] if experiment.asks_time else _of_classifiers(experiment, scores)
    if experiment.audit:
        names.append("published")
    if experiment.picture:
        names.append("embedding")
    if experiment.timing:
        names.append("timing")
    return names


def _curve_figures(experiment: Experiment) -> tuple[str, ...]:
    """With a single task, the figure by task would repeat the first."""
    return ("curve", "curve_by_task") if len(experiment.tasks) > 1 else ("curve",)


def timing_files(experiment: Experiment) -> list[str]:
    """Files of the timing records, below ``results/<experiment>``."""
    timing = experiment.timing or {"tasks": [], "methods": []}
    return [
        f"timing/{task}.{method}.jsonl" for task in timing["tasks"] for method in timing["methods"]
    ]


def pictured_files(experiment: Experiment, suite: Suite) -> dict[str, str]:
    """File of the pictured trial of each pictured method, below ``results/<experiment>``."""
    if not experiment.picture:
        return {}
    task, trial = experiment.picture["task"], experiment.picture["trial"]
    block = next(b for b in suite.blocks(experiment.name) if trial in block_trials(b))
    return {
        method: f"{task}/{method}.{block}.predictions.npz"
        for method in experiment.picture["methods"]
    }
