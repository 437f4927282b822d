"""Notes and findings are templates over the records; no number of ours is typed into them."""

import dataclasses
import itertools
import math
import re

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.workflow.report_example import record, varied_view
from tests.workflow.results.test_audit import PAIRS, PUBLISHED, column_of, make_view
from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.suite import ConfigError, load_suite
from workflow.lib.results.audit import audit, notes
from workflow.lib.results.records import COLUMNS
from workflow.lib.results.sentences import Quantities, SentenceError
from workflow.lib.results.set_values import set_numbers
from workflow.lib.results.views import ExperimentView, StudyView

FILES = sorted((PROJECT / "config/experiments").glob("*.yaml"))
SUITE = load_suite(PROJECT)
DANN_ROWS = ["→".join(pair) for pair in itertools.permutations("BDEK", 2)]
QUOTED = re.compile(r"\"[^\"]*\"")
MARKED = re.compile(r"\b(?:printed|setting)\(\"[^\"]*\"(?:, \"[^\"]*\")*\)")


def texts(raw):
    """The texts of an experiment file that are templates, by their key."""
    audited = raw.get("audit", {})
    yield "notes", raw.get("notes", "")
    yield "audit.reading", audited.get("reading", "")
    for name, column in audited.get("columns", {}).items():
        yield f"audit.columns.{name}.note", column.get("note", "")
    for finding in audited.get("findings", []):
        yield "audit.findings", f"{finding['title']} {finding['text']}"


def plain_texts(raw):
    """The texts of an experiment file that are no templates, by their key."""
    audited = raw.get("audit", {})
    yield "title", raw["title"]
    yield "question", raw["question"]
    yield "audit.stated", audited.get("stated", "")
    for name, column in audited.get("columns", {}).items():
        yield f"audit.columns.{name}.published_only", column.get("published_only", "")


def typed_numbers(text):
    """Decimals, percentages and points in a text that are not marked as printed or set."""
    return re.findall(r"\d+\.\d+|\d+(?=(?: to \d+)? (?:points|%|percent))", MARKED.sub("", text))


def numbers_of_ours(text, known):
    """Those of a text that is no template, without what it quotes and what is known to be set."""
    return [number for number in typed_numbers(QUOTED.sub("", text)) if float(number) not in known]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_number_is_typed(path):
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    found = {key: numbers for key, text in texts(raw) if (numbers := typed_numbers(text))}
    assert not found, "write a quantity of the records, or printed(…) if the paper prints it"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_number_of_ours_is_typed_where_nothing_is_filled_in(path):
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    known = set_numbers(SUITE, SUITE.experiments[path.stem])
    found = {key: told for key, text in plain_texts(raw) if (told := numbers_of_ours(text, known))}
    assert not found, "tell it in the notes as a quantity; what a paper says stands in quotes"


def test_a_typed_number_is_caught():
    assert typed_numbers('Ours is 48.9, theirs {{ printed("48.7") }}.') == ["48.9"]
    assert typed_numbers("Ours is {{ 48.9 }}.") == ["48.9"]
    assert typed_numbers("It costs 16 to 51 points.") == ["16", "51"]
    assert typed_numbers('19 % of all, 2 percent, {{ printed("10") }} % of theirs.') == ["19", "2"]
    assert numbers_of_ours('α "decreased to α = 1.0", 0.2 here, 48.9 found.', {0.2}) == ["48.9"]


def without_data():
    """Scores of two tasks; two have no data."""
    gone = {"status": "data_unavailable", "error": "no file"}
    scores = {(f"{source}-{target}", "fma_i"): [gone] * 3 for source, target in PAIRS}
    scores["amazon-caltech", "fma_i"] = [0.49, 0.51, 0.52]
    scores["caltech-amazon", "fma_i"] = [0.42, 0.42, 0.42]
    return scores


def test_a_note_is_filled_in_from_the_records(tmp_path):
    note = (
        'A→C: {{ ours("fma_i", "A→C") }} against {{ published("fma_i", "A→C") }}, '
        '{{ difference("fma_i", "A→C")|signed }}; {{ rows("fma_i", "close") }} of '
        '{{ rows("fma_i") }} rows close; without adaptation '
        '{{ accuracy("plain", "A→C") }}, printed {{ printed("48.7") }}, '
        "off by {{ (-0.04)|points }}."
    )
    view = make_view(tmp_path, {"fma_i": {"method": "fma_i", "note": note}}, without_data())
    column = column_of(view, "fma_i")
    assert column.note == (
        "A→C: 50.7 against 50.0, +0.7; 2 of 2 rows close; without adaptation 20.0, printed 48.7, "
        "off by 0.0."
    )


