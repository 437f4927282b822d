"""Real processes under test: are they alive, and have they got as far as they should?"""

import time
from pathlib import Path

import psutil

SCRIPTS = {path.stem for path in (Path(__file__).parents[2] / "workflow/scripts").glob("*.py")}


def is_alive(pid):
    try:
        return psutil.Process(int(pid)).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return result


def script_of(process):
    """Name of the rule's script that a process runs, forked for it or started by Snakemake."""
    words = process.cmdline()
    if any("execution.forkserver" in word for word in words):
        return process.name() if process.name() in SCRIPTS else None
    if "python" in words[0] and any(".snakemake/scripts" in word for word in words):
        return next((name for name in SCRIPTS if words[-1].endswith(f".{name}.py")), None)
    return None


def noted(path):
    """The number of a process, once it is noted."""
    return int(wait_for(lambda: path.exists() and path.read_text()))
