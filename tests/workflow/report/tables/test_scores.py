import csv
import dataclasses
import io
import re

import pytest

from tests.workflow.report_example import (
    make_experiment,
    rich_curves,
    rich_view,
    shared_curves,
    study_view,
    varied_view,
    view_of,
)
from workflow.lib.config.metrics import shown_as
from workflow.lib.config.outputs import table_names
from workflow.lib.config.suite import DomainRef, Task
from workflow.lib.report.figures.scores import drawings
from workflow.lib.report.tables.model import (
    Table,
    TableCell,
    TableColumn,
    latex_text,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
    without_column,
)
from workflow.lib.report.tables.scores import (
    accuracy_table,
    all_tables,
    measures_table,
    p_text,
    write_all,
)
from workflow.lib.report.tables.setup import ranges, seconds_cell
from workflow.lib.report.wording import figure_captions, record_sentences
from workflow.lib.results.curves import curves, parts


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    return rich_view(tmp_path_factory.mktemp("root"), trials=6)


@pytest.fixture(scope="module")
def tables(view):
    return all_tables(view)


def row_of(table, label):
    return {
        column.label: cell
        for column, cell in zip(
            table.columns,
            next(row for row in (*table.rows, *table.footer) if row[0].text == label),
            strict=True,
        )
    }


def test_names_are_known_from_the_configuration_alone(view, tables, tmp_path):
    assert list(tables) == table_names(view.experiment)
    written = write_all(view, tmp_path)
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


def test_mean_and_deviation_best_in_bold():
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
    # Equal in the digits shown: both bold.
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
        *(metric.title for metric in shown_as("measures")),
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
    assert "Not in it: A→D." in table.notes[-1]


def test_absences_and_failures_are_shown(tables):
    table = tables["accuracy"]
    assert {cell.text for cell in row_of(table, "C→W").values()} == {"C→W", "data not available"}
    assert row_of(table, "D→W")["CORAL & co_x"].text == "not applicable"
    failed = row_of(table, "A→D")["FMA-F"]
    assert (failed.text, failed.count, failed.kind) == ("failed", "0/6", "failed")
    assert "AlignmentError" in failed.title
    assert len(table.rows) == 12


def test_one_trial_has_no_deviation():
    experiment = make_experiment([("amazon", "dslr")], ("plain", "sma"))
    scores = {("amazon-dslr", "plain"): [0.5], ("amazon-dslr", "sma"): [0.6]}
    table = accuracy_table(view_of(experiment, scores, 1), "logistic")
    assert "one trial" in table.caption
    assert row_of(table, "A→D")["SMA"].plus_minus == ""


def test_failures_are_grouped_with_their_log(tables):
    table = tables["failures"]
    first, second, *absent = table.rows
    texts = [cell.text for cell in first]
    assert texts[:5] == ["A→D", "FMA-F", "error", "6", "all 6"]
    assert texts[5].startswith("AlignmentError: 'rank' <b>0</b> | of 40 second line")
    assert texts[6] == "logs/align/example/amazon-dslr/fma_f.*.log"
    assert [cell.text for cell in second][2:5] == ["out of time", "2", "4–5"]
    assert absent[0][1].text == "all"
    assert sum(int(row[3].value) for row in table.rows) == 6 + 2 + 5 * 6 + 3 * 6


def test_methods_show_the_parameters_of_the_experiment(tables):
    fma = row_of(tables["methods"], "FMA-I")
    assert fma["Parameters"].text == "level='instance', n_components=40, n_neighbors=4"
    assert fma["Labels seen"].text == "source and visible target"
    assert row_of(tables["methods"], "No adaptation")["Parameters"].text == "defaults"


def test_data_says_what_cannot_be_had(tables):
    assert row_of(tables["data"], "W")["Remarks"].text == "webcam.mat cannot be had: gone"
    assert row_of(tables["data"], "A")["Samples"].text == "1,000"


def test_timing_states_medians_failures_and_a_busy_machine(tables):
    table = tables["timing"]
    methods = [row[1].text for row in table.rows]
    assert methods == ["SMA", "FMA-I", "FMA-F"]
    assert table.rows[0][6].text == "1.10"
    assert table.rows[2][3].text == "out of time"
    assert any("not quiet" in note and "2 of 11 repeats" in note for note in table.notes)


def test_comparison_states_its_tasks(tables):
    table = tables["tests"]
    assert any("Compared on 7 of 12 tasks" in note for note in table.notes)
    assert any("Friedman" in note for note in table.notes)
    assert any("share domains" in note for note in table.notes)
    assert row_of(table, "FMA-I")["Better / equal / worse"].text == "7 / 0 / 0"


