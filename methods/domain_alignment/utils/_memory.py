"""Refuse arrays that this machine cannot hold, before they are asked for; copy no files into it.

Linux grants more memory than there is and kills the process that uses it; a matrix of all pairs of
10^5 samples takes 75 GiB, and the message comes too late or not at all.
"""

import math
import os
from functools import cache
from pathlib import Path

import numpy as np

from domain_alignment.exceptions import AlignmentError

# Limits of a container: control groups of version 2 and of version 1.
_CONTAINER = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)
# Megabytes that a job of the benchmark may take, where it was given fewer than the machine has.
LIMIT_MB = "DOMAIN_ALIGNMENT_MEMORY_MB"
_UNITS = {"TiB": 2**40, "GiB": 2**30, "MiB": 2**20, "KiB": 2**10}
FEWER = (
    "give fewer samples (of unlabelled ones a random part often does), landmarks where the method "
    "has them (TKL, KEMA, TCA, kernel PCA), or take a method that compares no pairs of samples, "
    "such as CORAL, SubspaceAlignment, GFK, or TCA with its linear kernel"
)
FEWER_LABELS = (
    "give the labels of fewer samples (the others may stay, unlabelled), or take a method that "
    "compares no pairs of labelled samples, such as FMA, LSMMDT or JDA"
)
FEWER_FEATURES = (
    "give fewer features (the most frequent words; components, which PCAAligner finds without such "
    "products), or take a method that forms none, such as FMA, SSMA, or KEMA with its linear kernel"
)


@cache
def memory_of_machine():
    """Bytes that this process may use at most: of the machine, its container or its own limit."""
    if not hasattr(os, "sysconf"):  # Windows refuses by itself
        return math.inf
    import resource

    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    stated = (Path(name) for name in _CONTAINER)
    limits += [int(text) for text in map(_read, stated) if text.isdigit()]
    own, _ = resource.getrlimit(resource.RLIMIT_AS)
    return min(limits if own == resource.RLIM_INFINITY else [*limits, own])


def _read(path):
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:  # no such limit on this machine
        return ""


def lasting(X):
    """What to keep of samples that new ones are compared with.

    A copy, as the caller's array may hold others by then; a memory map that is open for reading
    only is kept itself, so that samples on disk stay there.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.eye(2)
    >>> lasting(X) is X
    False
    """
    owner = X
    while isinstance(owner, np.ndarray):
        if isinstance(owner, np.memmap) and owner.mode == "r":
            return X
        owner = owner.base
    return X.copy()


def check_room(n_rows, n_columns, what, n_arrays=1, instead=FEWER):
    """Raise ``AlignmentError`` if dense arrays exceed the memory of the machine, or of the job.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of each array of float64.
    what : str
        The arrays, in messages: "the kernel matrix of both domains".
    n_arrays : float, default=1
        How many of them the computation holds at a time, at least.
    instead : str, default=FEWER
        What to do about it, in messages.

    Examples
    --------
    >>> check_room(1000, 1000, "the kernel matrix")
    >>> check_room(10**7, 10**7, "the kernel matrix")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    domain_alignment.exceptions.AlignmentError: the kernel matrix of 10000000 x 10000000 numbers ...
    """
    needed, machine, job = 8 * n_rows * n_columns * n_arrays, memory_of_machine(), _memory_of_job()
    if needed > min(machine, job):
        times = "" if n_arrays == 1 else f", {n_arrays} times,"
        there = f"this machine has {_size(machine)}"
        if job < machine:
            there = f"this job may take {_size(job)}"
        raise AlignmentError(
            f"{what} of {n_rows} x {n_columns} numbers{times} takes {_size(needed)}, and "
            f"{there}; {instead}"
        )


def _memory_of_job():
    """Bytes that the environment allows: all where it says nothing."""
    stated = os.environ.get(LIMIT_MB, "")
    return float(stated) * 2**20 if stated else math.inf


def _size(n_bytes):
    """Bytes in words."""
    unit = next((unit for unit in _UNITS if n_bytes >= _UNITS[unit]), "KiB")
    size = n_bytes / _UNITS[unit]
    return f"{size:,.0f} {unit}" if size >= 10 else f"{size:.1f} {unit}"
