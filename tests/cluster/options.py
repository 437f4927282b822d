"""How a run sends its jobs to the scheduler in this folder, whose nodes are this machine."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent


def options(project, spool):
    """Words of Snakemake's command line; the profile's command then finds our `qsub`."""
    return [
        *("--workflow-profile", str(project / "workflow/profiles/cluster-generic")),
        *("--cluster-generic-status-cmd", f"{HERE}/status.sh {spool}"),
        *("--jobs", "2", "--seconds-between-status-checks", "1"),
    ]


def variables(spool):
    """Of the environment; a job that is sent away needs the Python that is there."""
    path = os.pathsep.join([str(HERE), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {"PATH": path, "TEST_SPOOL": str(spool)}
