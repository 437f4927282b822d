"""Freed memory that stays with the process, and for how long."""

import json
import platform
import subprocess
import sys

import pytest

SCRIPT = """
import json, resource, sys
import numpy as np
from workflow.lib.execution.allocator import LARGEST, keep_freed
from workflow.lib.execution.memory import restart_peak

def faults(mebibytes, times=20):
    # Pages of 4 KiB: the system may hand out larger ones for arrays that numpy asks it to.
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        parts = [np.zeros(mebibytes * 2**17) for _ in range(4)]
        for part in parts:
            part += 1.0
        del part, parts
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

before = restart_peak()
keep_freed(LARGEST + int(sys.argv[1]))
faults(2, times=2)
found = {"small": faults(2), "large": faults(40)}
found["left"] = restart_peak() - before
print(json.dumps(found))
"""


def measured(beyond):
    """Page faults where the largest array has so many bytes more than the most; MiB left."""
    line = [sys.executable, "-c", SCRIPT, str(beyond)]
    return json.loads(subprocess.run(line, capture_output=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another library allocates memory")
def test_what_is_freed_serves_again_unless_arrays_are_large():
    by_default, kept = measured(1), measured(0)
    for size in ("small", "large"):
        assert kept[size] < 0.2 * by_default[size]
    assert kept["left"] < 8  # MiB, of 40 MiB arrays four at a time: a trial's peak starts anew
