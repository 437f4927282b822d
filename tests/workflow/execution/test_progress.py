import io
import os
import time
from types import SimpleNamespace

import pytest

from workflow.lib.execution import progress as progress_module
from workflow.lib.execution import run_note
from workflow.lib.execution.guard import Outcome
from workflow.lib.execution.progress import Progress, Pulse, duration, finished_trials, rate_text
from workflow.lib.storage.artifacts import write_records


def test_finished_blocks_are_counted_and_damaged_ones_are_not(tmp_path):
    for task, block in (("a-b", "000-004"), ("a-b", "005-009"), ("b-a", "000-004")):
        write_records(tmp_path / task / f"m.{block}.align.jsonl", [], {"n_trials": 5})
    assert finished_trials(tmp_path)[0] == 15
    (tmp_path / "a-b/m.000-004.align.jsonl").write_text('{"half')
    (tmp_path / "b-a/m.000-004.align.jsonl").write_text("")
    assert finished_trials(tmp_path)[0] == 5


def test_blocks_of_an_earlier_run_are_not_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "e"
    asked = {"tasks": ["a-b"], "methods": ["m"], "blocks": ["000-001", "002-003"]}
    run_note.begin({"asked": {"e": asked}})
    for name in ("m.000-001", "m.000-003", "m.004-007", "removed.000-003"):
        write_records(folder / f"a-b/{name}.align.jsonl", [], {"n_trials": 4})
    write_records(folder / "removed/m.000-001.align.jsonl", [], {"n_trials": 2})
    assert finished_trials(folder)[0] == 4
    terminal = io.StringIO()
    Progress(terminal, folder, 8, every=0).finish()
    assert terminal.getvalue().startswith("e: 4 of 8 trials done")


OK = Outcome(0, "ok", records=[{"status": "ok"}])


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """Function that notes a run as begun some seconds ago."""

    def begin(seconds):
        monkeypatch.chdir(tmp_path)
        run_note.begin({})
        os.utime(run_note.LAST_RUN, 2 * (time.time() - seconds,))
        return tmp_path / "results/fma_table1"

    return begin


def test_a_line_says_how_many_of_how_many_how_fast_and_how_long(begun):
    folder = begun(seconds=5000)
    mark = run_note.LAST_RUN.with_name("began_fma_table1")
    mark.touch()
    os.utime(mark, 2 * (time.time() - 100,))  # other experiments were at work before
    write_records(folder / "a-b/m.000-004.align.jsonl", [], {"n_trials": 5})
    write_records(folder / "a-b/n.000-004.align.jsonl", [], {"n_trials": 5})
    os.utime(folder / "a-b/n.000-004.align.jsonl", (0, 0))  # by an earlier run: no part of the rate
    terminal = io.StringIO()
    Progress(terminal, folder, 2000).tell(OK)
    expected = "fma_table1: 11 of 2,000 trials done, 3.6 per minute, about 9.2 h left\n"
    assert terminal.getvalue() == expected


def test_looking_at_many_files_takes_a_hundredth_of_the_time(begun, monkeypatch):
    folder, looks = begun(seconds=100), []
    clock = SimpleNamespace(now=time.time(), time=lambda: clock.now)
    monkeypatch.setattr(progress_module, "time", clock)

    def look_for_three_seconds(*_):
        looks.append(clock.now)
        clock.now += 3
        return 0, 0

    monkeypatch.setattr(progress_module, "finished_trials", look_for_three_seconds)
    Progress(io.StringIO(), folder, 2000).tell(OK)
    for seconds, n_looks in ((290, 1), (320, 2)):
        clock.now = looks[0] + seconds
        Progress(io.StringIO(), folder, 2000).tell(OK)
        assert len(looks) == n_looks


def test_the_first_job_of_an_experiment_notes_that_the_run_has_come_to_it(begun):
    folder = begun(seconds=100)
    mark = run_note.LAST_RUN.with_name("began_fma_table1")
    mark.touch()
    os.utime(mark, 2 * (time.time() - 200,))  # by an earlier run
    first = Progress(io.StringIO(), folder, 40).begun
    assert first == pytest.approx(time.time(), abs=5)
    assert Progress(io.StringIO(), folder, 40).begun == pytest.approx(first, abs=0.1)


