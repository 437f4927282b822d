"""A value that some entry marks as found by search is marked wherever else it stands.

Names of entries are not listed here, so that a new entry is asked too.
"""

import ast
import dataclasses
import functools
import inspect
import itertools
from collections.abc import Hashable

import pytest

from workflow.lib.config.addresses import PROJECT, resolve_estimator, study_module
from workflow.lib.config.searches import searched
from workflow.lib.config.suite import load_suite

SUITE = load_suite(PROJECT)
STUDIES = [name for name, asked in SUITE.experiments.items() if asked.study]
# Those of tuned experiments choose their settings themselves.
STATED = [name for name, e in SUITE.experiments.items() if not e.study and not e.tuning]
TUNED = [name for name, e in SUITE.experiments.items() if e.tuning]
MODULES = sorted((PROJECT / "workflow/studies").rglob("*.py"))


def class_of(method):
    return resolve_estimator(SUITE.methods[method]["estimator"])


def family(method):
    """Classes whose values a method has: its own, and that of the entry that it is a variant of."""
    return {class_of(method), class_of(SUITE.methods[method].get("variant_of", method))}


def settings_of(entry):
    """All parameters of an entry, defaults of its class included."""
    return resolve_estimator(entry["estimator"])(**entry.get("params", {})).get_params()


def data_of(experiment):
    """Data sets that an experiment or a study scores."""
    if experiment.study:
        return {text.partition(".")[0] for text in experiment.study["domains"]}
    return {ref.dataset for task in experiment.tasks for ref in task.domains}


@functools.cache
def found_on():
    """Data sets on which each (class, parameter, value) was found; those of an entry, on any.

    A mark on a list of candidates does not say which of them was found.
    """
    found = {}
    for method, entry in SUITE.methods.items():
        values = single(settings_of(entry))
        marked = [p for p in entry.get("found_by_search", {}) if p in values]
        found |= {(class_of(method), p, values[p]): set(SUITE.datasets) for p in marked}
    for name, asked in SUITE.experiments.items():
        of_methods = {m: p for m, p in asked.found_by_search.items() if m in SUITE.methods}
        for method, marked in of_methods.items():
            values = single(asked.study["params"] if asked.study else overridden(name, method))
            for p in marked:
                key = class_of(method), p, values[p]
                found[key] = found.get(key, set()) | data_of(asked)
    return found


def overridden(experiment, method):
    return settings_of(SUITE.method(experiment, method))


def single(values):
    """Those that are no list."""
    return {name: value for name, value in values.items() if isinstance(value, Hashable)}


def found_in(estimators, values):
    """Those parameters that have, or may choose, a value which was found for one of the classes."""
    known = [
        (name, one)
        for name, value in values.items()
        for one in (value if isinstance(value, list | tuple) else [value])
        if isinstance(one, Hashable)
    ]
    return {name for name, value in known for e in estimators if (e, name, value) in found_on()}


@pytest.mark.parametrize("name", SUITE.methods)
def test_in_every_entry_of_the_class(name):
    entry = SUITE.methods[name]
    marked = set(entry.get("found_by_search", {}))
    assert found_in(family(name), settings_of(entry)) <= marked


@pytest.mark.parametrize("name", STATED)
def test_in_every_experiment(name):
    varied = SUITE.experiments[name].varies("methods") or {"parameter": None}
    for method in SUITE.experiments[name].methods:
        known = {*searched(SUITE, name, method), varied["parameter"]}
        assert found_in(family(method), overridden(name, method)) <= known, method


def in_equal_steps(values):
    """Whether each value is the same multiple of the one before: a range, whatever was found."""
    if not all(isinstance(value, int | float) and value > 0 for value in values):
        return False
    return len({round(b / a, 9) for a, b in itertools.pairwise(values)}) == 1


def unmarked_candidates(suite, experiment, method):
    """Parameters of a tuned method with a candidate that was found on this data and has no mark."""
    asked = suite.experiments[experiment]
    searches = suite.methods[method]["search"].get("params", {})
    alone = [{ref.dataset for ref in task.domains} for task in asked.tasks]
    return {
        name
        for name, values in searches.items()
        if not in_equal_steps(values) and name not in searched(suite, experiment, method)
        for value in values
        for e in family(method)
        if any(data <= found_on().get((e, name, value), set()) for data in alone)
    }


@pytest.mark.parametrize("name", TUNED)
def test_among_the_candidates_of_every_tuned_experiment(name):
    for method in SUITE.experiments[name].methods:
        assert not unmarked_candidates(SUITE, name, method), method


def test_a_candidate_without_its_mark_is_caught():
    name = "tuned_no_labels_surf"
    entry = SUITE.methods["tkl"]
    search = {key: value for key, value in entry["search"].items() if key != "found_by_search"}
    methods = {**SUITE.methods, "tkl": {**entry, "search": search}}
    suite = dataclasses.replace(SUITE, methods=methods)
    assert unmarked_candidates(suite, name, "tkl") == {"zeta"}
    assert not unmarked_candidates(suite, name, "tca")  # 0.1, found on COIL, is a step of ten


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
    known = {(parameter, value) for _, parameter, value in found_on()}
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
    classes = {estimator.__name__: estimator for estimator, _, _ in found_on()}
    known = {(parameter, value) for _, parameter, value in found_on()}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in classes:
            estimator = classes[node.func.id]
            yield from found_in({estimator}, constants(node, estimator))
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
