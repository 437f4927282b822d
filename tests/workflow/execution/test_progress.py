import io
import time

from workflow.lib.execution import run_note
from workflow.lib.execution.guard import Outcome
from workflow.lib.execution.progress import Progress, Pulse, finished_trials
from workflow.lib.storage.artifacts import write_records


def test_finished_blocks_are_counted_and_damaged_ones_are_not(tmp_path):
    for task, block in (("a-b", "000-004"), ("a-b", "005-009"), ("b-a", "000-004")):
        write_records(tmp_path / task / f"m.{block}.align.jsonl", [], {"n_trials": 5})
    assert finished_trials(tmp_path) == 15
    (tmp_path / "a-b/m.000-004.align.jsonl").write_text('{"half')
    (tmp_path / "b-a/m.000-004.align.jsonl").write_text("")
    assert finished_trials(tmp_path) == 5


def test_blocks_of_an_earlier_run_are_not_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "e"
    asked = {"tasks": ["a-b"], "methods": ["m"], "blocks": ["000-001", "002-003"]}
    run_note.begin({"asked": {"e": asked}})
    for name in ("m.000-001", "m.000-003", "m.004-007", "removed.000-003"):
        write_records(folder / f"a-b/{name}.align.jsonl", [], {"n_trials": 4})
    write_records(folder / "removed/m.000-001.align.jsonl", [], {"n_trials": 2})
    assert finished_trials(folder) == 4
    terminal = io.StringIO()
    Progress(terminal, folder, 8, "m on a-b").finish()
    assert terminal.getvalue().startswith("e: 4 of 8 trials done")


def test_a_line_says_which_experiment_and_how_many_of_how_many(tmp_path):
    folder = tmp_path / "fma_table1"
    write_records(folder / "a-b/m.000-004.align.jsonl", [], {"n_trials": 5})
    terminal = io.StringIO()
    progress = Progress(terminal, folder, 40, "n on a-b")
    progress.tell(Outcome(0, "ok", records=[{"status": "ok"}, {"status": "ok"}]))
    progress.tell(Outcome(1, "ok", records=[{"status": "ok"}, {"status": "error"}]))
    progress.tell(Outcome(2, "timeout"))
    assert terminal.getvalue() == ""
    progress.finish()
    expected = "fma_table1: 8 of 40 trials done (n on a-b: 1 ok, 1 error, 1 timeout; 0 s)\n"
    assert terminal.getvalue() == expected


def test_long_blocks_tell_in_between(tmp_path):
    terminal = io.StringIO()
    progress = Progress(terminal, tmp_path / "e", 3, "m on a-b", every=0)
    for trial in range(3):
        progress.tell(Outcome(trial, "ok", records=[{"status": "ok"}]))
    assert [line.split()[1] for line in terminal.getvalue().splitlines()] == ["1", "2", "3"]


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
