"""Records say with which settings they were made, and what is another by now."""

import copy
import dataclasses

import pytest

from tests.workflow.report_example import make_experiment, view_of
from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.suite import load_suite
from workflow.lib.report.reference import made_otherwise
from workflow.lib.results.asked import differing, sums_of
from workflow.lib.results.records import load_asked, write_results

SUITE = load_suite(PROJECT)
TUNED = SUITE.experiments["tuned_quick"]


def changed(kind, name, **fields):
    entries = copy.deepcopy(getattr(SUITE, kind))
    entries[name] |= fields
    return dataclasses.replace(SUITE, **{kind: entries})


@pytest.mark.parametrize(
    ("kind", "name", "fields", "expected"),
    [
        ("methods", "jda", {"label": "in other words"}, []),
        ("methods", "jda", {"search": {"params": {}}}, ["jda"]),
        ("methods", "sma", {"search": {"params": {}}}, []),  # not in the experiment
        ("protocols", TUNED.protocol, {"description": "in other words"}, []),
        ("protocols", TUNED.protocol, {"seed": 7}, ["trials"]),
    ],
)
def test_what_is_another_by_now_is_named(kind, name, fields, expected):
    asked = sums_of(SUITE, TUNED)
    assert differing(SUITE, TUNED, asked) == []
    suite = changed(kind, name, **fields)
    assert differing(suite, suite.experiments["tuned_quick"], asked) == expected


def test_results_say_it_and_the_reference_refuses_others(tmp_path):
    pair, scores = ("amazon", "dslr"), [0.2, 0.4]
    made = make_experiment([pair], ("plain", "sma"))
    view = view_of(made, {("amazon-dslr", name): scores for name in made.methods}, 2)
    folder = tmp_path / view.name
    folder.mkdir()
    write_results(folder, view.experiment, view.records, view.suite)
    assert load_asked(folder) == sums_of(view.suite, view.experiment)
    assert made_otherwise(view.suite, tmp_path) == []
    methods = copy.deepcopy(view.suite.methods)
    first = view.methods[0]
    methods[first]["params"] = {"another": 1}
    suite = dataclasses.replace(view.suite, methods=methods)
    assert made_otherwise(suite, tmp_path) == [f"{folder} was made with other settings of {first}"]
