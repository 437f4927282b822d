"""The environment: what the report says of it, and that both ways of installing are the same."""

import contextlib
import getpass
import importlib.metadata
import importlib.util
import json
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from workflow.lib.results.environment import commit_then, describe, git_state

ROOT = Path(__file__).resolve().parents[3]
LOCK = (ROOT / "envs/requirements.lock").read_text(encoding="utf-8")
REQUIREMENTS = (ROOT / "envs/requirements.in").read_text(encoding="utf-8")


def normalised(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def names_in(requirements):
    lines = (line.partition("#")[0].strip() for line in requirements.splitlines())
    return {normalised(line) for line in lines if line}


@pytest.fixture(scope="module")
def lock():
    """envs/lock.py as a module."""
    spec = importlib.util.spec_from_file_location("lock", ROOT / "envs/lock.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def conda_pins():
    environment = yaml.safe_load((ROOT / "envs/core.yaml").read_text(encoding="utf-8"))
    pip = next(part["pip"] for part in environment["dependencies"] if isinstance(part, dict))
    return dict(pin.split("==") for pin in pip)


def test_conda_has_pins_of_the_lock(lock):
    locked = lock.pins(LOCK)
    assert {name: locked[name] for name in conda_pins()} == conda_pins()


def test_conda_holds_all_that_a_run_needs_and_no_more(lock):
    """What jobs ask for and what that requires here; not what tests and the manual ask for."""
    wanted = names_in(lock.run_time(REQUIREMENTS))
    assert wanted <= conda_pins().keys()
    assert not conda_pins().keys() & (names_in(REQUIREMENTS) - wanted)
    for name in conda_pins():
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):  # on another Python
            assert required(name) <= conda_pins().keys(), name


def required(name):
    """What an installed package requires on this machine, without extras."""
    found = map(Requirement, importlib.metadata.requires(name) or [])
    here = [one for one in found if one.marker is None or one.marker.evaluate({"extra": ""})]
    return {normalised(one.name) for one in here}


def test_the_lock_holds_all_that_is_asked_for(lock):
    assert names_in(REQUIREMENTS) <= set(lock.pins(LOCK))


def test_the_lock_pins_and_hashes_everything_and_names_no_address():
    entries = re.split(r"\n(?=\S)", LOCK.strip())
    for entry in entries:
        first, *rest = (line.rstrip(" \\") for line in entry.splitlines())
        assert re.fullmatch(r"[a-z0-9.-]+==[^\s;]+", first), (
            f"no exact pin without condition: {first}"
        )
        assert rest, f"no hash: {first}"
        assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}", line) for line in rest), first
    assert not re.search(r"://|--index|--find-links", LOCK)


def test_a_conda_environment_gets_the_pins_it_is_given_and_keeps_its_head(lock):
    text = "# Head.\n  - python>=3.11\n  - pip\n  - pip:\n      - pot==1.0\n"
    pins = {"scs": "3", "pot": "2.0"}
    assert lock.with_pins(text, pins) == text.replace("1.0\n", "2.0\n      - scs==3\n")


def test_the_build_backend_is_in_the_lock(lock):
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    required = json.loads(re.search(r"requires = (\[.*\])", project)[1])
    assert set(required) <= set(lock.pins(LOCK))


def test_describe_names_what_computed_the_numbers():
    found = describe(date="2026-11-20")
    assert found["date"] == "2026-11-20"
    assert describe()["date"] is None, "never the time of rendering"
    assert found["packages"]["numpy"]
    assert found["packages"]["domain-alignment"]
    assert found["cores"] >= 1
    assert found["memory_gb"] > 0
    assert found["cpu"]
    assert {pool["library"] for pool in found["blas"]}
    assert all(pool["threads"] >= 1 for pool in found["blas"])


def test_describe_names_no_person_no_machine_and_no_folder():
    text = json.dumps(describe())
    words = re.findall(r"\w+", text)
    # Compared as words: a user may be called as a part of a version is.
    assert getpass.getuser() not in words
    assert socket.gethostname() not in words
    assert str(ROOT) not in text
    assert str(Path.home()) not in text


def repository(folder):
    """What runs git in a new repository, with the time of a commit."""

    def git(*arguments, at=0):
        told = f"{1_700_000_000 + at} +0000"
        dates = {"GIT_COMMITTER_DATE": told, "GIT_AUTHOR_DATE": told}
        identity = ("-c", "user.name=x", "-c", "user.email=x", "-c", "commit.gpgsign=false")
        command = ["git", "-C", folder, *identity, *arguments]
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, env={**os.environ, **dates}
        )
        return done.stdout.strip()

    git("init", "-q")
    return git


def test_the_commit_of_then_is_where_the_checkout_was_not_where_it_is(tmp_path):
    git = repository(tmp_path)
    commits = []
    (tmp_path / "config").mkdir()
    for hour in range(3):
        (tmp_path / "config/file").write_text(str(hour))
        git("add", ".")
        git("commit", "-q", "-m", "one", at=3600 * hour)
        commits.append(git("rev-parse", "HEAD")[:10])

    def found(*hours, folder=tmp_path):
        return commit_then(folder, *(1_700_000_000 + 3600 * hour for hour in hours))

    assert found(0.1, 0.9) == commits[0]
    assert found(1, 5) == f"{commits[1]} to {commits[2]}"
    assert found(-0.1, 0.5) == "", "nothing is known of before the checkout"
    assert found(0.1, 0.2, folder=tmp_path / "config") == "", "a folder within one is none"
    (tmp_path / "results").write_text("what a run leaves")
    assert found(0.1, 0.9) == commits[0]
    (tmp_path / "config/file").write_text("changed")
    assert found(0.1, 0.9) == f"{commits[0]}, and changes that are in no commit"


def test_no_checkout_has_no_commit(tmp_path):
    assert commit_then(tmp_path, 0.0, 1.0) == ""


def test_git_state_of_a_clean_a_changed_and_no_repository(tmp_path):
    assert git_state(tmp_path) == {"commit": None, "dirty": None}

    def git(*arguments):
        identity = ("-c", "user.name=x", "-c", "user.email=x", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", tmp_path, *identity, *arguments], check=True)

    git("init", "-q")
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-q", "-m", "one")
    clean = git_state(tmp_path)
    assert re.fullmatch("[0-9a-f]{40}", clean["commit"])
    assert clean["dirty"] is False

    (tmp_path / "file").write_text("2")
    assert git_state(tmp_path) == {"commit": clean["commit"], "dirty": True}
