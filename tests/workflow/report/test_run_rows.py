"""Rows on the work of a run: hours without pauses, its sittings, its commit."""

import dataclasses

from workflow.lib.report.reference_words import told
from workflow.lib.report.run_rows import seconds_told, work_rows
from workflow.lib.results.run_log import RunLog

LOG = RunLog("snakemake papers", 0.0, 90000.0, 2, 1234, 17000.0, 1512.3, 2900.4, 40, 1)


def test_a_run_in_several_sittings_tells_its_hours_without_the_pauses():
    log = dataclasses.replace(LOG, busy_seconds=9000.0, sittings=3, commit="c57b3673a4")
    lines = told(log, work_rows(log)).splitlines()
    assert (
        "| Time in which some job ran | 2.5 h, in 3 sittings, with more than 10 min between two "
        "jobs |"
    ) in lines
    assert "| Commit | c57b3673a4 |" in lines
    assert seconds_told("\n".join(lines)) == 9000.0
    alone = dataclasses.replace(log, sittings=1)
    assert work_rows(alone)["Time in which some job ran"] == "2.5 h, in one sitting"


def test_what_is_not_known_of_a_run_is_not_told():
    assert work_rows(LOG) == {}
    assert seconds_told(told(LOG, {})) == 90000.0
    assert seconds_told("nothing") == 0.0
