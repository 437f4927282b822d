"""A value that some entry marks as found by search is marked wherever else it stands.

Names of entries are not listed here, so that a new entry is asked too.
"""

import ast
import functools
import inspect
from collections.abc import Hashable

import pytest

from workflow.lib.config.addresses import PROJECT, resolve_estimator, study_module
from workflow.lib.config.searches import searched
from workflow.lib.config.suite import load_suite

SUITE = load_suite(PROJECT)
STUDIES = [name for name, asked in SUITE.experiments.items() if asked.study]
# Those of tuned experiments choose their settings themselves.
STATED = [name for name, e in SUITE.experiments.items() if not e.study and not e.tuning]
MODULES = sorted((PROJECT / "workflow/studies").rglob("*.py"))


def class_of(method):
    return resolve_estimator(SUITE.methods[method]["estimator"])


def settings_of(entry):
    """All parameters of an entry, defaults of its class included."""
    return resolve_estimator(entry["estimator"])(**entry.get("params", {})).get_params()


@functools.cache
def found_values():
    """(Class, parameter, value) of everything that some entry marks as found by search."""
    found = set()
    for method, entry in SUITE.methods.items():
        values = settings_of(entry)
        found |= {(class_of(method), p, values[p]) for p in entry.get("found_by_search", {})}
    for name, asked in SUITE.experiments.items():
        for method, marked in asked.found_by_search.items():
            values = asked.study["params"] if asked.study else overridden(name, method)
            found |= {(class_of(method), p, values[p]) for p in marked}
    return found


def overridden(experiment, method):
    return settings_of(SUITE.method(experiment, method))


def found_in(estimator, values):
    """Those parameters of a class that have a value which was found by search for it."""
    known = {name: value for name, value in values.items() if isinstance(value, Hashable)}
    return {name for name, value in known.items() if (estimator, name, value) in found_values()}


@pytest.mark.parametrize("name", SUITE.methods)
def test_in_every_entry_of_the_class(name):
    entry = SUITE.methods[name]
    marked = set(entry.get("found_by_search", {}))
    assert found_in(class_of(name), settings_of(entry)) <= marked


@pytest.mark.parametrize("name", STATED)
def test_in_every_experiment(name):
    varied = SUITE.experiments[name].varies("methods") or {"parameter": None}
    for method in SUITE.experiments[name].methods:
        known = {*searched(SUITE, name, method), varied["parameter"]}
        assert found_in(class_of(method), overridden(name, method)) <= known, method


def scalars(params):
    """(Name, value) of the parameters of a study that belong to no estimator of its own list."""
    for name, value in params.items():
        if isinstance(value, dict) and "estimator" not in value:
            yield from scalars(value)
        elif isinstance(value, Hashable):
            yield name, value


@pytest.mark.parametrize("name", STUDIES)
def test_in_the_parameters_of_every_study(name):
    asked = SUITE.experiments[name]
    marked = {parameter for found in asked.found_by_search.values() for parameter in found}
    known = {(parameter, value) for _, parameter, value in found_values()}
    assert {p for p, value in scalars(asked.study["params"]) if (p, value) in known} <= marked


@pytest.mark.parametrize("name", [n for n in STUDIES if SUITE.experiments[n].found_by_search])
def test_a_study_shows_the_mark_that_its_file_has(name):
    module = study_module(SUITE.experiments[name].study["module"])
    assert "{SEARCH_MARK}" in inspect.getsource(module)


def is_constant(node):
    return isinstance(node, ast.Constant)


def constants(call, estimator):
    """Parameters of a class that a call in a module's source gives as constants."""
    names = list(inspect.signature(estimator).parameters)
    given = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
    return {name: node.value for name, node in given if is_constant(node)}


def typed(source):
    """Values found by search that a module's source types where it makes an estimator."""
    classes = {estimator.__name__: estimator for estimator, _, _ in found_values()}
    known = {(parameter, value) for _, parameter, value in found_values()}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in classes:
            estimator = classes[node.func.id]
            yield from found_in(estimator, constants(node, estimator))
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            given = [(k.value, v.value) for k, v in pairs if is_constant(k) and is_constant(v)]
            yield from (name for name, value in given if (name, value) in known)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_study_types_one_where_its_file_could_not_mark_it(path):
    assert not set(typed(path.read_text("utf-8"))), "make it a parameter of the study's file"


def test_a_typed_one_is_caught():
    assert set(typed("KEMA(10, kernel='linear')")) == {"n_components"}
    assert set(typed("cost = {'C_transform': 1e-3}")) == {"C_transform"}
    assert not set(typed("KEMA(3, kernel='linear')"))