SAMPLE = Table(
    name="a_b",
    caption="50 % of <all> & more",
    columns=(TableColumn("Task_1"), TableColumn("X|Y", numeric=True, scores=True)),
    rows=(
        (TableCell("A→C"), TableCell("33.4", 33.41, "0.6", 0.61, bold=True)),
        (TableCell("a|b\nc*"), TableCell("data not available", kind="absent")),
        (TableCell("partial"), TableCell("−1.0", -1.0, "2.0", 2.0, count="17/20", title='"t"')),
    ),
    footer=((TableCell("Average"), TableCell("16.2", 16.2)),),
    notes=("See #1.",),
)


def test_csv_has_numbers_in_full():
    rows = list(csv.reader(io.StringIO(to_csv(SAMPLE))))
    assert rows[0] == ["Task_1", "X|Y", "X|Y std", "X|Y trials ok"]
    assert rows[1] == ["A→C", "33.41", "0.61", ""]
    assert rows[2] == ["a|b\nc*", "data not available", "", ""]
    assert rows[3] == ["partial", "-1", "2", "17/20"]


def test_markdown_is_one_line_per_row():
    lines = to_markdown(SAMPLE).splitlines()
    assert lines[2] == r"| Task\_1 | X\|Y |"
    assert lines[3] == "| :--- | ---: |"
    assert lines[4] == "| A→C | **33.4** ± 0.6 |"
    assert lines[5] == r"| a\|b c\* | data not available |"
    assert lines[6] == "| partial | −1.0 ± 2.0 (17/20) |"


def test_latex_is_booktabs_and_escaped():
    text = to_latex(SAMPLE)
    assert r"\caption{50 \% of \textless{}all\textgreater{} \& more}" in text
    assert r"A$\to$C & \textbf{33.4} $\pm$ 0.6 \\" in text
    assert r"a|b c* & \emph{data not available} \\" in text
    assert r"$-$1.0 $\pm$ 2.0 (17/20)" in text
    assert r"\label{tab:a-b}" in text
    assert text.count(r"\midrule") == 2
    assert text.count("{") == text.count("}")


def test_latex_escapes_every_special_character():
    assert latex_text(r"\&%$#_{}~^") == (
        r"\textbackslash{}\&\%\$\#\_\{\}\textasciitilde{}\textasciicircum{}"
    )


@pytest.mark.parametrize("name", ["accuracy", "audit_summary", "audit", "tests", "failures"])
def test_no_latex_source_is_left_outside_ascii(tables, name):
    source = to_latex(tables[name])
    assert not set(re.findall(r"[^\x00-\x7f]", source)) - set("éüöäáíóúÉÜÖÄ")


def test_html_is_escaped_and_sortable():
    html = str(to_html(SAMPLE))
    assert "50 % of &lt;all&gt; &amp; more" in html
    assert "data-sort='33.41'" in html
    assert "title='&#34;t&#34;'" in html
    assert html.count("<button type='button'>") == 2
    # What has no value has no sort key, so it stays below.
    absent = re.search(r"<td[^>]*>data not available", html).group(0)
    assert "data-sort" not in absent
    assert "<tfoot>" in html


def test_equal_absent_neighbours_are_joined():
    gone = TableCell("data not available", kind="absent")
    table = Table(
        "t", "c", tuple(TableColumn(str(i), i > 0) for i in range(4)), ((EMPTY_LABEL, *[gone] * 3),)
    )
    html = str(to_html(table))
    assert html.count("data not available") == 1
    assert "colspan='3'" in html


EMPTY_LABEL = TableCell("row")


def test_without_column():
    table = without_column(SAMPLE, "X|Y")
    assert [len(row) for row in (table.columns, *table.rows, *table.footer)] == [1] * 5


@pytest.mark.parametrize(
    ("numbers", "text"), [([0, 1, 2, 5], "0–2, 5"), ([3], "3"), ([], ""), ([1, 3], "1, 3")]
)
def test_ranges(numbers, text):
    assert ranges(numbers) == text


@pytest.mark.parametrize(
    ("p", "text"), [(0.0123, "0.012"), (0.0004, "4e-04"), (1.0, "1.000"), (None, "")]
)
def test_p_text(p, text):
    assert p_text(p) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.00041, "0.000410"), (1.3, "1.30"), (123.4, "123"), (4321.0, "4321")]
)
def test_seconds_have_three_digits(seconds, text):
    assert seconds_cell(seconds).text == text


@pytest.fixture(scope="module")
def varied():
    return rich_curves(trials=4)


