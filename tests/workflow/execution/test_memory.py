"""The peak of resident memory, and where it starts anew."""

import json
import subprocess
import sys

SCRIPT = """
import json
import numpy as np
from workflow.lib.execution.memory import peak_mib, restart_peak
hoard = np.ones(2**24)  # 128 MiB
first = peak_mib()
del hoard
before = restart_peak()
small = np.ones(2**22)  # 32 MiB
print(json.dumps([first, before, peak_mib()]))
"""


def test_a_peak_is_measured_from_its_last_restart():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True)
    first, before, second = json.loads(done.stdout)
    assert first - before > 100  # what was freed no longer counts
    assert 28 < second - before < 48
