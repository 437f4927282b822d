"""Real processes under test: are they alive, and have they got as far as they should?"""

import time

import psutil


def is_alive(pid):
    try:
        return psutil.Process(int(pid)).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return result


def noted(path):
    """The number of a process, once it is noted."""
    return int(wait_for(lambda: path.exists() and path.read_text()))
