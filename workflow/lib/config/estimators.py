"""Check that every estimator and study that the configuration names takes its parameters.

Apart from `workflow.lib.config.suite`, because importing scikit-learn takes a second or more.
"""

import contextlib
import inspect
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from workflow.lib.config.addresses import (
    PROJECT,
    BrokenModule,
    resolve_estimator,
    study_module,
)
from workflow.lib.config.candidates import OWN
from workflow.lib.config.code_digest import installed_files
from workflow.lib.config.memory import MEMORY, sum_of
from workflow.lib.config.reading import ConfigError, check_known
from workflow.lib.config.suite import Experiment, Suite

# Code that an entry may name, and what it imports.
CODE = ("methods/domain_alignment", "workflow")


def check_estimators(suite: Suite) -> list[str]:
    """Import every estimator that the configuration names; check its parameters and their values.

    Returns
    -------
    list of str
        One sentence for each entry whose module cannot be run, with the module's file and line. It
        is for the experiments that use it to fail; the others run.

    Raises
    ------
    ConfigError
        At the first that does not exist, that has no such parameter, or whose own ranges a value of
        an entry, an override, a varied parameter or a search space is outside of. A class without
        declared ranges (scikit-learn's ``_parameter_constraints``) judges in its trials.

    Notes
    -----
    What passed once is not imported again until an entry, a file of the project's code or an
    installed package changes: that is most of the time a run takes to start.
    """
    key = _made_of(suite)
    if MEMORY.get(key):
        return []
    broken = _broken(suite)
    if not broken:
        MEMORY.put(key, True)
        MEMORY.save()
    return broken


def _made_of(suite: Suite) -> str:
    """Sum of all that the check depends on."""
    files = [path for folder in CODE for path in sorted((PROJECT / folder).rglob("*.py"))]
    installed = Path(sysconfig.get_paths()["purelib"]).stat().st_mtime_ns
    entries = (suite.methods, suite.classifiers, suite.tuning, suite.experiments)
    named = (suite.methods, suite.classifiers, suite.tuning.get("classifiers", {}))
    modules = {one["estimator"].partition(":")[0] for own in named for one in own.values()}
    files += [path for module in sorted(modules) for path in installed_files(module)]
    return sum_of("estimators", str(installed), repr(entries), *(p.read_bytes() for p in files))


def _broken(suite: Suite) -> list[str]:
    broken = []
    for kind, entries in (("methods", suite.methods), ("classifiers", suite.classifiers)):
        for name, entry in entries.items():
            where = f"{suite.file_of(kind, name)}: {kind}.{name}"
            search = entry.get("search", {})
            fixed = {key: [value] for key, value in search.get("between_features", {}).items()}
            searched = {
                "search.params": search.get("params", {}),
                "search.between_features": fixed,
            }
            broken += _broken_entry(where, entry, searched, _users(suite, kind, name))
    tuned = [experiment.name for experiment in suite.experiments.values() if experiment.tuning]
    for name, entry in suite.tuning.get("classifiers", {}).items():
        where = f"config/tuning.yaml: classifiers.{name}"
        broken += _broken_entry(where, entry, {"search": entry.get("search", {})}, tuned)
    _check_selectors(suite.tuning.get("selectors", {}))
    for experiment in suite.experiments.values():
        with contextlib.suppress(BrokenModule):  # its entry was named above
            _check_experiment(suite, experiment)
    return broken


def _check_selectors(selectors: Iterable[str]) -> None:
    if selectors:
        from domain_alignment.model_selection import SELECTORS

        for name in selectors:
            check_known("config/tuning.yaml", "selectors", name, SELECTORS, "selector")


def _broken_entry(
    where: str, entry: dict, searched: Mapping[str, dict], users: Sequence[str]
) -> list[str]:
    """What is said of an entry whose module cannot be run, if it is one."""
    try:
        _check_entry(where, entry)
        for key, values in searched.items():
            _check_searched(f"{where}.{key}", entry, values)
    except BrokenModule as error:
        told = ", ".join(users) or "none"
        return [f"{where}: {error}. Experiments that use it and will fail: {told}"]
    return []


