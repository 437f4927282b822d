"""The guarded worker: runs the trials of one block under a supervisor, and tells how each ended.

Forked by the fork server, or started as ``python -m workflow.lib.execution.worker SPEC EVENTS``.
What the method prints goes to the job's log, by way of the supervisor; events go through a pipe of
their own, the descriptor EVENTS.
"""

import importlib
import json
import os
import sys
import time
import traceback
from pathlib import Path
from types import ModuleType

from workflow.lib.execution.bounded import BoundedOutput, bounded, bounded_error
from workflow.lib.execution.events import EventWriter
from workflow.lib.execution.process_tree import supervise


class _Unwritten(Exception):
    """The scratch folder takes no more: no fault of the trial."""


def main(spec_path: str, descriptor: int) -> None:
    """Run the trials of a block, described by a JSON file, and tell how the worker has ended."""
    events = EventWriter(descriptor)
    code = supervise(lambda: run_trials(spec_path, descriptor), BoundedOutput(sys.stdout.fileno()))
    events.tell("end", code=code)


def run_trials(spec_path: str, descriptor: int) -> None:
    """In the supervised worker: open the block, run its trials."""
    sys.stdout.reconfigure(line_buffering=True)  # what a study prints is shown as its progress
    events = EventWriter(descriptor)
    try:
        spec = json.loads(Path(spec_path).read_text(encoding="utf-8"))
        job = importlib.import_module(spec["job"])
        _use_threads(spec["threads"])
        # Read by the library, whose methods then refuse early what the guard would end.
        os.environ["DOMAIN_ALIGNMENT_MEMORY_MB"] = str(spec["memory_mb"])
        state = job.setup(spec["block"])
    except Exception as error:
        traceback.print_exc()
        events.tell("refused", error=bounded_error(error))
        return
    for trial in spec["trials"]:
        events.tell("start", trial=trial)
        started = time.perf_counter()
        try:
            records = _run(job, state, trial, Path(spec["scratch"]))
            events.tell("done", trial=trial, records=records)
        except _Unwritten as error:
            events.tell("unwritten", error=str(error))
            return
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            seconds = time.perf_counter() - started
            events.tell("error", trial=trial, error=bounded_error(error), seconds=seconds)


def _use_threads(number: int) -> None:
    """Let BLAS, loaded and with one thread so far, and numba use the cores the job was given."""
    if number > 1:
        import threadpoolctl  # looks through all libraries; most jobs have one thread

        threadpoolctl.threadpool_limits(number)
    if "numba" in sys.modules:
        import numba

        numba.set_num_threads(min(number, numba.config.NUMBA_NUM_THREADS))
    else:
        os.environ["NUMBA_NUM_THREADS"] = str(number)  # it would take every core of the machine


def _run(job: ModuleType, state: object, trial: int, scratch: Path) -> list[dict]:
    """Records of a trial; its arrays are written to the scratch folder."""
    # Here and not above: the supervisor of a cold start is forked before, and stays small.
    import numpy as np

    records, arrays = job.run_trial(state, trial)
    path = scratch / f"{trial}.npz"
    try:
        np.savez(path, allow_pickle=False, **arrays)
    except OSError as error:
        raise _Unwritten(f"{path}: {error}") from error
    return bounded(records)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
