"""The tests' own SLURM keeps away from one that is configured; nothing is started here."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.slurm.cluster import HERE

# What start.sh needs to refuse; without `hostname` it fails before it writes or starts anything.
TOOLS = ("bash", "dirname", "grep", "realpath", "timeout")
ANSWERS = "#!/bin/bash\necho '{}'\n"
CONFIGURED = [Path("/etc/slurm/slurm.conf"), Path("/run/slurm/conf/slurm.conf")]


@pytest.fixture
def refused(tmp_path):
    """Function that calls a script of a folder's cluster; its exit code and what it says."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in TOOLS:
        (tools / tool).symlink_to(shutil.which(tool))

    def call(script, answer="", **env):
        (tools / "scontrol").write_text(ANSWERS.format(answer))
        (tools / "scontrol").chmod(0o755)
        line = [HERE / script, tmp_path / "own"]
        told = env | {"PATH": str(tools)}
        done = subprocess.run(line, env=told, capture_output=True, text=True, timeout=60)
        assert not (tmp_path / "own").exists()
        return done.returncode, done.stderr

    return call


@pytest.mark.skipif(any(map(os.path.exists, CONFIGURED)), reason="a SLURM is configured here")
@pytest.mark.parametrize("state", ["UP", "DOWN"])
def test_a_cluster_that_is_known_is_not_joined(refused, state):
    answer = f"Slurmctld(primary) at elsewhere is {state}"
    code, told = refused("start.sh", answer)
    assert (code, f"{answer}: a SLURM is" in told) == (3, True)


@pytest.mark.skipif(any(map(os.path.exists, CONFIGURED)), reason="a SLURM is configured here")
def test_without_a_cluster_it_goes_on(refused):
    code, told = refused("start.sh")
    assert (code, "has not started" in told) == (1, True)


@pytest.mark.parametrize("script", ["start.sh", "stop.sh"])
def test_a_cluster_that_is_named_is_left_alone(refused, script):
    code, told = refused(script, SLURM_CONF="/opt/slurm/etc/slurm.conf")
    assert (code, "SLURM_CONF=/opt/slurm/etc/slurm.conf" in told) == (3, True)
