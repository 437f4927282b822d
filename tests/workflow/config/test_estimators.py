"""Estimators and studies named in the configuration exist and take their parameters."""

import dataclasses
import os
import sys

import pytest

from tests.workflow.report_example import make_experiment, make_suite, study_view
from workflow.lib.config import estimators
from workflow.lib.config.estimators import check_estimators
from workflow.lib.config.reading import ConfigError


@pytest.fixture
def suite():
    """Two methods and a classifier, all of them real."""
    made = make_suite(make_experiment([("amazon", "dslr")], ("plain", "sma")), 2)
    classifiers = {"logistic": {"estimator": "sklearn.linear_model:LogisticRegression"}}
    return dataclasses.replace(made, classifiers=classifiers)


def changed(suite, **entry):
    methods = {**suite.methods, "sma": {**suite.methods["sma"], **entry}}
    return dataclasses.replace(suite, methods=methods)


def test_a_right_configuration_passes(suite):
    assert check_estimators(suite) == []


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"estimator": "domain_alignment:SMAA"}, r"methods\.sma\.estimator: unknown class .*'SMA'"),
        ({"estimator": "no_such_package:X"}, r"methods\.sma\.estimator: .*package\.module:Class"),
        ({"params": {"levl": "instance"}}, r"methods\.sma\.params: .*'levl'.* mean 'level'"),
        ({"params": {"alpha": -1}}, r"methods\.sma\.params: The 'alpha' parameter .* Got -1"),
        (
            {"params": {"alpha": 0.5}, "search": {"params": {"alpha": [0.5, -1]}}},
            r"methods\.sma\.search\.params\.alpha: The 'alpha' parameter .* Got -1",
        ),
        (
            {"search": {"between_features": {"alpha": -1}}},
            r"methods\.sma\.search\.between_features\.alpha: The 'alpha' parameter .* Got -1",
        ),
        (
            {"search": {"between_features": {"alpa": 1}}},
            r"methods\.sma\.search\.between_features: .*'alpa'",
        ),
        (
            {"estimator": "sklearn.ensemble:VotingClassifier", "params": {}},
            r"experiments/example\.yaml: overrides\.sma: .*missing 1 required .*'estimators'",
        ),
    ],
)
def test_a_wrong_entry_is_named(suite, entry, words):
    with pytest.raises(ConfigError, match=words):
        check_estimators(changed(suite, **entry))


def test_overrides_and_varied_parameters_are_checked(suite):
    (experiment,) = suite.experiments.values()
    vary = {"of": "methods", "parameter": "n_neighbours", "values": [1, 2], "label": "k"}
    negative = {**vary, "parameter": "alpha", "values": [0.5, -1]}
    for change, words in (
        ({"overrides": {"sma": {"alfa": 1}}}, r"overrides\.sma: .*'alfa'.* mean 'alpha'"),
        ({"vary": vary}, r"vary\.parameter, for method .*'n_neighbours'"),
        ({"overrides": {"sma": {"alpha": -1}}}, r"overrides\.sma: The 'alpha' parameter .* Got -1"),
        ({"vary": negative, "methods": ("sma",)}, r"vary\.values, for method sma: .* Got -1"),
    ):
        wrong = dataclasses.replace(experiment, **change)
        with pytest.raises(ConfigError, match=words):
            check_estimators(dataclasses.replace(suite, experiments={experiment.name: wrong}))


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"params": {"C": -1}}, r"classifiers\.logistic\.params: The 'C' parameter .* Got -1"),
        ({"params": {"D": 1}}, r"classifiers\.logistic\.params: .*'D'"),
        ({"search": {"C": [1, -1]}}, r"classifiers\.logistic\.search\.C: The 'C' .* Got -1"),
        ({"search": {"D": [1]}}, r"classifiers\.logistic\.search: .*'D'"),
    ],
)
def test_classifiers_that_candidates_have_are_checked(suite, entry, words):
    classifiers = {"logistic": {**suite.classifiers["logistic"], **entry}}
    with pytest.raises(ConfigError, match=r"config/tuning\.yaml: " + words):
        check_estimators(dataclasses.replace(suite, tuning={"classifiers": classifiers}))


def test_what_an_experiment_gives_may_be_missing_in_the_entry(suite):
    (experiment,) = suite.experiments.values()
    entry = {"estimator": "sklearn.ensemble:VotingClassifier", "params": {}}
    given = dataclasses.replace(experiment, overrides={"sma": {"estimators": []}})
    made = dataclasses.replace(changed(suite, **entry), experiments={"example": given})
    assert check_estimators(made) == []