def test_a_row_may_be_one_unit_of_the_last_printed_digit_off(tmp_path):
    scores = {(f"{s}-{t}", "fma_i"): [0.5] * 3 for s, t in PAIRS}
    scores["amazon-caltech", "fma_i"], scores["caltech-amazon", "fma_i"] = [0.501] * 3, [0.4011] * 3
    view = make_view(tmp_path, {"fma_i": {"method": "fma_i"}}, scores)
    columns = {column.name: column for column in audit(view).columns}
    off = {row.label: round(row.difference, 2) for row in columns["fma_i"].judged}
    assert (off["A→C"], off["C→A"]) == (0.1, 0.11)
    assert Quantities(view, columns).within_a_digit("fma_i") == 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_count_of_rows_within_a_digit_is_told_as_such(path):
    said = [text for _, text in texts(yaml.safe_load(path.read_text(encoding="utf-8")))]
    for text in filter(lambda text: "within_a_digit(" in text, said):
        assert "within one unit of the last printed digit" in " ".join(text.split())


def test_what_the_records_do_not_have_is_not_made_up(tmp_path):
    note = '{{ ours("fma_i", "W→D") }} and {{ accuracy("fma_i", "D→W") }}, {{ accuracy("fma_i") }}'
    column = column_of(make_view(tmp_path, {"fma_i": {"method": "fma_i", "note": note}}), "fma_i")
    assert column.note == "(not available) and (not available), (not available)"


@pytest.mark.parametrize(
    "quantity", ["ours", "difference", "gap", "rows", "within_a_digit"], ids=str
)
def test_a_column_with_failed_trials_has_no_number_of_its_own(tmp_path, quantity):
    """Its mean over the rows that are left stood beside the printed mean over all of them."""
    note = f'{{{{ {quantity}("fma_i") }}}}, A→C {{{{ {quantity_of_a_row(quantity)} }}}}'
    columns = {"fma_i": {"method": "fma_i", "note": note}}
    # A row with a failed trial counts where the paper prints it.
    assert not column_of(make_view(tmp_path / "without", columns), "fma_i").failed
    view = make_view(tmp_path, columns, published=f"{PUBLISHED}D,W,fma_i,20.0,\n")
    assert column_of(view, "fma_i").failed
    assert column_of(view, "fma_i").note.startswith("(not available), A→C ")
    assert column_of(view, "fma_i").note.count("(not available)") == 1


def quantity_of_a_row(quantity):
    whole = quantity in ("gap", "rows", "within_a_digit")
    return 'published("fma_i", "A→C")' if whole else f'{quantity}("fma_i", "A→C")'


@pytest.mark.parametrize(
    ("note", "message"),
    [
        ('{{ ours("fma_x") }}', "unknown column 'fma_x'. Did you mean 'fma_i'"),
        ('{{ accuracy("plane") }}', "unknown method 'plane'. Did you mean 'plain'"),
        ('{{ ours("fma_i", "A→X") }}', "unknown row 'A→X'"),
        ("{{ winner }}", "'winner' is undefined"),
        ("{{ ours( }}", "unexpected"),
        ("{{ printed.__globals__ }}", "unsafe"),
    ],
)
def test_a_wrong_sentence_names_its_place(tmp_path, note, message):
    view = make_view(tmp_path, {"fma_i": {"method": "fma_i", "note": note}})
    with pytest.raises(SentenceError, match=r"example.yaml: audit.columns.fma_i.note: ") as caught:
        audit(view)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ('difference("fma_i", "C→A") > 1', True),
        ('difference("fma_i", "C→A") > 3', False),
        # No record decides it.
        ('difference("fma_i", "W→D") > 1', None),
        ('not difference("fma_i", "W→D") > 1', None),
    ],
)
def test_a_finding_holds_only_as_the_records_say(tmp_path, when, holds):
    finding = {"title": "Ours is higher", "when": when, "text": "By {{ difference('fma_i') }}."}
    columns = {"fma_i": {"method": "fma_i"}}
    (found,) = audit(make_view(tmp_path, columns, without_data(), findings=[finding])).findings
    assert (found.title, found.holds, found.text) == ("Ours is higher", holds, "By 1.3.")


def test_a_study_has_no_quantities_but_what_is_printed_or_set():
    view = StudyView(SUITE.experiments["mmdt_figure2"], SUITE)
    assert "its 53.14, 57.53 and 59.21 percent" in " ".join(notes(view).split())
    said = dataclasses.replace(view.experiment, notes='{{ accuracy("sma") }}')
    with pytest.raises(SentenceError, match="'accuracy' is undefined"):
        notes(dataclasses.replace(view, experiment=said))


def made_up(name, trials=2):
    """A view of one of the project's experiments with records of chance."""
    experiment, rng = SUITE.experiments[name], np.random.default_rng(0)
    if experiment.study:
        return StudyView(experiment, SUITE)
    rows = [
        record(experiment, (task, method, classifier, setting, trial), rng.random())
        for task in experiment.tasks
        for method in experiment.methods
        for classifier in experiment.classifiers
        for setting in experiment.settings
        for trial in range(trials)
    ]
    frame = pd.DataFrame(rows).assign(warnings=None).reindex(columns=COLUMNS)
    return ExperimentView(experiment, SUITE, frame.astype(COLUMNS))


