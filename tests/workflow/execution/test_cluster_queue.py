"""Jobs that a killed run left in a queue, asked of a SLURM that is played."""

import json
import subprocess

import pytest

from workflow.lib.execution import cluster_queue
from workflow.lib.execution.cluster_queue import (
    INCOMPLETE,
    QueueError,
    clear_queue,
    noted_jobs,
    queued_jobs,
)
from workflow.lib.execution.run_note import LAST_RUN


def silent(words):
    raise subprocess.CalledProcessError(1, words, stderr="Unable to contact slurm controller")


@pytest.fixture
def folder(tmp_path):
    """A folder whose killed run had noted job 12, a local job, and a note that was cut off."""
    notes = tmp_path / INCOMPLETE
    (notes / "below").mkdir(parents=True)
    (notes / "below/YQ==").write_text(json.dumps({"external_jobid": "12"}))
    (notes / "Yg==").write_text(json.dumps({"external_jobid": None}))
    (notes / "Yw==").write_text('{"external')
    return tmp_path


class Slurm:
    """Answers as SLURM does; a cancelled job is there for one more question."""

    def __init__(self, *lines):
        self.lines, self.cancelled = list(lines), []

    def __call__(self, words):
        if words[0] == "scancel":
            self.cancelled += words[1:]
            return ""
        shown = "\n".join(self.lines)
        if self.cancelled:
            self.lines = [line for line in self.lines if line.split("|")[0] not in self.cancelled]
        return shown


@pytest.fixture
def slurm(folder, monkeypatch):
    monkeypatch.setattr(cluster_queue, "_PAUSE_SECONDS", 0)
    return Slurm(
        f"12|12|(null)|{folder}",
        f"13|13|rule_align_wildcards_a|{folder}",  # submitted, and not noted any more
        f"14_2|14|rule_align|{folder}",
        f"15|15|(null)|{folder}",  # somebody's own job in the same folder
        f"16|16|rule_align|{folder}/elsewhere",
    )


@pytest.mark.parametrize(("cores", "is_left"), [(None, True), (2, False)])
def test_jobs_that_had_begun_have_no_number_and_may_be_there_all_the_same(tmp_path, cores, is_left):
    """On its node Snakemake writes the note of a job anew; without cores it ran on a cluster."""
    notes = tmp_path / INCOMPLETE
    notes.mkdir(parents=True)
    (tmp_path / LAST_RUN).write_text(json.dumps({"cores": cores, "targets": []}))
    clear_queue(tmp_path, has_slurm=False)  # all files are complete
    (notes / "YQ==").write_text(json.dumps({"external_jobid": None}))
    if not is_left:
        clear_queue(tmp_path, has_slurm=False)
        return
    for ask in ({"has_slurm": False}, {"has_slurm": True, "ask": silent}):
        with pytest.raises(QueueError, match="jobs that had begun, whose numbers are noted no mor"):
            clear_queue(tmp_path, **ask)


def test_the_jobs_that_snakemake_has_noted(folder):
    assert noted_jobs(folder) == {"12"}
    assert noted_jobs(folder / "elsewhere") == set()


def test_the_jobs_of_this_folder_alone(folder, slurm):
    assert queued_jobs(folder, {"12"}, slurm) == ["12", "13", "14_2"]


def test_they_are_cancelled_and_their_end_is_awaited(folder, slurm, capsys):
    clear_queue(folder, slurm, has_slurm=True)
    assert slurm.cancelled == ["12", "13", "14_2"]
    assert [line.split("|")[0] for line in slurm.lines] == ["15", "16"]
    assert "Cancelling 3 jobs" in capsys.readouterr().out


def test_a_job_that_does_not_end_is_named(folder, slurm, monkeypatch):
    monkeypatch.setattr(cluster_queue, "_PATIENCE_SECONDS", -1)
    with pytest.raises(QueueError, match=r"jobs 12, 13, 14_2: .*--queue-is-clear"):
        clear_queue(folder, slurm, has_slurm=True)


def test_without_slurm_noted_jobs_are_the_users(folder, tmp_path_factory):
    with pytest.raises(QueueError, match=r"jobs 12: .*no `squeue`.*--queue-is-clear"):
        clear_queue(folder, has_slurm=False)
    clear_queue(tmp_path_factory.mktemp("local"), has_slurm=False)


def test_a_slurm_that_does_not_answer_matters_only_to_its_jobs(folder, tmp_path_factory):
    with pytest.raises(QueueError, match=r"jobs 12: .*Unable to contact"):
        clear_queue(folder, silent, has_slurm=True)
    clear_queue(tmp_path_factory.mktemp("local"), silent, has_slurm=True)
