"""Memory of a whole run: what child processes hold is counted, and the largest sum stays."""

import json
import subprocess
import sys
import threading

import psutil
import pytest

from workflow.lib.execution.run_memory import held_mib, watch
from workflow.lib.storage.peak_memory import read_peak

HOLDS = "held = bytearray(200 * 2**20); held[::4096] = b'x' * len(held[::4096]); print(flush=True)"


@pytest.fixture
def holder():
    """A process below this one, which holds 200 MiB until its input ends."""
    command = [sys.executable, "-c", f"{HOLDS}; input()"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        process.stdout.readline()
        yield process
        process.stdin.close()


def test_what_children_hold_is_counted(holder):
    own = psutil.Process(holder.pid)
    assert 200 <= held_mib(own) <= 260
    assert held_mib(psutil.Process()) >= held_mib(own)


def test_the_most_is_noted_until_the_process_ends_and_is_never_lowered(holder, tmp_path):
    file, ended = tmp_path / "peak.json", threading.Event()
    arguments = (psutil.Process(holder.pid), file, ended, 0.01)
    watching = threading.Thread(target=watch, args=arguments)
    watching.start()
    while read_peak(file) is None and watching.is_alive():
        ended.wait(0.01)
    holder.stdin.close()
    holder.wait()
    watching.join(10)
    assert not watching.is_alive()
    assert 200 <= read_peak(file) <= 260
    file.write_text(json.dumps({"peak_mb": 5000.0}))
    ended.set()
    watch(psutil.Process(), file, ended)
    assert read_peak(file) == 5000.0
