import pytest
from scipy.stats import ttest_ind_from_stats

from tests.workflow.report_example import make_experiment, view_of
from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.suite import load_suite
from workflow.lib.report.tables.audit import (
    READINGS,
    audit_summary_table,
    audit_table,
    remarks,
    verdict_cell,
)
from workflow.lib.results.audit import _mean_row, audit
from workflow.lib.results.published import read_published

AUDITED = {name: one.audit for name, one in load_suite(PROJECT).experiments.items() if one.audit}
SPREAD = [name for name, asked in AUDITED.items() if "printed_spread" in asked]
PAIRS = [("amazon", "caltech"), ("caltech", "amazon"), ("webcam", "dslr"), ("dslr", "webcam")]
PUBLISHED = """source,target,method,mean,std
A,C,fma_i,50.0,1.5
C,A,fma_i,40.0,
W,D,fma_i,30.0,
A,W,fma_i,99.0,
A,C,meda,80.0,
C,A,meda,60.0,
A,C,gfk,10.0,
out-of-sample,,fma_i,12.5,
"""


@pytest.mark.parametrize("name", AUDITED)
def test_a_column_without_a_reason_is_compared_nowhere(name):
    asked = AUDITED[name]
    compared = {
        column
        for other in AUDITED.values()
        if other["published"] == asked["published"]
        for column, entry in other.get("columns", {}).items()
        if "method" in entry
    }
    table = read_published(PROJECT / "config/published" / asked["published"])
    assert {row["method"] for row in table} & compared <= set(asked["columns"])


@pytest.mark.parametrize("name", SPREAD)
def test_what_a_printed_spread_is_taken_for_stands_in_the_reading(name):
    asked = AUDITED[name]
    reading = " ".join(asked["reading"].split())
    for words in (
        "±",
        asked["printed_spread"]["is"],
        f"{asked['printed_spread']['trials']} trials",
    ):
        assert words in reading


def test_errors_that_cancel_are_not_close(tmp_path):
    """One row 16 points too high and another as much too low: the mean agrees, the rows do not."""
    published = "source,target,method,mean,std\nA,C,fma_i,50,\nC,A,fma_i,40,\n"
    scores = {(f"{source}-{target}", "fma_i"): [0.5] * 3 for source, target in PAIRS}
    scores["amazon-caltech", "fma_i"] = [0.66] * 3
    scores["caltech-amazon", "fma_i"] = [0.24] * 3
    view = make_view(tmp_path, {"fma_i": {"method": "fma_i"}}, scores, published)
    column = column_of(view, "fma_i")
    assert column.mean.difference == pytest.approx(0)
    assert column.verdict == "rows disagree"
    assert column.root_mean_square == pytest.approx(16)
    assert [column.share(found) for found in ("reproduced", "close", "not reproduced")] == [0, 0, 1]
    summary = audit_summary_table(audit(view))
    places = [c.label for c in summary.columns]
    row = next(row for row in summary.rows if row[0].text == "FMA-I")
    assert row[places.index("RMS")].text == "16.0"
    assert row[places.index("Farthest row")].text == "A→C +16.0"
    assert row[places.index("Reproduced / close / not")].text == "0 / 0 / 100 %"


def test_the_printed_spread_enters_the_standard_error(tmp_path):
    spread = {"is": "standard deviation", "trials": 20}
    view = make_view(tmp_path, {"fma_i": {"method": "fma_i"}}, printed_spread=spread)
    first = column_of(view, "fma_i").rows[0]
    assert first.error.standard_error == pytest.approx((7 / 9 + 1.5**2 / 20) ** 0.5)
    # SciPy's Welch test, one side and the other, against a margin of 3 points.
    sides = [
        ttest_ind_from_stats(
            152 / 3 + shift, (7 / 3) ** 0.5, 3, 50, 1.5, 20, equal_var=False, alternative=side
        ).pvalue
        for shift, side in ((3, "greater"), (-3, "less"))
    ]
    assert first.p == pytest.approx(max(sides))


