"""Runs that are killed before they begin."""

import subprocess
import sys

import pytest

from tests.faults.processes import wait_for
from tests.workflow.conftest import copy_project
from workflow.lib.execution import resume


@pytest.fixture
def project(tmp_path):
    return copy_project(tmp_path / "project")


def snakemake(project, *arguments):
    line = [sys.executable, "-m", "snakemake", "--cores", "1", *arguments]
    with open(project / "log", "w") as log:
        return subprocess.Popen(line, cwd=project, stdout=log, stderr=log)


def continued(project, monkeypatch):
    """The command line with which `make resume` would start Snakemake."""
    lines = []
    monkeypatch.setattr(resume, "_run", lambda line, folder: lines.append(line) or 0)
    resume.resume(project)
    return lines[-1]


def killed_before_its_first_job(project, folder, *arguments):
    """Start a run in a folder and kill it where the rules are read, before jobs are planned."""
    rules = (project / "Snakefile").read_text()
    with open(project / "Snakefile", "a") as stream:
        stream.write("\nPath('reached').touch()\n__import__('time').sleep(300)\n")
    run, reached = snakemake(project, *arguments), folder / "reached"
    wait_for(lambda: reached.exists() or run.poll() is not None)
    assert reached.exists(), (project / "log").read_text()
    run.kill()
    run.wait()
    (project / "Snakefile").write_text(rules)


@pytest.mark.whole_run
def test_killed_before_its_first_job(project, monkeypatch):
    """`make resume` continues the run that was killed last, though it had not begun."""
    (project / ".snakemake").mkdir()
    (project / resume.LAST_RUN).write_text('{"targets": ["results/old"], "cores": 1}')
    killed_before_its_first_job(project, project, "results/new", "--config", "trials_per_job=3")
    line = continued(project, monkeypatch)
    assert "results/new" in line
    assert "results/old" not in line
    assert "trials_per_job=3" in line


@pytest.mark.whole_run
def test_killed_in_another_folder(project, tmp_path, monkeypatch):
    """A run started with ``--directory`` leaves its note in that folder, with that of the call."""
    folder, places = tmp_path / "elsewhere", []
    folder.mkdir()
    killed_before_its_first_job(project, folder, "results/new", "--directory", "../elsewhere")
    monkeypatch.setattr(resume, "_run", lambda line, folder: places.append(folder) or 0)
    resume.resume(folder)
    assert places[-1] == project


@pytest.mark.whole_run
def test_a_dry_run_in_between(project, monkeypatch):
    """What only looks at the rules changes nothing about which run is continued."""
    (project / ".snakemake").mkdir()
    (project / resume.LAST_RUN).write_text('{"targets": ["results/old"], "cores": 1}')
    dry = snakemake(project, "quickstart", "--dry-run", "--quiet")
    assert dry.wait(120) == 0, (project / "log").read_text()
    assert "results/old" in continued(project, monkeypatch)


def test_no_run_was_ever_started(tmp_path):
    """`make resume` starts nothing that was not asked for; it says what to do."""
    with pytest.raises(resume.ResumeError, match=r"no run.*make benchmark"):
        resume.last_run(tmp_path)
