"""Names of the files of an experiment, known before anything has run."""

from workflow.lib.config import Experiment, Suite, block_trials


def suffixes(experiment: Experiment) -> dict[str, str]:
    """Ending of file names per classifier: none when there is only one classifier."""
    if len(experiment.classifiers) == 1:
        return {experiment.classifiers[0]: ""}
    return {classifier: f"_{classifier}" for classifier in experiment.classifiers}


def table_names(experiment: Experiment) -> list[str]:
    """Names of the tables that an experiment has, without ending."""
    names = [
        f"{table}{suffix}"
        for suffix in suffixes(experiment).values()
        for table in ("accuracy", "accuracy_entire_target", "tests")
    ]
    if experiment.audit:
        names += ["audit_summary", "audit"]
    if experiment.timing:
        names.append("timing")
    return [*names, "failures", "methods", "data"]


def figure_names(experiment: Experiment) -> list[str]:
    """Names of the figures that an experiment has, without ending."""
    names = [
        f"{figure}{suffix}"
        for suffix in suffixes(experiment).values()
        for figure in ("accuracy", "critical_difference", "trials")
    ]
    if experiment.picture:
        names.append("embedding")
    if experiment.timing:
        names.append("timing")
    return names


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
