"""The pages of the reference run, and the one that is kept."""

import json
import re
import shutil

import pytest

from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.suite import load_suite
from workflow.lib.report.reference import renew_head, write_reference
from workflow.lib.report.reference_page import MOST_BYTES
from workflow.lib.results.kept_scores import FOLDER as SCORES
from workflow.lib.results.reference import REFERENCE
from workflow.lib.results.run_log import RunLog
from workflow.lib.storage.artifacts import write_records

SUITE = load_suite(PROJECT)
LOG = RunLog("snakemake papers", 0.0, 9000.0, 2, 1234, 17000.0, 512.3, 900.4, 40, 1)
AUDIT = """Published column,Our method,Verdict,Published,Ours,Farthest row,Rows,\
Reproduced / close / not,Remarks
MEDA,–,published only,52.7,,,0,,"Copied from another protocol: all source labels. Not here."
FMA-I,FMA-I †,matched after search,51.6,51.526,A→C +1.2,12,83 / 17 / 0 %,
SMA,SMA,data not available,49.6,,,0,,
"""


@pytest.fixture
def results(tmp_path):
    return made_results(tmp_path / "results")


def made_results(folder):
    """A table with an audit, a study, and two experiments that answer to no paper."""
    for name in ("fma_table1", "quickstart", "kema_figure9", "labels_per_class"):
        for part in ("tables", "figures"):
            (folder / name / part).mkdir(parents=True)
        card = {"headline": f"What {name} | says.", "seconds": 22.0}
        (folder / name / "card.json").write_text(json.dumps(card))
        (folder / name / "summary.csv").write_text("classifier,n_ok\nlogistic,40\n")
        (folder / name / "report.html").write_text("the last of its files")
    ways = "classifier,n_ok\nlabelled_accuracy,40\noracle,40\n"
    (folder / "labels_per_class/summary.csv").write_text(ways)
    table, study = folder / "fma_table1", folder / "kema_figure9"
    (table / "tables/audit_summary.csv").write_text(AUDIT)
    (table / "tables/accuracy.md").write_text("| Task |\n| --- |\n| A→C |\n")
    (table / "tables/data.md").write_text("where the data come from")
    for name, size in (("accuracy", MOST_BYTES + 1), ("published", 9), ("trials", 200_000)):
        (table / f"figures/{name}.svg").write_text("x" * size)
    (study / "figures/error.svg").write_text("<svg/>")
    (study / "tables/error.csv").write_text("n,Error\n50,2.0\n")
    (study / "summary.csv").unlink()
    write_records(study / "study.jsonl", [{"n": 50}], {"status": "ok", "seconds": 300.0})
    return folder


def written(results, tmp_path):
    out = tmp_path / "reference"
    (out / "fma_table1").mkdir(parents=True)
    (out / "fma_table1/stale.md").write_text("of an earlier run")
    (out / "growth.md").write_text("# How time grows")
    names = write_reference(SUITE, results, out, LOG)
    assert names == ["labels_per_class", "fma_table1", "kema_figure9"]
    links = "[growth](growth.md), [labels_per_class](labels_per_class)"
    assert f"Other pages: {links}." in (out / "README.md").read_text()
    return out


def test_a_question_of_our_own_has_a_page_and_leaves_the_papers_alone(results, tmp_path):
    shutil.rmtree(results / "fma_table1")
    shutil.rmtree(results / "kema_figure9")
    out = tmp_path / "reference"
    out.mkdir()
    (out / "README.md").write_text("of an earlier run\n\nOther pages: none.\n")
    assert write_reference(SUITE, results, out, LOG) == ["labels_per_class"]
    page = (out / "labels_per_class/README.md").read_text()
    assert "*With how many labelled samples" in page
    assert "What labels_per_class | says.\n\nOf no paper. Records: " in page
    kept = (out / "labels_per_class/summary.csv").read_text()
    assert kept == "classifier,n_ok\nlabelled_accuracy,40\n"
    run = "run that ended 1970-01-01 02:30 UTC"
    assert f"({run}); `snakemake labels_per_class` runs it." in page
    renew_head(SUITE, out)
    links = "[labels_per_class](labels_per_class)"
    assert (out / "README.md").read_text() == f"of an earlier run\n\nOther pages: {links}.\n"


