"""Resident memory of this process, in MiB."""

import contextlib
import ctypes
import resource
import sys
from pathlib import Path


def restart_peak() -> float:
    """Give back what is free, let the peak start anew, and return what is resident now."""
    # Freed memory that stays in the process would serve what comes next and hide what it takes.
    # Neither call exists everywhere; without them the figures are a little off.
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _resident("VmRSS")


def peak_mib() -> float:
    """Most that was resident since the start of the process, or since :func:`restart_peak`."""
    return _resident("VmHWM")


def _resident(field: str) -> float:
    # Not `ru_maxrss`: it starts at the size of the process that started this one.
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        scale = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale
    line = next(line for line in status.splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) / 1024
