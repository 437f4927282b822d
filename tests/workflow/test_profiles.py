"""What no run shows: profiles of engines that are not at hand, the form of the container recipe."""

import functools
import os
import re
import shlex
import subprocess
import sys
import types

import pytest
import yaml

from tests.workflow.conftest import PARTS, ROOT
from tests.workflow.test_whole_runs import environment

PROFILES = {path.parent.name: path for path in ROOT.glob("workflow/profiles/*/config.yaml")}
CLUSTERS = sorted(PROFILES.keys() - {"default"})
# Settings of the plugins that are not in the lock, after their name and "-", at these versions.
NOT_LOCKED = {
    "lsf": set(),  # 0.3.3: it reads `lsf_project`, `lsf_queue` and `lsf_extra` of each job
    "kubernetes": {  # 0.5.1
        *("namespace", "cpu-scalar", "service-account-name", "privileged"),
        *("persistent-volumes", "omit-job-cleanup"),
    },
}
RECIPE = (ROOT / "envs/Dockerfile").read_text(encoding="utf-8")


def read(name):
    return yaml.safe_load(PROFILES[name].read_text(encoding="utf-8"))


@functools.cache
def options():
    """Long options of Snakemake and of the plugins that are installed.

    Asked in a process of its own: Snakemake's command line loads HiGHS, after which OSQP crashes.
    """
    command = [sys.executable, "-m", "snakemake", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"--([a-z][a-z0-9-]*)", told))


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_a_profile_says_only_what_snakemake_knows(name):
    own = {f"{name}-{setting}" for setting in NOT_LOCKED.get(name, ())}
    assert not read(name).keys() - own - options()


def attempts():
    rules = (ROOT / "workflow/rules/common.smk").read_text(encoding="utf-8")
    return int(re.search(r"^ATTEMPTS = (\d+)$", rules, re.MULTILINE)[1])


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_engine_repeats_lost_jobs_as_often_as_the_rules_count_on(name):
    profile = read(name)
    assert profile["executor"] == name
    assert profile["retries"] == attempts()
    assert profile["resources"] == ["mlflow=1"]
    assert profile["keep-going"]
    # It would be replaced without a word by one on the command line.
    assert "config" not in profile


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_engine_chooses_among_ready_jobs_as_the_default_profile_does(name):
    for key in ("scheduler", "scheduler-subsample"):
        assert read(name)[key] == read("default")[key]


def test_no_variable_of_snakemakes_own_environment_gets_into_a_job():
    """Snakemake (9.27) fills variables in profiles from where it runs, which may be a job too."""
    for name in CLUSTERS:
        words = [str(value) for value in read(name).values()]
        assert not [word for word in words if re.search(r"\$\{?[A-Za-z_]", word)]


@pytest.mark.parametrize(
    ("noted", "told", "became"),
    [
        (None, "7.pbs align anna 00:00:01 R workq", "running"),
        (None, "qstat: cannot connect to server pbs (errno=111)", "running"),
        (None, "qstat: Unknown Job Id 7.pbs", "failed"),
        (None, "qstat: 7.pbs Job has finished, use -x or -H to obtain its history", "failed"),
        (None, "7.pbs    align    anna    00:00:01 C batch          ", "failed"),
        ("0", "7.pbs    align    anna    00:00:01 C batch          ", "success"),
        ("1", "qstat: Unknown Job Id 7.pbs", "failed"),
    ],
)
def test_what_became_of_a_job_of_pbs(tmp_path, noted, told, became):
    """What has ended and noted nothing has failed; a server that is away says nothing of a job."""
    (tmp_path / "qstat").write_text(f"#!/bin/sh\necho '{told}' >&2\nexit 1\n")
    # What would wait for the note says so instead.
    (tmp_path / "sleep").write_text("#!/bin/sh\necho $1 >> waited\n")
    for command in ("qstat", "sleep"):
        (tmp_path / command).chmod(0o755)
    if noted is not None:
        (tmp_path / "logs/cluster").mkdir(parents=True)
        (tmp_path / "logs/cluster/7.pbs.exit").write_text(f"{noted}\n")
    status = (
        PROFILES["cluster-generic"].parent / read("cluster-generic")["cluster-generic-status-cmd"]
    )
    env = environment(PATH=f"{tmp_path}:{os.environ['PATH']}")
    line = [str(status), "7.pbs"]
    asked = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert asked.stdout == f"{became}\n"
    waited = tmp_path / "waited"
    seconds = sum(map(int, waited.read_text().split())) if waited.exists() else 0
    assert seconds == (5 if noted is None and became == "failed" else 0)