def _users(suite: Suite, kind: str, name: str) -> list[str]:
    named = suite.experiments.values()
    return [experiment.name for experiment in named if name in getattr(experiment, kind)]


def _check_entry(where: str, entry: dict) -> None:
    if entry["estimator"] != OWN:
        accepted = _parameters(where, entry["estimator"])
        params = entry.get("params", {})
        _check_params(f"{where}.params", params, accepted, entry["estimator"])
        _check_values(f"{where}.params", entry["estimator"], params)


def _check_searched(where: str, entry: dict, searched: dict) -> None:
    """Each value of each parameter, the others as the entry has them."""
    if searched:
        accepted = _parameters(where, entry["estimator"])
        _check_params(where, searched, accepted, entry["estimator"])
    for name, values in searched.items():
        for value in values:
            params = {**entry.get("params", {}), name: value}
            _check_values(f"{where}.{name}", entry["estimator"], params)


def _check_experiment(suite: Suite, experiment: Experiment) -> None:
    where = suite.file_of("experiments", experiment.name)
    if experiment.study:
        _check_study(where, experiment.study)
    varied = experiment.varies("methods")
    for method in experiment.methods:
        entry = suite.method(experiment.name, method)
        estimator, params = entry["estimator"], entry["params"]
        accepted = _parameters(where, estimator)
        overrides = experiment.overrides.get(method, {})
        _check_params(f"{where}: overrides.{method}", overrides, accepted, estimator)
        if varied:
            name, named = varied["parameter"], f"for method {method}"
            _check_params(f"{where}: vary.parameter, {named}", [name], accepted, estimator)
            for value in varied["values"]:
                made = {**params, name: value}
                _check_values(f"{where}: vary.values, {named}", estimator, made, complete=True)
        else:
            _check_values(f"{where}: overrides.{method}", estimator, params, complete=True)


def _parameters(where: str, estimator: str) -> set[str]:
    try:
        return set(inspect.signature(resolve_estimator(estimator).__init__).parameters) - {"self"}
    except BrokenModule:
        raise
    except (ImportError, AttributeError, ValueError) as error:
        module, _, name = estimator.partition(":")
        if known := getattr(sys.modules.get(module), "__all__", ()):
            check_known(f"{where}.estimator", None, name, known, f"class of {module}")
        raise ConfigError(
            f"{where}.estimator: {estimator!r} cannot be imported ({error}). "
            "Write it as 'package.module:Class'."
        ) from error


def _check_study(where: str, study: dict) -> None:
    try:
        run = study_module(study["module"]).run
    except ImportError as error:
        raise ConfigError(
            f"{where}: study.module: {study['module']!r} cannot be imported ({error}). "
            "It is a module of workflow/studies."
        ) from error
    accepted = set(inspect.signature(run).parameters) - {"domains"}
    _check_params(
        f"{where}: study.params", study["params"], accepted, f"workflow.studies.{study['module']}"
    )


def _check_params(where: str, params: Iterable[str], accepted: set[str], estimator: str) -> None:
    for name in params:
        check_known(where, None, name, accepted, f"parameter of {estimator}")


def _check_values(where: str, estimator: str, params: Mapping, *, complete: bool = False) -> None:
    """Ask the class itself, if it is one that declares the ranges of its parameters.

    An entry need not be ``complete``: experiments may give what it leaves out. What else a class
    raises when it is made is for its trials to tell.
    """
    try:
        made = resolve_estimator(estimator)(**params)
        if hasattr(made, "_parameter_constraints") and hasattr(made, "_validate_params"):
            made._validate_params()
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from error
    except TypeError as error:
        if complete:
            raise ConfigError(f"{where}: {error}") from error
    except Exception:
        return