def test_what_the_boards_took_stands_beside_the_runs_and_is_renewed(results, tmp_path):
    out = written(results, tmp_path)
    assert "[boards](boards.md) has" not in (out / "README.md").read_text()
    took = "All boards listed: 7 records. Some job ran for 2.0 h."
    page = f"# Boards\n\n{took}\n\n## Run that ended a\n"
    (out / "boards.md").write_text(page)
    write_reference(SUITE, results, out, LOG)
    said = f"The page of [boards](boards.md) has sections of {{}}. {took}"
    assert f"\n\n{said.format('1 run')}\n\n" in (out / "README.md").read_text()
    (out / "boards.md").write_text(f"{page}\n## Run that ended b\n")
    renew_head(SUITE, out)
    assert f"\n\n{said.format('2 runs')}\n\n" in (out / "README.md").read_text()


def test_an_experiment_that_still_runs_leaves_its_page_and_row(results, tmp_path):
    out = written(results, tmp_path)
    before = [(out / name).read_text() for name in ("README.md", "fma_table1/README.md")]
    (results / "fma_table1/report.html").unlink()
    (results / "fma_table1/tables/audit_summary.csv").unlink()
    assert write_reference(SUITE, results, out, LOG) == ["labels_per_class", "kema_figure9"]
    after = [(out / name).read_text() for name in ("README.md", "fma_table1/README.md")]
    assert after == before


def test_every_column_has_a_row_with_its_verdict(results, tmp_path):
    out = written(results, tmp_path)
    page = (out / "README.md").read_text()
    rows = [line.split(" | ") for line in page.splitlines() if "fma_table1" in line]
    assert rows[0][:9] == [
        "| Table 1",
        "[fma_table1](fma_table1)",
        "FMA-I",
        "51.6",
        "51.5",
        "12: 83 / 17 / 0 %",
        "matched after search, farthest A→C +1.2",
        "20",
        "22 s",
    ]
    assert '<img src="fma_table1/accuracy.svg"' in rows[0][10]
    assert "| SMA | 49.6 |  | 0 | data not available |" in page
    published_only = "|  |  | MEDA | 52.7 |  |  | published only: Copied from another protocol |"
    assert page.index("| SMA |") < page.index(published_only)
    assert rows[0][9] == "1970-01-01 02:30 UTC"
    assert "What kema_figure9 \\| says. | 1 | 5 min | 1970-01-01 02:30 UTC |" in page
    assert "| 1970-01-01 02:30 UTC | `snakemake papers` | 2.5 h on 2 cores" in page
    assert "| 1 of 40 | Python" in page
    for table in re.findall(
        r"(?:^\|.*\n)+", page, flags=re.MULTILINE
    ):  # else a code host shows text
        assert len({len(re.split(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_a_folder_holds_tables_small_pictures_and_what_is_compared(results, tmp_path):
    out = written(results, tmp_path)
    names = {path.name for path in (out / "fma_table1").iterdir()}
    assert names == {
        "README.md",
        "accuracy.svg",
        "published.svg",
        "summary.csv",
        "audit_summary.csv",
    }
    page = (out / "fma_table1/README.md").read_text()
    assert "![Published numbers and ours](published.svg)" in page
    assert (
        "Left out, as larger than 150 kB: `trials.svg` (200 kB); `snakemake fma_table1` draws them "
        "in `results/fma_table1/figures`."
    ) in page
    assert "Left out" not in (out / "kema_figure9/README.md").read_text()
    assert "## Accuracy\n\n| Task |" in page
    assert "where the data come from" not in page
    assert {path.name for path in (out / "kema_figure9").iterdir()} == {
        "README.md",
        "error.svg",
        "error.csv",
    }


def test_the_reference_that_is_kept_is_small_and_every_link_of_it_leads_somewhere():
    sizes = {path: path.stat().st_size for path in REFERENCE.rglob("*") if path.is_file()}
    scores = {path: size for path, size in sizes.items() if path.parent.name == SCORES}
    assert sum(scores.values()) < 6e6
    assert sum(sizes.values()) - sum(scores.values()) < 16e6
    for page in REFERENCE.rglob("README.md"):
        text = page.read_text("utf-8")
        linked = re.findall(r"\]\(([^)#:]+)\)", text) + re.findall(r'(?:src|href)="([^":]+)"', text)
        assert all((page.parent / target).exists() for target in linked)
        assert not re.search(r"/(home|root|opt|work|tmp)/", text)
