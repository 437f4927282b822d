import dataclasses

import numpy as np
import pytest
import yaml
from markupsafe import escape

from tests.workflow.report_example import make_experiment, view_of
from workflow.lib.config.suite import load_suite
from workflow.lib.report.audit_answer import counts
from workflow.lib.report.audit_page import (
    PublishedNames,
    arithmetic_table,
    audited,
    order_table,
    overview_table,
    papers,
    rows_tables,
    shown_columns,
)
from workflow.lib.report.page import build_audit
from workflow.lib.results.views import PROJECT

PUBLISHED = """source,target,method,mean,std
A,C,fma_i,50.0,
A,D,fma_i,40.0,
A,W,fma_i,30.0,
C,A,fma_i,20.0,
A,C,meda,60.0,
A,D,meda,50.0,
A,W,meda,41.0,
C,A,meda,30.0,
A,C,ssa,20.0,
A,D,ssa,30.0,
A,W,ssa,41.0,
C,A,ssa,50.0,
"""
MEANS = """file,method,mean
table.csv,fma_i,35.0
table.csv,meda,50.0
"""
FINDING = {
    "title": "One column falls",
    "when": 'order("ssa") < 0',
    "text": "It looks like <error> rates, {{ order('ssa')|points(2) }}.",
}
STALE = {"title": "Ours is far off", "when": 'gap("fma_i") > 90', "text": "It is."}
OPEN = {"title": "The ceiling", "when": 'ours("ssa") > 1', "text": "Below it."}
PAIRS = [("amazon", "caltech"), ("amazon", "dslr"), ("amazon", "webcam"), ("caltech", "amazon")]


def texts(table, column):
    place = [c.label for c in table.columns].index(column)
    return [row[place].text for row in table.rows]


@pytest.fixture
def views(tmp_path):
    """Two experiments on one published table: each compares one column."""
    folder = tmp_path / "config/published"
    folder.mkdir(parents=True)
    (folder / "table.csv").write_text(PUBLISHED)
    (tmp_path / "config/printed_means.csv").write_text(MEANS)
    made = []
    for name, method, finding in (
        ("first", "fma_i", [FINDING, STALE, OPEN]),
        ("second", "sma", []),
    ):
        published = "fma_i" if method == "fma_i" else "meda"
        asked = {"published": "table.csv", "measure": "accuracy", "reading": f"As {name}."}
        asked["columns"] = {published: {"method": method}, "ssa": {"published_only": "no code"}}
        asked |= {"findings": finding, "stated": "The whole target."}
        experiment = make_experiment(PAIRS, (method,), name=name, audit=asked)
        scores = {(f"{s}-{t}", method): [0.5, 0.4] for s, t in PAIRS}
        made.append(view_of(experiment, scores, 2, root=tmp_path))
    return made


def test_a_column_that_one_experiment_compares_is_not_listed_as_published_only(views):
    table = overview_table(audited(views))
    assert texts(table, "Column") == ["FMA-I", "MEDA", "SSA"]
    assert [row[0].link.partition("/")[0] for row in table.rows] == ["first", "second", "first"]
    assert texts(table, "Ours") == ["45.0", "45.0", ""]
    assert texts(table, "Verdict")[2] == "published only"
    assert texts(table, "Trials") == ["2", "2", ""]


def test_every_row_stands_beside_ours(views):
    ((heading, table),) = rows_tables(audited(views))
    assert heading == "Dernbach & Towsley 2020, Table 1"
    assert table.name == "rows_table"
    labels = [column.label for column in table.columns]
    assert labels == ["Row", "FMA-I", "ours", "MEDA", "ours", "SSA"]
    assert (
        table.columns[4].title == f"SMA in {views[1].experiment.title}"
    )  # the first experiment does not compare it
    assert texts(table, "Row") == ["A→C", "A→D", "A→W", "C→A"]
    assert texts(table, "SSA") == ["20.0", "30.0", "41.0", "50.0"]
    assert [row[2].text for row in table.rows] == ["45.0"] * 4
    assert table.footer[0][-1].text == "35.2"


def test_no_mean_over_fewer_rows(views):
    first = views[0]
    fewer = dataclasses.replace(
        first, experiment=dataclasses.replace(first.experiment, tasks=first.experiment.tasks[:3])
    )
    ((_, table),) = rows_tables(audited([fewer]))
    assert texts(table, "ours") == ["45.0", "45.0", "45.0", ""]
    assert [cell.text for cell in table.footer[0][:3]] == ["Mean", "35.0", ""]