def planned(folder, *targets):
    """Planned jobs by their wildcards, each with its resources."""
    line = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    line += ["--dry-run", "--", *targets]
    told = subprocess.run(line, cwd=folder, env=environment(), capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr
    jobs = re.findall(r"wildcards: (.*)\n(?:    .*\n)*?    resources: (.*)", told.stdout)
    return {wildcards: set(resources.split(", ")) for wildcards, resources in jobs}


def test_what_runs_on_a_cluster_is_given_more_with_every_attempt():
    """Of a job that its cluster ended for want of memory or time a repetition is else the same."""
    grows = r"(each_attempt|with_room|(guarded|block)_(memory|minutes)|lambda w, attempt)"
    n_growing = 0
    for path in ROOT.glob("workflow/rules/*.smk"):
        for rule in re.split(r"^(?=rule )", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            asked = re.findall(r"^ +(?:mem_mb|runtime)=(.*)", rule, flags=re.MULTILINE)
            if "localrule: True" not in rule and asked:
                assert all(re.match(grows, words) for words in asked), rule.splitlines()[0]
                n_growing += 1
    assert n_growing >= 8


def test_fits_alone_are_sent_away_where_no_files_are_shared():
    """As engines.md says; the others read what lies where Snakemake runs."""
    sent = set()
    for path in ROOT.glob("workflow/rules/*.smk"):
        parts = re.split(
            r"^ *(?:rule|checkpoint) (\w+):", path.read_text("utf-8"), flags=re.MULTILINE
        )
        sent |= {
            name
            for name, text in zip(parts[1::2], parts[2::2], strict=True)
            if "localrule:" not in text
        }
    assert sent == {"align", "study", "time_alone"}


@pytest.mark.whole_run
def test_what_measures_time_is_alone_on_its_machine_and_nothing_else(tmp_path):
    """Every rule that takes all cores here asks a cluster for a machine of its own."""
    studies = {}
    for path in ROOT.glob("config/experiments/*.yaml"):
        experiment = yaml.safe_load(path.read_text(encoding="utf-8"))
        if "study" in experiment:
            studies[path.stem] = experiment["study"].get("alone", False)
    assert set(studies.values()) == {True, False}
    targets = [f"results/{name}/study.jsonl" for name in studies]
    jobs = planned(tmp_path, *targets, "results/quickstart/timing/full-scanner.fma_i.jsonl")
    timing = "experiment=quickstart, task=full-scanner, method=fma_i"
    alone = {f"experiment={name}" for name, is_alone in studies.items() if is_alone} | {timing}
    asks = {"slurm_extra=--exclusive", "lsf_extra=-x", "alone=1"}
    assert {wildcards for wildcards, resources in jobs.items() if asks <= resources} == alone
    assert {wildcards for wildcards, resources in jobs.items() if asks & resources} == alone
    rules = {path.stem: path.read_text("utf-8") for path in ROOT.glob("workflow/rules/*.smk")}
    takes_all, holds = (
        {name for name, text in rules.items() if word in text}
        for word in ("every_core", "HELD_ALONE")
    )
    assert takes_all == holds


def instructions():
    """(word, rest) of each instruction of the recipe, continued lines joined."""
    joined = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", RECIPE, flags=re.MULTILINE))
    lines = [line.partition(" ") for line in joined.splitlines() if line.strip()]
    return [(word, rest) for word, _, rest in lines]


def test_the_image_has_a_pinned_base_and_a_user_without_rights():
    found = instructions()
    (base,) = (rest for word, rest in found if word == "ARG" and rest.startswith("BASE="))
    assert re.fullmatch(r"BASE=\S+:\d+\.\d+\S*", base)
    assert [rest for word, rest in found if word == "FROM"] == ["${BASE}"]
    (user,) = (rest for word, rest in found if word == "USER")
    assert int(user) > 0
    words = [word for word, _ in found]
    assert max(at for at, word in enumerate(words) if word in ("RUN", "COPY")) < words.index("USER")


def test_the_image_for_kubernetes_adds_the_plugins_that_its_profile_was_written_for():
    page = (ROOT / "reports/manual/benchmark/engines.md").read_text(encoding="utf-8")
    recipe = re.search(r"<<'END'\n(.*?)END\n", page, re.DOTALL)[1]
    head = PROFILES["kubernetes"].read_text(encoding="utf-8").replace("\n# ", " ")
    written_for = re.search(r"versions ([\d.]+) and ([\d.]+),", head).groups()
    assert tuple(re.findall(r"==([\d.]+)", recipe)) == written_for
    (user,) = (rest for word, rest in instructions() if word == "USER")
    assert recipe.splitlines()[-1] == f"USER {user}"


def test_the_image_holds_what_a_run_needs_and_the_packages_of_the_lock():
    copied = {shlex.split(rest)[0] for word, rest in instructions() if word == "COPY"}
    assert copied == {*PARTS, "envs/requirements.lock"}
    assert all((ROOT / path).exists() for path in copied)
    (install,) = (rest for word, rest in instructions() if "pip install" in rest)
    assert "--require-hashes" in install
    assert "--requirement /opt/benchmark/envs/requirements.lock" in install


def test_a_job_of_a_folder_with_a_space_notes_how_it_ended(tmp_path):
    """With a `qsub` that runs the script at once, and a `qstat` that knows no job."""
    folder, programs = tmp_path / "a b", tmp_path / "bin"
    for place in (folder, programs):
        place.mkdir()
    (programs / "qsub").write_text("#!/bin/sh\nPBS_JOBID=17 sh >&2\necho 17\n")
    (programs / "qstat").write_text("#!/bin/sh\necho Unknown Job\n")
    for program in programs.iterdir():
        program.chmod(0o755)
    (folder / "job.sh").write_text("#!/bin/sh\ntrue\n")
    alone = types.SimpleNamespace(mem_mb=10, runtime=1, alone=0)
    send = read("cluster-generic")["cluster-generic-submit-cmd"]
    send = send.format(rule="align", threads=1, resources=alone)
    status = ROOT / "workflow/profiles/cluster-generic/status.sh"
    environ = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    run = functools.partial(
        subprocess.run, cwd=folder, env=environ, capture_output=True, text=True, check=True
    )
    assert run(["sh", "-c", f"{send} 'job.sh'"]).stdout.strip() == "17"
    assert (folder / "logs/cluster/17.exit").read_text().strip() == "0"
    assert run(["sh", str(status), "17"]).stdout.strip() == "success"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []
