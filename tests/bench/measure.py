"""What the scripts beside this file measure with; it needs nothing of the project.

Another package may have an environment of its own, whose interpreter imports this file too.
"""

import math
import re
import resource
import time
import tracemalloc
from pathlib import Path

import numpy as np

# Values of a product that are held at a time (64 MB in float64).
_BLOCK_VALUES = 2**23


def cpu_seconds(function, *arguments, repeats=1):
    """CPU seconds of a call, and its result; of `repeats` calls the one others disturbed least."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        result = function(*arguments)
        seconds.append(time.process_time() - start)
    return min(seconds), result


def product_seconds(n_rows, n_terms, n_columns, dtype=np.float64, repeats=3):
    """CPU seconds of one matrix product of this size, in blocks of rows; the least of several.

    Bounds in products of the size of the data are the same on machines that differ in speed alone.
    """
    rng = np.random.default_rng(0)
    step = min(n_rows, max(1, _BLOCK_VALUES // n_columns))
    left = rng.random((step, n_terms)).astype(dtype)
    right = rng.random((n_terms, n_columns)).astype(dtype)
    product = np.empty((step, n_columns), dtype=dtype)
    seconds, _ = cpu_seconds(np.matmul, left, right, product, repeats=repeats)
    return seconds * n_rows / step


def peak_bytes(function, *arguments):
    """Most that NumPy holds at once during a call, beyond its arguments."""
    tracemalloc.start()
    function(*arguments)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def spent(function, *arguments):
    """CPU seconds of a call, the most bytes resident beyond those before it, and its result."""
    forget_most()
    before, start = most_resident(), time.process_time()
    result = function(*arguments)
    return time.process_time() - start, most_resident() - before, result


def end_after(seconds):
    """Let the system end this process after so many more CPU seconds."""
    most = math.ceil(time.process_time() + seconds)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


def go_on():
    """End `end_after`: what follows is no part of what it limits."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))


def most_resident():
    """The most bytes that this process has had in memory since the last call of `forget_most`."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])


def forget_most():
    """Begin to count anew."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