def test_a_row_without_all_its_trials_has_no_number_of_ours(views, tmp_path):
    """It stood there bare, and a mean without it under all printed rows."""
    late = {"status": "timeout", "error": "late"}
    scores = {(f"{s}-{t}", "fma_i"): [0.5, 0.4] for s, t in PAIRS}
    scores["amazon-webcam", "fma_i"] = [0.9, late]
    first = view_of(views[0].experiment, scores, 2, root=tmp_path)
    ((_, table),) = rows_tables(audited([first]))
    assert texts(table, "ours") == ["45.0", "45.0", "", "45.0"]
    assert table.footer[0][2].text == ""


def test_printed_means_are_checked_against_printed_rows(views, tmp_path):
    table = arithmetic_table(tmp_path / "config", PublishedNames(views[0].suite))
    assert set(texts(table, "Published table")) == {"Dernbach & Towsley 2020, Table 1"}
    assert texts(table, "Column") == ["FMA-I", "MEDA"]
    assert texts(table, "Mean of the rows") == ["35.00", "45.25"]
    assert texts(table, "Agrees") == ["yes", "no"]


def test_a_column_against_the_order_of_the_others(views, tmp_path):
    table = order_table(tmp_path / "config", PublishedNames(views[0].suite))
    values = dict(zip(texts(table, "Column"), [row[3].value for row in table.rows], strict=True))
    others = np.mean([[60, 50, 41, 30], [20, 30, 41, 50]], axis=0)
    assert values["FMA-I"] == pytest.approx(np.corrcoef([50, 40, 30, 20], others)[0, 1])
    assert values["SSA"] < -0.99
    assert texts(table, "As error rates")[2] == "64.8"


def test_the_page(views, tmp_path):
    path = build_audit(views, tmp_path / "audit.html")
    source = path.read_text()
    assert "It looks like &lt;error&gt; rates, −1.00." in source
    assert "It is." not in source
    assert "Does not hold on these records: <code>gap(&#34;fma_i&#34;) &gt; 90</code>" in source
    assert "Cannot be decided on these records: no result for ours of ssa" in source
    assert "Below it." not in source
    assert "The whole target." in source
    assert 'href="first/report.html"' in source
    assert "<h3>One column falls</h3>" in source
    assert ">table.csv<" not in source
    for name in ("overview", "arithmetic", "order", "rows_table"):
        for ending in ("csv", "md", "tex"):
            assert (tmp_path / f"audit/{name}.{ending}").is_file()
            assert f"href='audit/{name}.{ending}'" in source


def test_the_page_begins_with_counts_a_legend_and_a_sentence_for_each_paper(views, tmp_path):
    source = build_audit(views, tmp_path / "audit.html").read_text()
    first = source[source.index("<main") : source.index('id="findings"')]
    for verdict, number, words in counts(c for _, c in shown_columns(audited(views))):
        assert f'<dt><span class="verdict verdict-{verdict.replace(" ", "-")}">' in first
        assert f"<b>{number}</b> {escape(words)}" in first
    ((paper, sentence),) = [(one["paper"], one["sentence"]) for one in papers(audited(views))]
    assert f"<h3>{escape(paper)}</h3>" in first
    assert str(escape(sentence)) in first
    assert sentence == (
        "2 columns compared; the mean is close, rows are not: MEDA in Table 1; "
        "not reproduced: FMA-I in Table 1."
    )
    assert source == build_audit(views, tmp_path / "again/audit.html").read_text()


def test_the_projects_printed_means_name_rows_that_exist():
    suite = load_suite(PROJECT, yaml.safe_load((PROJECT / "config/config.yaml").read_text()))
    table = arithmetic_table(PROJECT / "config", PublishedNames(suite))
    assert not any(row[0].text.endswith(".csv") for row in table.rows)
    assert min(row[2].value for row in table.rows) >= 2
    wrong = {(row[0].text, row[1].text) for row in table.rows if row[-1].text == "no"}
    assert ("Dernbach & Towsley 2020, Table 2", "GFK") in wrong
    assert ("Tuia & Camps-Valls 2016, Table 3", "No adaptation (source)") in wrong
