"""Tables of cost, failures, methods and data."""

import dataclasses

import pytest

from tests.workflow.report.tables.rows import row_of
from workflow.lib.report.tables.scores import all_tables
from workflow.lib.report.tables.setup import data_table, search_readings, seconds_cell
from workflow.lib.results.text import ranges


def test_failures_are_grouped_with_their_log(tables):
    table = tables["failures"]
    first, second, *absent = table.rows
    texts = [cell.text for cell in first]
    assert texts[:5] == ["A→D", "FMA-F †", "error", "6", "all 6"]
    assert texts[5].startswith("AlignmentError: 'rank' <b>0</b> | of 40 second line")
    assert texts[6] == "logs/align/example/amazon-dslr/fma_f.*.log"
    assert [cell.text for cell in second][2:5] == ["out of time", "2", "4–5"]
    assert absent[0][1].text == "all"
    assert sum(int(row[3].value) for row in table.rows) == 6 + 2 + 5 * 6 + 3 * 6


def test_failures_name_the_settings(varied):
    rows = all_tables(varied)["failures"].rows
    settings = {tuple(cell.text for cell in row[1:4]) for row in rows}
    assert ("FMA-F", "100", "error") in settings
    assert ("FMA-I", "20", "out of time") in settings
    assert ("all", "all 8", "data not available") in settings


def test_methods_show_the_parameters_of_the_experiment(tables):
    fma = row_of(tables["methods"], "FMA-I")
    assert fma["Parameters"].text == "level='instance', n_components=40, n_neighbors=4"
    assert fma["Labels seen"].text == "source and visible target"
    assert row_of(tables["methods"], "No adaptation")["Parameters"].text == "defaults"


def test_a_varied_parameter_is_not_shown_with_its_default(varied):
    table = all_tables(varied)["methods"]
    parameters = row_of(table, "FMA-I")["Parameters"].text
    assert parameters == "n_components varied, level='instance', n_neighbors=4"


def test_data_says_what_is_unavailable(tables):
    assert row_of(tables["data"], "W")["Remarks"].text == "webcam.mat is unavailable: gone"
    assert row_of(tables["data"], "A")["Samples"].text == "1,000"


def test_data_shows_the_sizes_of_loaded_domains_that_state_none(view):
    name = str(view.experiment.tasks[0].target)
    dataset, domain = name.split(".")
    stated = view.suite.datasets[dataset]["domains"][domain]
    datasets = {**view.suite.datasets}
    bare = {key: value for key, value in stated.items() if key not in ("samples", "features")}
    changed = {**datasets[dataset]["domains"], domain: bare}
    datasets[dataset] = {**datasets[dataset], "domains": changed}
    suite = dataclasses.replace(view.suite, datasets=datasets)
    sizes = {name: {"samples": 1234, "features": 7}}
    shown = data_table(dataclasses.replace(view, suite=suite, sizes=sizes))
    row = next(row for row in shown.rows if row[1].text == name)
    assert [cell.text for cell in row[2:4]] == ["1,234", "7"]


def test_timing_states_medians_failures_and_a_busy_machine(tables):
    table = tables["timing"]
    methods = [row[1].text for row in table.rows]
    assert methods == ["SMA", "FMA-I", "FMA-F †"]
    assert table.rows[0][6].text == "1.10"
    assert table.rows[2][3].text == "out of time"
    assert any("not quiet" in note and "2 of 11 repeats" in note for note in table.notes)


def test_a_searched_reading_marks_its_method_and_says_what_was_tried(view):
    assert [view.method_label(name) for name in ("fma_i", "fma_f")] == ["FMA-I", "FMA-F †"]
    assert search_readings(view) == ["FMA-F, the reading of its published column: about 40."]


@pytest.mark.parametrize(
    ("numbers", "text"), [([0, 1, 2, 5], "0–2, 5"), ([3], "3"), ([], ""), ([1, 3], "1, 3")]
)
def test_ranges(numbers, text):
    assert ranges(numbers) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.00041, "0.000410"), (1.3, "1.30"), (123.4, "123"), (999.6, "1000"), (4321.0, "4321")],
)
def test_seconds_have_three_digits(seconds, text):
    assert seconds_cell(seconds).text == text
