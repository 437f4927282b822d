"""Several runs at once, and clocks that are wrong."""

import os
import shutil
import signal
import time

import pandas as pd
import pytest

from tests.faults.processes import wait_for
from tests.faults.tiny_runs import BLOCKS, BOUND, start
from tests.workflow.conftest import copy_project
from tests.workflow.test_whole_runs import (
    RECORDS,
    add_own_data,
    job_count,
    make_tiny,
    records,
    snakemake,
)
from workflow.lib.storage.artifacts import read_records
from workflow.lib.storage.clock import from_the_future

HOUR = 3600


@pytest.mark.slow
def test_two_runs_at_once_in_one_folder(project, whole):
    """The second says that the folder is locked and changes nothing; the first goes on."""
    first = start(project)
    locks = project / ".snakemake/locks"
    wait_for(lambda: any(lock.stat().st_size for lock in locks.glob("*.output.lock")), BOUND)
    first.send_signal(signal.SIGSTOP)  # else it may end before the second looks for the lock
    printed = snakemake(project, RECORDS, *BLOCKS, check=False)
    first.send_signal(signal.SIGCONT)
    assert "LockException" in printed
    assert first.wait(BOUND) == 0
    pd.testing.assert_frame_equal(records(project), whole)


@pytest.mark.campaign
def test_eight_runs_at_once_with_separate_results(project, whole, tmp_path):
    """Eight runs of one checkout, each with a folder of its own: all records are equal."""
    folders = [tmp_path / f"run{number}" for number in range(8)]
    runs = [start(project, "--directory", str(folder), "--nolock") for folder in folders]
    assert [run.wait(4 * BOUND) for run in runs] == [0] * 8
    for folder in folders:
        pd.testing.assert_frame_equal(records(folder), whole)
    assert not (project / "results").exists()


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A project in which a task on two files of one's own has run."""
    project = make_tiny(copy_project(tmp_path_factory.mktemp("clock") / "project"))
    add_own_data(project)
    snakemake(project, "results/own/records.csv")
    return project


@pytest.fixture
def ran(own, tmp_path):
    return shutil.copytree(own, tmp_path / "ran", symlinks=True)


def exchange_labels(path):
    text = path.read_text()
    path.write_text(text.replace("yes", "maybe").replace("no", "yes").replace("maybe", "no"))


def set_clock(paths, seconds):
    now = time.time()
    for path in paths:
        if path.is_file():
            os.utime(path, (now + seconds, now + seconds))


def shift_clock(paths, seconds):
    for path in paths:
        if path.is_file():
            time_stamp = path.stat().st_mtime + seconds
            os.utime(path, (time_stamp, time_stamp))


def plan(project):
    return snakemake(project, "results/own/records.csv", "--dry-run")


@pytest.mark.slow
@pytest.mark.parametrize("hours", [-1000, -1, 0, 1])
def test_own_data_are_exchanged_for_a_file_of_another_time(ran, hours):
    """Other content of one's own data is loaded anew, however old or new its time stamp is.

    Two domains: the columns of one's own tables are coded alike, so each is made of both tables.
    """
    path = ran / "a.csv"
    exchange_labels(path)
    set_clock([path], hours * HOUR)
    assert job_count(plan(ran), "load") == 2


@pytest.mark.slow
def test_the_clock_was_set_back_after_a_run(ran):
    """Results that are newer than the clock are named; what is edited then is noticed all the same
    where numbers depend on it: the content of own data, the code, the configuration."""
    set_clock(ran.glob("results/**/*"), HOUR)
    set_clock(ran.glob("resources/**/*"), HOUR)
    exchange_labels(ran / "a.csv")
    printed = plan(ran)
    assert "newer than this machine's clock" in printed
    assert [job_count(printed, rule) for rule in ("load", "align", "collect")] == [2, 1, 1]
    assert "again: snakemake --cores all --forceall -- EXPERIMENT" in printed


@pytest.mark.slow
@pytest.mark.parametrize(("ahead", "option"), [(0, "--forcerun"), (HOUR, "--forceall")])
def test_what_messages_advise_makes_a_damaged_file_again(ran, ahead, option):
    """Deleting it would not; forced alone it would be older than what it is made of, where that is
    newer than the clock."""
    records = min(ran.glob("results/own/*/records.jsonl"))
    whole = records.read_bytes()
    records.write_bytes(whole[:-9])
    set_clock([*ran.glob("results/**/*"), *ran.glob("resources/**/*")], ahead)
    forced = [option, records.relative_to(ran)] if ahead == 0 else [option]
    snakemake(ran, *forced, "--", "results/own/records.csv")
    assert read_records(records)[0]


@pytest.mark.slow
def test_the_clock_was_wrong_throughout(ran):
    """A clock that was an hour or weeks late all along reruns nothing, nor does one that stood
    still during the run."""
    everything = [path for path in ran.rglob("*") if ".snakemake" not in path.parts]
    for hours in (-1000, -1):
        shift_clock(everything, hours * HOUR)
        assert "Nothing to be done" in plan(ran)
    set_clock([*ran.glob("results/**/*"), *ran.glob("resources/**/*")], -HOUR)
    assert "Nothing to be done" in plan(ran)


def test_files_of_the_future_are_listed(tmp_path):
    """A file that is a minute or less ahead is within what clocks of two machines differ."""
    for name, seconds in (("past", -HOUR), ("present", 0), ("skewed", 30), ("future", HOUR)):
        (tmp_path / name).touch()
        set_clock([tmp_path / name], seconds)
    assert list(from_the_future([tmp_path, tmp_path / "absent"])) == [tmp_path / "future"]