def test_the_jobs_of_an_experiment_take_turns(begun):
    folder = begun(seconds=100)
    first, second = io.StringIO(), io.StringIO()
    for terminal in (first, second):
        Progress(terminal, folder, 40).tell(OK)
    assert (first.getvalue().count("\n"), second.getvalue()) == (1, "")


def test_the_last_block_is_told_at_once(begun):
    folder = begun(seconds=0)
    terminal = io.StringIO()
    progress = Progress(terminal, folder, 2)
    progress.tell(OK)
    progress.tell(OK)
    assert terminal.getvalue() == ""
    write_records(folder / "a-b/m.000-001.align.jsonl", [], {"n_trials": 2})
    progress.finish()
    assert terminal.getvalue() == "fma_table1: 2 of 2 trials done\n"


def test_the_end_of_a_job_opens_no_other_block(tmp_path, monkeypatch):
    """Otherwise the work of counting grows with the square of the number of jobs."""
    monkeypatch.chdir(tmp_path)
    names = [f"m{number}" for number in range(50)]
    run_note.begin({"asked": {"e": {"tasks": ["a-b"], "methods": names, "blocks": ["000-001"]}}})
    opened = []
    monkeypatch.setattr(progress_module, "_trials_in", lambda path: opened.append(path) or 2)
    for name in names[:-2]:
        write_records(tmp_path / f"e/a-b/{name}.000-001.align.jsonl", [], {"n_trials": 2})
        Progress(io.StringIO(), tmp_path / "e", 100).finish()
    assert not opened
    # The last two end at the same time: each is written, then each looks.
    two = [io.StringIO(), io.StringIO()]
    for name in names[-2:]:
        write_records(tmp_path / f"e/a-b/{name}.000-001.align.jsonl", [], {"n_trials": 2})
    for terminal in two:
        last = Progress(terminal, tmp_path / "e", 100)
        last.n_own = 2
        last.finish()
        assert terminal.getvalue() == "e: 100 of 100 trials done\n"


def test_long_blocks_tell_in_between(tmp_path):
    terminal = io.StringIO()
    progress = Progress(terminal, tmp_path / "e", 3, every=0)
    for _ in range(3):
        progress.tell(OK)
    assert [line.split()[1] for line in terminal.getvalue().splitlines()] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("per_second", "words"),
    [
        (12.3, "12 per second"),
        (1.0, "1.0 per second"),
        (0.07, "4.2 per minute"),
        (0.001, "3.6 per hour"),
    ],
)
def test_rates(per_second, words):
    assert rate_text(per_second) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(41.7, "42 s"), (100, "2 min"), (5000, "83 min"), (12600, "3.5 h")]
)
def test_durations(seconds, words):
    assert duration(seconds) == words


def test_a_long_computation_tells_what_it_printed_last(tmp_path):
    terminal, log = io.StringIO(), tmp_path / "study.log"
    log.write_text("the first size\nthe second size\n\n")
    with Pulse(terminal, "fma_figure5_growth", log, every=0.01):
        while terminal.getvalue().count("\n") < 2:
            time.sleep(0.01)
    told = terminal.getvalue().splitlines()
    assert told[0] == "fma_figure5_growth: at work for 0 s (the second size)"
    time.sleep(0.05)
    assert terminal.getvalue().splitlines() == told


def test_a_silent_or_short_computation_too(tmp_path):
    terminal, log = io.StringIO(), tmp_path / "study.log"
    log.touch()
    with Pulse(terminal, "short", log):
        pass
    assert terminal.getvalue() == ""
    with Pulse(terminal, "silent", log, every=0.01):
        while not terminal.getvalue():
            time.sleep(0.01)
    assert terminal.getvalue().startswith("silent: at work for 0 s\n")