def test_with_one_trial_the_mean_is_tested_over_its_rows_and_the_rows_say_untested(tmp_path):
    offsets = {"amazon-caltech": 0.8, "caltech-amazon": -0.4, "webcam-dslr": 0.8}
    printed = {"amazon-caltech": 50, "caltech-amazon": 40, "webcam-dslr": 30, "dslr-webcam": 20}
    scores = {
        (task, "fma_i"): [(number + offsets.get(task, -0.4)) / 100]
        for task, number in printed.items()
    }
    view = make_view(
        tmp_path, {"fma_i": {"method": "fma_i"}}, scores, PUBLISHED + "D,W,fma_i,20.0,\n", 1
    )
    column = column_of(view, "fma_i")
    assert [row.error for row in column.judged] == [None] * 4
    # Differences of 0.8 and -0.4 points, each twice: mean 0.2, squared deviations of 0.36.
    assert column.mean.error.standard_error == pytest.approx((4 * 0.36 / 3) ** 0.5 / 2)
    assert column.mean.error.freedom == 3
    assert verdict_cell(column, column.judged[0]).count == "untested: one trial"
    assert column.mean.grade == "reproduced"
    assert verdict_cell(column, column.mean).count.startswith("rows untested: one trial")


def test_a_mean_over_few_rows_of_one_trial_is_not_tested(tmp_path):
    """Two equal differences would have an error of 0, and be sure of anything."""
    scores = {(f"{source}-{target}", "fma_i"): [0.5] for source, target in PAIRS}
    scores["amazon-caltech", "fma_i"], scores["caltech-amazon", "fma_i"] = [0.509], [0.409]
    view = make_view(tmp_path, {"fma_i": {"method": "fma_i"}}, scores, n_trials=1)
    two = tuple(row for row in column_of(view, "fma_i").rows if row.label in ("A→C", "C→A"))
    mean = _mean_row(two, False)
    assert (mean.error, mean.grade, mean.untested) == (None, "reproduced", "untested: one trial")


def make_view(root, columns, scores=None, published=PUBLISHED, n_trials=3, **changed):
    folder = root / "config/published"
    folder.mkdir(parents=True)
    (folder / "table.csv").write_text(published)
    audited = {"published": "table.csv", "measure": "accuracy", "reading": "r", "columns": columns}
    experiment = make_experiment(PAIRS, ("plain", "fma_i"), audit=audited | changed)
    gone = {"status": "data_unavailable", "error": "no file"}
    late = {"status": "timeout", "error": "late"}
    scores = scores or {
        ("amazon-caltech", "fma_i"): [0.49, 0.51, 0.52],
        ("caltech-amazon", "fma_i"): [0.42, 0.42, 0.42],
        ("webcam-dslr", "fma_i"): [gone] * 3,
        ("dslr-webcam", "fma_i"): [0.3, late, 0.3],
    }
    scores |= {(f"{source}-{target}", "plain"): [0.2] * n_trials for source, target in PAIRS}
    return view_of(experiment, scores, n_trials, root=root)


def column_of(view, name):
    return next(column for column in audit(view).columns if column.name == name)


def test_rows_and_mean_by_hand(tmp_path):
    column = column_of(make_view(tmp_path, {"fma_i": {"method": "fma_i"}}), "fma_i")
    rows = {row.label: row for row in column.rows}
    first = rows["A→C"]
    # Scores 49, 51, 52: mean 50.667, sample variance 7/3, standard error sqrt(7/9).
    assert first.ours == pytest.approx(152 / 3)
    assert first.difference == pytest.approx(2 / 3)
    assert first.error.standard_error == pytest.approx((7 / 9) ** 0.5)
    # (3 - 2/3) / sqrt(7/9) is below the 5 % point of t with 2 degrees of freedom, 2.92.
    assert (first.published_std, first.verdict) == (1.5, "close")
    assert rows["C→A"].verdict == "close"
    assert rows["W→D"].verdict == "data not available"
    assert rows["A→W"].verdict == "not in this experiment"
    assert rows["out-of-sample"].verdict == "not in this experiment"
    assert rows["D→W"].verdict == "incomplete"
    mean = column.mean
    # Over A→C and C→A: (152/3 + 42) / 2 against 45; the standard error of C→A is 0.
    assert mean.ours == pytest.approx((152 / 3 + 42) / 2)
    assert mean.published == 45
    assert mean.error.standard_error == pytest.approx((7 / 9) ** 0.5 / 2)
    assert column.verdict == "close"
    assert (column.n_rows("reproduced"), column.n_rows("close")) == (0, 2)
    assert column.published_mean == pytest.approx((50 + 40 + 30 + 99 + 12.5) / 5)


