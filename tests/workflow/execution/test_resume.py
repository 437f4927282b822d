"""Continuing a killed run, with real processes."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest

from workflow.lib.execution import resume

SNAKEFILE = """
import json, pathlib

onstart:
    note = {"targets": ["out/a.txt", "out/b.txt"], "cores": 2, "config": config}
    pathlib.Path(".snakemake/last_run.json").write_text(json.dumps(note))

rule all:
    input: "out/never.txt"

rule one:
    output: "out/{name}.txt"
    params: seconds=lambda w: config["seconds"][w.name]
    script: "one.py"
"""

SCRIPT = """
import time
with open(snakemake.output[0], "w") as stream:
    stream.write("half")
    stream.flush()
    while not __import__("os").path.exists("go"):
        time.sleep(0.05)
    stream.write(f" whole {snakemake.params.seconds}")
"""


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
    return answer


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "one.py").write_text(SCRIPT)
    yield tmp_path
    resume.end(resume.orphans(tmp_path))


@pytest.fixture
def killed_run(folder):
    """A run killed with -9 while both of its jobs had half of their files written."""
    (folder / "config.json").write_text(json.dumps({"seconds": {"a": 1, "b": 2}}))
    line = [sys.executable, "-m", "snakemake", "out/a.txt", "out/b.txt", "--cores", "2"]
    with open(folder / "log", "w") as log:
        run = subprocess.Popen(
            [*line, "--configfile", "config.json"], cwd=folder, stdout=log, stderr=log
        )
    outputs = [folder / "out/a.txt", folder / "out/b.txt"]
    until(lambda: all(path.exists() and path.read_text() == "half" for path in outputs))
    return folder, run


@pytest.mark.whole_run
def test_continues_a_run_killed_with_minus_9(killed_run, capfd):
    folder, run = killed_run
    with pytest.raises(resume.ResumeError, match=f"a run is at work here .process {run.pid}.*kill"):
        resume.resume(folder)
    assert not resume.orphans(folder), "jobs of a live run are no orphans"

    run.send_signal(signal.SIGKILL)
    run.wait()
    left = until(lambda: resume.orphans(folder))
    (folder / "go").touch()  # for the jobs of the second run; the orphans must not get that far
    for process in left:
        process.suspend()
    assert resume.resume(folder, cores=1) == 0

    assert (folder / "out/a.txt").read_text() == "half whole 1"
    assert (folder / "out/b.txt").read_text() == "half whole 2"
    assert not resume.orphans(folder)
    assert not list(folder.glob(".snakemake/locks/*"))
    assert not (folder / "out/never.txt").exists(), "the killed run's targets, not the default"
    assert "Continuing: out/a.txt out/b.txt" in capfd.readouterr().out


def test_a_job_of_a_cluster_is_no_run(tmp_path):
    (tmp_path / "snakemake").write_text("import time\ntime.sleep(60)")
    started = [
        subprocess.Popen([sys.executable, "snakemake", *more], cwd=tmp_path)
        for more in ((), ("--executor", "slurm-jobstep", "--mode", "remote"))
    ]
    try:
        found = until(lambda: resume.live_runs(tmp_path))
        assert [process.pid for process in found] == [started[0].pid]
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_a_job_is_an_interpreter_on_a_job_script_in_this_folder(tmp_path):
    scripts = tmp_path / ".snakemake/scripts"
    scripts.mkdir(parents=True)
    script = scripts / "tmp1.align.py"
    script.write_text("import time; time.sleep(60)")
    pager = tmp_path / "less"
    shutil.copy(shutil.which("sleep"), pager)

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    started = [
        subprocess.Popen([sys.executable, str(script)], cwd=tmp_path, start_new_session=True),
        subprocess.Popen([sys.executable, str(script)], cwd=elsewhere, start_new_session=True),
        subprocess.Popen([str(pager), "60"], cwd=tmp_path, start_new_session=True),
    ]
    try:
        found = until(lambda: resume.orphans(tmp_path))
        assert [process.pid for process in found] == [started[0].pid]
        resume.end(found)
        assert started[0].wait(timeout=10) == -signal.SIGTERM
        assert [process.poll() for process in started[1:]] == [None, None]
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_ends_what_ignores_a_polite_request(tmp_path, monkeypatch):
    monkeypatch.setattr(resume, "_PATIENCE_SECONDS", 0.3)
    stubborn = (
        "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('ready', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", stubborn], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        resume.end([psutil.Process(process.pid)])
        assert process.wait(timeout=10) == -signal.SIGKILL


def test_a_run_that_names_no_target_is_continued_as_such(tmp_path):
    line = resume.command({}, tmp_path)
    assert line[1:] == ["-m", "snakemake", "--cores", "all", "--rerun-incomplete"]


def test_a_run_in_another_folder_is_continued_from_that_of_the_call(tmp_path, monkeypatch):
    """Paths of its command line count from there: --directory, profiles and all."""
    seen = []
    monkeypatch.setattr(resume, "_run", lambda line, folder: seen.append((line, folder)) or 0)
    (tmp_path / ".snakemake").mkdir()
    note = {"arguments": ["--directory", "runs", "all"], "called_in": str(tmp_path / "checkout")}
    (tmp_path / resume.LAST_RUN).write_text(json.dumps(note))
    resume.resume(tmp_path)
    ((line, folder),) = seen
    assert folder == tmp_path / "checkout"
    assert line[3:] == ["--directory", "runs", "all", "--rerun-incomplete"]
    (tmp_path / resume.LAST_RUN).write_text(json.dumps({**note, "called_in": ""}))
    resume.resume(tmp_path)
    assert seen[1][1] == tmp_path


def test_a_run_on_a_cluster_is_continued_there(tmp_path):
    run = {"arguments": ["--profile", "slurm", "--", "all"], "targets": ["all"], "cores": 3}
    line = resume.command(run, tmp_path, cores=4)
    expected = ["--profile", "slurm", "--rerun-incomplete", "--cores", "4", "--", "all"]
    assert line[3:] == expected


def test_jobs_in_a_queue_that_cannot_be_asked_stop_a_resumption(tmp_path, monkeypatch):
    def refuse(folder):
        raise resume.QueueError("jobs 12")

    monkeypatch.setattr(resume, "clear_queue", refuse)
    with pytest.raises(resume.QueueError, match="jobs 12"):
        resume.resume(tmp_path)
    with pytest.raises(resume.ResumeError, match="no run was started"):
        resume.resume(tmp_path, queue_is_clear=True)


def test_a_run_of_another_machine_is_left_alone(tmp_path, monkeypatch):
    cancelled, lines = [], []
    monkeypatch.setattr(resume, "clear_queue", cancelled.append)
    monkeypatch.setattr(resume, "_run", lambda line, folder: lines.append(line) or 0)
    note = {"targets": ["all"], "host": "login1"}
    locks = tmp_path / ".snakemake/locks"
    locks.mkdir(parents=True)
    (tmp_path / resume.LAST_RUN).write_text(json.dumps(note))
    (locks / "0.input.lock").touch()
    # What was planned here since then, if only to look at it, does not hide that run.
    planned = tmp_path / ".snakemake/starting/13.json"
    planned.parent.mkdir()
    planned.write_text(json.dumps({"arguments": ["-n"], "host": socket.gethostname()}))
    with pytest.raises(resume.ResumeError, match=r"on login1 and may.* on that machine"):
        resume.resume(tmp_path)
    assert not cancelled
    assert not lines
    assert resume.resume(tmp_path, other_host_is_down=True) == 0
    assert ["--unlock" in line for line in lines] == [True, False]
    (locks / "0.input.lock").unlink()  # it ended by itself
    assert resume.resume(tmp_path) == 0
