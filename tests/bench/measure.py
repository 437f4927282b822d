"""What the scripts beside this file measure with."""

import time
import tracemalloc


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
