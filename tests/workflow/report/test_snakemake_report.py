"""`make report` and Snakemake's own report, over an experiment and a study that have run."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workflow import study_example
from tests.workflow.conftest import ROOT, copy_project
from tests.workflow.test_whole_runs import environment, make_tiny, snakemake, write

# Each test starts Snakemake, some several times.
pytestmark = pytest.mark.whole_run

STUDY = {
    "schema_version": 1,
    "title": "A study of a filter",
    "question": "How smooth?",
    "study": {"module": "example", "domains": [], "params": {"n_nodes": 5, "seed": 1}},
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    project = make_tiny(copy_project(tmp_path_factory.mktemp("report") / "project"))
    shutil.copy(study_example.__file__, project / "workflow/studies/example.py")
    write(project / "config/experiments/filter.yaml", STUDY)
    snakemake(project, "filter")
    return project


def make(project, *targets):
    """Run make in a copy, with the environment of the tests in place of .venv."""
    shutil.copy(ROOT / "Makefile", project)
    return subprocess.run(
        ["make", "--old-file=setup", f"BIN={Path(sys.executable).parent}", "CORES=2", *targets],
        cwd=project,
        env=environment(),
        capture_output=True,
        text=True,
    )


def test_make_report_needs_results_but_not_the_quickstart(ran, tmp_path):
    foreign = ran / "results/of_another_folder/report.html"  # as of a run with --config own=
    foreign.parent.mkdir()
    foreign.touch()
    made = make(ran, "report")
    shutil.rmtree(foreign.parent)
    assert made.returncode == 0, made.stdout + made.stderr
    assert (ran / "results/report.html").is_file()
    assert "A study of a filter" in (ran / "results/snakemake_report.html").read_text()
    nothing = make(copy_project(tmp_path / "nothing"), "report")
    assert nothing.returncode != 0
    assert "There are no results yet. Run make benchmark first." in nothing.stderr


def test_snakemakes_report_has_pages_tables_records_and_captions(ran):
    snakemake(ran, "tiny")
    snakemake(ran, "tiny", "filter", "--report", "both.html")
    html = (ran / "both.html").read_text()
    assert html.count("System Message") == 0  # docutils' word for a faulty caption
    expected = ("report.html", "records.csv", "summary.csv", "accuracy.csv", "smoothness_by_size")
    assert {name for name in expected if name in html} == set(expected)
    assert html.count("how each file was made") == 1
