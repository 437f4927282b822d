"""The SLURM that start.sh starts, as tests see it: its jobs, and runs that are sent to it."""

import contextlib
import dataclasses
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

from tests.workflow.test_whole_runs import environment

HERE = Path(__file__).parent
BOUND = 900  # seconds for whatever is waited for, on a machine that has other things to do
PROFILE = (
    *("--workflow-profile", "workflow/profiles/slurm", "--slurm-no-account"),
    *("--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "2"),
    *("--seconds-between-status-checks", "1"),
    *("--default-resources", "slurm_partition=debug", "mem_mb=1000", "runtime=5"),
)
_FIELDS = {"number": "i", "comment": "k", "state": "T", "node": "N", "cores": "C"}
_FIELDS |= {"memory": "m", "time": "l", "shares": "h", "folder": "Z"}


@dataclasses.dataclass(frozen=True)
class Job:
    """A line of the queue, which also holds jobs that have ended; `shares` is whether its node."""

    number: str
    comment: str
    state: str
    node: str
    cores: str
    memory: str
    time: str
    shares: str
    folder: str

    @property
    def asked(self):
        return self.cores, self.memory, self.time


@contextlib.contextmanager
def asked_alone(folder):
    """No other cluster is asked from here, nor told anything, than the one of a folder."""
    os.environ["SLURM_CONF"] = f"{folder}/slurm.conf"
    try:
        yield
    finally:
        del os.environ["SLURM_CONF"]


def jobs(folder, part=""):
    """Jobs of a folder's runs whose comment holds ``part``, in the order of their submission."""
    form = "--format=" + "|".join(f"%{letter}" for letter in _FIELDS.values())
    lines = ask("squeue", "--noheader", "--states=all", "--sort=i", form).splitlines()
    found = [Job(*map(str.strip, line.split("|"))) for line in lines]
    return [job for job in found if job.folder == str(folder) and part in job.comment]


def ask(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=BOUND)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done.stdout


def set_node(name, state):
    ask("scontrol", "update", f"nodename={name}", f"state={state}", "reason=test")


def end_jobs(folder):
    """End what SLURM has lost sight of: jobs of a node that was down, which wait for an answer."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.cwd() == str(folder):
                process.kill()


class Run:
    """Snakemake at work in a folder, or another module that starts it; as a context, to its end."""

    def __init__(self, folder, *words, module="snakemake"):
        self.folder, self.log = folder, folder / f"{module}.log"
        with open(self.log, "w") as log:
            line = [sys.executable, "-m", module, *words]
            self.process = subprocess.Popen(
                line, cwd=folder, env=environment(), stdout=log, stderr=log
            )

    def until(self, what, found):
        """What ``found`` finds, once it finds something; the run must be at work meanwhile."""
        deadline = time.monotonic() + BOUND
        while not (answer := found()):
            assert self.process.poll() is None, f"the run ended before {what}\n{self.told()}"
            assert time.monotonic() < deadline, f"{BOUND} s without {what}\n{self.told()}"
            time.sleep(1)
        return answer

    def wait(self):
        """The end of the run, which must be a success; what it printed."""
        try:
            code = self.process.wait(timeout=BOUND)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{BOUND} s without an end\n{self.told()}") from None
        assert code == 0, self.told()
        return self.log.read_text()

    def told(self):
        """What it has printed, and how the cluster is."""
        nodes = subprocess.run(["sinfo", "--Node", "--long"], capture_output=True, text=True)
        queue = "\n".join(map(str, jobs(self.folder))) if nodes.returncode == 0 else ""
        return "\n".join([self.log.read_text(), nodes.stdout + nodes.stderr, queue])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
