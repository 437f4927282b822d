"""What the scripts beside this file measure with; it needs nothing of the project.

Another package may have an environment of its own, whose interpreter imports this file too.
"""

import math
import re
import resource
import time
import tracemalloc
from pathlib import Path


def cpu_seconds(function, *arguments, repeats=1):
    """CPU seconds of a call, and its result; of `repeats` calls the one others disturbed least."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        result = function(*arguments)
        seconds.append(time.process_time() - start)
    return min(seconds), result


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
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))


def most_resident():
    """The most bytes that this process has had in memory since the last call of `forget_most`."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])


def forget_most():
    """Begin to count anew."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
