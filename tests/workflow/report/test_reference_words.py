import dataclasses

from workflow.lib.report.reference_words import RUNS, duration, run_row, told
from workflow.lib.results.run_log import RunLog


def test_durations_are_in_the_unit_that_reads_best():
    found = [duration(seconds) for seconds in (None, 40.2, 119, 720, 7199, 12600)]
    assert found == ["", "40 s", "119 s", "12 min", "120 min", "3.5 h"]


def test_a_run_is_told_in_a_table_with_the_counts_of_its_trials():
    log = RunLog("snakemake papers", 0.0, 9000.0, 2, 1234, 17000.0, 1512.3, 2900.4, 40, 1)
    lines = told(log, {"Failed records": "1 of 40"}).splitlines()
    assert lines[2] == "| Began | 1970-01-01 00:00 UTC |"
    assert lines[4].startswith("| From first to last | 2.5 h on 2 cores (")
    assert lines[5:9] == [
        "| Jobs | 1,234, 4.7 h in all |",
        "| Most memory of a trial | 1,512 MB |",
        "| Most memory at one time | of trials at most 2,900 MB, the sum of what each of the jobs "
        "that ran together needed at its own peak |",
        "| Failed records | 1 of 40 |",
    ]
    assert {line.count("|") for line in lines} == {3}


def test_the_row_of_a_run_says_when_it_began():
    log = RunLog("snakemake papers", 3600.0, 12600.0, 2, 1234, 17000.0, 1512.3, 2900.4, 40, 1)
    assert ", begun 1970-01-01 01:00 UTC |" in run_row(log)


def test_the_row_of_a_run_names_its_commit():
    log = RunLog("snakemake papers", 0.0, 9.0, 2, 12, 17.0, 1512.3, 2900.4, 40, 1, commit="a1b2c3")
    assert "| commit a1b2c3, Python " in run_row(log)


def test_a_table_of_runs_says_whose_memory_it_has():
    assert "Most memory of a trial (studies are not measured)" in RUNS


def test_the_memory_of_a_whole_run_is_told_where_it_was_looked_at():
    log = RunLog("snakemake papers", 0.0, 9.0, 2, 12, 17.0, 1512.3, 2900.4, 40, 1, 4321.0)
    line = "| Most memory at one time | 4,321 MB, by Snakemake and all processes under it |"
    assert line in told(log, {}).splitlines()
    assert " 1,512 MB (of the whole run: 4,321 MB) " in run_row(log)


def test_memory_that_nobody_noted_is_not_zero():
    studies = RunLog("snakemake fma_figure2", 0.0, 9.0, 1, 3, 9.0, 0.0, 0.0, 1, 0)
    for words in (run_row(studies), told(studies, {})):
        assert "not measured" in words
        assert "0 MB" not in words


def test_versions_and_processors_are_those_of_the_records_where_these_say():
    """Not those of the machine on which the table is written, nor its memory."""
    one = {"python": "3.9.1", "numpy": "1.0", "processor": "Abacus"}
    other = one | {"processor": "Slide rule"}
    log = RunLog(
        *("snakemake papers", 0.0, 9.0, 2, 12, 17.0, 1.0, 2.0, 40, 1), computed_with=(one, other)
    )
    row = run_row(log)
    assert " on 2 cores (Abacus and Slide rule), begun" in row
    assert "Python 3.9.1, numpy 1.0 |" in row
    here = RunLog(*("snakemake papers", 0.0, 9.0, 2, 12, 17.0, 1.0, 2.0, 40, 1))
    assert "GB), begun" in run_row(here)
    early = dataclasses.replace(log, computed_with=({},))
    assert run_row(early) == run_row(here)
    mixed = run_row(dataclasses.replace(log, computed_with=(one, {})))
    assert " (Abacus and others unknown (files of earlier versions)), begun" in mixed