def test_a_search_is_called_a_search(tmp_path):
    entry = {"method": "fma_i", "found_by_search": True, "readings_tried": "about 15", "note": "n"}
    view = make_view(tmp_path, {"fma_i": entry})
    column = column_of(view, "fma_i")
    assert column.verdict == "matched after search"
    assert column.mean.grade == "close"
    assert {row.label: row.verdict for row in column.rows}["C→A"] == "matched after search"
    assert remarks(column) == [("Note", "n"), (READINGS, "about 15")]
    summary = audit_summary_table(audit(view))
    verdict = next(row for row in summary.rows if row[0].text == "FMA-I")[2]
    assert (verdict.text, verdict.count) == ("matched after search", "close; 2 of 5 rows")


def test_an_inherited_search_marks_the_column(tmp_path):
    view = make_view(tmp_path, {"fma_i": {"method": "fma_i"}})
    view.suite.methods["fma_i"]["found_by_search"] = {"n_components": "20 and 40"}
    column = column_of(view, "fma_i")
    assert column.verdict == "matched after search"
    assert column.method_label == "FMA-I †"
    assert remarks(column) == [(READINGS, "n_components = 40: 20 and 40.")]


def test_a_verdict_says_that_the_published_numbers_are_from_memory(tmp_path):
    lines = PUBLISHED.splitlines()
    ends = [",entered", ",from memory", *[","] * 7]
    published = "\n".join(map("".join, zip(lines, ends, strict=True)))
    view = make_view(tmp_path, {"fma_i": {"method": "fma_i"}}, published=published)
    assert [column_of(view, name).from_memory for name in ("fma_i", "meda")] == [True, False]
    (row,) = [r for r in audit_summary_table(audit(view)).rows if r[0].text == "FMA-I"]
    assert row[2].count == "2 of 5 rows; published from memory"


def test_columns_without_a_method_are_published_only(tmp_path):
    view = make_view(tmp_path, {"meda": {"published_only": "another protocol"}})
    meda = column_of(view, "meda")
    assert (meda.verdict, meda.reason, meda.label) == ("published only", "another protocol", "MEDA")
    assert meda.mean.published == 70
    # A printed column that the experiment file does not mention is not dropped.
    assert column_of(view, "gfk").reason == "not compared in this experiment"


def test_no_data_at_all(tmp_path):
    gone = {"status": "data_unavailable", "error": "no file"}
    scores = {(f"{source}-{target}", "fma_i"): [gone] * 3 for source, target in PAIRS}
    column = column_of(make_view(tmp_path, {"fma_i": {"method": "fma_i"}}, scores), "fma_i")
    assert column.verdict == "data not available"


def test_measure_and_second_measure(tmp_path):
    view = make_view(
        tmp_path,
        {"fma_i": {"method": "fma_i"}},
        measure="accuracy_entire_target",
        second_measure="accuracy",
    )
    row = column_of(view, "fma_i").rows[0]
    assert row.ours == pytest.approx(152 / 3 + 3)
    assert row.second == pytest.approx(152 / 3)
    assert "Ours, scored rows" in [
        column.label for column in audit_summary_table(audit(view)).columns
    ]


def test_the_rule_is_printed_and_every_row_is_in_the_table(tmp_path):
    checked = audit(make_view(tmp_path, {"fma_i": {"method": "fma_i"}}))
    table = audit_table(checked)
    assert len(table.rows) == sum(len(column.rows) + 1 for column in checked.columns)
    assert "at most 1 point off" in table.notes[0]
    assert "at least 90 % of its rows" in table.notes[0]
    assert "(TOST, 5 %)" in table.notes[0]


def test_no_audit_without_an_entry():
    view = view_of(
        make_experiment(PAIRS[:1], ("plain",)), {("amazon-caltech", "plain"): [0.5] * 2}, 2
    )
    assert audit(view) is None
