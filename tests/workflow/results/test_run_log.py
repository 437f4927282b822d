"""What a run took, from Snakemake's notes and the summaries."""

import csv
import itertools
import json

import numpy as np
import pytest

from workflow.lib.config.addresses import PROJECT
from workflow.lib.config.suite import load_suite
from workflow.lib.report.reference_words import run_row
from workflow.lib.results import run_log
from workflow.lib.results.run_log import joined, read_run_log
from workflow.lib.storage.artifacts import write_records

SUITE = load_suite(PROJECT)
RNG = np.random.default_rng(0)


def note(folder, name, rule, log, start, end):
    content = {"rule": rule, "log": log, "starttime": start, "endtime": end}
    (folder / ".snakemake/metadata" / name).write_text(json.dumps(content))


@pytest.fixture
def folder(tmp_path):
    """Two jobs, one of two files, and an experiment with a failed trial."""
    (tmp_path / ".snakemake/metadata").mkdir(parents=True)
    (tmp_path / ".snakemake/last_run.json").write_text('{"cores": 2, "targets": ["papers"]}')
    note(tmp_path, "a", "align", ["logs/a.log"], 100.0, 160.0)
    note(tmp_path, "b", "align", ["logs/a.log"], 100.0, 161.0)
    note(tmp_path, "c", "align", ["logs/b.log"], 150.0, 200.0)
    note(tmp_path, "d", "evaluate", ["logs/c.log"], None, None)
    folder = tmp_path / "results/fma_table1"
    folder.mkdir(parents=True)
    rows = [
        {"classifier": "logistic", "n_ok": 19, "n_error": 1, "peak_mb": "210.5"},
        {"classifier": "logistic", "n_ok": 20, "n_error": 0, "peak_mb": ""},
    ]
    with open(folder / "summary.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return tmp_path


def test_a_job_counts_once_however_many_files_it_makes(folder):
    log = read_run_log(SUITE, folder / "results")
    assert (log.start, log.end, log.jobs, log.job_seconds) == (100, 200, 2, 61 + 50)
    assert (log.command, log.cores, log.peak_mb) == ("snakemake --cores 2 papers", 2, 210.5)
    assert (log.records, log.failed) == (40, 1)


def test_a_file_that_a_job_makes_no_more_is_no_part_of_it(folder):
    """Its note is of the day before."""
    note(folder, "old", "align", ["logs/a.log"], 1.0, 10.0)
    log = read_run_log(SUITE, folder / "results")
    assert (log.start, log.jobs, log.job_seconds, log.sittings) == (100, 2, 61 + 50, 1)


def test_a_scheduler_gives_the_cores(folder):
    (folder / ".snakemake/last_run.json").write_text('{"cores": null, "targets": ["papers"]}')
    log = read_run_log(SUITE, folder / "results")
    assert (log.command, log.cores) == ("snakemake papers", None)
    assert " on the cores of a cluster (" in run_row(log)


def test_hours_are_those_in_which_some_job_ran(folder):
    """Of a run in three sittings, with ten minutes' pause and a day's between them."""
    for name, start, end in (("e", 800.0, 830.0), ("f", 1431.0, 1500.0), ("g", 90000.0, 90100.0)):
        note(folder, name, "align", [f"logs/{name}.log"], start, end)
    log = read_run_log(SUITE, folder / "results")
    assert (log.start, log.end, log.sittings) == (100, 90100, 3)
    assert log.busy_seconds == 100 + 30 + 69 + 100, "jobs that ran together count once"
    assert log.job_seconds == 61 + 50 + 30 + 69 + 100


def test_intervals_are_joined_as_a_slow_count_of_seconds_has_them():
    spans = [(int(s), int(s + n)) for s, n in RNG.integers(1, 40, (30, 2)) * [20, 1]]
    seconds = {second for start, end in spans for second in range(start, end)}
    found = joined(spans)
    assert sum(end - start for start, end in found) == len(seconds)
    assert all(one[1] < other[0] for one, other in itertools.pairwise(found))
    wide = joined(spans, pause=15)
    assert all(other[0] - one[1] > 15 for one, other in itertools.pairwise(wide))
    assert (wide[0][0], wide[-1][1]) == (found[0][0], found[-1][1])


def test_the_commit_is_that_of_the_checkout_that_holds_the_results(folder, monkeypatch):
    asked = []
    monkeypatch.setattr(run_log, "commit_then", lambda *place: asked.append(place) or "abc")
    assert read_run_log(SUITE, folder / "results").commit == "abc"
    assert asked == [(folder, 100, 200)]


def test_of_many_targets_the_first_are_told(folder):
    note = {"cores": 2, "targets": ["a", "b", "c", "d"]}
    (folder / ".snakemake/last_run.json").write_text(json.dumps(note))
    command = read_run_log(SUITE, folder / "results").command
    assert command == "snakemake --cores 2 a b c ... (4 targets)"


def test_memory_of_the_whole_run_is_told_where_it_was_noted(folder):
    assert read_run_log(SUITE, folder / "results").peak_in_all_mb is None
    (folder / ".snakemake/peak_memory.json").write_text('{"peak_mb": 812.5}')
    assert read_run_log(SUITE, folder / "results").peak_in_all_mb == 812.5


def aligned(folder, task, start, end, *peaks):
    """A job that aligned a block, and what it noted of its trials."""
    log = f"logs/align/fma_table1/{task}/coral.000-019.log"
    note(folder, task, "align", [log], start, end)
    records = [{"trial": trial, "peak_mb": peak} for trial, peak in enumerate(peaks)]
    path = folder / f"results/fma_table1/{task}/coral.000-019.align.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_records(path, records, {})


def test_most_memory_at_one_time_is_that_of_jobs_that_ran_together(folder):
    """The largest job alone has less than two smaller ones, and none begins before another ends."""
    aligned(folder, "alone", 200.0, 300.0, 500.0)
    aligned(folder, "next", 300.0, 350.0, 90.0)
    aligned(folder, "long", 310.0, 400.0, 400.0, None, 100.0)
    aligned(folder, "short", 320.0, 330.0, 90.0)
    aligned(folder, "without data", 320.0, 330.0, None)
    assert read_run_log(SUITE, folder / "results").peak_at_once_mb == 90 + 400 + 90


def test_most_memory_at_one_time_of_a_run_without_trials(folder):
    assert read_run_log(SUITE, folder / "results").peak_at_once_mb == 0


def test_nothing_was_run(tmp_path):
    with pytest.raises(FileNotFoundError, match="no note of a job; run something first"):
        read_run_log(SUITE, tmp_path / "results")


def test_the_log_says_what_the_results_were_computed_with(folder, monkeypatch):
    assert read_run_log(SUITE, folder / "results").computed_with == ()
    monkeypatch.setattr(run_log, "computed_of_suite", lambda *_: [{"python": "3.9"}])
    assert read_run_log(SUITE, folder / "results").computed_with == ({"python": "3.9"},)