def as_printed(name, off=None):
    """Findings on records of one trial that are the printed numbers, or some points off."""
    view, off = made_up(name, trials=1), off or {}
    answers = {
        (row.label, view.experiment.audit["columns"][column.name]["method"]): row.published
        for column in audit(view).columns
        if column.method_label
        for row in column.rows
    }
    labels = {task.name: view.task_label(task) for task in view.experiment.tasks}
    records = view.records.copy()
    for place, cell in records.iterrows():
        label = labels[cell["task"]]
        if (number := answers.get((label, cell["method"]))) is not None:
            records.loc[place, "accuracy"] = (number + off.get(label, 0)) / 100
    view = dataclasses.replace(view, records=records)
    return {finding.title: finding for finding in audit(view).findings}


def test_a_column_that_fits_is_no_evidence_against_that_it_fits():
    findings = as_printed("fma_table1_full_source")
    assert findings["MEDA and CORAL of FMA's Table 1 were copied from another protocol"].holds
    undecided = "In which protocol the GFK column of FMA's Table 1 was measured is undecided"
    assert not findings[undecided].holds


def test_a_finding_names_the_row_that_is_its_exception():
    (near,) = as_printed("amazon_dann", {"D→K": 3.6}).values()
    assert near.holds
    assert "11 of 12 rows are reproduced; on D→K ours is +3.6 points" in near.text
    (far,) = as_printed("amazon_dann", dict.fromkeys(DANN_ROWS, 0.9)).values()
    assert not far.holds
    (equal,) = as_printed("amazon_dann").values()
    assert not equal.holds, "without an exception there is none to name"


def test_a_finding_on_one_column_has_a_title_of_one():
    (title,) = (title for title in as_printed("fma_table1") if "SSA" in title)
    assert title == "The SSA column of FMA's Table 1 behaves like error rates printed as accuracies"


@pytest.mark.parametrize("name", SUITE.experiments)
def test_every_sentence_of_the_project_can_be_rendered(name):
    view = made_up(name)
    assert "{{" not in notes(view)
    if not view.experiment.audit:
        return
    checked = audit(view)
    assert "{{" not in checked.reading
    for text in [*(f.text for f in checked.findings), *(c.note for c in checked.columns)]:
        assert "{{" not in text
        assert "not available" not in text


def test_an_accuracy_is_told_at_one_value_of_what_is_varied():
    vary = {"parameter": "k", "of": "methods", "values": [1, 2], "label": "k"}
    scores = {("amazon-dslr", "plain", value): [0.2 * value] * 3 for value in (1, 2)}
    told = Quantities(varied_view(scores, 3, vary, [("amazon", "dslr")]), {})
    assert told.accuracy("plain", at="1") == pytest.approx(20)
    assert told.accuracy("plain", at="2.0") == pytest.approx(40)
    for at in ("3", None):
        with pytest.raises(ConfigError, match=f"at={at} is none of 1, 2"):
            told.accuracy("plain", at=at)


def test_values_at_which_a_method_is_ahead_are_counted():
    vary = {"parameter": "k", "of": "methods", "values": [1, 2, 3], "label": "k"}
    scores = {
        ("amazon-dslr", method, value): [accuracy] * 3
        for method, line in {"plain": (0.2, 0.4, 0.6), "fma_i": (0.3, 0.4, 0.5)}.items()
        for value, accuracy in zip((1, 2, 3), line, strict=True)
    }
    told = Quantities(varied_view(scores, 3, vary, [("amazon", "dslr")]), {})
    assert told.ahead("fma_i", "plain") == 1
    assert told.ahead("plain", "fma_i") == 1
    scores["amazon-dslr", "plain", 3] = [0.6, None, 0.6]
    told = Quantities(varied_view(scores, 3, vary, [("amazon", "dslr")]), {})
    assert math.isnan(told.ahead("fma_i", "plain"))


def test_tasks_on_which_a_method_is_the_faster_one_are_counted(tmp_path):
    view = make_view(tmp_path, {"fma_i": {"method": "fma_i"}})
    tasks = [task.name for task in view.experiment.tasks[:2]]
    experiment = dataclasses.replace(
        view.experiment, timing={"tasks": tasks, "methods": ["fma_i", "plain"], "repeats": 1}
    )
    seconds = {"fma_i": [1.0, 3.0], "plain": [2.0, 2.0]}
    timing = [
        {"task": task, "method": method, "status": "ok", "cpu_seconds": own}
        for method, known in seconds.items()
        for task, own in zip(tasks, known, strict=True)
    ]
    view = dataclasses.replace(view, experiment=experiment, timing=timing)
    assert Quantities(view, {}).faster("fma_i", "plain") == 1
    told = Quantities(dataclasses.replace(view, timing=timing[1:]), {})
    assert math.isnan(told.faster("fma_i", "plain"))
    assert told.missing == ["the seconds of fma_i and plain"]
