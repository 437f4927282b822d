"""Which settings were found by searching, also where a method brings them along."""

from workflow.lib.config.suite import Experiment, Suite

# Whose scores or printed numbers settings of `config/methods.yaml` were searched by, as
# `found_by_search` says there: Office–Caltech10, in places without saying which of its features,
# and Office-31, whose amazon and dslr hold its images in ten of their 31 classes.
SEARCHED_ON = ("office_caltech_surf", "office_caltech_decaf6", "office31_surf")


def searched(suite: Suite, experiment: str, method: str) -> dict[str, str]:
    """Parameters of a method that were chosen by printed or scored numbers: what was tried.

    A default's mark holds until the experiment overrides or varies that parameter; that of a
    candidate where settings are chosen among candidates.
    """
    asked = suite.experiments[experiment]
    varied = asked.varies("methods")
    changed = {*asked.overrides.get(method, {}), *([varied["parameter"]] if varied else [])}
    entry = suite.methods[method]
    inherited = entry.get("found_by_search", {})
    if asked.tuning:
        inherited = {**entry.get("search", {}).get("found_by_search", {}), **inherited}
    kept = {name: tried for name, tried in inherited.items() if name not in changed}
    return {**kept, **asked.found_by_search.get(method, {})}


def searched_readings(experiment: Experiment) -> dict[str, str]:
    """Methods of published columns whose reading was found by searching: what was tried."""
    columns = (experiment.audit or {}).get("columns", {}).values()
    return {
        column["method"]: column["readings_tried"]
        for column in columns
        if column.get("found_by_search")
    }


def marked(suite: Suite, experiment: Experiment, method: str) -> bool:
    """Whether a method has a setting, or a reading, that was found by searching."""
    found = searched(suite, experiment.name, method)
    return bool(found) or method in searched_readings(experiment)


def searches(suite: Suite) -> list[tuple[list[str], list[str]]]:
    """Methods of which an experiment says that a setting, or its reading, was found by search, and
    its data sets.
    """
    found = []
    for experiment in suite.experiments.values():
        methods = {*experiment.found_by_search} | {*searched_readings(experiment)}
        datasets = {domain.dataset for task in experiment.tasks for domain in task.domains}
        if methods:
            found.append((sorted(methods), sorted(datasets)))
    return found
