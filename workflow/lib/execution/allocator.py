"""What this process does with memory that a computation has freed."""

import contextlib
import ctypes

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # of mallopt, in glibc's malloc.h
LARGEST, _FREE_AT_END = 512 * 2**20, 256 * 2**20


def keep_freed(largest: int) -> None:
    """Let freed memory serve the next arrays, where a process makes arrays of few sizes again.

    By default glibc gives arrays above 32 MiB back when they are freed, smaller ones as soon as the
    end of its heap is free, and the system zeroes every page that it hands out again: up to a tenth
    of the CPU seconds of a job that tunes (tests/bench/freed_memory.py). After this call 256
    MiB stay free at the end of the heap, and what is free before it; all of it counts as resident
    until :func:`~workflow.lib.execution.memory.restart_peak`. A hole that the next array does not
    fit stays a hole, so nothing is changed where arrays are larger than 512 MiB, which might not
    fit in twice; nor where another library than glibc allocates.

    Parameters
    ----------
    largest : int
        Bytes of the largest array that comes and goes.
    """
    if largest > LARGEST:
        return
    with contextlib.suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_MAX, 0)  # every array comes from the heap
        mallopt(_TRIM_THRESHOLD, _FREE_AT_END)
