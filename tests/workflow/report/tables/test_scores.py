import dataclasses
import re

import pytest

from tests.workflow.report.tables.rows import row_of
from tests.workflow.report_example import (
    make_experiment,
    rich_view,
    view_of,
)
from workflow.lib.config.metrics import shown_as
from workflow.lib.config.outputs import table_names
from workflow.lib.config.tasks import DomainRef, Task
from workflow.lib.report.tables.model import (
    to_csv,
    to_latex,
    write_tables,
)
from workflow.lib.report.tables.scores import accuracy_table, all_tables, measures_table


def test_names_are_known_from_the_configuration_alone(view, tables, tmp_path):
    assert list(tables) == table_names(view.experiment)
    written = write_tables(all_tables(view).values(), tmp_path)
    assert sorted(written) == sorted(
        tmp_path / f"{name}.{ending}"
        for name in table_names(view.experiment)
        for ending in ("csv", "md", "tex")
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(p.name for p in written)


def test_one_accuracy_table_per_classifier(tmp_path):
    view = rich_view(tmp_path, trials=2, classifiers=("logistic", "one_nn"))
    names = table_names(view.experiment)
    assert names[:2] == ["accuracy_logistic", "accuracy_entire_target_logistic"]
    assert "tests_one_nn" in names
    assert list(all_tables(view)) == names


def test_mean_deviation_and_bold_print():
    experiment = make_experiment(
        [("amazon", "dslr"), ("dslr", "amazon")], ("plain", "sma", "fma_i")
    )
    late = {"status": "timeout", "error": "late"}
    scores = {
        ("amazon-dslr", "plain"): [0.5, 0.6, 0.7],
        ("amazon-dslr", "sma"): [0.9, 0.9, late],
        ("amazon-dslr", "fma_i"): [0.3, 0.3, 0.3],
        ("dslr-amazon", "plain"): [0.4, 0.4, 0.4],
        ("dslr-amazon", "sma"): [0.4, 0.4, 0.4002],
        ("dslr-amazon", "fma_i"): [0.1, 0.2, 0.3],
    }
    table = accuracy_table(view_of(experiment, scores, 3), "logistic")
    first = row_of(table, "A→D")
    plain = first["No adaptation"]
    assert (plain.text, plain.plus_minus, plain.bold) == ("60.0", "10.0", True)
    assert plain.spread == pytest.approx(10)
    # A mean over part of the trials is never the best, however high.
    assert (first["SMA"].text, first["SMA"].count, first["SMA"].bold) == ("90.0", "2/3", False)
    assert "1 out of time: late" in first["SMA"].title
    second = row_of(table, "D→A")
    # Not separated by the trials: both bold.
    assert second["No adaptation"].bold
    assert second["SMA"].bold
    average = row_of(table, "Average of 1")
    assert average["No adaptation"].text == "40.0"
    assert average["FMA-I"].text == "20.0"
    assert "Not in it: A→D." in table.notes[0]


def test_other_measures_are_averaged_over_the_tasks_of_the_average_row():
    experiment = make_experiment([("amazon", "dslr"), ("dslr", "amazon")], ("plain", "sma"))
    late = {"status": "timeout", "error": "late"}
    scores = {
        ("amazon-dslr", "plain"): [0.5, 0.7],
        ("amazon-dslr", "sma"): [0.9, late],
        ("dslr-amazon", "plain"): [0.4, 0.5],
        ("dslr-amazon", "sma"): [0.5, 0.6],
    }
    table = measures_table(view_of(experiment, scores, 2), "logistic")
    assert [column.label for column in table.columns] == [
        "Method",
        "Accuracy",
        *(metric.title for metric in shown_as("measures") if metric.reads == "predictions"),
    ]
    plain, sma = row_of(table, "No adaptation"), row_of(table, "SMA")
    assert [plain[name].text for name in ("Accuracy", "Macro F1", "Worst class")] == [
        "45.0",
        "43.0",
        "25.0",
    ]
    assert sma["Worst class"].bold
    assert not plain["Worst class"].bold
    assert "average of 1 task" in table.caption
    assert "Not in it: A→D." in table.notes[-2]


def test_measures_of_probabilities_have_a_column_where_there_are_some():
    experiment = make_experiment([("amazon", "dslr")], ("plain", "sma", "fma_i"))
    scores = {("amazon-dslr", method): [0.5] for method in ("plain", "sma", "fma_i")}
    view = view_of(experiment, scores, 1)
    known = view.records["method"].map
    records = view.records.assign(
        log_loss=known({"plain": 2.0, "sma": 0.5}),
        calibration_error=known({"plain": 0.2, "sma": 0.1}),
    )
    table = measures_table(dataclasses.replace(view, records=records), "logistic")
    assert "(%; log loss: no percentage)" in table.caption
    plain, sma = row_of(table, "No adaptation"), row_of(table, "SMA")
    assert (plain["Log loss"].text, plain["Calibration error"].text) == ("2.000", "20.0")
    assert (plain["Log loss"].heat, sma["Log loss"].heat) == (0, 1)
    assert (plain["Log loss"].bold, sma["Log loss"].bold) == (False, True)
    assert row_of(table, "FMA-I")["Log loss"].text == ""
    assert "of log loss and calibration error: the lowest" in table.notes[-1]


def test_absences_and_failures_are_shown(tables):
    table = tables["accuracy"]
    assert {cell.text for cell in row_of(table, "C→W").values()} == {"C→W", "data not available"}
    assert row_of(table, "D→W")["CORAL & co_x"].text == "not applicable"
    failed = row_of(table, "A→D")["FMA-F †"]
    assert (failed.text, failed.count, failed.kind) == ("failed", "0/6", "failed")
    assert "AlignmentError" in failed.title
    assert len(table.rows) == 12


def test_one_trial_has_no_deviation():
    experiment = make_experiment([("amazon", "dslr")], ("plain", "sma"))
    scores = {("amazon-dslr", "plain"): [0.5], ("amazon-dslr", "sma"): [0.6]}
    table = accuracy_table(view_of(experiment, scores, 1), "logistic")
    assert "one trial" in table.caption
    assert row_of(table, "A→D")["SMA"].plus_minus == ""
    (bold,) = [note for note in table.notes if note.startswith("Bold: ")]
    assert bold == "Bold: the highest, which one trial cannot test."
    two = make_experiment([("amazon", "dslr"), ("dslr", "amazon")], ("plain", "sma"))
    scores |= {("dslr-amazon", method): [0.5] for method in ("plain", "sma")}
    notes = accuracy_table(view_of(two, scores, 1), "logistic").notes
    assert any("cannot test; in the average also " in note for note in notes)
    assert row_of(table, "A→D")["SMA"].bold
    assert [cell.bold for cell in table.rows[0][1:]] == [False, True]


def test_a_table_of_measures_says_once_what_they_are(tables):
    table = tables["measures"]
    assert not any(column.title for column in table.columns)
    assert "Balanced accuracy: mean over the classes of the accuracy" in table.notes[0]


def test_comparison_states_its_tasks(tables):
    table = tables["tests"]
    assert any("Compared on 7 of 12 tasks" in note for note in table.notes)
    assert any("Friedman" in note for note in table.notes)
    assert any("share domains" in note for note in table.notes)
    assert row_of(table, "FMA-I")["Better / equal / worse"].text == "7 / 0 / 0"


@pytest.mark.parametrize("name", ["accuracy", "audit_summary", "audit", "tests", "failures"])
def test_no_latex_source_is_left_outside_ascii(tables, name):
    source = to_latex(tables[name])
    assert not set(re.findall(r"[^\x00-\x7f]", source)) - set("éüöäáíóúÉÜÖÄ")


def test_all_sources_beside_the_best_single_one(tmp_path):
    domains = {name: DomainRef("office", name) for name in ("amazon", "dslr", "webcam")}
    pairs = [("amazon", "webcam"), ("dslr", "webcam")]
    joint = Task((domains["amazon"], domains["dslr"]), domains["webcam"])
    experiment = make_experiment(pairs, ("plain", "fma_i"))
    experiment = dataclasses.replace(experiment, tasks=(*experiment.tasks, joint))
    scores = {
        ("amazon-webcam", "plain"): [0.2, 0.4],
        ("dslr-webcam", "plain"): [0.5, 0.7],
        ("amazon+dslr-webcam", "plain"): [0.6, 0.8],
        ("amazon-webcam", "fma_i"): [0.5, 0.5],
        ("dslr-webcam", "fma_i"): [0.9, {"status": "timeout", "error": "late"}],
        ("amazon+dslr-webcam", "fma_i"): [0.4, 0.4],
    }
    table = all_tables(view_of(experiment, scores, 2, root=tmp_path))["sources"]
    rows = [[cell.text for cell in row] for row in table.rows]
    assert rows == [
        ["A+D→W", "No adaptation", "70.0", "60.0", "D", "+10.0"],
        ["A+D→W", "FMA-I", "40.0", "50.0", "A", "−10.0"],
    ]
    plain = make_experiment(pairs, ("plain",))
    assert "sources" not in table_names(plain)
    # Nothing stands beside all sources of a target that has no task with a single one.
    other = Task((domains["amazon"], domains["webcam"]), domains["dslr"])
    assert "sources" not in table_names(dataclasses.replace(plain, tasks=(*plain.tasks, other)))


def test_many_methods_stand_down_the_page_the_best_on_top(crowd):
    table = all_tables(crowd)["accuracy"]
    assert [column.label for column in table.columns] == [
        "Method",
        "Average of 2",
        "A→W",
        "D→W",
        "D→A",
    ]
    assert [row[0].text for row in table.rows] == ["FMA-I", "No adaptation", "SMA"]
    assert [cell.text for cell in table.rows[0][1:]] == ["60.0", "50.0", "60.0", "60.0"]
    assert table.rows[0][2].count == "1/2"
    # Two trials, 20 and 40 points apart, do not separate them.
    assert [row[3].bold for row in table.rows] == [True, True, False]
    assert "paired t test" in table.notes[1]
    assert to_csv(table).startswith("Method,Average of 2,Average of 2 std")


def test_failures_alike_on_several_tasks_are_one_row(crowd):
    rows = [[cell.text for cell in row] for row in all_tables(crowd)["failures"].rows]
    assert rows[0][:2] == ["A→W", "FMA-I"]
    assert rows[1][:4] == ["all 3", "SMA", "not applicable", "6"]
    assert len(rows) == 2


def test_no_two_tables_of_a_page_have_one_caption():
    """They name the regions of the page, also where every classifier has its tables."""
    office = [DomainRef("office", name) for name in ("amazon", "dslr", "webcam")]
    pairs = [("amazon", "webcam"), ("dslr", "webcam")]
    single = make_experiment(pairs, ("plain", "sma"), ("logistic", "one_nn"))
    joint = Task((office[0], office[1]), office[2])
    experiment = dataclasses.replace(single, tasks=(*single.tasks, joint))
    scores = {(t.name, m): [0.4, 0.5] for t in experiment.tasks for m in experiment.methods}
    tables = all_tables(view_of(experiment, scores, 2))
    assert "sources_one_nn" in tables
    captions = [table.caption for table in tables.values()]
    assert len(captions) == len(set(captions))


def test_the_table_of_tests_says_that_its_reference_was_chosen_among_several(view, tables):
    shown = tables["tests"]
    (told,) = [note for note in shown.notes if "by these very scores" in note]
    reference = shown.caption.partition(" against ")[2].partition(";")[0]
    assert told == (
        f"{reference}, with which the others are compared, is the best of 2 baselines by these "
        "very scores."
    )
    one = dataclasses.replace(view.experiment, methods=("plain", "sma", "fma_i"), timing=None)
    alone = all_tables(dataclasses.replace(view, experiment=one))["tests"]
    assert "against No adaptation;" in alone.caption
    assert not any("by these very scores" in note for note in alone.notes)
