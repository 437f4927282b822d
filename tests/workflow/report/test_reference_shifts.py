"""Kinds of shift in the reference: a page, and folders that a later run is compared with."""

import dataclasses
import re

import numpy as np
import pytest

from tests.workflow.report.test_reference_boards import changed
from tests.workflow.shift_example import shift_view
from workflow.lib.report import reference_shifts
from workflow.lib.report.reference_shifts import renew_shifts, write_shifts
from workflow.lib.results.kept_scores import keep_scores
from workflow.lib.results.records import write_results
from workflow.lib.results.reference import compare
from workflow.lib.results.run_log import RunLog
from workflow.lib.storage.artifacts import CorruptArtifact
from workflow.lib.trials.evaluate import COLUMNS

pytestmark = pytest.mark.whole_run

LOG = RunLog("snakemake shifts_page", 0.0, 90.0, 2, 12, 170.0, 512.3, 900.4, 40, 0)


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes the page of made-up records, which say what is not in the options."""
    monkeypatch.setattr(reference_shifts, "shift_experiments", lambda suite: ["bent"])

    def write(name="first", absent=(), **options):
        view = shift_view(**options)
        never = view.records["method"].isin(absent)
        view.records.loc[never, "status"] = "not_applicable"
        view.records.loc[never, "accuracy"] = np.nan
        folder = tmp_path / name / "results/bent"
        folder.mkdir(parents=True)
        records = view.records.reindex(columns=list(COLUMNS)).astype(COLUMNS)
        write_results(folder, view.experiment, records, view.suite)
        out = tmp_path / name / "reference"
        out.mkdir()
        suite = dataclasses.replace(view.suite, experiments={"bent": view.experiment})
        return write_shifts(suite, folder.parent, out, LOG), folder.parent, out

    return write


def test_the_page_answers_and_every_picture_is_there(written):
    names, _, out = written()
    assert names == ["bent"]
    page = (out / "shifts.md").read_text(encoding="utf-8")
    assert "- *Rotation*: No adaptation loses" in page
    assert page.index("Use SMA") < page.index("![full]") < page.index("| Method |")
    assert "(the last command there: `snakemake shifts_page`)" in page
    assert page.count("Gain: mean over the trials") == 1
    assert page.count("by chance on 18.7 % of the kinds") == 1
    pictures = re.findall(r"!\[\w+\]\(([^)]+)\)", page)
    assert len(pictures) == 3
    assert all((out / picture).read_bytes().startswith(b"<?xml") for picture in pictures)


def test_failures_are_counted_of_the_trials_that_could_run(written):
    _, _, out = written()
    (all_ran,) = re.findall(r"\| Failed records of shifts \| 0 of (\d+) \|", page_of(out))
    _, _, out = written("second", failed=[("sma", "label", 0)])
    assert f"| Failed records of shifts | 2 of {all_ran} |" in page_of(out)  # at both severities
    _, _, out = written("third", absent=["fma_i"])
    (ran,) = re.findall(r"\| Failed records of shifts \| 0 of (\d+) \|", page_of(out))
    assert 3 * int(ran) == 2 * int(all_ran)


def test_the_page_of_an_earlier_run_says_what_todays_code_says_of_its_scores(written):
    _, _, out = written()
    view = shift_view()
    suite = dataclasses.replace(view.suite, experiments={"bent": view.experiment})
    before = {path: path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
    assert out / "bent/summary.csv" in before
    page = out / "shifts.md"
    page.write_text(page_of(out).replace("Use SMA", "Take SMA").replace("(the last", "(the first"))
    (out / "bent/full.svg").write_text("older")
    renew_shifts(suite, out)
    page.write_text(page_of(out).replace("(the first", "(the last"))
    assert {path: path.read_bytes() for path in before} == before
    page.unlink()
    renew_shifts(suite, out)
    assert not page.exists(), "only what stands there is made anew"


def test_methods_of_several_runs_are_told_with_these(written):
    _, _, out = written()
    view = shift_view()
    suite = dataclasses.replace(view.suite, experiments={"bent": view.experiment})
    assert "several runs" not in page_of(out)
    records = view.records.reindex(columns=list(COLUMNS)).astype(COLUMNS)
    of_one = records[records["method"] == "sma"]
    keep_scores([dataclasses.replace(view, records=of_one)], out, "later run")
    renew_shifts(suite, out)
    (told,) = re.findall(r"^Methods of several runs: (.*)$", page_of(out), flags=re.MULTILINE)
    assert told.endswith("; SMA of the later run.")


def test_hours_of_several_sittings_and_the_commit_stand_on_the_page(written, monkeypatch):
    log = dataclasses.replace(LOG, busy_seconds=60.0, sittings=2, commit="c57b3673a4")
    monkeypatch.setitem(globals(), "LOG", log)
    _, _, out = written()
    assert "| Time in which some job ran | 60 s, in 2 sittings, with " in page_of(out)
    assert "| Commit | c57b3673a4 |" in page_of(out)


def page_of(out):
    return (out / "shifts.md").read_text(encoding="utf-8")


def test_nothing_is_written_where_nothing_was_run_or_can_be_compared(written, tmp_path):
    suite = shift_view().suite
    assert write_shifts(suite, tmp_path / "nothing", tmp_path, LOG) == []
    every = [
        ("source_only", kind, t)
        for kind in ("rotation", "concept", "label", "none")
        for t in range(5)
    ]
    names, _, out = written(failed=every)
    assert names == []
    assert list(out.iterdir()) == []


def test_a_later_run_is_compared_by_its_means(written):
    _, results, out = written()
    assert compare(out, results) == {"bent": []}
    changed(out / "bent/summary.csv", 0, "accuracy_mean", "0.01")
    (moved,) = compare(out, results)["bent"]
    assert moved.beyond


def test_a_damaged_record_is_named(written, tmp_path):
    _, results, out = written()
    with open(results / "bent/records.csv", "a", encoding="utf-8") as stream:
        stream.write("1,typed\n")
    view = shift_view()
    suite = dataclasses.replace(view.suite, experiments={"bent": view.experiment})
    with pytest.raises(CorruptArtifact, match="bent"):
        write_shifts(suite, results, out, LOG)
