"""The container recipe, built with buildah and run; as root, with Debian's packages alone.

No image is pulled: debootstrap makes the base, Debian 12 as the recipe's own. That the recipe pins
its base, and names what it should, is in test_profiles.py.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from tests.workflow.conftest import copy_project
from tests.workflow.test_profiles import instructions
from tests.workflow.test_whole_runs import snakemake
from workflow.lib.results.comparison import differences

RECORDS = "results/quickstart/records.csv"
TRUSTED = Path("/usr/local/share/ca-certificates")
BOUND = 3600  # seconds for one command, on a machine that has other things to do
pytestmark = [
    pytest.mark.image,
    pytest.mark.skipif(
        not (shutil.which("buildah") and shutil.which("debootstrap") and os.geteuid() == 0),
        reason="needs root and Debian's packages buildah and debootstrap",
    ),
]


def told(line):
    done = subprocess.run(line, capture_output=True, text=True, timeout=BOUND)
    assert done.returncode == 0, f"{line}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout.strip()


@pytest.fixture
def buildah(tmp_path):
    """Function that runs buildah with images of its own; in a container, so without namespaces."""
    store = ["--root", tmp_path / "images", "--runroot", tmp_path / "run"]

    def run(word, *more):
        isolated = ["--isolation", "chroot"] if word in ("build", "run") else []
        return told(["buildah", *store, "--storage-driver", "vfs", word, *isolated, *more])

    yield run
    run("rm", "--all")
    shutil.rmtree(tmp_path / "images")  # gigabytes, which pytest would keep


@pytest.fixture
def base(buildah, tmp_path):
    """Name of an image of Debian 12 that trusts whom this machine trusts."""
    folder = tmp_path / "debian"
    told(["debootstrap", "--variant=minbase", "bookworm", folder])
    if TRUSTED.is_dir():
        shutil.copytree(TRUSTED, folder / TRUSTED.relative_to("/"), dirs_exist_ok=True)
    container = buildah("from", "scratch")
    buildah("add", container, folder, "/")
    buildah("commit", container, "debian-12")
    buildah("rm", container)
    shutil.rmtree(folder)
    return "localhost/debian-12"


def test_the_image_is_built_and_its_quickstart_has_the_records_of_this_machine(
    buildah, base, tmp_path
):
    """The recipe builds; its own command, as a user without rights, gives the same records."""
    project = copy_project(tmp_path / "project")
    recipe = ("--file", project / "envs/Dockerfile", "--build-arg", f"BASE={base}")
    buildah("build", *recipe, "--tag", "benchmark", project)
    container = buildah("from", "localhost/benchmark")
    (command,) = (json.loads(rest) for word, rest in instructions() if word == "CMD")
    buildah("run", container, "--", *command)
    records = Path(buildah("mount", container)) / "home/benchmark" / RECORDS
    assert records.stat().st_uid == 10001

    snakemake(project, RECORDS)
    made, expected = pd.read_csv(records), pd.read_csv(project / RECORDS)
    assert "ok" in set(made["status"])
    assert differences(expected, made) == []
