"""The rows of the reference's README, and the runs that they are of."""

import dataclasses
import re
import shutil

from tests.workflow.report.test_reference import AUDIT, LOG, SUITE, made_results
from workflow.lib.report.reference import write_reference
from workflow.lib.results.reference import REFERENCE


def test_rows_of_what_a_later_run_does_not_have_stay_with_their_run(tmp_path):
    results, out = made_results(tmp_path / "results"), tmp_path / "reference"
    write_reference(SUITE, results, out, LOG)
    first = (out / "README.md").read_text()
    (results / "fma_table1/tables/audit_summary.csv").write_text(AUDIT.replace("51.526", "40.0"))
    shutil.rmtree(results / "kema_figure9")
    later = dataclasses.replace(LOG, command="snakemake fma_table1", end=12600.0)
    write_reference(SUITE, results, out, later)
    second = (out / "README.md").read_text()
    (row,) = [line for line in first.splitlines() if "[kema_figure9](" in line]
    assert row in second
    judged = "12: 83 / 17 / 0 % | matched after search, farthest A→C +1.2 |"
    assert f"| FMA-I | 51.6 | 40.0 | {judged}" in second
    assert second.count("| 1970-01-01 03:30 UTC |") == 2  # its row, and that of the run
    runs = re.findall(r"^\| (1970-.*?) \| `(.*?)` \|", second, flags=re.MULTILINE)
    assert runs == [
        ("1970-01-01 03:30 UTC", "snakemake fma_table1"),
        ("1970-01-01 02:30 UTC", "snakemake papers"),
    ]
    assert second.count("| SMA | 49.6 |") == 1
    heads = re.findall("^## .*", second, flags=re.MULTILINE)
    assert heads == re.findall("^## .*", first, flags=re.MULTILINE)
    write_reference(SUITE, results, out, later)
    assert (out / "README.md").read_text() == second
    shutil.rmtree(out / "kema_figure9")
    write_reference(SUITE, results, out, later)
    assert "02:30" not in (out / "README.md").read_text()


def test_every_row_of_the_reference_that_is_kept_names_a_run_that_is_listed():
    text = (REFERENCE / "README.md").read_text("utf-8")
    listed = set(re.findall(r"^\| (\S+ \S+ UTC) \| `snakemake", text, flags=re.MULTILINE))
    rows = re.findall(
        r"^\| .* \| \[(\w+)\]\(\1\) .* \| (\S* \S* UTC) \| .* \|$", text, re.MULTILINE
    )
    answering = {name for name, one in SUITE.experiments.items() if one.answers}
    kept = {name for name in answering if (REFERENCE / name).is_dir()}
    assert {name for name, _ in rows} == kept
    assert {run for _, run in rows} == listed
