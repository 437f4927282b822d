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
FEWER = (
    "give fewer samples (of unlabelled ones a random part often does), landmarks where the method "
    "has them (TKL, KEMA, TCA, kernel PCA), or take a method that compares no pairs of samples, "
    "such as CORAL, SubspaceAlignment, GFK, or TCA with its linear kernel"
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


def check_room(n_rows, n_columns, what, n_arrays=1):
    """Raise ``AlignmentError`` if dense arrays exceed the memory of the machine.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of each array of float64.
    what : str
        The arrays, in messages: "the kernel matrix of both domains".
    n_arrays : int, default=1
        How many of them the computation holds at a time.

    Examples
    --------
    >>> check_room(1000, 1000, "the kernel matrix")
    >>> check_room(10**7, 10**7, "the kernel matrix")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    domain_alignment.exceptions.AlignmentError: the kernel matrix of 10000000 x 10000000 numbers ...
    """
    needed, there = 8 * n_rows * n_columns * n_arrays, memory_of_machine()
    if needed > there:
        times = "" if n_arrays == 1 else f", {n_arrays} times,"
        raise AlignmentError(
            f"{what} of {n_rows} x {n_columns} numbers{times} takes {needed / 2**30:,.0f} GiB, and "
            f"this machine has {there / 2**30:,.0f}; {FEWER}"
        )
