"""Check that every estimator and study that the configuration names can be imported and called.

Apart from `workflow.lib.config.suite`, because importing scikit-learn takes a second or more.
"""

import importlib
import inspect
from collections.abc import Iterable

from workflow.lib.config.addresses import resolve_estimator
from workflow.lib.config.suite import OWN, ConfigError, Suite, check_known


def check_estimators(suite: Suite) -> None:
    """Import every estimator named in the configuration and check its parameters' names.

    Raises
    ------
    ConfigError
        At the first that cannot be imported, or that has no such parameter.
    """
    for kind, entries in (("methods", suite.methods), ("classifiers", suite.classifiers)):
        for name, entry in entries.items():
            if entry["estimator"] == OWN:
                continue
            where = f"config/{kind}.yaml: {kind}.{name}"
            accepted = _parameters(where, entry["estimator"])
            _check_params(f"{where}.params", entry.get("params", {}), accepted, entry["estimator"])
    for experiment in suite.experiments.values():
        where = f"config/experiments/{experiment.name}.yaml"
        varied = experiment.varies("methods")
        for method in experiment.methods:
            estimator = suite.methods[method]["estimator"]
            accepted = _parameters(where, estimator)
            params = experiment.overrides.get(method, {})
            _check_params(f"{where}: overrides.{method}", params, accepted, estimator)
            if varied:
                named = f"{where}: vary.parameter, for method {method}"
                _check_params(named, [varied["parameter"]], accepted, estimator)
        if experiment.study:
            _check_study(where, experiment.study)


def _parameters(where: str, estimator: str) -> set[str]:
    try:
        return set(inspect.signature(resolve_estimator(estimator).__init__).parameters) - {"self"}
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"{where}.estimator: {estimator!r} cannot be imported ({error}). "
            "Write it as 'package.module:Class'."
        ) from error


def _check_study(where: str, study: dict) -> None:
    name = f"workflow.studies.{study['module']}"
    try:
        run = importlib.import_module(name).run
    except ImportError as error:
        raise ConfigError(
            f"{where}: study.module: {study['module']!r} cannot be imported ({error}). "
            "It is a module of workflow/studies."
        ) from error
    accepted = set(inspect.signature(run).parameters) - {"domains"}
    _check_params(f"{where}: study.params", study["params"], accepted, name)


def _check_params(where: str, params: Iterable[str], accepted: set[str], estimator: str) -> None:
    for name in params:
        check_known(where, None, name, accepted, f"parameter of {estimator}")
