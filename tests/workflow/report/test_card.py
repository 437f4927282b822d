import dataclasses
import json

import pytest

from tests.workflow.report_example import rich_view, study_view
from workflow.lib.report.answer import answer_lines
from workflow.lib.report.card import card, write_card
from workflow.lib.results.audit import audit


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    return rich_view(tmp_path_factory.mktemp("root"), trials=2, classifiers=("logistic", "one_nn"))


def test_the_headline_is_the_first_answer_of_the_page(view, tmp_path):
    write_card(view, tmp_path / "card.json")
    written = json.loads((tmp_path / "card.json").read_text())
    checked = audit(view)
    first = answer_lines(view, checked)[0]
    assert written["headline"] == f"{first.question} {first.answer}"
    columns = checked.columns if checked else ()
    assert written["verdicts"] == [[c.label, c.verdict] for c in columns if c.method_label]


def test_seconds_are_counted_once_for_all_classifiers(view):
    doubled = dataclasses.replace(view, records=view.records.assign(seconds=2.0))
    n_trials = len(doubled.records.groupby(["task", "method", "trial"]))
    assert card(doubled)["seconds"] == 2.0 * n_trials


def test_a_study_has_its_finding_and_leaves_its_seconds_to_its_own_file():
    found = card(study_view())
    assert found["headline"]
    assert (found["verdicts"], found["seconds"]) == ([], None)
