"""Notes of the last run: what `make resume` and the progress of a run read."""

import json
import socket

import pytest

from workflow.lib.execution import run_note

NOTE = {"targets": ["all"], "cores": 2, "config": {"a": 1}, "snakefile": "Snakefile"}
HERE = {"host": socket.gethostname()}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_that_begins_is_the_last_one():
    run_note.begin(NOTE)
    assert run_note.read_last_run() == NOTE | HERE
    run_note.begin({**NOTE, "targets": ["report"]})
    assert run_note.read_last_run()["targets"] == ["report"]


def test_a_run_that_is_being_planned_comes_first_until_it_begins(folder):
    run_note.begin(NOTE)
    run_note.announce(["other_program", "--cores", "4"], "Snakefile")
    assert not run_note.STARTING.exists()
    run_note.announce(["/bin/snakemake", "--cores", "4"], "Snakefile")
    planned = {"arguments": ["--cores", "4"], "snakefile": "Snakefile"}
    assert run_note.read_last_run() == planned | HERE
    run_note.begin(NOTE)
    assert run_note.read_last_run() == NOTE | HERE
    assert not list((folder / run_note.STARTING).iterdir())


def test_without_a_run_there_is_no_note():
    with pytest.raises(FileNotFoundError):
        run_note.read_last_run()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"targets": "all"}, "'targets' is 'all'"),
        ({"cores": "two"}, "'cores' is 'two'"),
        ({"targets": [3]}, "3 is neither a target nor an argument"),
    ],
)
def test_what_is_no_note_of_a_run_is_refused(folder, change, words):
    run_note.begin(NOTE)
    (folder / run_note.LAST_RUN).write_text(json.dumps(NOTE | change))
    with pytest.raises(ValueError, match=words):
        run_note.read_last_run()


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("snakemake --profile slurm -F all", "--profile slurm -F all"),
        ("/bin/snakemake --executor slurm -R a b --cores 2", "--executor slurm -R a b --cores 2"),
        ("/x/snakemake/__main__.py --forcerun=align -- all", "--forcerun=align -- all"),
        ("pytest --cores 2", None),
    ],
)
def test_a_run_is_continued_where_and_as_it_was(line, kept):
    found = run_note.arguments_of(line.split(), {})
    assert found == (kept.split() if kept else None)


@pytest.mark.parametrize(
    ("words", "of_call"),
    [
        ("--directory ../runs all", "checkout"),
        ("-d ../runs -- all", "checkout"),
        ("-d../runs all", "checkout"),
        ("--dir=../runs all", "checkout"),
        ("--snakefile checkout/Snakefile --directory runs all", ""),
        ("--cores 2 all", None),
        ("--directory somewhere all", None),
        ("-- --directory", None),
    ],
)
def test_the_folder_of_a_call_that_runs_in_another(folder, monkeypatch, words, of_call):
    for name in ("checkout", "runs"):
        (folder / name).mkdir()
    monkeypatch.chdir(folder / "runs")
    line = ["snakemake", *words.split()]
    found = run_note.called_in(line, folder / "checkout", {"PWD": str(folder)})
    assert found == ("" if of_call is None else str((folder / of_call).resolve()))


def test_a_profile_of_the_environment_is_noted():
    named = {"SNAKEMAKE_PROFILE": "lsf"}
    assert run_note.arguments_of(["snakemake", "all"], named) == ["--profile", "lsf", "all"]
    line = ["snakemake", "--profile=slurm", "all"]
    assert run_note.arguments_of(line, named) == ["--profile=slurm", "all"]


def test_a_job_of_a_cluster_says_how_many_jobs_it_holds():
    alone = ["snakemake", "--cores", "1", "all"]
    assert run_note.n_target_jobs(alone) == 0
    jobs = ["align:task=a-b,method=pca", "align:task=a-b,method=tca"]
    assert run_note.n_target_jobs(["snakemake", "--target-jobs", *jobs, "--cores", "1"]) == 2
