"""The audit in the reference run: findings with conditions, and what no run has decided."""

import dataclasses
import re

import pytest

from tests.workflow.report.test_audit_page import FINDING, MEANS, OPEN, PAIRS, PUBLISHED, STALE
from tests.workflow.report.test_reference import LOG, SUITE
from tests.workflow.report.test_reference_page import page_of
from tests.workflow.report_example import make_experiment, view_of
from workflow.lib.report.audit_page import audited
from workflow.lib.report.reference_audit import page, sections, write_audit
from workflow.lib.results.records import FILES
from workflow.lib.results.reference import REFERENCE

LEFT = {"title": "Another column", "when": 'gap("meda") >\n  90', "text": "Never said."}
ASKED = {"first": ("fma_i", [FINDING, STALE, OPEN]), "second": ("sma", [LEFT])}


@pytest.fixture
def views(tmp_path):
    """Two experiments on one published table, each with findings, in one suite."""
    folder = tmp_path / "config/published"
    folder.mkdir(parents=True)
    (folder / "table.csv").write_text(PUBLISHED)
    (tmp_path / "config/printed_means.csv").write_text(MEANS)
    made = {}
    for name, (method, findings) in ASKED.items():
        columns = {"fma_i" if method == "fma_i" else "meda": {"method": method}}
        columns["ssa"] = {"published_only": "no code"}
        asked = {"published": "table.csv", "measure": "accuracy", "reading": "As it is."}
        asked |= {"columns": columns, "findings": findings, "stated": "The whole target."}
        experiment = make_experiment(PAIRS, (method,), name=name, audit=asked)
        scores = {(f"{s}-{t}", method): [0.5, 0.4] for s, t in PAIRS}
        made[name] = view_of(experiment, scores, 2, root=tmp_path)
    experiments = {name: view.experiment for name, view in made.items()}
    suite = dataclasses.replace(made["first"].suite, experiments=experiments)
    return {name: dataclasses.replace(view, suite=suite) for name, view in made.items()}


def text(views, names, before="", run="run that ended today"):
    suite, config = views["first"].suite, views["first"].root / "config"
    return page(suite, audited([views[name] for name in names]), sections(before), run, config)


def test_findings_stand_with_their_conditions_and_their_run(views):
    found = text(views, ["first"])
    of = "[Dernbach & Towsley 2020, Table 1](first), run that ended today."
    assert (
        "### One column falls\n\nIt looks like <error> rates, −1.00.\n\n"
        f'Condition, which holds: `order("ssa") < 0`\n\n{of}\n\n'
    ) in found
    assert 'Does not hold on these records. Condition, which is false: `gap("fma_i") > 90`' in found
    assert "Undecided on the records of this run: no result for ours of ssa." in found
    assert found.count(of) == 3


def test_the_tables_of_arithmetic_and_order_stand_whole(views):
    found = text(views, ["first"])
    assert "| Dernbach & Towsley 2020, Table 1 | MEDA | 4 | 45.25 | 50.0 | +4.8 | no |" in found
    order = found.partition("## Order of difficulty")[2]
    assert [f"| {column} | 4 |" in order for column in ("FMA-I", "MEDA", "SSA")] == [True] * 3


def test_what_was_not_run_is_named_as_undecided(views):
    undecided = text(views, ["first"]).partition("### Undecided: not run\n\n")[2]
    assert undecided.startswith(
        "- Another column: Dernbach & Towsley 2020, Table 1 (`snakemake second`). "
        'Condition: `gap("meda") > 90`\n'
    )
    assert "Undecided: not run" not in text(views, ["first", "second"])


def test_a_later_run_keeps_the_findings_of_what_it_does_not_have(views):
    first = text(views, ["first"], run="run that ended yesterday")
    later = text(views, ["second"], first)
    assert later.count("(first), run that ended yesterday.") == 3
    assert later.count("(second), run that ended today.") == 1
    assert "Undecided: not run" not in later
    for section in first.partition("## Findings\n\n")[2].split("\n\n### ")[:2]:
        assert section in later
    assert text(views, ["second"], later) == later


def test_a_finding_whose_condition_is_another_by_now_is_not_kept(views):
    first = text(views, ["first"])
    changed = first.replace('`order("ssa") < 0`', '`order("ssa") < 0.5`')
    later = text(views, ["second"], changed)
    assert "### One column falls" not in later
    assert "- One column falls: " in later


@pytest.mark.whole_run
def test_findings_are_of_the_run_that_the_rows_of_the_readme_are_of(tmp_path):
    """While a run has not written its report, and where a copy of results has no records."""
    out, results = page_of(SUITE.experiments["amazon_dann"], tmp_path).parent, tmp_path / "results"
    assert write_audit(SUITE, results, out, LOG) == ["amazon_dann"]
    before = (out / "audit.md").read_text()
    assert "(amazon_dann), run that ended 1970-01-01 02:30 UTC." in before
    later = dataclasses.replace(LOG, end=12600.0)
    report = results / "amazon_dann/report.html"
    report.unlink()
    assert write_audit(SUITE, results, out, later) == []
    assert (out / "audit.md").read_text() == before
    report.touch()
    (results / "amazon_dann" / FILES[0]).unlink()
    assert write_audit(SUITE, results, out, later) == []
    assert "run that ended" not in (out / "audit.md").read_text()


def test_the_audit_that_is_kept_names_the_runs_that_the_readme_names():
    text = (REFERENCE / "README.md").read_text("utf-8")
    rows = re.findall(
        r"^\| .* \| \[(\w+)\]\(\1\) .* \| (\S+ \S+ UTC) \| .* \|$", text, re.MULTILINE
    )
    found = re.findall(
        r"^\[.*\]\((\w+)\), run that ended (.*)\.$",
        (REFERENCE / "audit.md").read_text("utf-8"),
        re.MULTILINE,
    )
    assert found
    assert dict(found) == {name: dict(rows)[name] for name, _ in found}
