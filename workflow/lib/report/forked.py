"""A function over a list in forked processes, which see what this one holds without a copy."""

import multiprocessing
import sys
from collections.abc import Callable, Sequence

_function: Callable | None = None


def map_forked(function: Callable, items: Sequence, processes: int) -> list:
    """``[function(item) for item in items]``, shared by up to ``processes`` processes.

    The function may be a closure: it is inherited, and only items and results are pickled. An
    exception in a process is raised here. Elsewhere than on Linux, where a fork of a process with
    loaded libraries may hang, this process does it all.
    """
    processes = min(processes, len(items))
    if processes < 2 or sys.platform != "linux":
        return [function(item) for item in items]
    forking = multiprocessing.get_context("fork")
    with forking.Pool(processes, initializer=_keep, initargs=(function,)) as pool:
        return pool.map(_call, items, chunksize=1)


def _keep(function: Callable) -> None:
    global _function
    _function = function


def _call(item: object) -> object:
    return _function(item)
