"""The guarded child process: runs the trials of one block and reports each as it ends.

Forked by the fork server, or started as ``python -m workflow.lib.execution.worker SPEC EVENTS``.
What the method prints goes to the job's log; events go through a pipe of their own (the descriptor
EVENTS), one JSON line each.
"""

import importlib
import json
import os
import sys
import threading
import time
import traceback
from pathlib import Path

import numpy as np


def main(spec_path: str, descriptor: int) -> None:
    """Run the trials of a block, described by a JSON file."""
    _die_with_parent()
    sys.stdout.reconfigure(line_buffering=True)  # what a study prints is shown as its progress
    spec = json.loads(Path(spec_path).read_text(encoding="utf-8"))
    events = os.fdopen(descriptor, "w", buffering=1)
    try:
        job = importlib.import_module(spec["job"])
        state = job.setup(spec["block"])
    except Exception as error:
        traceback.print_exc()
        _emit(events, event="refused", error=f"{type(error).__name__}: {error}")
        return
    for trial in spec["trials"]:
        _emit(events, event="start", trial=trial)
        started = time.perf_counter()
        try:
            records, arrays = job.run_trial(state, trial)
        except Exception as error:
            traceback.print_exc()
            message = f"{type(error).__name__}: {error}"
            _emit(events, event="error", trial=trial, error=message, seconds=_since(started))
        else:
            np.savez(Path(spec["scratch"]) / f"{trial}.npz", **arrays)
            _emit(events, event="done", trial=trial, records=records)


def _since(started: float) -> float:
    return time.perf_counter() - started


def _emit(events, **event) -> None:
    events.write(json.dumps(event) + "\n")


def _die_with_parent() -> None:
    """End with the guard: its end of our standard input closes, however it was killed."""

    def watch():
        while os.read(0, 1):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
