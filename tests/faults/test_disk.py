"""Disks and pipes that take no more."""

import json
import os
import subprocess
import sys

import pytest

from workflow.lib.execution.guard import BlockFailed, Limits, run_block

ROOT = os.getcwd()


def block_of(kinds, notes):
    return {"kinds": kinds, "notes": str(notes)}


def test_the_scratch_disk_is_full_when_a_trial_ends(scratch, notes, origin):
    """The block fails and names the disk; no trial is blamed, so that a later run repeats them."""
    block = block_of(["puts its arrays on a full disk", "fine"], notes)
    outcomes = run_block("tests.faults.hostile", block, [0, 1], Limits(20, 2000), scratch)
    with pytest.raises(BlockFailed, match=r"scratch.*No space left.*[Ff]ree"):
        next(outcomes)


def test_the_scratch_disk_is_full_at_the_start(scratch, notes, origin):
    """The block fails and names the disk."""
    (scratch / "spec.json").symlink_to("/dev/full")
    outcomes = run_block("tests.faults.hostile", block_of(["fine"], notes), [0], LIMITS, scratch)
    with pytest.raises(BlockFailed, match=r"scratch.*No space left.*[Ff]ree"):
        next(outcomes)


LIMITS = Limits(20, 2000)
JOB = """
import sys
from workflow.lib.execution.logs import log_to

terminal = log_to(sys.argv[1])
from pathlib import Path
from workflow.lib.execution.guard import Outcome
from workflow.lib.execution.progress import Progress, Pulse

progress = Progress(terminal, Path(sys.argv[2]), 1, every=0)
with Pulse(terminal, "study", Path(sys.argv[1]), every=0.01):
    for trial in range(100):
        progress.tell(Outcome(trial, "ok"))
progress.finish()
terminal.write("done\\n")
Path(sys.argv[2], "records").write_text("computed")
"""


def fill(pipe):
    try:
        while True:
            os.write(pipe, b"x" * 4096)
    except BlockingIOError:
        return


@pytest.mark.parametrize("kind", ["closed", "full"])
def test_the_terminal_is(tmp_path, kind):
    """A block whose terminal is gone, or is not read any more, is computed and written."""
    reader, writer = os.pipe()
    if kind == "closed":
        os.close(reader)
    else:
        os.set_blocking(writer, False)
        fill(writer)
        os.set_blocking(writer, True)
    line = [sys.executable, "-c", JOB, str(tmp_path / "log"), str(tmp_path)]
    run = subprocess.run(line, stderr=writer, timeout=600)
    os.close(writer)
    if kind == "full":
        os.close(reader)
    assert run.returncode == 0, (tmp_path / "log").read_text()
    assert (tmp_path / "records").read_text() == "computed"


def test_the_disk_of_the_log_is_full(scratch, notes, tmp_path):
    """What a method prints is dropped where the log takes no more; its trials are kept."""
    code = (
        "import json, pathlib, sys\n"
        "from workflow.lib.execution.guard import Limits, run_block\n"
        "block, scratch, out = json.loads(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]\n"
        "run = run_block('tests.faults.hostile', block, [0, 1], Limits(60, 2000), scratch)\n"
        "pathlib.Path(out).write_text(json.dumps([outcome.status for outcome in run]))"
    )
    block = json.dumps(block_of(["prints much", "fine"], notes))
    line = [sys.executable, "-c", code, block, str(scratch), str(tmp_path / "out")]
    with open("/dev/full", "w") as full:
        subprocess.run(line, stdout=full, stderr=full, timeout=600, cwd=ROOT)
    assert json.loads((tmp_path / "out").read_text()) == ["ok", "ok"]