@pytest.mark.parametrize("raised", ['RuntimeError("no GPU")', 'ImportError("no such package")'])
def test_what_else_a_class_raises_when_it_is_made_is_for_its_trials(
    suite, raised, tmp_path, monkeypatch
):
    (tmp_path / "demanding.py").write_text(
        f"class X:\n    def __init__(self, alpha=1):\n        raise {raised}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "demanding", raising=False)
    assert check_estimators(changed(suite, estimator="demanding:X", params={"alpha": 2})) == []


def test_a_classifier_of_candidates_that_cannot_run_concerns_the_boards_alone(
    suite, tmp_path, monkeypatch
):
    (tmp_path / "broken_classifier.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    tuning = {"classifiers": {"mine": {"estimator": "broken_classifier:X"}}}
    (message,) = check_estimators(dataclasses.replace(suite, tuning=tuning))
    assert "config/tuning.yaml: classifiers.mine: " in message
    assert message.endswith("will fail: none")


def test_a_class_without_ranges_judges_in_its_trials(suite):
    svc = {"estimator": "domain_alignment:CrossValidatedSVC", "params": {"cv": 0}}
    assert check_estimators(dataclasses.replace(suite, classifiers={"svm": svc})) == []


def test_parameters_of_a_study_are_those_of_its_run(suite):
    view = study_view()
    study = {**view.experiment.study, "module": "fma.filtering", "params": {"n_node": 3}}
    experiment = dataclasses.replace(view.experiment, study=study)
    wrong = dataclasses.replace(suite, experiments={experiment.name: experiment})
    with pytest.raises(ConfigError, match=r"study\.params: .*'n_node'.* mean 'n_nodes'"):
        check_estimators(wrong)


def test_a_method_that_cannot_run_concerns_its_experiments_alone(suite, tmp_path, monkeypatch):
    (tmp_path / "broken_estimator.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    (message,) = check_estimators(changed(suite, estimator="broken_estimator:X", params={}))
    assert "methods.sma: " in message
    assert "broken_estimator.py, line 1: ZeroDivisionError" in message
    assert message.endswith(f"will fail: {next(iter(suite.experiments))}")


def test_a_class_that_is_misspelt_is_answered_with_the_nearest(suite):
    entry = {"label": "x", "estimator": "domain_alignment:CORALL", "sees_labels": "none"}
    wrong = dataclasses.replace(suite, methods={**suite.methods, "x": entry})
    with pytest.raises(ConfigError, match=r"unknown class of domain_alignment 'CORALL'.*'CORAL'"):
        check_estimators(wrong)


def test_a_selector_that_there_is_not_is_named_before_the_run(suite):
    selectors = {"confidenc": {"label": "x", "sees_labels": "none"}}
    wrong = dataclasses.replace(suite, tuning={**suite.tuning, "selectors": selectors})
    with pytest.raises(ConfigError, match="selectors: unknown selector 'confidenc'"):
        check_estimators(wrong)


def test_what_passed_is_checked_again_where_anything_that_it_hangs_on_has_changed(
    suite, tmp_path, monkeypatch
):
    """Entries, the project's code, the installed packages, and modules that stand beside them."""
    for name, content in (
        ("methods/domain_alignment/a.py", "1"),
        ("workflow/b.py", "2"),
        ("purelib/c.py", "3"),
        ("beside_the_project.py", "4"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(estimators, "PROJECT", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    paths = {"purelib": str(tmp_path / "purelib")}
    monkeypatch.setattr(estimators.sysconfig, "get_paths", lambda: paths)
    suite = changed(suite, estimator="beside_the_project:Mine")
    first = estimators._made_of(suite)
    assert estimators._made_of(suite) == first
    keys = [first]
    for name in ("methods/domain_alignment/a.py", "workflow/b.py", "beside_the_project.py"):
        (tmp_path / name).write_text("changed")
        keys.append(estimators._made_of(suite))
    (tmp_path / "purelib/d.py").touch()
    os.utime(tmp_path / "purelib", (0, 0))
    keys.append(estimators._made_of(suite))
    for part in ("methods", "classifiers", "tuning", "experiments"):
        known = getattr(suite, part)
        more = dataclasses.replace(suite, **{part: {**known, "more": NEW[part]}})
        keys.append(estimators._made_of(more))
    assert len(set(keys)) == len(keys)


NEW = {
    "methods": {"estimator": "domain_alignment:TCA"},
    "classifiers": {"estimator": "sklearn.svm:SVC"},
    "tuning": {},
    "experiments": None,
}
