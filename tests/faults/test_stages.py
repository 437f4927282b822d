"""Disks that are full or read-only, at every stage of a run.

The disks are real: a tmpfs in a mount namespace of the test's own, which `unshare` of util-linux
gives to every user where the kernel allows it.
"""

import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from tests.faults.tiny_runs import BLOCKS, BOUND
from tests.workflow.test_whole_runs import RECORDS, environment, records, snakemake

# What to make, and the folder whose disk takes no more while it is made.
STAGES = {
    "load": ("resources/domains/digits/full.features.npz", "resources/domains/digits"),
    "sample": ("results/tiny/full-half/trials.npz", "results/tiny/full-half"),
    "align": ("results/tiny/full-half/fma_i.000-001.align.jsonl", "results/tiny/full-half"),
    "evaluate": ("results/tiny/full-half/records.jsonl", "results/tiny/full-half"),
    "collect": (RECORDS, "results/tiny"),
    "report": ("results/tiny/report.html", "results/tiny"),
    "track": ("results/tiny/mlflow.json", "results"),
}
# In the namespace: the folder on a disk of its own, with what it held; then the run.
FULL = """
set -e
folder=$1; shift
cp -a "$folder" "$folder.kept"
kilobytes=$(du -s --apparent-size --block-size=1024 "$folder" | cut -f1)
pages=$(find "$folder" | wc -l)  # a file fills whole pages of a tmpfs, of 4 kB
kilobytes=$(( kilobytes + 4 * pages + 64 ))
mount -t tmpfs -o size=${kilobytes}k disk "$folder"
cp -a "$folder.kept/." "$folder/"
rm -r "$folder.kept"
head -c 100M /dev/zero > "$folder/filler" 2>/dev/null || true
status=0; "$@" || status=$?
rm "$folder/filler"
find "$folder" -type f > "$OUTCOME"
exit $status
"""
READ_ONLY = """
set -e
folder=$1; shift
mount --bind "$folder" "$folder"
mount -o remount,bind,ro "$folder"
exec "$@"
"""


def up_to(stage, finished, project):
    """A copy of the project without what a stage makes, and without what follows from it."""
    shutil.copytree(finished, project, symlinks=True)
    if stage == "track":
        snakemake(project, "results/tiny/report.html", *BLOCKS)
    after = list(STAGES)[list(STAGES).index(stage) :]
    patterns = {
        "load": ["resources/domains/digits/full.*"],
        "sample": ["results/tiny/full-half/trials.npz"],
        "align": ["results/tiny/full-half/fma_i.*"],
        "evaluate": ["results/tiny/full-half/records.jsonl"],
        "collect": ["results/tiny/records.*", "results/tiny/summary.csv", "results/tiny/SHA256*"],
        "report": ["results/tiny/report.html", "results/tiny/tables/*", "results/tiny/figures/*"],
        "track": ["results/tiny/mlflow.json", "results/mlflow.db"],
    }
    for name in after:
        for pattern in patterns[name]:
            for path in project.glob(pattern):
                path.unlink()
    (project / STAGES[stage][1]).mkdir(parents=True, exist_ok=True)
    return project


def run_on(disk, project, folder, target):
    """Snakemake with the folder on another disk; its output, and the files left on the disk."""
    line = ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c", disk, "disk", folder]
    line += [sys.executable, "-m", "snakemake", "--cores", "1", target, *BLOCKS]
    line += ["--show-failed-logs"]
    outcome = project / "outcome"
    run = subprocess.run(
        line,
        cwd=project,
        env=environment(OUTCOME=str(outcome)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=BOUND,
    )
    left = outcome.read_text().splitlines() if outcome.exists() else []
    return run, left


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_the_disk_is_full(finished, whole, tmp_path, stage):
    """The stage fails and names the file for which the disk has no room; nothing half-written is
    left, and once there is room the records are those of an undisturbed run."""
    project = up_to(stage, finished, tmp_path / "project")
    target, folder = STAGES[stage]
    run, left = run_on(FULL, project, folder, target)
    assert run.returncode != 0
    assert re.search(rf"(No space left on device|disk is full).*{folder}", run.stdout), run.stdout
    assert target not in left
    assert not [name for name in left if "/." in name.removeprefix(".")]
    snakemake(project, RECORDS, *BLOCKS)
    pd.testing.assert_frame_equal(records(project), whole)


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_the_disk_is_read_only(finished, tmp_path, stage):
    """The run fails and names the folder or file that cannot be written."""
    project = up_to(stage, finished, tmp_path / "project")
    target, folder = STAGES[stage]
    run, _ = run_on(READ_ONLY, project, folder, target)
    assert run.returncode != 0
    assert "Read-only file system" in run.stdout or "cannot be written" in run.stdout, run.stdout
    assert folder in run.stdout
