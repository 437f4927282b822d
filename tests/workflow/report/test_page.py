import dataclasses
import os
import re
import subprocess
import sys

import pytest

from tests.workflow.report_example import (
    make_experiment,
    rich_curves,
    rich_view,
    study_view,
    view_of,
)
from workflow.lib.report import page
from workflow.lib.report.figures import scores as figures
from workflow.lib.report.tables.audit import READINGS
from workflow.lib.report.tables.scores import all_tables
from workflow.lib.results.views import PROJECT

pytestmark = pytest.mark.whole_run


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    return rich_view(tmp_path_factory.mktemp("root"), trials=5)


@pytest.fixture(scope="module")
def html(view, tmp_path_factory):
    out = page.build(view, tmp_path_factory.mktemp("out") / "example" / "report.html")
    return out.read_text(encoding="utf-8")


def test_nothing_is_loaded_from_elsewhere(html):
    assert "default-src 'none'" in html
    assert not re.findall(r"""(?:src|action)=["'](?!data:)""", html)
    assert not re.findall(r"""<(?:link|image|use)[^>]*href=["'](?!data:|#)""", html)
    assert "@import" not in html
    assert not re.findall(r"url\((?!#)", html)


def test_ids_are_unique_and_every_reference_has_its_target(html):
    ids = re.findall(r"""\bid=["']([^"']+)["']""", html)
    assert len(ids) == len(set(ids))
    references = set(re.findall(r"""(?:href=["']#|url\(#)([^"')]+)""", html))
    assert references <= set(ids)


def test_it_is_honest_at_the_top(html):
    head = html[: html.index('id="example-results"')]
    assert "No: 7 of 300 records failed (error: 5, out of time: 2)." in head
    assert "25 without data and 15 not applicable." in head
    assert "<b>Data are missing.</b> 25 of 300 records" in head
    assert "<code>webcam.mat</code> (office)" in head
    protocol = html[html.index('id="example-protocol"') :]
    assert "12 tasks × 5 methods × 1 classifier × 5 trials = 300 records" in protocol
    assert "7 records failed (error: 5, out of time: 2)." in protocol
    assert "Data not available for 1 task: C→W." in protocol
    assert "Not applicable to D→A, D→C and D→W: " in protocol


def test_the_answer_and_the_results_stand_before_the_protocol(html):
    places = [
        html.index(words)
        for words in (
            'class="banner"',
            'class="answer"',
            'id="example-results"',
            'id="example-audit"',
            'id="example-protocol"',
            'id="example-setup"',
        )
    ]
    assert places == sorted(places)


def test_text_of_the_configuration_is_escaped(html):
    assert "Office–Caltech10 &lt;SURF&gt;" in html
    assert "Second &lt;note&gt;." in html
    assert "&lt;b&gt;0&lt;/b&gt;" in html
    assert "<b>0</b>" not in html


def test_every_part_is_there(html):
    for words in (
        "Which method aligns these domains?",
        "answers Dernbach &amp; Towsley 2020, Table 1",
        "at most 1 point off and two one-sided t tests",
        f"{READINGS}.",
        "critical difference of mean ranks",
        "logs/<wbr>align/<wbr>example/<wbr>amazon-dslr/<wbr>fma_f.<wbr>*.<wbr>log",
        "research use; cite the source",
        "numpy 2.4.6, scipy 1.17.1",
        "commit 0123abc",
    ):
        assert words in html
    assert len(html) < 5_000_000


def test_downloads_are_relative_to_the_page(html):
    for ending in ("csv", "md", "tex"):
        assert re.search(rf"""href=["']tables/accuracy.{ending}["'] download""", html)
    assert 'href="figures/timing.pdf"' in html


_BUILD = """
import pathlib, sys
from tests.workflow.report_example import rich_view
from workflow.lib.report import page
from workflow.lib.report.figures import scores as figures
from workflow.lib.report.tables import model, scores
from workflow.lib.results import records
root, out = map(pathlib.Path, sys.argv[1:])
view = rich_view(root, trials=3)
records.write_results(out, view.experiment, view.records, view.suite)
tables = scores.all_tables(view)
model.write_tables(tables.values(), out / "tables")
drawn = figures.write_all(view, out / "figures")
page.build(view, out / "report.html", drawn, tables)
"""


