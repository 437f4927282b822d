"""Most memory that a run holds at one time: Snakemake and all processes under it, here."""

import contextlib
import threading
from pathlib import Path

import psutil

from workflow.lib.execution.process_tree import descendants
from workflow.lib.storage.peak_memory import PEAK_MEMORY, read_peak, write_peak

EVERY = 5.0  # seconds between two looks


def watch(root: psutil.Process, file: Path, ended: threading.Event, every: float = EVERY) -> None:
    """Look at a process and those below it until an event, and note the most that they held.

    Parameters
    ----------
    root : psutil.Process
        Watching ends with it, too.
    file : Path
        What it holds is raised, never lowered.
    ended : threading.Event
    every : float
        Seconds between two looks; what is held for less may be missed.
    """
    most = read_peak(file) or 0.0
    while root.is_running():
        if (now := held_mib(root)) > most:
            most = now
            with contextlib.suppress(OSError):
                write_peak(file, most)
        if ended.wait(every):
            return


def watch_this_run() -> None:
    """Watch this process in a thread of its own, which ends with it."""
    arguments = (psutil.Process(), PEAK_MEMORY.absolute(), threading.Event())
    threading.Thread(target=watch, args=arguments, daemon=True).start()


def held_mib(root: psutil.Process) -> float:
    """Memory of a process and all below it, MiB; what several share is counted once."""
    return sum(map(_share, [root, *descendants(root)])) / 2**20


def _share(process: psutil.Process) -> int:
    """Bytes; of pages that several processes hold, this one's part where the system tells it."""
    with contextlib.suppress(psutil.Error):  # it has ended, or is another user's
        memory = process.memory_full_info()
        return getattr(memory, "pss", memory.uss)
    return 0
