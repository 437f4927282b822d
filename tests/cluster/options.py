"""How a run sends its jobs to the scheduler in this folder, whose nodes are this machine."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent


def options(project):
    """Words of Snakemake's command line; the profile finds our `qsub` and `qstat`."""
    return [
        *("--workflow-profile", str(project / "workflow/profiles/cluster-generic")),
        *("--jobs", "2", "--seconds-between-status-checks", "1"),
    ]


def variables(spool):
    """Of the environment; a job that is sent away needs the Python that is there."""
    path = os.pathsep.join([str(HERE), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {"PATH": path, "TEST_SPOOL": str(spool)}