def test_the_curve_table_has_settings_down_and_methods_across(varied, tmp_path):
    tables = all_tables(varied)
    assert (
        list(tables) == table_names(varied.experiment) == ["curve", "failures", "methods", "data"]
    )
    table = tables["curve"]
    assert [column.label for column in table.columns] == ["Embedding dimension", "FMA-I", "FMA-F"]
    assert [row[0].text for row in table.rows] == ["4", "8", "12", "20", "40", "60", "80", "100"]
    partial = row_of(table, "20")["FMA-I"]
    assert (partial.count, partial.bold, partial.kind) == ("2/4", False, "partial")
    missing = row_of(table, "100")["FMA-F"]
    assert (missing.text, missing.count) == ("no score", "0/4")
    assert row_of(table, "4")["FMA-F"].bold
    notes = " ".join(table.notes)
    assert "the same 11 of 12 tasks" in notes
    assert "Not among them: C→W." in notes
    assert "fewer than half of the tasks: FMA-F at 100." in notes
    assert len(write_all(varied, tmp_path)) == 4 * 3


def test_the_mean_is_over_tasks_within_each_trial():
    vary = {"parameter": "k", "of": "methods", "values": [1, 2], "label": "k"}
    pairs = [("amazon", "dslr"), ("dslr", "amazon"), ("amazon", "webcam")]
    late = {"status": "timeout", "error": "late"}
    scores = {(f"{a}-{b}", "plain", value): [0.5] * 3 for a, b in pairs for value in (1, 2)}
    scores["amazon-dslr", "plain", 1] = [0.1, 0.4, 0.7]
    scores["dslr-amazon", "plain", 1] = [0.3, late, 0.9]
    scores["amazon-webcam", "plain", 2] = [late] * 3
    found = curves(varied_view(scores, 3, vary, pairs), "logistic")
    # A task without any score at one setting is out of every point.
    assert found.tasks == ("amazon-dslr", "dslr-amazon")
    assert found.tasks_left_out == ("amazon-webcam",)
    point = found.points["plain", "accuracy", 1]
    assert (point.n_ok, point.n_asked, point.complete) == (2, 3, False)
    assert point.mean == pytest.approx((0.2 + 0.8) / 2)
    assert point.std == pytest.approx(0.6 / 2**0.5)
    other = found.points["plain", "accuracy", 2]
    assert (other.mean, other.std, other.complete) == (0.5, 0.0, True)


def test_seen_and_new_rows_have_columns_of_their_own():
    view = shared_curves(trials=3)
    table = all_tables(view)["curve"]
    assert [column.label for column in table.columns[1:5]] == [
        "No adaptation, seen",
        "No adaptation, new",
        "FMA-I, seen",
        "FMA-I, new",
    ]
    last = row_of(table, "1")
    # With the whole target seen, every scored row was: one accuracy, and no new one.
    chosen = view.records[(view.records["method"] == "fma_i") & (view.records["setting"] == 1)]
    assert last["FMA-I, seen"].value == pytest.approx(100 * chosen["accuracy"].mean())
    assert (last["FMA-I, new"].text, last["FMA-I, new"].count) == ("–", "")
    assert row_of(table, "0.4")["FMA-F, new"].bold
    assert any(note.startswith("Seen:") for note in table.notes)


def test_rows_that_are_all_new_have_one_accuracy():
    vary = {"parameter": "k", "of": "methods", "values": [1, 2], "label": "k"}
    new = {"status": "ok", "accuracy": 0.4, "accuracy_new": 0.4}
    scores = {("amazon-dslr", "plain", value): [new] * 2 for value in (1, 2)}
    view = varied_view(scores, 2, vary, [("amazon", "dslr")])
    assert parts(view) == ("accuracy",)
    assert [row[1].text for row in all_tables(view)["curve"].rows] == ["40.0", "40.0"]


def test_a_method_that_does_not_apply_has_no_failed_curve():
    vary = {"parameter": "k", "of": "methods", "values": [1, 2], "label": "k"}
    absent = {"status": "not_applicable", "error": "needs domains with the same features"}
    scores = {("amazon-dslr", "plain", value): [0.4, 0.5] for value in (1, 2)}
    scores |= {("amazon-dslr", "sma", value): [absent] * 2 for value in (1, 2)}
    view = varied_view(scores, 2, vary, [("amazon", "dslr")])
    for row in all_tables(view)["curve"].rows:
        assert (row[1].text, row[2].text, row[2].kind) == ("45.0", "not applicable", "absent")


def test_failures_name_the_settings(varied):
    rows = all_tables(varied)["failures"].rows
    settings = {tuple(cell.text for cell in row[1:4]) for row in rows}
    assert ("FMA-F", "100", "error") in settings
    assert ("FMA-I", "20", "out of time") in settings
    assert ("all", "all 8", "data not available") in settings


def test_a_varied_parameter_is_not_shown_with_its_default(varied):
    table = all_tables(varied)["methods"]
    parameters = row_of(table, "FMA-I")["Parameters"].text
    assert parameters == "n_components varied, level='instance', n_neighbors=4"


def test_a_study_has_its_own_tables_and_its_domains(tmp_path):
    view = study_view()
    tables = all_tables(view)
    assert list(tables) == table_names(view.experiment) == ["smoothness", "data"]
    assert len(tables["smoothness"].rows) == 6
    assert [row[0].text for row in tables["data"].rows] == ["A", "W"]
    assert len(write_all(view, tmp_path)) == 2 * 3