def test_tables_are_made_and_pictures_drawn_once_and_stand_on_the_ground_of_the_page(tmp_path):
    view = study_view()
    drawn = figures.write_all(view, tmp_path / "figures")
    assert all(b"fill: #ffffff" in source for source in drawn.values())
    tables = all_tables(view)
    given = page.build(view, tmp_path / "report.html", drawn, tables).read_text("utf-8")
    assert given == page.build(view, tmp_path / "report.html").read_text("utf-8")
    assert "fill: #ffffff" not in given


@pytest.mark.whole_run
def test_two_processes_write_the_same_bytes(tmp_path):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _BUILD, str(tmp_path / f"root{seed}"), str(tmp_path / seed)],
            cwd=PROJECT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(PROJECT)},
        )
        for seed in ("1", "2")
    ]
    assert [process.wait(timeout=240) for process in processes] == [0, 0]
    names = sorted(path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*.*"))
    assert len(names) == 3 + 3 * 10 + 2 * 6 + 1
    for name in names:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name


def test_a_page_of_curves(tmp_path):
    html = page.build(rich_curves(trials=3), tmp_path / "report.html").read_text("utf-8")
    for words in (
        "12 tasks × 2 methods × 1 classifier × 8 settings × 3 trials = 576 records",
        "Varied: Embedding dimension (n_components of every method): 4, 8, 12, 20, 40, 60, 80 "
        "and 100.",
        "Mean over 11 of 12 tasks in each trial, then over trials; the band is one standard",
        'id="example-figure-curve_by_task"',
        "<dt>settings</dt><dd>8</dd>",
    ):
        assert words in html
    for absent in ("example-tests", "figure-accuracy", "figure-trials"):
        assert absent not in html
    ids = re.findall(r"""\bid=["']([^"']+)["']""", html)
    assert len(ids) == len(set(ids))


def test_a_target_that_is_partly_seen_has_a_second_table(tmp_path):
    experiment = make_experiment([("amazon", "dslr")], ("plain",))
    view = view_of(experiment, {("amazon-dslr", "plain"): [0.5] * 2}, 2)
    view.suite.protocols["official"].update(kind="full_source", target_share=0.5)
    html = page.build(view, tmp_path / "report.html").read_text("utf-8")
    assert "Accuracy on the entire target, seen samples included" in html
    assert "there is no second table" not in html


@pytest.mark.parametrize(
    ("changed", "second"),
    [
        ({"target_per_class": 0}, "there is no second table"),
        ({"target_per_class": 0, "scored_rows": "seen"}, "entire target, unseen samples included"),
        ({}, "entire target, labelled samples included"),
    ],
)
def test_the_second_table_of_drawn_samples(tmp_path, changed, second):
    experiment = make_experiment([("amazon", "dslr")], ("plain",))
    view = view_of(experiment, {("amazon-dslr", "plain"): [0.5] * 2}, 2)
    view.suite.protocols["official"].update(kind="random", **changed)
    assert second in page.build(view, tmp_path / "report.html").read_text("utf-8")


def test_a_page_of_a_study(tmp_path):
    out = tmp_path / "example_study" / "report.html"
    html = page.build(study_view(), out).read_text("utf-8")
    for words in (
        "Smoothness of a signal on a made-up graph",
        "<pre>{n_nodes: 20, seed: 1}\n</pre>",
        'id="example-study-figure-smoothness_by_size"',
        "id='example-study-table-smoothness'",
        "The signal before and after the filter, node by node.",
        'href="study.jsonl"',
        "research use; cite the source",
        "Yes: one computation, 6 records.",
    ):
        assert words in html
    ids = re.findall(r"""\bid=["']([^"']+)["']""", html)
    assert len(ids) == len(set(ids))
    references = set(re.findall(r"""(?:href=["']#|url\(#)([^"')]+)""", html))
    assert references <= set(ids)


def test_a_failed_study_says_so_first(tmp_path):
    view = study_view("timeout", "took over <600> s")
    html = page.build(view, tmp_path / "report.html").read_text("utf-8")
    head = html[: html.index('id="example-study-method"')]
    assert "No: out of time: took over &lt;600&gt; s" in head


def test_an_experiment_without_extras(tmp_path):
    experiment = make_experiment([("amazon", "dslr")], ("plain",), answers=None, notes="")
    plain = view_of(experiment, {("amazon-dslr", "plain"): [0.5]}, 1)
    html = page.build(plain, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "No trial failed." in html
    assert "Yes: 1 of 1 record have a score, none failed." in html
    for hidden in ("example-audit", "example-failures", 'class="banner"'):
        assert hidden not in html
    assert "Environment" not in html


def test_words_stand_in_the_place_of_a_picture_that_has_nothing_to_draw(tmp_path):
    pairs = [("amazon", "webcam"), ("dslr", "webcam")]
    methods = ("plain", "sma", "fma_i")
    scores = {(f"{a}-{b}", m): [0.5, 0.6] for a, b in pairs for m in methods}
    view = view_of(make_experiment(pairs, methods), scores, 2)
    html = page.build(view, tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="example-figure-accuracy"' in html
    assert "figure-critical_difference" not in html
    words = '<p class="note">There is no ranking test: 3 methods complete on 2 common tasks; '
    assert words in html


def test_without_a_score_empty_sections_are_hidden_and_the_remedy_is_first(tmp_path):
    gone = {"status": "data_unavailable", "error": "webcam.mat: could not be downloaded"}
    picture = {"task": "amazon-webcam", "trial": 0, "methods": ["plain"]}
    timing = {"tasks": ["amazon-webcam"], "methods": ["plain"], "repeats": 1}
    pair = [("amazon", "webcam")]
    experiment = make_experiment(pair, ("plain",), picture=picture, timing=timing)
    view = view_of(experiment, {("amazon-webcam", "plain"): [gone] * 2}, 2)
    view.suite.datasets["office"]["files"]["webcam.mat"] = {
        "sha256": "ab" * 32,
        "mirror": "office/webcam.mat",
    }
    html = page.build(view, tmp_path / "report.html").read_text(encoding="utf-8")
    for part in ("results", "tests", "embedding", "timing", "audit"):
        assert f"example-{part}" not in html
    banner = html[html.index('class="banner"') : html.index('class="answer"')]
    assert "2 of 2 records could not be computed" in banner
    assert "<code>office/webcam.mat</code> (office), sha256 <code>" + "ab" * 32 in banner
    assert "amazon.mat" not in banner
    assert 'id="example-failures"' in html


def test_a_task_without_data_is_a_sentence_where_methods_stand_in_rows(crowd, tmp_path):
    gone = {"status": "data_unavailable", "error": "gone"}
    pairs = [("amazon", "webcam"), ("dslr", "webcam")]
    methods = ("plain", "sma", "fma_i")
    scores = {("amazon-webcam", m): [gone] * 2 for m in methods}
    scores |= {("dslr-webcam", m): [0.5, 0.6] for m in methods}
    view = view_of(make_experiment(pairs, methods), scores, 2)
    html = page.build(view, tmp_path / "report.html").read_text(encoding="utf-8")
    table = html[html.index("table-accuracy'") : html.index("table-accuracy-entire")]
    assert "<button type='button'>A→W</button>" not in table
    assert "No column, data not available: A→W." in table


def test_what_the_results_were_computed_with_stands_before_what_the_page_was_made_in(
    view, html, tmp_path
):
    heading = "What the results were computed with"
    assert heading not in html, "files of earlier versions do not say"
    one = {"python": "3.9.1", "numpy": "1.0", "processor": "<Abacus>"}
    computed = (one, one | {"processor": "Slide rule"})
    told = dataclasses.replace(view, computed_with=computed)
    text = page.build(told, tmp_path / "example/report.html").read_text(encoding="utf-8")
    said = text[text.index(heading) : text.index("Environment in which this page was made")]
    assert "numpy 1.0 on &lt;Abacus&gt;; Python 3.9.1, numpy 1.0 on Slide rule." in said
    assert "Processors differ" in said


def test_environment_rows():
    rows = page.environment_rows(
        {"a_b": 1, "none": None, "git": {"commit": None, "dirty": True}, "blas": [{"x": "y"}]}
    )
    assert rows == [("a b", "1"), ("git", "with local changes"), ("blas", "x y")]


def test_captions_hold_no_link_targets():
    captions = sorted((PROJECT / "reports/captions").glob("*.rst"))
    assert captions
    for path in captions:
        words = re.sub(r"``.*?``|{{.*?}}", "", path.read_text(encoding="utf-8")).split()
        # docutils takes such a word for a link and puts an error into Snakemake's report.
        assert not [word for word in words if word.rstrip(".,;:").endswith("_")], path.name
