"""A whole run on a real SLURM of one node; slow, and only as root where SLURM is installed."""

import os
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from tests.workflow.test_whole_runs import RECORDS, make_tiny, snakemake

START = Path(__file__).parents[1] / "slurm/start.sh"
needs_slurm = pytest.mark.skipif(
    shutil.which("slurmctld") is None or os.geteuid() != 0,
    reason="needs root and Debian's packages slurm-wlm and munge",
)


@pytest.fixture
def slurm(tmp_path):
    subprocess.run([START, tmp_path / "slurm"], check=True, timeout=60)
    yield
    for name in ("slurmd", "slurmctld", "munged"):
        subprocess.run(["pkill", "-x", name], check=False)
    # Every later call of Snakemake would ask the dead cluster, and wait.
    Path("/etc/slurm/slurm.conf").unlink()


@pytest.mark.slow
@needs_slurm
@pytest.mark.usefixtures("slurm")
def test_the_slurm_profile_runs_an_experiment(project):
    make_tiny(project, methods=["fma_i", "raises"])
    waits = ("--slurm-init-seconds-before-status-checks", "2")
    snakemake(
        project,
        RECORDS,
        *("--workflow-profile", "workflow/profiles/slurm", "--slurm-no-account"),
        *("--slurm-status-command", "squeue", "--seconds-between-status-checks", "1", *waits),
        *("--default-resources", "slurm_partition=debug", "mem_mb=500", "runtime=5"),
    )
    statuses = pd.read_csv(project / RECORDS).groupby("method")["status"].agg(set).to_dict()
    assert statuses == {"fma_i": {"ok"}, "raises": {"error"}}
    assert list(project.glob(".snakemake/slurm_logs/rule_align/**/*.log"))
