"""A job whose trials misbehave, each as the block says of it."""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

# Sleeps with the interpreter's lock held, as long computations in C do: no other thread runs.
_in_c = ctypes.PyDLL(None).sleep


def setup(block):
    return block


def run_trial(block, trial):
    kind = block["kinds"][trial]
    record = {"status": "ok", "pid": os.getpid()}
    if kind != "fine":
        record |= MISDEEDS[kind](Path(block["notes"])) or {}
    return [record], {"square": np.array(trial**2)}


def _sleeper(notes, name, seconds=300, **options):
    """A process that lives on; its number is noted."""
    process = subprocess.Popen(["sleep", str(seconds)], **options)
    (notes / name).write_text(str(process.pid))


def _forks_and_leaves_the_child(notes):
    if not (pid := os.fork()):
        time.sleep(300)
        os._exit(0)
    (notes / "child").write_text(str(pid))


def _forks_and_both_return(notes):
    if not os.fork():
        time.sleep(0.2)


def _hangs_with_a_child_in_its_own_session(notes):
    _sleeper(notes, "child", start_new_session=True)
    time.sleep(300)


def _hangs_with_a_daemon(notes):
    """Forked twice: its parent is gone, and it is in no group of the worker's."""
    note = "import os, sys; open(sys.argv[1], 'w').write(str(os.getpid()))"
    code = f"import os, time; os.fork() and os._exit(0); os.setsid(); {note}; time.sleep(300)"
    subprocess.run([sys.executable, "-c", code, str(notes / "child")])
    time.sleep(300)


def _closes_its_descriptors_and_hangs(notes):
    os.closerange(0, 256)
    time.sleep(300)


def _closes_its_descriptors(notes):
    os.closerange(0, 256)


def _closes_its_output(notes):
    sys.stdout.close()
    os.close(1)


def _writes_steadily_to_every_pipe(notes):
    pipes = [
        descriptor
        for descriptor in range(3, 64)
        if os.path.exists(f"/proc/self/fd/{descriptor}")
        and os.readlink(f"/proc/self/fd/{descriptor}").startswith("pipe:")
    ]
    while True:
        for descriptor in pipes:
            os.write(descriptor, b"x" * 1000 + b"\n")


def _writes_junk_to_every_pipe(notes):
    junk = (
        b"junk\n",
        b"[]\n",
        b'{"event": "done", "trial": 99, "records": []}\n',
        b'{"event": 1}\n',
    )
    for descriptor in range(3, 64):
        try:
            if os.readlink(f"/proc/self/fd/{descriptor}").startswith("pipe:"):
                for line in (*junk, b"\xff\xfe half a line"):
                    os.write(descriptor, line)
        except OSError:
            continue


def _works_in_c(notes):
    (notes / "worker").write_text(str(os.getpid()))
    _in_c(300)


def _prints_much(notes):
    for _ in range(64):
        print("x" * 2**20)
    print("the last words")


def _raises_five_megabytes(notes):
    raise ValueError("x" * 5_000_000)


def _raises_broken_text(notes):
    raise ValueError("a lone surrogate \ud800 and a bell \a")


def _returns_many_warnings(notes):
    return {"warnings": [f"RuntimeWarning: number {i} " + "x" * 1000 for i in range(5000)]}


def _returns_what_is_not_json(notes):
    return {"accuracy": object()}


def _returns_nan(notes):
    return {"accuracy": float("nan")}


def _leaves_by_sys_exit(notes):
    sys.exit(0)


def _kills_its_parent(notes):
    _sleeper(notes, "child", start_new_session=True)
    os.kill(os.getppid(), 9)
    time.sleep(300)


def _puts_its_arrays_on_a_full_disk(notes):
    link = notes.parent / "scratch" / "0.npz"
    link.symlink_to("/dev/full")


MISDEEDS = {
    name[1:].replace("_", " "): function
    for name, function in list(globals().items())
    if name.startswith("_") and not name.startswith("__") and callable(function)
}