def test_a_failed_study_says_so_in_its_tables():
    tables = all_tables(study_view("data_unavailable", "webcam.mat is gone"))
    assert tables["smoothness"].rows[0][0].text == "data not available: webcam.mat is gone"
    assert list(tables) == ["smoothness", "data"]


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


@pytest.fixture
def crowd(tmp_path, monkeypatch):
    """More methods than a table has room for: one is not applicable, one fails once."""
    monkeypatch.setattr("workflow.lib.report.tables.scores.MANY_METHODS", 2)
    monkeypatch.setattr("workflow.lib.report.figures.scores.MANY_METHODS", 2)
    monkeypatch.setattr("workflow.lib.report.wording.MANY_METHODS", 2)
    pairs = [("amazon", "webcam"), ("dslr", "webcam"), ("dslr", "amazon")]
    absent = {"status": "not_applicable", "error": "learns from labels of the target"}
    late = {"status": "timeout", "error": "late"}
    scores = {}
    for place, (source, target) in enumerate(pairs):
        task = f"{source}-{target}"
        scores[task, "plain"] = [0.3, 0.3]
        scores[task, "sma"] = [absent] * 2
        scores[task, "fma_i"] = [0.5, late if place == 0 else 0.7]
    experiment = make_experiment(pairs, ("plain", "sma", "fma_i"))
    return view_of(experiment, scores, 2, root=tmp_path)


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
    assert [row[3].bold for row in table.rows] == [True, False, False]
    assert "Best per task in bold" in table.caption
    assert to_csv(table).startswith("Method,Average of 2,Average of 2 std")


def test_failures_alike_on_several_tasks_are_one_row(crowd):
    rows = [[cell.text for cell in row] for row in all_tables(crowd)["failures"].rows]
    assert rows[0][:2] == ["A→W", "FMA-I"]
    assert rows[1][:4] == ["all 3", "SMA", "not applicable", "6"]
    assert len(rows) == 2


def test_many_methods_are_drawn_one_row_each(crowd):
    figure = drawings(crowd)["accuracy"]()
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["FMA-I (incomplete: A→W)", "No adaptation"]
    assert "over the tasks that are complete for all compared methods (bar)" in figure_captions(
        crowd, "accuracy"
    )
    assert "Not applicable to any task: SMA." in " ".join(record_sentences(crowd))


def marks_of(axes):
    """Marks by row: filled, hollow and the bars of the means, in percent."""
    kinds = {"filled": {}, "hollow": {}, "bar": {}}
    for line in axes.lines:
        hollow = line.get_markerfacecolor() == "none"
        kind = "bar" if line.get_marker() == "|" else "hollow" if hollow else "filled"
        for x, row in zip(line.get_xdata(), line.get_ydata(), strict=True):
            kinds[kind].setdefault(int(row), []).append(round(float(x), 6))
    return kinds


def test_a_partial_mean_is_hollow_and_enters_no_mean(crowd):
    marks = marks_of(drawings(crowd)["accuracy"]().axes[0])
    assert marks["filled"] == {0: [60, 60], 1: [30, 30, 30]}
    assert marks["hollow"] == {0: [50]}
    # Over D→W and D→A, which both have in full.
    assert marks["bar"] == {0: [60], 1: [30]}


def test_the_order_of_many_methods_is_over_the_same_tasks(tmp_path, monkeypatch):
    """One easy task that a method has alone, or in part, does not put it on top."""
    monkeypatch.setattr("workflow.lib.report.figures.scores.MANY_METHODS", 2)
    pairs = [("amazon", "webcam"), ("dslr", "webcam"), ("dslr", "amazon")]
    tasks = [f"{source}-{target}" for source, target in pairs]
    late = {"status": "timeout", "error": "late"}
    by_method = {
        "plain": [[0.4, 0.4], [0.4, 0.4], [0.2, late]],
        "sma": [[0.5, 0.5], [0.5, 0.5], [0.1, 0.1]],
        "fma_i": [[0.3, 0.3], [0.3, 0.3], [0.9, 0.9]],
        "fma_f": [[0.99, late]] * 3,
    }
    scores = {
        (task, method): cells[place]
        for method, cells in by_method.items()
        for place, task in enumerate(tasks)
    }
    view = view_of(make_experiment(pairs, tuple(by_method)), scores, 2, root=tmp_path)
    axes = drawings(view)["accuracy"]().axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [
        "SMA",
        "No adaptation (incomplete: D→A)",
        "FMA-I",
        "FMA-F (incomplete: 3 tasks)",
    ]
    assert marks_of(axes)["bar"] == {0: [50], 1: [40], 2: [30]}
